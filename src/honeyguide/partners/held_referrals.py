"""How many referrals a program's screening level keeps from counting, and what is wrong with live
programs over all accounts.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers.reasons import SUSPICIONS

HELD_DAYS = 30
# A share of fewer says nothing; of more, the newest say enough.
LEAST_ARRIVED, MOST_ARRIVED = 20, 1_000
HIGH_PERCENT = 20


class HeldShare(NamedTuple):
    """Of the newest referrals of 30 days, how many the level kept from counting."""

    arrived: int
    held: int

    @property
    def is_high(self) -> bool:
        return self.arrived >= LEAST_ARRIVED and self.held * 100 > self.arrived * HIGH_PERCENT

    @property
    def percent(self) -> int:
        return self.held * 100 // max(1, self.arrived)


class ProgramHealth(NamedTuple):
    """Live programs, over all accounts."""

    needing_email: int
    holding_many: int


_sql = beside(__file__)
_COUNT_HELD = _sql.query("count_held", HeldShare)
_HEALTH = _sql.query("health", ProgramHealth)


async def count_held(tx: Tx, account_id: str, program_id: str) -> HeldShare:
    found = await tx.one(
        _COUNT_HELD,
        account_id=account_id,
        program_id=program_id,
        since_ms=tx.now_ms - HELD_DAYS * DAY_MS,
        most=MOST_ARRIVED,
        reasons=[*SUSPICIONS, "unreviewed"],
    )
    assert found is not None  # it only counts
    return found


async def health(tx: Tx) -> ProgramHealth:
    """For the check of the whole installation. What levels hold is as of the last daily count."""
    found = await tx.one(_HEALTH, least=LEAST_ARRIVED, percent=HIGH_PERCENT)
    assert found is not None  # it only counts
    return found
