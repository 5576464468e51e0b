"""Rewards that the operator has to approve or to hand over, and what they say to a claim. Items to
send are shipments.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from honeyguide.events import change_log
from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid, Required
from honeyguide.rewards import earned_rewards
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside

REASON_LIMIT = 500


class RewardToFulfill(NamedTuple):
    id: str
    subscriber_id: str
    status: str
    earned_ms: int
    claimed_ms: int | None
    name: str
    subscriber_name: str | None
    email: str | None
    """None if the subscriber was erased."""


_sql = beside(__file__)
_CLAIMED = _sql.query("claimed", RewardToFulfill)
_UNCLAIMED = _sql.query("unclaimed", RewardToFulfill)
_CLAIMED_BEFORE = _sql.query("claimed_before", RewardToFulfill)
_DECLINE = _sql.command("decline")
_FORGET_EARLIER = _sql.command("forget_earlier")


async def to_fulfill(at: Reading, *, most: int) -> list[RewardToFulfill]:
    """First what subscribers asked for, then what is to be approved, then manual rewards that
    nobody has claimed yet; of each the oldest first."""
    asked: dict[str, Any] = {
        "account_id": at.tenant.account_id,
        "campaign_id": at.tenant.campaign_id,
        "most": most,
    }
    claimed = await at.all(_CLAIMED, **asked)
    return (claimed + await at.all(_UNCLAIMED, **asked))[:most]


async def claimed_before(at: Reading, *, most: int) -> list[RewardToFulfill]:
    """Claims of manual rewards from when these were redeemed by claiming, and nobody was told."""
    return await at.all(_CLAIMED_BEFORE, most=most)


async def forget_earlier_claims(change: Change) -> None:
    """The operator has looked at them. Nothing else of these rewards changes."""
    await change.run(_FORGET_EARLIER)


def check_declinable(earned: EarnedReward) -> None:
    if not earned.is_claimed:
        raise Invalid("Nobody has claimed this reward.", code="not_claimed")


def checked_reason(text: str) -> str:
    if not (reason := checks.text(text, param="reason", limit=REASON_LIMIT).strip()):
        raise Required("reason")
    return reason


async def decline(
    change: Change, earned_id: str, reason: str, *, of: str | None = None
) -> EarnedReward:
    """The subscriber reads the sentence, keeps the reward and may claim it again. Declining twice
    changes nothing."""
    reason = checked_reason(reason)
    earned = await earned_rewards.get_locked(change, earned_id, of=of)
    if earned.decline_reason is not None:
        return earned
    check_declinable(earned)
    await change.run(_DECLINE, id=earned.id, reason=reason)
    await change_log.record(
        change, "earned_reward.declined", earned.id, {"claimed": True}, {"claimed": False}
    )
    return await earned_rewards.get(change, earned.id)
