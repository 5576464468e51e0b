"""Totals for the overview that the database does not keep. Each reads a limited number of rows and
says when it stopped there, so that the page costs the same for any campaign.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.tenant import Tenant
from honeyguide.referrals.earned_rewards import AWAITING, OUT_OF_STOCK, REDEEMED, UNLOCKED
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

MOST_REJECTED = 1_000
MOST_ADVOCATES = 10_000
MOST_EARNED = 1_000


class Rejected(NamedTuple):
    reason: str
    n: int


class RewardCounts(NamedTuple):
    """Rewards earned since a moment, by what became of them. Each is counted up to
    `MOST_EARNED` + 1, which means that there are more."""

    awaiting: int
    out_of_stock: int
    unlocked: int
    redeemed: int


_sql = beside(__file__)
_REJECTED = _sql.query("rejected", Rejected)
_ADVOCATES_REFERRALS = _sql.value("advocates_referrals", int)
_EARNED = _sql.value("earned", int)


async def rejected(tx: Tx, tenant: Tenant, *, since_ms: int) -> list[Rejected]:
    """Why referrals since then were rejected, most common first, among the newest
    `MOST_REJECTED`."""
    return await tx.all(
        _REJECTED, campaign_id=tenant.campaign_id, since_ms=since_ms, most=MOST_REJECTED
    )


async def advocates_referrals(tx: Tx, tenant: Tenant) -> int:
    """How many verified referrals the best `MOST_ADVOCATES` advocates made. Partners' referrals do
    not count here, because no subscriber made them."""
    return (
        await tx.one(_ADVOCATES_REFERRALS, campaign_id=tenant.campaign_id, most=MOST_ADVOCATES) or 0
    )


async def earned(tx: Tx, tenant: Tenant, *, since_ms: int) -> RewardCounts:
    return RewardCounts(
        *[
            await _count(tx, tenant, status, since_ms)
            for status in (AWAITING, OUT_OF_STOCK, UNLOCKED, REDEEMED)
        ]
    )


async def to_approve(tx: Tx, tenant: Tenant) -> int:
    """Rewards that wait for the operator, whenever they were earned, counted as `earned` counts."""
    return await _count(tx, tenant, AWAITING, 0)


async def _count(tx: Tx, tenant: Tenant, status: str, since_ms: int) -> int:
    return (
        await tx.one(
            _EARNED,
            campaign_id=tenant.campaign_id,
            status=status,
            since_ms=since_ms,
            most=MOST_EARNED + 1,
        )
        or 0
    )
