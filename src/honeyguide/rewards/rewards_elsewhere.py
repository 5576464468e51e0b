"""What subscribers earned elsewhere: in another tool, which is only marked so that nobody gets it
twice, or in another installation of ours, which comes along as it is. Nobody is told of either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel import actors
from honeyguide.kernel.ids import new_id
from honeyguide.rewards.earned_rewards import AWAITING, OUT_OF_STOCK
from honeyguide.rewards.rewards import Reward
from honeyguide.store.change import Change
from honeyguide.store.statements import beside


class GivenElsewhere(NamedTuple):
    """A reward that a subscriber got in another tool, so many times."""

    reward_id: str
    subscriber_id: str
    multiple: int


class RestoredReward(NamedTuple):
    """What somebody earned in another installation, as its export has it."""

    name: str
    referrals: int
    multiple: int
    status: str
    coupon_code: str | None
    earned_ms: int
    unlocked_ms: int | None
    redeemed_ms: int | None
    redeemed_by: str | None

    def is_of(self, reward: Reward) -> bool:
        return (self.name, self.referrals) == (reward.name, reward.referrals)


_sql = beside(__file__)
_MARK_GIVEN = _sql.command("mark_given")
_RESTORE = _sql.command("restore")


async def mark_given(change: Change, given: Sequence[GivenElsewhere]) -> None:
    """Records what subscribers got in another tool, so that they never get it again here. Nobody is
    told."""
    if given:
        rows = [{"id": new_id(), **each._asdict()} for each in given]
        await change.run(_MARK_GIVEN, rows=rows, by=actors.IMPORT)


async def restore(change: Change, earned: Sequence[tuple[str, Reward, RestoredReward]]) -> None:
    """Adds what subscribers earned elsewhere, with its status, code and times. Nobody is told.
    Somebody who waited for a code there is waiting for the operator here."""
    rows = [
        {
            "id": new_id(),
            "subscriber_id": subscriber_id,
            "reward_id": reward.id,
            "multiple": each.multiple,
            "status": AWAITING if each.status == OUT_OF_STOCK else each.status,
            "coupon_code": each.coupon_code,
            "earned_ms": each.earned_ms,
            "unlocked_ms": each.unlocked_ms,
            "redeemed_ms": each.redeemed_ms,
            "redeemed_by": each.redeemed_by,
        }
        for subscriber_id, reward, each in earned
    ]
    if rows:
        await change.run(_RESTORE, rows=rows)
