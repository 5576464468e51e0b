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
from honeyguide.store.tx import Tx
from honeyguide.subscribers import statistics
from honeyguide.subscribers.cohorts import OTHER
from honeyguide.subscribers.origins import LABELS
from honeyguide.subscribers.statistics import Kept, PeriodTotals, Referrers, SourceCount, Span
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


class CountedSpan(NamedTuple):
    span: Span
    days: dict[date, PeriodTotals]
    total: PeriodTotals

    def whole(self, by: str) -> int:
        """How many there are of all sources of a kind together."""
        return self.total.clicks if by == "site" else self.total.new


class Numbers(NamedTuple):
    span: Span
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
    now, before = await open_range(at, chosen)
    spans = [now.span, before.span] if before else [now.span]
    is_too_long = await statistics.has_too_many_referrers(at.tx, now.span)
    return Numbers(
        span=now.span,
        days=now.days,
        days_before=before.days if before else {},
        now=now.total,
        before=before.total if before else None,
        referrers=TOO_MANY if is_too_long else await statistics.referrers(at.tx, now.span),
        referrers_before=await _referrers_before(at.tx, before.span if before else None),
        top=[] if is_too_long else await statistics.advocates(at.tx, now.span, most=top),
        reasons=await statistics.ranked(at.tx, now.span, "reason", most=20),
        sources=await sources(at.tx, now, before, by, most=MOST_SOURCES),
        retention=[await _retention(at, chosen, age) for age in AGES],
        is_counted=all(each.is_counted for each in spans),
        stored_ms=min((each.stored_ms for each in spans if each.stored_ms), default=None),
    )


async def open_range(at: Reading, chosen: ChosenRange) -> tuple[CountedSpan, CountedSpan | None]:
    """The range, and what it is compared with."""
    now = await _count_span(at.tx, await statistics.open_span(at, chosen.period))
    if chosen.comparison is None:
        return now, None
    before = await statistics.open_span(at, chosen.comparison, until_ms=chosen.comparison_until_ms)
    return now, await _count_span(at.tx, before)


async def _count_span(tx: Tx, span: Span) -> CountedSpan:
    days = await statistics.by_day(tx, span)
    return CountedSpan(span, days, statistics.total(days.values()))


async def _referrers_before(tx: Tx, before: Span | None) -> Referrers | None:
    if before is None or await statistics.has_too_many_referrers(tx, before):
        return None
    return await statistics.referrers(tx, before)


async def sources(
    tx: Tx, now: CountedSpan, before: CountedSpan | None, by: str, *, most: int
) -> list[SourceRow]:
    """The most common sources of a kind: new subscribers, or clicks by the site they came from. The
    last row is all others together."""
    shown = await _ranked(tx, now.span, by, most=most)
    earlier: dict[str, int] | None = None
    if before is not None:
        ranked = await _ranked(tx, before.span, by, most=MOST_SOURCES_IN_FILE)
        earlier = {key: ranked.get(key, 0) for key in shown}
    rows = [
        SourceRow(key, source_name(by, key), count, None if earlier is None else earlier[key])
        for key, count in shown.items()
    ]
    others = now.whole(by) - sum(shown.values())
    if others:
        others_before = None
        if before is not None and earlier is not None:
            others_before = before.whole(by) - sum(earlier.values())
        rows.append(SourceRow("", "Others", others, others_before))
    return rows


async def _ranked(tx: Tx, span: Span, by: str, *, most: int) -> dict[str, int]:
    """Without those that were too many to count each."""
    if by == "site":
        found = {each.host: each.n for each in await statistics.hosts(tx, span, most=most + 1)}
    else:
        ranked = await statistics.ranked(tx, span, by, most=most + 1)
        found = {each.key: each.joined for each in ranked}
    found.pop(OTHER, None)
    return dict(list(found.items())[:most])


def source_name(by: str, key: str) -> str:
    if by == "origin":
        return LABELS.get(key, key.replace("_", " ").capitalize())
    return key or ("Not known" if by == "site" else "None")


async def _retention(at: Reading, chosen: ChosenRange, age: int) -> Retention:
    """Of those whose day 30 or 90 is over and falls in the range."""
    yesterday = day_of(at.now_ms, chosen.period.zone) - timedelta(days=1)
    last = min(chosen.period.last, yesterday)
    if last < chosen.period.first:
        return Retention(age, None, Kept(0, 0), Kept(0, 0))
    joined = chosen.period._replace(last=last).shifted(-age)
    span = await statistics.open_span(at, joined)
    return Retention(age, joined, *await statistics.retention(at.tx, span, days=age))


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
