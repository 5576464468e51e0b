"""The subscribers who joined in a period, each with whoever referred them. Imported ones are left
out. What is read is limited; larger periods are counted instead (`statistics`)."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.periods import Period
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside

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


_sql = beside(__file__)
_JOINED = _sql.query("joined", JoinedSubscriber)
_NEWEST = _sql.value("newest", int)


async def in_period(at: Reading, period: Period, *, most: int) -> list[JoinedSubscriber]:
    """The newest first."""
    return await at.all(
        _JOINED, since_ms=period.since_ms, until_ms=period.until_ms, most_read=MOST_READ, most=most
    )


async def newest_ms(at: Reading) -> int:
    """When the last one joined, imported or not; 0 if there is nobody."""
    return await at.one(_NEWEST) or 0
