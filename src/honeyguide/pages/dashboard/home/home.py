"""Home: whether the list grows, through whom, and what needs the operator. It reads counts that are
kept, and at most 1,500 subscribers for the picture."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from starlette.responses import Response

from honeyguide.accounts import accounts
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.home import (
    checklist,
    comb,
    decisions,
    home_comb,
    home_figures,
    home_sentence,
    overview_numbers,
    ranges,
)
from honeyguide.pages.dashboard.home.checklist import Step
from honeyguide.pages.dashboard.home.decisions import DecisionFacts
from honeyguide.pages.dashboard.home.home_comb import Picture
from honeyguide.pages.dashboard.home.home_figures import FigureFacts, NearestReward, PartnerFees
from honeyguide.pages.dashboard.home.home_sentence import Sentence, SentenceFacts
from honeyguide.pages.dashboard.home.overview_numbers import Numbers
from honeyguide.pages.dashboard.home.ranges import ChosenRange
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.partners import rules
from honeyguide.partners.outlook import ProgramOutlook
from honeyguide.rewards import recent_counts, rewards
from honeyguide.rewards.recent_counts import RewardCounts
from honeyguide.rewards.rewards import Reward
from honeyguide.store.reading import Reading
from honeyguide.subscribers import cohorts, page_index, statistics
from honeyguide.subscribers.reasons import facts_of
from honeyguide.subscribers.statistics import PeriodTotals, SourceCount

TOP = 5
# While so few rewards were earned in the range, the page looks whether they are the first ones.
MOST_FIRST_REWARDS = 10


class HomeFacts(NamedTuple):
    """All that the page reads."""

    numbers: Numbers
    picture: Picture | None
    subscribers: int
    advocates: int
    referred_ever: int
    all_rewards: list[Reward]
    earned: RewardCounts
    first_rewards: int
    decisions: DecisionFacts
    steps: list[Step]
    newest_ms: int
    recorded_since_ms: int


class FunnelStep(NamedTuple):
    name: str
    n: int
    width: float
    detail: str
    list_filter: dict[str, str]
    """The filter of subscribers that lists exactly these; empty if there is none."""


def source_kind(request: PageRequest) -> str:
    """By what the sources are grouped, as the URL says."""
    by = request.query.get("by", "")
    return by if by in overview_numbers.SOURCES else "origin"


async def show(at: Reading, request: PageRequest) -> PageView:
    chosen = ranges.chosen_range(request.query, request.zone, now_ms=request.now_ms)
    values = await _values(at, request, chosen, after_ms=0)
    return request.view("home.html", status=400 if chosen.error else 200, **values)


async def new(at: Reading, request: PageRequest) -> PageView | Response:
    """For the page that is open and asks every ten seconds: the parts that change, if anybody
    joined since; otherwise nothing."""
    after = request.query.get("since", "")
    after_ms = int(after) if after.isascii() and after.isdigit() and len(after) < 16 else 0
    # A page that was open when its user switched in another tab shows the other newsletter.
    is_other = request.query.get("account", request.who.account_id) != request.who.account_id
    if is_other or await at.fact(cohorts.newest_joined_ms) <= after_ms:
        return Response(status_code=204)
    chosen = ranges.chosen_range(request.query, request.zone, now_ms=request.now_ms)
    values = await _values(at, request, chosen, after_ms=after_ms)
    return request.view("home_live.html", **values)


async def _values(
    at: Reading, request: PageRequest, chosen: ChosenRange, *, after_ms: int
) -> dict[str, Any]:
    facts = await read_home(at, request, chosen, after_ms=after_ms)
    numbers, picture = facts.numbers, facts.picture
    needs = decisions.choose(facts.decisions)
    list_link = partial(overview_numbers.list_link, chosen)
    figures = FigureFacts(
        numbers=numbers,
        earlier=ranges.earlier_in_words(chosen),
        subscribers=facts.subscribers,
        fees=_fees(facts.decisions.programs),
        next_reward=_next_reward(numbers, facts.all_rewards),
    )
    return {
        "facts": facts,
        "numbers": numbers,
        "now": numbers.now,
        "before": numbers.before,
        "chosen": chosen,
        "since_ms": facts.newest_ms,
        "sentence": _sentence(chosen, facts, picture) if picture else Sentence(""),
        "figures": home_figures.choose(figures, list_link) if picture else [],
        "needs": needs,
        "needs_in_all": decisions.in_all(needs),
        "picture": picture,
        "example": home_comb.example(),
        "rows": _rows(numbers) if picture else [],
        "steps": facts.steps,
        "list_link": list_link,
        "as_of": _as_of(request, numbers),
        "earlier": figures.earlier,
        **_below(numbers, facts, chosen),
        "by": source_kind(request),
        "recorded_since_ms": facts.recorded_since_ms,
    }


def _below(numbers: Numbers, facts: HomeFacts, chosen: ChosenRange) -> dict[str, Any]:
    """What the quieter sections need."""
    return {
        "presets": ranges.PRESETS,
        "comparisons": ranges.COMPARISONS,
        "days_in_words": ranges.days_in_words,
        "change": overview_numbers.change,
        "honest_share": overview_numbers.share,
        "per_referrer": overview_numbers.per_referrer,
        "funnel": _funnel(numbers.now),
        "rejections": _rejections(numbers.reasons),
        "kinds": overview_numbers.SOURCES,
        "next_reward": partial(rewards.next_reward, facts.all_rewards),
        "counted": partial(formats.up_to, recent_counts.MOST_EARNED),
    }


async def read_home(
    at: Reading, request: PageRequest, chosen: ChosenRange, *, after_ms: int
) -> HomeFacts:
    numbers = await overview_numbers.collect(at, chosen, source_kind(request), top=TOP)
    picture = None
    if numbers.is_counted:
        picture = await home_comb.read(at, chosen, numbers, after_ms=after_ms)
    period = chosen.period
    earned = await recent_counts.earned(at, since_ms=period.since_ms, until_ms=period.until_ms)
    return HomeFacts(
        numbers=numbers,
        picture=picture,
        subscribers=await at.fact(page_index.total_of, "all"),
        advocates=await at.fact(page_index.total_of, "advocates"),
        referred_ever=(await at.fact(statistics.count_ever)).referred,
        all_rewards=await at.fact(rewards.of_campaign),
        earned=earned,
        first_rewards=await _first_rewards(at, chosen, sum(earned)),
        decisions=await decisions.read(at),
        steps=await checklist.find(at, request),
        newest_ms=await at.fact(cohorts.newest_joined_ms),
        recorded_since_ms=await accounts.unsubscribes_recorded_since_ms(at.tx),
    )


async def _first_rewards(at: Reading, chosen: ChosenRange, earned: int) -> int:
    """Those of the range, if none was earned before."""
    if not 0 < earned <= MOST_FIRST_REWARDS:
        return 0
    before = await recent_counts.earned(at, since_ms=0, until_ms=chosen.period.since_ms)
    return 0 if any(before) else earned


def _sentence(chosen: ChosenRange, facts: HomeFacts, picture: Picture) -> Sentence:
    now, before = facts.numbers.now, facts.numbers.before
    return home_sentence.choose(
        SentenceFacts(
            days=chosen.period.length,
            new=now.new,
            referred=now.referred,
            imported=now.imported,
            clicks=now.clicks,
            new_before=before.new if before else None,
            referred_before=before.referred if before else None,
            earlier=ranges.earlier_in_words(chosen),
            subscribers=picture.subscribers,
            partners=picture.partners,
            has_people=picture.has_people,
            bringers=picture.bringers,
            referred_ever=facts.referred_ever,
            first_rewards=facts.first_rewards,
        )
    )


def _fees(programs: list[ProgramOutlook]) -> PartnerFees | None:
    """None without a program that pays."""
    paying = [each for each in programs if each.is_paid]
    if not paying:
        return None
    this_month = [each.months[0] for each in paying]
    return PartnerFees(
        month=rules.month_name(this_month[0].month).split()[0],
        programs=len(paying),
        spent_cents=sum(each.spent_cents for each in this_month),
        budget_cents=sum(each.budget_cents for each in paying),
        due_cents=sum(each.fees.pending_cents for each in this_month),
        fitting_cents=sum(each.fees.expected_cents for each in this_month),
    )


def _next_reward(numbers: Numbers, all_rewards: list[Reward]) -> NearestReward | None:
    """The top advocate who is nearest to a reward."""
    found = [
        NearestReward(each.name or each.email, ahead[0].name, ahead[1], f"/subscribers/{each.id}")
        for each in numbers.top
        if (ahead := rewards.next_reward(all_rewards, each.toward_rewards)) is not None
    ]
    return min(found, key=lambda each: each.left, default=None)


def _rows(numbers: Numbers) -> list[tuple[str, PeriodTotals, int | None]]:
    """The table beside the picture: the newest day, or week, first."""
    days, before = list(numbers.days.items()), list(numbers.days_before.values())
    step = comb.days_in_column(len(days))
    found = []
    for at in range(0, len(days), step):
        name = formats.date_in_words(days[at][0])
        totals = statistics.total(each for _, each in days[at : at + step])
        earlier = sum(each.new for each in before[at : at + step]) if before else None
        found.append((name if step == 1 else f"From {name}", totals, earlier))
    return found[::-1]


def _as_of(request: PageRequest, numbers: Numbers) -> str:
    """`America/New York time, as of 06:10 today.`"""
    at_ms = numbers.stored_ms or request.now_ms
    zone = request.who.time_zone.replace("_", " ")
    return f"{zone} time, as of {formats.time_in(at_ms, request.zone)} today."


def _funnel(now: PeriodTotals) -> list[FunnelStep]:
    decided = now.verified + now.rejected
    clicked, verified = "", ""
    # More signups than clicks: some came by the API, without a click.
    if now.referred <= now.clicks:
        clicked = f"{overview_numbers.share(now.referred, now.clicks)} of clicks"
    if decided:
        verified = f"{overview_numbers.share(now.verified, decided)} of those decided"
    if now.pending:
        pending = f"{formats.number(now.pending)} still pending"
        verified = f"{verified}; {pending}" if verified else pending
    rows: list[tuple[str, int, str, dict[str, str]]] = [
        ("Clicks", now.clicks, "", {}),
        ("Signups", now.referred, clicked, {"referred_by": "anyone"}),
        ("Verified so far", now.verified, verified, {"referral": "verified"}),
    ]
    most = max(1, *(count for _, count, _, _ in rows))
    return [
        FunnelStep(name, count, round(100 * count / most, 2), detail if count else "", list_filter)
        for name, count, detail, list_filter in rows
    ]


def _rejections(found: list[SourceCount]) -> str:
    """One sentence: how many, and how many of each kind."""
    if not found:
        return ""
    total = sum(each.n for each in found)
    labels = [facts_of(each.key).counted or each.key.replace("_", " ") for each in found]
    if len(found) == 1:
        return f"{total:,} rejected, {'' if total == 1 else 'all '}{labels[0]}."
    kinds = (f"{each.n:,} {text}" for each, text in zip(found, labels, strict=True))
    return f"{total:,} rejected: {', '.join(kinds)}."
