"""Counts of a campaign that the database keeps: all signups ever, referrals to review, the best
advocates. The numbers of a period: `statistics`."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.tenant import Tenant
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers.reasons import facts_of


class EverJoined(NamedTuple):
    """All signups, imported ones too, and what became of their referrals."""

    signups: int
    verified: int
    pending: int
    rejected: int


class Advocate(NamedTuple):
    id: str
    email: str
    name: str | None
    referrals_verified: int
    referrals_pending: int


class FirstDue(NamedTuple):
    due_ms: int
    reason: str

    @property
    def outcome(self) -> str:
        """What it becomes then."""
        return "rejected" if facts_of(self.reason).ends_as else "verified"


_sql = beside(__file__)
_TOP = _sql.query("top", Advocate)
_EVER = _sql.query("ever", EverJoined)
_SUSPECTED = _sql.value("suspected", int)
_FIRST_SUSPECTED = _sql.query("first_suspected", FirstDue)


async def ever(tx: Tx, tenant: Tenant) -> EverJoined:
    found = await tx.one(_EVER, account_id=tenant.account_id, campaign_id=tenant.campaign_id)
    return found or EverJoined(0, 0, 0, 0)


async def suspected(tx: Tx, tenant: Tenant, *, most: int) -> int:
    """How many referrals wait for a person to review them, counted up to `most`. A holding period
    waits for time and an address for its confirmation, so neither counts."""
    return await tx.one(_SUSPECTED, campaign_id=tenant.campaign_id, most=most) or 0


async def first_suspected(tx: Tx, tenant: Tenant) -> FirstDue | None:
    """The one that is decided by itself first, of those that wait for a review."""
    return await tx.one(_FIRST_SUSPECTED, campaign_id=tenant.campaign_id)


async def top_advocates(tx: Tx, tenant: Tenant, *, most: int) -> list[Advocate]:
    """Of all time."""
    return await tx.all(_TOP, campaign_id=tenant.campaign_id, most=most)
