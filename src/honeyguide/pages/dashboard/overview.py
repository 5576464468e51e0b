"""Overview: what needs the operator, whether the list grows, and through whom. It reads counts that
are kept, not the subscribers themselves.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from honeyguide.accounts import accounts
from honeyguide.pages.dashboard import (
    charts,
    checklist,
    decisions,
    formats,
    overview_numbers,
    ranges,
)
from honeyguide.pages.dashboard.overview_numbers import Numbers
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.dashboard.ranges import ChosenRange
from honeyguide.referrals import (
    campaigns,
    page_index,
    recent_counts,
    rewards,
)
from honeyguide.referrals.campaigns import Campaign
from honeyguide.referrals.reasons import facts_of
from honeyguide.referrals.rewards import Reward
from honeyguide.referrals.statistics import PeriodTotals, SourceCount
from honeyguide.store.tx import Tx

TOP = 8


class Facts(NamedTuple):
    campaign: Campaign
    subscribers: int
    advocates: int
    all_rewards: list[Reward]
    earned: recent_counts.RewardCounts


class FunnelStep(NamedTuple):
    name: str
    n: int
    width: float
    words: str
    list_filter: dict[str, str]
    """The filter of subscribers that lists exactly these; empty if there is none."""


async def _facts(tx: Tx, request: PageRequest, chosen: ChosenRange) -> Facts:
    tenant, period = request.tenant, chosen.period
    return Facts(
        campaign=await campaigns.get(tx, tenant),
        subscribers=await page_index.total(tx, tenant.campaign_id, "all"),
        advocates=await page_index.total(tx, tenant.campaign_id, "advocates"),
        all_rewards=await rewards.of_campaign(tx, tenant),
        earned=await recent_counts.earned(
            tx, tenant, since_ms=period.since_ms, until_ms=period.until_ms
        ),
    )


def source_kind(request: PageRequest) -> str:
    """By what the sources are grouped, as the URL says."""
    by = request.query.get("by", "")
    return by if by in overview_numbers.SOURCES else "origin"


async def show(tx: Tx, request: PageRequest) -> PageView:
    chosen = ranges.chosen_range(request.query, request.zone, now_ms=request.now_ms)
    facts = await _facts(tx, request, chosen)
    numbers = await overview_numbers.collect(
        tx, request.tenant, chosen, source_kind(request), top=TOP, now_ms=request.now_ms
    )
    return request.view(
        "overview.html",
        status=400 if chosen.error else 200,
        facts=facts,
        decisions=await decisions.open_decisions(tx, request.tenant, now_ms=request.now_ms),
        chosen=chosen,
        presets=ranges.PRESETS,
        comparisons=ranges.COMPARISONS,
        days_in_words=ranges.days_in_words,
        as_of=_as_of(request, numbers),
        numbers=numbers,
        now=numbers.now,
        before=numbers.before,
        change=overview_numbers.change,
        from_words=overview_numbers.from_words,
        per_referrer=overview_numbers.per_referrer,
        chart=charts.signups(numbers.days),
        funnel=_funnel(numbers.now, numbers.before),
        rejections=_rejections(numbers.reasons),
        list_link=partial(overview_numbers.list_link, chosen),
        kinds=overview_numbers.SOURCES,
        by=source_kind(request),
        recorded_since_ms=await accounts.unsubscribes_recorded_since_ms(tx),
        next_reward=partial(rewards.next_reward, facts.all_rewards),
        counted=partial(formats.up_to, recent_counts.MOST_EARNED),
        steps=await checklist.find(tx, request),
    )


def _as_of(request: PageRequest, numbers: Numbers) -> str:
    """`America/New York time, as of 06:10 today.`"""
    at_ms = numbers.stored_ms or request.now_ms
    zone = request.who.time_zone.replace("_", " ")
    return f"{zone} time, as of {formats.time_in(at_ms, request.zone)} today."


def _funnel(now: PeriodTotals, before: PeriodTotals | None) -> list[FunnelStep]:
    share = overview_numbers.click_share(now) or ""
    earlier = overview_numbers.from_words(overview_numbers.click_share(before), share)
    decided = now.verified + now.rejected
    clicked = f"{share} of clicks{', ' + earlier if earlier else ''}"
    verified = f"{formats.share(now.verified, decided)} of those decided"
    rows: list[tuple[str, int, str, dict[str, str]]] = [
        ("Clicks", now.clicks, "", {}),
        ("Signups", now.referred, clicked, {"referred_by": "anyone"}),
        ("Decided", decided, f"{formats.number(now.pending)} still pending", {}),
        ("Verified", now.verified, verified, {"referral": "verified"}),
    ]
    most = max(1, *(count for _, count, _, _ in rows))
    return [
        FunnelStep(name, count, round(100 * count / most, 2), words if count else "", list_filter)
        for name, count, words, list_filter in rows
    ]


def _rejections(found: list[SourceCount]) -> str:
    """One sentence: how many, and how many of each kind."""
    if not found:
        return ""
    total = sum(each.joined for each in found)
    words = [facts_of(each.key).counted or each.key.replace("_", " ") for each in found]
    if len(found) == 1:
        return f"{total:,} rejected, {'' if total == 1 else 'all '}{words[0]}."
    kinds = (f"{each.joined:,} {text}" for each, text in zip(found, words, strict=True))
    return f"{total:,} rejected: {', '.join(kinds)}."
