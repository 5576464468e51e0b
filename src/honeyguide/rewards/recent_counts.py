"""Totals for Home that the database does not keep. Each reads a limited number of rows and
says when it stopped there, so that the page costs the same for any campaign.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.rewards.earned_rewards import AWAITING, EARNED_STATUSES
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside

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


async def earned(at: Reading, *, since_ms: int, until_ms: int) -> RewardCounts:
    return RewardCounts(
        *[await _count(at, status, since_ms, until_ms) for status in EARNED_STATUSES]
    )


async def to_approve(at: Reading) -> int:
    """Rewards that wait for the operator, whenever they were earned, counted as `earned` counts."""
    return await _count(at, AWAITING)


async def without_code(at: Reading) -> int:
    """Rewards that wait for coupon codes, whenever they were earned."""
    return await at.one(_WITHOUT_CODE, most=MOST_EARNED + 1) or 0


async def _count(at: Reading, status: str, since_ms: int = 0, until_ms: int = FOREVER_MS) -> int:
    return (
        await at.one(
            _EARNED, status=status, since_ms=since_ms, until_ms=until_ms, most=MOST_EARNED + 1
        )
        or 0
    )
