"""Overview: whether the list grows, through whom, and what to do next. It reads counts that the
database keeps, never the subscribers themselves.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from honeyguide.kernel import money
from honeyguide.kernel.clock import DAY_MS
from honeyguide.pages.dashboard import charts, checklist, formats
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.partners import forecast
from honeyguide.partners import rules as months
from honeyguide.referrals import (
    campaigns,
    daily_counts,
    page_index,
    recent_counts,
    rewards,
    search,
)
from honeyguide.referrals.campaigns import Campaign
from honeyguide.referrals.daily_counts import Day
from honeyguide.referrals.rewards import Reward
from honeyguide.store.tx import Tx

TOP = 8
WAITING = 3

# After a number, in one sentence: "2 with a disposable email, 1 rejected by you".
REASONS = {
    "own_address": "with the referrer’s own email address",
    "alias_of_referrer": "with an alias of the referrer’s email address",
    "referral_loop": "in a circular referral",
    "disposable_domain": "with a disposable email address",
    "same_network": "from the referrer’s IP address",
    "many_from_one_network": "from an IP address with many signups",
    "burst": "in a burst of signups on one link",
    "left_during_hold": "unsubscribed during the holding period",
    "unsubscribed": "already unsubscribed",
    "rejected_by_hand": "rejected manually",
    "program_paused": "while the program was paused",
    "program_disabled": "while the program was disabled",
    "publication_archived": "after the publication was archived",
    "already_subscribed": "already subscribed",
}


class Figure(NamedTuple):
    name: str
    value: str
    change: str
    is_up: bool
    words: str


class Facts(NamedTuple):
    campaign: Campaign
    days: list[Day]
    subscribers: int
    advocates: int
    top: list[daily_counts.Advocate]
    waiting: list[search.FoundSubscriber]
    all_rewards: list[Reward]
    advocates_referrals: int
    rejected: list[recent_counts.Rejected]
    earned: recent_counts.RewardCounts
    to_approve: int
    partner_month: forecast.MonthSummary


async def _facts(
    tx: Tx, request: PageRequest, before_ms: int, since_ms: int, until_ms: int
) -> Facts:
    tenant = request.tenant
    return Facts(
        campaign=await campaigns.get(tx, tenant),
        days=await daily_counts.between(tx, tenant, before_ms, until_ms),
        subscribers=await page_index.total(tx, tenant.campaign_id, "all"),
        advocates=await page_index.total(tx, tenant.campaign_id, "advocates"),
        top=await daily_counts.top_advocates(tx, tenant, most=TOP),
        waiting=await search.judged(tx, tenant, "suspected", before=None, most=WAITING),
        all_rewards=await rewards.of_campaign(tx, tenant),
        advocates_referrals=await recent_counts.advocates_referrals(tx, tenant),
        rejected=await recent_counts.rejected(tx, tenant, since_ms=since_ms),
        earned=await recent_counts.earned(tx, tenant, since_ms=since_ms),
        to_approve=await recent_counts.to_approve(tx, tenant),
        partner_month=await forecast.month_summary(
            tx, tenant.account_id, months.month_of(request.now_ms)
        ),
    )


async def show(tx: Tx, request: PageRequest) -> PageView:
    chosen = charts.RANGES.get(request.query.get("range", ""), charts.RANGES["30d"])
    since_ms = charts.first_day(chosen, request.now_ms)
    span_ms = chosen.days * DAY_MS
    facts = await _facts(tx, request, since_ms - span_ms, since_ms, since_ms + span_ms)
    days = [day for day in facts.days if day.day_ms >= since_ms]
    now = charts.total(days)
    before = charts.total([day for day in facts.days if day.day_ms < since_ms])
    return request.view(
        "overview.html",
        facts=facts,
        ranges=charts.RANGES.values(),
        chosen=chosen,
        figures=_figures(facts, now, before, chosen.before),
        chart=charts.signups(days, chosen, since_ms),
        funnel=_funnel(now),
        rejections=_rejections(facts.rejected),
        next_reward=partial(rewards.next_reward, facts.all_rewards),
        counted=partial(formats.up_to, recent_counts.MOST_EARNED),
        money=money.show,
        now=now,
        steps=await checklist.find(tx, request),
    )


def _figures(facts: Facts, now: Day, before: Day, span: str) -> list[Figure]:
    looked_at = min(facts.advocates, recent_counts.MOST_ADVOCATES)
    each = facts.advocates_referrals / looked_at if looked_at else 0
    factor = facts.advocates_referrals / facts.subscribers if facts.subscribers else 0
    is_whole = looked_at == facts.advocates
    who = formats.plural(facts.advocates, "advocate") if is_whole else f"the top {looked_at:,}"
    came = now.verified + now.pending + now.rejected
    return [
        Figure(
            "New subscribers",
            formats.number(now.signups),
            *_change(now.signups, before.signups),
            f"vs. {span}" if before.signups else "no earlier data",
        ),
        Figure(
            "Referred",
            formats.number(now.verified),
            *_change(now.verified, before.verified),
            f"{formats.share(now.verified, now.signups)} of all"
            if now.signups
            else "by subscribers and partners",
        ),
        Figure(
            "Referrals per advocate",
            f"{each:.1f}",
            "",
            True,
            f"{who} · viral coefficient {'' if is_whole else 'over '}{factor:.2f}"
            if facts.advocates
            else "no advocates yet",
        ),
        Figure(
            "Referral link clicks",
            formats.number(now.clicks),
            *_change(now.clicks, before.clicks),
            f"{formats.share(came, now.clicks)} conversion" if now.clicks else "none yet",
        ),
    ]


def _change(now: int, before: int) -> tuple[str, bool]:
    if not before or now == before:
        return "", True
    return f"{abs(100 * (now - before) / before):.0f}%", now > before


def _funnel(now: Day) -> list[tuple[str, int, float]]:
    came = now.verified + now.pending + now.rejected
    rows = [("Clicks", now.clicks), ("Signups", came), ("Verified", now.verified)]
    most = max(1, *(count for _, count in rows))
    return [(name, count, round(100 * count / most, 2)) for name, count in rows]


def _rejections(found: list[recent_counts.Rejected]) -> str:
    """One sentence: how many, and how many of each kind."""
    if not found:
        return ""
    total = sum(each.n for each in found)
    words = [REASONS.get(each.reason, each.reason.replace("_", " ")) for each in found]
    many = (
        f"The last {total:,} rejected"
        if total >= recent_counts.MOST_REJECTED
        else f"{total:,} rejected"
    )
    if len(found) == 1:
        return f"{many}, {'' if total == 1 else 'all '}{words[0]}."
    kinds = (f"{each.n:,} {text}" for each, text in zip(found, words, strict=True))
    return f"{many}: {', '.join(kinds)}."
