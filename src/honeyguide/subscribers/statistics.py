"""What happened in a campaign in a period: who joined, how, through whom, and who stayed.

People belong to the day they joined, cut in the account's time zone. Imported people are counted
apart and are in no other number. Erased people are in none. A referral counts with the status it
has now, so only numbers without a status may be compared between periods of different age.

Counts come from `cohorts`, which a job keeps. Days that changed since are counted here and now, so
that numbers are exact, unless too many people joined on them: then they are as of the job's last
run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import date
from typing import Any, NamedTuple

from honeyguide.kernel.periods import LocalDay, Period
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import cohorts, referral_states
from honeyguide.subscribers.cohorts import CohortCount

# People counted while a page waits, at about 4 microseconds each.
MOST_LIVE = 10_000
# Referrers of single days that are added up while a page waits, at about 6 microseconds each.
MOST_REFERRER_ROWS = 30_000
EVERYBODY = 2**62


class PeriodTotals(NamedTuple):
    new: int = 0
    by_subscribers: int = 0
    by_partners: int = 0
    verified: int = 0
    pending: int = 0
    rejected: int = 0
    imported: int = 0
    clicks: int = 0

    @property
    def referred(self) -> int:
        """By subscribers and partners, whatever the referral's status."""
        return self.by_subscribers + self.by_partners

    @property
    def not_referred(self) -> int:
        return self.new - self.referred


class PeriodAdvocate(NamedTuple):
    """A subscriber and those of their referrals who joined in the period."""

    id: str
    email: str
    name: str | None
    referrals_ever: int
    adjustments: int
    verified: int
    pending: int
    rejected: int

    @property
    def toward_rewards(self) -> int:
        return referral_states.toward_rewards(self.referrals_ever, self.adjustments)


class SourceCount(NamedTuple):
    kind: str
    key: str
    n: int
    n_before: int
    """In the second span; 0 if there is none."""


class Referrers(NamedTuple):
    """How many subscribers referred somebody in the period, and whom they referred."""

    n: int
    referrals: int
    has_others: bool
    """Whether some day had too many of them to count each."""


class Kept(NamedTuple):
    """Of the people whose whole time is known, how many stayed."""

    followed: int
    stayed: int


class Span(NamedTuple):
    """A period, opened for reading: which of its days were counted just now, and their counts."""

    period: Period
    days: list[LocalDay]
    live_days: set[LocalDay]
    live: list[CohortCount]
    groups: list[CohortCount]
    """By day: how many were imported, referred by subscribers, by partners, and not referred."""
    is_counted: bool
    """False if the job has not counted this campaign yet, and it is too large to do it now."""
    stored_ms: int | None
    """As of when, if some day changed since and was too large to be counted now."""


class CutPeriod(NamedTuple):
    period: Period
    until_ms: int | None = None
    """Where its last day is cut, if it is. That part is counted by itself."""


class _DayClicks(NamedTuple):
    day: str
    n: int


class _PlaceCount(NamedTuple):
    place: int
    n: int


_sql = beside(__file__)
_GROUPS = _sql.query("groups", lambda place, *count: (place, CohortCount(*count)))
_CLICKS = _sql.query("clicks", _DayClicks)
_RANKED = _sql.query("ranked", SourceCount)
_REFERRERS = _sql.query("referrers", lambda place, *count: (place, Referrers(*count)))
_REFERRER_ROWS = _sql.query("referrer_rows", _PlaceCount)
_ADVOCATES = _sql.query("advocates", PeriodAdvocate)
_HOSTS = _sql.query("hosts", lambda *count: SourceCount("site", *count))


class EverJoined(NamedTuple):
    """All signups, imported ones too, and what became of their referrals."""

    signups: int
    verified: int
    pending: int
    rejected: int

    @property
    def referred(self) -> int:
        return self.verified + self.pending + self.rejected


class Advocate(NamedTuple):
    id: str
    email: str
    name: str | None
    referrals_verified: int
    referrals_pending: int


_TOP = _sql.query("top", Advocate)
_EVER = _sql.query("ever", EverJoined)


async def open_spans(at: Reading, *asked: CutPeriod, most_live: int = MOST_LIVE) -> list[Span]:
    """Needs the same snapshot as what is read from them."""
    state, changed = await cohorts.find_state(at), await cohorts.changed_days(at)
    built_ms = None
    if state is not None and state.zone == asked[0].period.zone.key:
        built_ms = state.built_ms
    days, live = [], []
    for each in asked:
        found, cut = _days_of(each)
        days.append(found)
        live.append([day for day in found if built_ms is None or day.day in changed or day is cut])
    counts = await _count_live(at, live, most_live)
    spans = [
        Span(
            period=asked[place].period,
            days=days[place],
            live_days=set() if counted is None else set(live[place]),
            live=[each for each in counted or () if each.kind != "group"],
            groups=[each for each in counted or () if each.kind == "group"],
            is_counted=built_ms is not None or counted is not None,
            stored_ms=built_ms if counted is None else None,
        )
        for place, counted in enumerate(counts)
    ]
    for place, stored in await at.all(_GROUPS, ranges=_stored_ranges(spans)):
        spans[place].groups.append(stored)
    return spans


def _days_of(asked: CutPeriod) -> tuple[list[LocalDay], LocalDay | None]:
    """The days, and the one that is cut."""
    period, until_ms = asked
    if until_ms is None or until_ms >= period.until_ms:
        return period.days, None
    days = [day for day in period.days if day.since_ms < until_ms]
    days[-1] = days[-1]._replace(until_ms=until_ms)
    return days, days[-1]


