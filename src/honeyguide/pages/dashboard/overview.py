"""Overview: is it growing, through whom, and what waits for me. Reads counts that the database keeps, never the people."""

from __future__ import annotations

from typing import NamedTuple

from starlette.responses import Response

from honeyguide.accounts import keys
from honeyguide.kernel.clock import DAY_MS
from honeyguide.pages.dashboard import charts, figures
from honeyguide.pages.dashboard.visit import Visit
from honeyguide.referrals import campaigns, days, listing, search
from honeyguide.referrals.campaigns import Campaign
from honeyguide.referrals.days import Day
from honeyguide.store.tx import Tx

TOP = 5
WAITING = 3


class Step(NamedTuple):
    name: str
    words: str
    path: str
    action: str
    is_done: bool


class Figure(NamedTuple):
    name: str
    value: str
    change: str
    is_up: bool
    words: str


class Facts(NamedTuple):
    campaign: Campaign
    days: list[Day]
    ever: Day
    subscribers: int
    advocates: int
    top: list[days.Advocate]
    waiting: list[search.Found]
    has_reward: bool
    has_used_key: bool


async def _facts(tx: Tx, visit: Visit, since_ms: int, until_ms: int) -> Facts:
    owner = visit.owner
    return Facts(
        campaign=await campaigns.get(tx, owner),
        days=await days.between(tx, owner, since_ms, until_ms),
        ever=await days.ever(tx, owner),
        subscribers=await listing.total(tx, owner.campaign_id, "all"),
        advocates=await listing.total(tx, owner.campaign_id, "advocates"),
        top=await days.top_advocates(tx, owner, most=TOP),
        waiting=await search.judged(tx, owner, "pending", before=None, most=WAITING),
        has_reward=await search.has_reward(tx, owner),
        has_used_key=any(key.last_used_ms for key in await keys.of_account(tx, owner.account_id)),
    )


async def show(visit: Visit) -> Response:
    chosen = charts.RANGES.get(visit.query.get("range", ""), charts.RANGES["30d"])
    since_ms = charts.first_day(chosen, visit.now_ms)
    before_ms = since_ms - chosen.days * DAY_MS

    async def look(tx: Tx) -> Facts:
        return await _facts(tx, visit, before_ms, since_ms + chosen.days * DAY_MS)

    facts: Facts = await visit.read(look)
    now = charts.total([day for day in facts.days if day.day_ms >= since_ms])
    before = charts.total([day for day in facts.days if day.day_ms < since_ms])
    steps = _steps(visit, facts)
    return await visit.page(
        "overview.html",
        facts=facts,
        ranges=charts.RANGES.values(),
        chosen=chosen,
        figures=_figures(facts, now, before, chosen.before),
        chart=charts.signups([day for day in facts.days if day.day_ms >= since_ms], chosen, since_ms),
        funnel=_funnel(now),
        now=now,
        steps=[] if all(step.is_done for step in steps) else steps,
    )


def _figures(facts: Facts, now: Day, before: Day, span: str) -> list[Figure]:
    each = facts.ever.verified / facts.advocates if facts.advocates else 0
    factor = now.verified / now.signups if now.signups else 0
    came = now.verified + now.pending + now.rejected
    return [
        Figure(
            "New subscribers", figures.number(now.signups), *_change(now.signups, before.signups),
            f"against {span}" if before.signups else "nothing before to compare with",
        ),
        Figure(
            "Through a friend", figures.number(now.verified), *_change(now.verified, before.verified),
            f"{figures.share(now.verified, now.signups)} of all",
        ),
        Figure(
            "Each advocate brings", f"{each:.1f}", "", True,
            f"{figures.plural(facts.advocates, 'advocate')} · viral factor {factor:.2f}",
        ),
        Figure(
            "Clicks on their links", figures.number(now.clicks), *_change(now.clicks, before.clicks),
            f"{figures.share(came, now.clicks)} sign up" if now.clicks else "none yet",
        ),
    ]  # fmt: skip


def _change(now: int, before: int) -> tuple[str, bool]:
    if not before or now == before:
        return "", True
    return f"{abs(100 * (now - before) / before):.0f} %", now > before


def _funnel(now: Day) -> list[tuple[str, int, float]]:
    came = now.verified + now.pending + now.rejected
    rows = [("Clicks", now.clicks), ("Signups", came), ("Verified", now.verified)]
    most = max(1, *(count for _, count in rows))
    return [(name, count, round(100 * count / most, 2)) for name, count in rows]


def _steps(visit: Visit, facts: Facts) -> list[Step]:
    """Each looks for itself whether it is done."""
    referred = facts.ever.verified + facts.ever.pending + facts.ever.rejected
    steps = [
        Step("Say where readers go", "A click on a reader's link leads there; until then, to your signup page here.",
             "/settings#campaign", "Set it", facts.campaign.destination_url is not None),
        Step("Bring your subscribers", "Everyone in your list gets a link of their own.",
             "/subscribers/import", "Import a file", facts.subscribers > 0),
        Step("Promise a reward", "Something small after three friends works well.", "/rewards", "Add one", facts.has_reward),
        Step("Connect your mailing tool", "Make an API key, and new signups arrive by themselves.",
             "/api", "Make a key", facts.has_used_key),
        Step("Get the first referral", "Open your signup page, try your own link, and watch it arrive.",
             "/pages", "See the pages", referred > 0),
    ]  # fmt: skip
    if visit.who.is_admin:
        steps.insert(4, Step(
            "Let letters out", "Set HONEYGUIDE_SMTP_URL and start again; until then letters are only printed.",
            "", "", bool(visit.desk.settings.smtp_url),
        ))  # fmt: skip
    return steps
