"""How many rewards were earned in a period. A limited number of rows is read, so that Home costs
the same for any campaign.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.rewards.earned_rewards import EARNED_STATUSES
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside

MOST_EARNED = 1_000


class RewardCounts(NamedTuple):
    """Rewards earned in a period, by what became of them. Each is counted up to
    `MOST_EARNED` + 1, which means that there are more."""

    awaiting: int
    unlocked: int
    out_of_stock: int
    redeemed: int


class _StatusCount(NamedTuple):
    status: str
    n: int


_sql = beside(__file__)
_EARNED = _sql.query("earned", _StatusCount)


async def earned(at: Reading, *, since_ms: int, until_ms: int) -> RewardCounts:
    most = MOST_EARNED + 1
    found = await at.all(
        _EARNED, statuses=EARNED_STATUSES, since_ms=since_ms, until_ms=until_ms, most=most
    )
    counts = {each.status: each.n for each in found}
    return RewardCounts(*(counts[status] for status in EARNED_STATUSES))
