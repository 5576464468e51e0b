"""The numbers of Home for one range: read once, shown by the page and its CSV files.

Compared are only numbers that a holding period cannot change: who joined and who was referred,
whatever the referral's status. What is verified is never compared, because it grows with age.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import NamedTuple
from urllib.parse import urlencode

from honeyguide.kernel.percentages import LEAST_FOR_PERCENT
from honeyguide.kernel.periods import Period, day_of
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.home.ranges import ChosenRange
from honeyguide.store.reading import Reading
from honeyguide.subscribers import statistics
from honeyguide.subscribers.cohorts import OTHER, CohortCount
from honeyguide.subscribers.origins import LABELS
from honeyguide.subscribers.statistics import (
    CutPeriod,
    Kept,
    PeriodTotals,
    Referrers,
    SourceCount,
    Span,
)
from honeyguide.subscribers.subscriber_filters import NOT_IMPORTED

SOURCES = {
    "origin": "Origin",
    "utm_source": "utm_source",
    "utm_campaign": "utm_campaign",
    "site": "Referring site",
}
AGES = (30, 90)
# How many sources the page lists and a file has; all others are one row.
MOST_SOURCES = 10
MOST_SOURCES_IN_FILE = 10_000
MOST_RANKED = 20
TOO_MANY = Referrers(n=0, referrals=0, has_others=True)


class Retention(NamedTuple):
    """How many of those who joined in `joined` were still subscribed after so many days."""

    days: int
    joined: Period | None
    """None if no day of the range is that old."""
    referred: Kept
    others: Kept


class SourceRow(NamedTuple):
    key: str
    """As subscribers are filtered by it; empty for none and for all others."""
    name: str
    n: int
    before: int | None


class Numbers(NamedTuple):
    groups: list[CohortCount]
    days: dict[date, PeriodTotals]
    days_before: dict[date, PeriodTotals]
    now: PeriodTotals
    before: PeriodTotals | None
    referrers: Referrers
    referrers_before: Referrers | None
    top: list[statistics.PeriodAdvocate]
    reasons: list[SourceCount]
    sources: list[SourceRow]
    retention: list[Retention]
    is_counted: bool
    stored_ms: int | None


async def collect(at: Reading, chosen: ChosenRange, by: str, *, top: int) -> Numbers:
    asked, joined = _compared(chosen), [_joined(at, chosen, age) for age in AGES]
    n = len(asked)
    opened = await statistics.open_spans(
        at, *asked, *(CutPeriod(each) for each in joined if each is not None)
    )
    spans, followed = opened[:n], iter(opened[n:])
    days = await statistics.by_day(at, spans)
    totals = [statistics.total(each.values()) for each in days]
    referrers = await statistics.referrers(at, spans)
    ranked = await statistics.ranked(at, spans, ["reason", by], most=MOST_RANKED)
    found = await statistics.hosts(at, spans, most=MOST_SOURCES + 1) if by == "site" else ranked
    return Numbers(
        groups=spans[0].groups,
        days=days[0],
        days_before=days[1] if n > 1 else {},
        now=totals[0],
        before=totals[1] if n > 1 else None,
        referrers=referrers[0] or TOO_MANY,
        referrers_before=referrers[1] if n > 1 else None,
        top=await statistics.advocates(at, spans[0], most=top) if referrers[0] else [],
        reasons=[each for each in ranked if each.kind == "reason"],
        sources=source_rows(found, totals, by, most=MOST_SOURCES),
        retention=[
            _retention(age, each, next(followed) if each is not None else None)
            for age, each in zip(AGES, joined, strict=True)
        ],
        is_counted=all(each.is_counted for each in spans),
        stored_ms=min((each.stored_ms for each in spans if each.stored_ms), default=None),
    )


def _compared(chosen: ChosenRange) -> list[CutPeriod]:
    """The range, and what it is compared with."""
    if chosen.comparison is None:
        return [CutPeriod(chosen.period)]
    return [CutPeriod(chosen.period), CutPeriod(chosen.comparison, chosen.comparison_until_ms)]


async def sources(at: Reading, chosen: ChosenRange, by: str, *, most: int) -> list[SourceRow]:
    spans = await statistics.open_spans(at, *_compared(chosen))
    totals = [statistics.total(each.values()) for each in await statistics.by_day(at, spans)]
    if by == "site":
        found = await statistics.hosts(at, spans, most=most + 1)
    else:
        found = await statistics.ranked(at, spans, [by], most=most + 1)
    return source_rows(found, totals, by, most=most)


def source_rows(
    found: list[SourceCount], totals: list[PeriodTotals], by: str, *, most: int
) -> list[SourceRow]:
    """The most common sources of a kind: new subscribers, or clicks by the site they came from. The
    last row is all others together, and those that were too many to count each."""
    has_before = len(totals) > 1
    rows = [
        SourceRow(
            each.key, source_name(by, each.key), each.n, each.n_before if has_before else None
        )
        for each in found
        if each.kind == by and each.key != OTHER
    ][:most]
    now, *before = [each.clicks if by == "site" else each.new for each in totals]
    if others := now - sum(row.n for row in rows):
        others_before = before[0] - sum(row.before or 0 for row in rows) if before else None
        rows.append(SourceRow("", "Others", others, others_before))
    return rows


def source_name(by: str, key: str) -> str:
    if by == "origin":
        return LABELS.get(key, key.replace("_", " ").capitalize())
    return key or ("Not known" if by == "site" else "None")


def _joined(at: Reading, chosen: ChosenRange, age: int) -> Period | None:
    """When those joined whose day 30 or 90 is over and falls in the range."""
    yesterday = day_of(at.now_ms, chosen.period.zone) - timedelta(days=1)
    last = min(chosen.period.last, yesterday)
    return None if last < chosen.period.first else chosen.period._replace(last=last).shifted(-age)


def _retention(age: int, joined: Period | None, span: Span | None) -> Retention:
    kept = statistics.retention(span, days=age) if span else (Kept(0, 0), Kept(0, 0))
    return Retention(age, joined, *kept)


def list_link(chosen: ChosenRange, **conditions: str) -> str:
    """The subscribers behind a number: those who joined in the range and meet the conditions."""
    joined = {
        "joined_from": chosen.period.first.isoformat(),
        "joined_to": chosen.period.last.isoformat(),
    }
    return f"/subscribers?{urlencode({'origin': NOT_IMPORTED, **conditions, **joined})}"


class ShownChange(NamedTuple):
    text: str
    """Such as "18%", or nothing if there is nothing to compare with."""
    is_up: bool


def change(now: int, before: int | None) -> ShownChange:
    """A percentage, or on a small base, or if it is under half a percent, just the difference."""
    if before is None or now == before:
        return ShownChange("", True)
    difference = abs(now - before)
    percent = round(100 * difference / before) if before >= LEAST_FOR_PERCENT else 0
    return ShownChange(f"{percent:,}%" if percent else f"{difference:,}", now > before)


def share(part: int, whole: int) -> str:
    """A percentage, or on a small base both numbers: "94%", "7 of 8"."""
    return formats.share(part, whole) if whole >= LEAST_FOR_PERCENT else f"{part:,} of {whole:,}"


def per_referrer(referrers: Referrers | None) -> str | None:
    if referrers is None or not referrers.n or referrers.has_others:
        return None
    return f"{referrers.referrals / referrers.n:.1f}"