async def _count_live(
    at: Reading, live: list[list[LocalDay]], most: int
) -> list[list[CohortCount] | None]:
    """For each span; None if too many joined on its days. Together, unless that is too many."""
    every = list(dict.fromkeys(day for days in live for day in days))
    people = await cohorts.people_up_to(at, every, min(most, EVERYBODY) + 1) if every else 0
    if people > most:
        if len(live) == 1:
            return [None]
        return [(await _count_live(at, [days], most))[0] for days in live]
    counts = await cohorts.count_days(at, every) if people else [[] for _ in every]
    found = dict(zip(every, counts, strict=True))
    return [[each for day in days for each in found[day]] for days in live]


def _stored_ranges(spans: list[Span]) -> list[dict[str, Any]]:
    """The days between those that were counted just now."""
    ranges: list[dict[str, Any]] = []
    for place, span in enumerate(spans):
        is_within = False
        for day in span.days:
            text = day.day.isoformat()
            if day in span.live_days:
                is_within = False
            elif is_within:
                ranges[-1]["last"] = text
            else:
                ranges.append({"place": place, "first": text, "last": text})
                is_within = True
    return ranges


def _counts_of(spans: list[Span], *kinds: str) -> dict[str, Any]:
    """The counts of some kinds: what every statement on them binds."""
    return {
        "ranges": _stored_ranges(spans),
        "live": [
            {"place": place, **each._asdict()}
            for place, span in enumerate(spans)
            for each in span.live
            if each.kind in kinds
        ],
    }


async def by_day(at: Reading, spans: list[Span]) -> list[dict[date, PeriodTotals]]:
    """Every day of each span, also those on which nothing happened. No day may be in two."""
    days = [{**day._asdict(), "day": day.day.isoformat()} for span in spans for day in span.days]
    clicks = {each.day: each.n for each in await at.all(_CLICKS, days=days)}
    return [_totals_by_day(span, clicks) for span in spans]


def _totals_by_day(span: Span, clicks: dict[str, int]) -> dict[date, PeriodTotals]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in span.groups:
        found = counts[each.day]
        found[each.key] += each.joined
        if each.key != "imported":
            found["new"] += each.joined
            found["verified"] += each.verified
            found["pending"] += each.pending
            found["rejected"] += each.rejected
    for day, n in clicks.items():
        counts[day]["clicks"] = n
    return {
        day.day: PeriodTotals(
            **{name: counts[day.day.isoformat()][name] for name in PeriodTotals._fields}
        )
        for day in span.days
    }


def total(days: Iterable[PeriodTotals]) -> PeriodTotals:
    return PeriodTotals(*map(sum, zip(PeriodTotals(), *days, strict=True)))


def retention(span: Span, *, days: int) -> tuple[Kept, Kept]:
    """Of the referred subscribers who joined in this span, and of the others: how many were still
    subscribed after 30 or 90 days. Subscribers who came back count as subscribed."""
    referred, others = Kept(0, 0), Kept(0, 0)
    for each in span.groups:
        stayed = each.followed - (each.left_30 if days == 30 else each.left_90)
        if each.key in ("by_subscribers", "by_partners"):
            referred = Kept(referred.followed + each.followed, referred.stayed + stayed)
        elif each.key == "not_referred":
            others = Kept(others.followed + each.followed, others.stayed + stayed)
    return referred, others


async def ranked(
    at: Reading, spans: list[Span], kinds: list[str], *, most: int
) -> list[SourceCount]:
    """The most common keys of each kind in the first span: origin, utm_source, utm_campaign or
    reason. There may be a second one."""
    return await at.all(_RANKED, **_counts_of(spans, *kinds), kinds=kinds, most=most)


async def hosts(at: Reading, spans: list[Span], *, most: int) -> list[SourceCount]:
    """The sites that clicks came from."""
    periods = [
        {"place": place, "since_ms": each.period.since_ms, "until_ms": each.days[-1].until_ms}
        for place, each in enumerate(spans)
    ]
    return await at.all(_HOSTS, periods=periods, most=most)


async def referrers(at: Reading, spans: list[Span]) -> list[Referrers | None]:
    """None for a span that would take too long for a page."""
    rows = await at.all(
        _REFERRER_ROWS,
        ranges=_stored_ranges(spans),
        places=[{"place": place} for place in range(len(spans))],
        most=MOST_REFERRER_ROWS + 1,
    )
    short = [each.place for each in rows if each.n <= MOST_REFERRER_ROWS]
    found = dict(
        await at.all(_REFERRERS, **_counts_of([spans[place] for place in short], "referrer"))
    )
    counts = {
        place: found.get(n, Referrers(0, 0, has_others=False)) for n, place in enumerate(short)
    }
    return [counts.get(place) for place in range(len(spans))]


async def advocates(at: Reading, span: Span, *, most: int) -> list[PeriodAdvocate]:
    """Those with most verified referrals in the span, then with most pending ones."""
    # Some of the best may be erased.
    return await at.all(
        _ADVOCATES, **_counts_of([span], "referrer"), most=most, looked_at=most + 100
    )


async def period_totals(at: Reading, *periods: Period) -> list[PeriodTotals]:
    """Of periods that share no day."""
    spans = await open_spans(at, *map(CutPeriod, periods), most_live=EVERYBODY)
    return [total(days.values()) for days in await by_day(at, spans)]


async def top_advocates(at: Reading, period: Period, *, most: int) -> list[PeriodAdvocate]:
    (span,) = await open_spans(at, CutPeriod(period), most_live=EVERYBODY)
    return await advocates(at, span, most=most)


async def count_ever(at: Reading) -> EverJoined:
    found = await at.one(_EVER)
    return found or EverJoined(0, 0, 0, 0)


async def top_advocates_ever(at: Reading, *, most: int) -> list[Advocate]:
    """Of all time."""
    return await at.all(_TOP, most=most)
