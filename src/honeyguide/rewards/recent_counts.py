"""Totals for Home that the database does not keep. Each reads a limited number of rows and
says when it stopped there, so that the page costs the same for any campaign.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.tenant import Tenant
from honeyguide.rewards.earned_rewards import AWAITING, EARNED_STATUSES
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

MOST_EARNED = 1_000
FOREVER_MS = 2**62


class RewardCounts(NamedTuple):
    """Rewards earned in a period, by what became of them. Each is counted up to
    `MOST_EARNED` + 1, which means that there are more."""

    awaiting: int
    unlocked: int
    out_of_stock: int
    redeemed: int


_sql = beside(__file__)
_EARNED = _sql.value("earned", int)
_WITHOUT_CODE = _sql.value("without_code", int)


async def earned(tx: Tx, tenant: Tenant, *, since_ms: int, until_ms: int) -> RewardCounts:
    return RewardCounts(
        *[await _count(tx, tenant, status, since_ms, until_ms) for status in EARNED_STATUSES]
    )


async def to_approve(tx: Tx, tenant: Tenant) -> int:
    """Rewards that wait for the operator, whenever they were earned, counted as `earned` counts."""
    return await _count(tx, tenant, AWAITING)


async def without_code(tx: Tx, tenant: Tenant) -> int:
    """Rewards that wait for coupon codes, whenever they were earned."""
    return await tx.one(_WITHOUT_CODE, campaign_id=tenant.campaign_id, most=MOST_EARNED + 1) or 0


async def _count(
    tx: Tx, tenant: Tenant, status: str, since_ms: int = 0, until_ms: int = FOREVER_MS
) -> int:
    return (
        await tx.one(
            _EARNED,
            campaign_id=tenant.campaign_id,
            status=status,
            since_ms=since_ms,
            until_ms=until_ms,
            most=MOST_EARNED + 1,
        )
        or 0
    )
