"""A campaign's days, from counts that the database keeps: signups, referrals by status, clicks."""

from __future__ import annotations

from typing import Any, NamedTuple

from honeyguide.kernel.tenant import Tenant
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class Day(NamedTuple):
    """Subscribers by the day they joined, and what became of their referrals. Those not referred
    joined directly."""

    day_ms: int
    signups: int
    verified: int
    pending: int
    rejected: int
    clicks: int = 0

    @property
    def direct(self) -> int:
        return self.signups - self.verified - self.pending - self.rejected


class Clicks(NamedTuple):
    day_ms: int
    n: int


class Advocate(NamedTuple):
    id: str
    email: str
    name: str | None
    referrals_verified: int
    referrals_pending: int


_sql = beside(__file__)
_DAYS = _sql.query("days", Day)
_CLICKS = _sql.query("clicks", Clicks)
_EVER = _sql.query("ever", Day)
_SUSPECTED = _sql.value("suspected", int)
_TOP = _sql.query("top", Advocate)


async def between(tx: Tx, tenant: Tenant, since_ms: int, until_ms: int) -> list[Day]:
    """Each day on which anything happened, in order; `until_ms` is not included."""
    whose: dict[str, Any] = {"account_id": tenant.account_id, "campaign_id": tenant.campaign_id}
    whose |= {"since_ms": since_ms, "until_ms": until_ms}
    days = {day.day_ms: day for day in await tx.all(_DAYS, **whose)}
    for click in await tx.all(_CLICKS, **whose):
        days[click.day_ms] = days.get(click.day_ms, Day(click.day_ms, 0, 0, 0, 0))._replace(
            clicks=click.n
        )
    return [days[day_ms] for day_ms in sorted(days)]


async def ever(tx: Tx, tenant: Tenant) -> Day:
    """All days as one."""
    found = await tx.one(_EVER, account_id=tenant.account_id, campaign_id=tenant.campaign_id)
    return found or Day(0, 0, 0, 0, 0)


async def suspected(tx: Tx, tenant: Tenant, *, most: int) -> int:
    """How many referrals wait for a person to review them, counted up to `most`. A holding period
    waits for time and an address for its confirmation, so neither counts."""
    return await tx.one(_SUSPECTED, campaign_id=tenant.campaign_id, most=most) or 0


async def top_advocates(tx: Tx, tenant: Tenant, *, most: int) -> list[Advocate]:
    return await tx.all(_TOP, campaign_id=tenant.campaign_id, most=most)
