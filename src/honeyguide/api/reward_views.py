"""Rewards, and the rewards that subscribers earned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from honeyguide.api.views import View, iso_or_none
from honeyguide.kernel import public
from honeyguide.kernel.clock import iso
from honeyguide.kernel.public import doc
from honeyguide.referrals.adjustments import Adjustment
from honeyguide.referrals.earned_rewards import EarnedReward
from honeyguide.referrals.rewards import Reward, next_reward
from honeyguide.referrals.subscribers import Subscriber


class RewardView(View, frozen=True):
    """A reward that advocates can earn."""

    uuid: public.Uuid
    name: public.RewardName
    referrals: public.ReferralsNeeded
    kind: public.RewardKind
    recurring: public.Recurring
    approval: public.Approval
    description: public.RewardDescription | None
    link: public.RewardLink | None
    coupon_code: public.CouponCode | None
    coupon_codes_total: Annotated[int | None, doc("Codes added to the pool; null without a pool.")]
    coupon_codes_left: Annotated[int | None, doc("Codes left in the pool; null without a pool.")]
    variants: public.Variants
    created_at: public.CreatedAt


class OneReward(View, frozen=True):
    reward: RewardView


class Rewards(View, frozen=True):
    rewards: list[RewardView]


class EarnedRewardView(View, frozen=True):
    uuid: public.Uuid
    reward_uuid: Annotated[public.Uuid, doc("UUID of the reward.")]
    name: public.RewardName
    status: Annotated[
        str, doc("`awaiting_approval`, `unlocked`, `out_of_stock` or `redeemed`.", "unlocked")
    ]
    coupon_code: public.CouponCode | None
    unlocked_at: Annotated[public.Time, doc("When it was unlocked.")] | None
    redeemed_at: Annotated[public.Time, doc("When it was redeemed.")] | None


class NextRewardView(View, frozen=True):
    """The reward that a subscriber reaches next."""

    uuid: public.Uuid
    name: public.RewardName
    referrals_left: Annotated[int, doc("How many more referrals it takes.", 2, minimum=1)]


class RewardProgress(View, frozen=True):
    """What a subscriber has toward rewards."""

    referrals: Annotated[int, doc("Verified referrals.", 3, minimum=0)]
    adjustments: Annotated[int, doc("What your adjustments add up to.", 2)]
    toward_rewards: Annotated[int, doc("Both together, never below 0.", 5, minimum=0)]
    next_reward: Annotated[NextRewardView | None, doc("Null if no reward is left.")]


class AdjustmentView(View, frozen=True):
    """What you added to a subscriber's progress toward rewards, or took off."""

    uuid: public.Uuid
    amount: Annotated[int, doc("How much was added; negative if it was taken off.", 2)]
    reason: Annotated[str, doc("Why.", "Referred at our event")]
    adjusted_by: Annotated[str, doc("`operator` or `api`.", "api")] | None
    created_at: public.CreatedAt


class OneAdjustment(View, frozen=True):
    adjustment: AdjustmentView


class Adjustments(View, frozen=True):
    adjustments: list[AdjustmentView]
    progress: RewardProgress


class OneEarnedReward(View, frozen=True):
    reward: EarnedRewardView


class EarnedRewards(View, frozen=True):
    rewards: list[EarnedRewardView]
    progress: RewardProgress


def reward_view(r: Reward) -> RewardView:
    return RewardView(
        uuid=r.id,
        name=r.name,
        referrals=r.referrals,
        kind=r.kind,
        recurring=bool(r.recurring),
        approval=r.approval,
        description=r.description,
        link=r.link,
        coupon_code=r.coupon_code,
        coupon_codes_total=r.codes_total if r.is_pool else None,
        coupon_codes_left=r.codes_left if r.is_pool else None,
        variants=r.variant_names,
        created_at=iso(r.created_ms),
    )


def adjustment_view(each: Adjustment) -> AdjustmentView:
    return AdjustmentView(
        uuid=each.id,
        amount=each.amount,
        reason=each.reason,
        adjusted_by=each.by,
        created_at=iso(each.adjusted_ms),
    )


def progress_view(subscriber: Subscriber, rewards: Sequence[Reward]) -> RewardProgress:
    ahead = next_reward(rewards, subscriber.toward_rewards)
    return RewardProgress(
        referrals=subscriber.referrals_verified,
        adjustments=subscriber.adjustments,
        toward_rewards=subscriber.toward_rewards,
        next_reward=None
        if ahead is None
        else NextRewardView(uuid=ahead[0].id, name=ahead[0].name, referrals_left=ahead[1]),
    )


def earned_view(earned: EarnedReward) -> EarnedRewardView:
    return EarnedRewardView(
        uuid=earned.id,
        reward_uuid=earned.reward_id,
        name=earned.name,
        status=earned.status,
        coupon_code=earned.coupon_code,
        unlocked_at=iso_or_none(earned.unlocked_ms),
        redeemed_at=iso_or_none(earned.redeemed_ms),
    )
