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
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
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
    key: str
    joined: int
    verified: int
    pending: int
    rejected: int


class HostClicks(NamedTuple):
    host: str
    n: int


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

    tenant: Tenant
    period: Period
    until_ms: int
    live_days: list[str]
    live: list[CohortCount]
    is_counted: bool
    """False if the job has not counted this campaign yet, and it is too large to do it now."""
    stored_ms: int | None
    """As of when, if some day changed since and was too large to be counted now."""


class _DayClicks(NamedTuple):
    day: str
    n: int


_sql = beside(__file__)
_GROUPS = _sql.query("groups", CohortCount)
_CLICKS = _sql.query("clicks", _DayClicks)
_RANKED = _sql.query("ranked", SourceCount)
_REFERRERS = _sql.query("referrers", Referrers)
_REFERRER_ROWS = _sql.value("referrer_rows", int)
_ADVOCATES = _sql.query("advocates", PeriodAdvocate)
_HOSTS = _sql.query("hosts", HostClicks)
_IMPORTED = _sql.value("imported", int)


async def open_span(
    at: Reading, period: Period, *, until_ms: int | None = None, most_live: int = MOST_LIVE
) -> Span:
    """Needs the same snapshot as what is read from it. With `until_ms`, its last day is cut there:
    that part is counted by itself."""
    days = period.days
    cut: LocalDay | None = None
    if until_ms is not None and until_ms < period.until_ms:
        days = [day for day in days if day.since_ms < until_ms]
        cut = days[-1] = days[-1]._replace(until_ms=until_ms)
    state = await cohorts.find_state(at)
    is_built = state is not None and state.zone == period.zone.key and state.built_ms is not None
    changed = await cohorts.changed_days(at)
    live = [day for day in days if not is_built or day.day in changed or day is cut]
    people = await cohorts.people_up_to(at, live, min(most_live, EVERYBODY) + 1)
    is_small = people <= most_live
    counts: list[CohortCount] = []
    if is_small and people:
        counts = await cohorts.count(at.tx, at.tenant, live)
    return Span(
        tenant=at.tenant,
        period=period,
        until_ms=days[-1].until_ms,
        live_days=[day.day.isoformat() for day in live] if is_small else [],
        live=counts,
        is_counted=is_built or is_small,
        stored_ms=state.built_ms if state and is_built and not is_small else None,
    )


def _span_params(span: Span) -> dict[str, Any]:
    """The stored counts of a span: what every statement on them binds."""
    return {
        **span.tenant._asdict(),
        "first": span.period.first.isoformat(),
        "last": span.period.last.isoformat(),
        "live_days": span.live_days,
    }


def _live_of(span: Span, kind: str) -> list[dict[str, Any]]:
    return [each._asdict() for each in span.live if each.kind == kind]


async def groups(tx: Tx, span: Span) -> list[CohortCount]:
    """By day: how many were imported, referred by subscribers, by partners, and not referred."""
    stored = await tx.all(_GROUPS, **_span_params(span))
    return stored + [each for each in span.live if each.kind == "group"]


async def by_day(tx: Tx, span: Span) -> dict[date, PeriodTotals]:
    """Every day of the span, also those on which nothing happened."""
    days = [day for day in span.period.days if day.since_ms < span.until_ms]
    rows = [{**day._asdict(), "day": day.day.isoformat()} for day in days]
    rows[-1]["until_ms"] = span.until_ms
    clicks = {
        each.day: each.n
        for each in await tx.all(_CLICKS, account_id=span.tenant.account_id, days=rows)
    }
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in await groups(tx, span):
        found = counts[each.day]
        found[each.key] += each.joined
        if each.key != "imported":
            found["new"] += each.joined
            found["verified"] += each.verified
            found["pending"] += each.pending
            found["rejected"] += each.rejected
    return {
        day.day: PeriodTotals(
            **{
                name: counts[day.day.isoformat()][name]
                for name in PeriodTotals._fields
                if name != "clicks"
            },
            clicks=clicks.get(day.day.isoformat(), 0),
        )
        for day in days
    }


def total(days: Iterable[PeriodTotals]) -> PeriodTotals:
    return PeriodTotals(*map(sum, zip(PeriodTotals(), *days, strict=True)))


async def retention(tx: Tx, span: Span, *, days: int) -> tuple[Kept, Kept]:
    """Of the referred subscribers who joined in this span, and of the others: how many were still
    subscribed after 30 or 90 days. Subscribers who came back count as subscribed."""
    referred, others = Kept(0, 0), Kept(0, 0)
    for each in await groups(tx, span):
        stayed = each.followed - (each.left_30 if days == 30 else each.left_90)
        if each.key in ("by_subscribers", "by_partners"):
            referred = Kept(referred.followed + each.followed, referred.stayed + stayed)
        elif each.key == "not_referred":
            others = Kept(others.followed + each.followed, others.stayed + stayed)
    return referred, others


async def ranked(tx: Tx, span: Span, kind: str, *, most: int) -> list[SourceCount]:
    """The most common keys of a kind: origin, utm_source, utm_campaign or reason."""
    return await tx.all(
        _RANKED, **_span_params(span), kind=kind, live=_live_of(span, kind), most=most
    )


async def hosts(tx: Tx, span: Span, *, most: int) -> list[HostClicks]:
    """The sites that clicks came from."""
    return await tx.all(
        _HOSTS,
        account_id=span.tenant.account_id,
        since_ms=span.period.since_ms,
        until_ms=span.until_ms,
        most=most,
    )


async def has_too_many_referrers(tx: Tx, span: Span) -> bool:
    """Whether `referrers` and `advocates` would take too long for a page."""
    rows = await tx.one(_REFERRER_ROWS, **_span_params(span), most=MOST_REFERRER_ROWS + 1) or 0
    return rows > MOST_REFERRER_ROWS


async def referrers(tx: Tx, span: Span) -> Referrers:
    found = await tx.one(_REFERRERS, **_span_params(span), live=_live_of(span, "referrer"))
    return found or Referrers(0, 0, has_others=False)


async def advocates(tx: Tx, span: Span, *, most: int) -> list[PeriodAdvocate]:
    """Those with most verified referrals in the span, then with most pending ones."""
    return await tx.all(
        _ADVOCATES,
        **_span_params(span),
        live=_live_of(span, "referrer"),
        most=most,
        # Some of the best may be erased.
        looked_at=most + 100,
    )


async def has_imported(at: Reading) -> bool:
    """Whether anybody was ever imported, as of the last time the job counted."""
    return await at.one(_IMPORTED) is not None


async def period_totals(at: Reading, period: Period) -> PeriodTotals:
    span = await open_span(at, period, most_live=EVERYBODY)
    return total((await by_day(at.tx, span)).values())


async def top_advocates(at: Reading, period: Period, *, most: int) -> list[PeriodAdvocate]:
    span = await open_span(at, period, most_live=EVERYBODY)
    return await advocates(at.tx, span, most=most)
