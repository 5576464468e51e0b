"""People by the day they joined, in the account's time zone: counted once by a job and stored, and
counted again when anything about that day's people changes.

The page index marks the days that changed (`mark`). `begin_job`, `count_slice` and `save_job` are
the steps of the job. Reading the counts: `statistics`.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from datetime import date
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from honeyguide.kernel.clock import MINUTE_MS
from honeyguide.kernel.periods import LocalDay, Period, day_of, days_later
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

GROUPS = ("imported", "by_subscribers", "by_partners", "not_referred")
# How many keys of one kind are kept for one day; the rest is one key, `OTHER`.
MOST_KEYS = {
    "group": len(GROUPS),
    "referrer": 2_000,
    "reason": 100,
    "origin": 100,
    "utm_source": 200,
    "utm_campaign": 200,
}
OTHER = "(other)"
# A campaign is counted again at most this often. UTC days counted in one transaction.
EVERY_MS = 5 * MINUTE_MS
BATCH_DAYS = 7
# People counted in one snapshot: SQLite cannot shorten its log while a snapshot is read.
SLICE_ROWS = 5_000
# Campaigns found in one pass over all of them.
COUNTING = "count who joined on each day"
MOST_DUE = 100


class CohortCount(NamedTuple):
    kind: str
    day: str
    key: str
    joined: int
    verified: int
    pending: int
    rejected: int
    followed: int
    left_30: int
    left_90: int


class CohortState(NamedTuple):
    zone: str
    built_ms: int | None


class ChangedDay(NamedTuple):
    day_ms: int
    n: int


class CountJob(NamedTuple):
    """What one batch of the job counts."""

    tenant: Tenant
    zone: ZoneInfo
    changes: list[ChangedDay]
    is_last: bool

    @property
    def days(self) -> list[LocalDay]:
        days = sorted(set().union(*(_days_around(change.day_ms) for change in self.changes)))
        return [Period(day, day, self.zone).days[0] for day in days]


class CountedSlice(NamedTuple):
    counts: list[CohortCount]  # of all slices so far
    rest: list[LocalDay]  # what is not counted yet


class DueCampaign(NamedTuple):
    account_id: str
    campaign_id: str
    zone: str
    built_zone: str | None

    @property
    def id(self) -> str:
        return self.campaign_id


_sql = beside(__file__)
_COUNT = _sql.query("count", CohortCount)
_SLICE_END = _sql.value("slice_end", int)
_PEOPLE_UP_TO = _sql.value("people_up_to", int)
_CHANGED = _sql.value("changed", int)
_STATE = _sql.query("state", CohortState)
_DUE_CAMPAIGNS = _sql.query("due_campaigns", DueCampaign)
_NEXT_CHANGES = _sql.query("next_changes", ChangedDay)
_MARK = _sql.command("mark")
_MARK_ALL = _sql.command("mark_all")
_SET_STATE = _sql.command("set_state")
_DELETE_DAYS = _sql.command("delete_days")
_INSERT_COUNTS = _sql.command("insert_counts")
_UNMARK = _sql.command("unmark")
_ERASE = _sql.command("erase")


# Rows of the index that are read, imported subscribers included: about 4 microseconds each.
MOST_READ = 10_000


class JoinedSubscriber(NamedTuple):
    id: str
    created_ms: int
    status: str
    reason: str
    is_referred: bool
    partner_campaign_id: str | None
    referrer_id: str | None
    """None also if the referrer was erased."""
    referrer_name: str | None
    referrer_email: str | None
    above_id: str | None
    """The subscriber who referred the referrer."""
    above_partner_id: str | None


_JOINED = _sql.query("joined", JoinedSubscriber)
_NEWEST = _sql.value("newest", int)


def _rows(days: list[LocalDay]) -> list[dict[str, Any]]:
    return [{**day._asdict(), "day": day.day.isoformat()} for day in days]


async def count_days(at: Reading, days: list[LocalDay]) -> list[list[CohortCount]]:
    """Counts the people themselves, for each of these days. It takes as long as there are people on
    them."""
    rows = [{**day._asdict(), "day": str(place)} for place, day in enumerate(days)]
    found: list[list[CohortCount]] = [[] for _ in days]
    for each in await at.all(_COUNT, days=rows):
        place = int(each.day)
        found[place].append(each._replace(day=days[place].day.isoformat()))
    return found


async def count(at: Reading, days: list[LocalDay]) -> list[CohortCount]:
    return [each for counts in await count_days(at, days) for each in counts]


async def people_up_to(at: Reading, days: list[LocalDay], most: int) -> int:
    return await at.one(_PEOPLE_UP_TO, days=_rows(days), most=most) or 0


async def changed_days(at: Reading) -> set[date]:
    """The days to count again, in any zone."""
    found = await at.all(_CHANGED)
    return set().union(*(_days_around(day_ms) for day_ms in found))


def _days_around(day_ms: int) -> set[date]:
    """The days that a UTC day can be part of: before or after it the date may be another one. SQL
    rounds moments before 1970 up, so theirs may also be the UTC day before.
    """
    day = day_of(day_ms, ZoneInfo("UTC"))
    return {days_later(day, n) for n in ((-2, -1, 0, 1) if day_ms <= 0 else (-1, 0, 1))}


async def find_state(at: Reading) -> CohortState | None:
    return await at.one(_STATE)


async def mark(tx: Tx, tenant: Tenant, day_ms: int) -> None:
    """Something about somebody who joined on this UTC day changed."""
    await tx.put(_MARK, account_id=tenant.account_id, campaign_id=tenant.campaign_id, day_ms=day_ms)


async def erase(change: Change, created_ms: int, claims: list[str | None]) -> None:
    """Deletes what an erased person told us, which may be in the counts of their day."""
    keys = [key for key in claims if key]
    if keys:
        await change.run(
            _ERASE,
            kinds=["utm_source", "utm_campaign"],
            days=[day.isoformat() for day in _days_around(created_ms)],
            keys=keys,
        )


# -- the job


async def due_campaigns(tx: Tx, *, most: int) -> list[DueCampaign]:
    return await tx.all(_DUE_CAMPAIGNS, before_ms=tx.now_ms - EVERY_MS, most=most)


async def begin_job(tx: Tx, due: DueCampaign) -> CountJob:
    """What to count of this campaign next. One whose zone changed begins anew."""
    tenant = Tenant(due.account_id, due.campaign_id)
    tenant_params = tenant._asdict()
    if due.zone != due.built_zone:
        await tx.run(_MARK_ALL, **tenant_params)
        await tx.run(_SET_STATE, **tenant_params, zone=due.zone, built_ms=None)
    changes = await tx.all(_NEXT_CHANGES, **tenant_params, most=BATCH_DAYS)
    return CountJob(tenant, ZoneInfo(due.zone), changes, len(changes) < BATCH_DAYS)


async def count_slice(at: Reading, days: list[LocalDay], so_far: list[CohortCount]) -> CountedSlice:
    """Counts the first people of these days. Nobody is in two slices, because the moment somebody
    joined never changes. If anything else changes meanwhile, the day is counted again."""
    rest: list[LocalDay] = []
    end_ms = await at.one(
        _SLICE_END,
        since_ms=days[0].since_ms,
        until_ms=days[-1].until_ms,
        rows=SLICE_ROWS,
    )
    if end_ms is not None:
        days, rest = _split(days, max(end_ms, days[0].since_ms + 1))
    counts = _added(so_far, await count(at, days))
    return CountedSlice(counts if rest else _most_common(counts), rest)


def _split(days: list[LocalDay], at_ms: int) -> tuple[list[LocalDay], list[LocalDay]]:
    """The days before and after a moment; the day of that moment is in both, in part."""
    before = [
        day._replace(until_ms=min(day.until_ms, at_ms)) for day in days if day.since_ms < at_ms
    ]
    after = [
        day._replace(since_ms=max(day.since_ms, at_ms)) for day in days if day.until_ms > at_ms
    ]
    return before, after


def _added(first: list[CohortCount], second: list[CohortCount]) -> list[CohortCount]:
    sums = {each[:3]: each for each in first}
    for each in second:
        known = sums.get(each[:3])
        numbers = map(operator.add, known[3:], each[3:]) if known is not None else each[3:]
        sums[each[:3]] = CohortCount(*each[:3], *numbers)
    return list(sums.values())


async def save_job(tx: Tx, job: CountJob, counts: list[CohortCount]) -> None:
    """Replaces the counts of these days. `now_ms` is from before they were counted."""
    tenant_params = job.tenant._asdict()
    days = [day.day.isoformat() for day in job.days]
    await tx.run(_DELETE_DAYS, **tenant_params, kinds=list(MOST_KEYS), days=days)
    await tx.run(_INSERT_COUNTS, **tenant_params, counts=[each._asdict() for each in counts])
    await tx.run(_UNMARK, **tenant_params, changes=[change._asdict() for change in job.changes])
    if job.is_last:
        await tx.run(_SET_STATE, **tenant_params, zone=job.zone.key, built_ms=tx.now_ms)


def _most_common(counts: list[CohortCount]) -> list[CohortCount]:
    """Up to `MOST_KEYS` of each kind and day, and the sum of the others."""
    by_kind: dict[tuple[str, str], list[CohortCount]] = defaultdict(list)
    for each in counts:
        by_kind[each.kind, each.day].append(each)
    kept = []
    for (kind, day), found in by_kind.items():
        found.sort(key=lambda each: (each.joined, each.key), reverse=True)
        most = MOST_KEYS[kind]
        kept += found[:most]
        if rest := found[most:]:
            sums = [sum(numbers) for numbers in zip(*(each[3:] for each in rest), strict=True)]
            kept.append(CohortCount(kind, day, OTHER, *sums))
    return kept


async def joined_in(at: Reading, period: Period, *, most: int) -> list[JoinedSubscriber]:
    """The subscribers who joined then, the newest first, each with whoever referred them. Imported
    ones are left out. What is read is limited; larger periods are counted instead."""
    return await at.all(
        _JOINED, since_ms=period.since_ms, until_ms=period.until_ms, most_read=MOST_READ, most=most
    )


async def newest_joined_ms(at: Reading) -> int:
    """When the last one joined, imported or not; 0 if there is nobody."""
    return await at.one(_NEWEST) or 0
