"""Rewards, and the rewards that subscribers earned."""

from __future__ import annotations

from typing import Annotated

from honeyguide.api.views import View, iso_or_none
from honeyguide.kernel import public
from honeyguide.kernel.clock import iso
from honeyguide.kernel.public import doc
from honeyguide.referrals.earned_rewards import EarnedReward
from honeyguide.referrals.rewards import Reward


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


class OneEarnedReward(View, frozen=True):
    reward: EarnedRewardView


class EarnedRewards(View, frozen=True):
    rewards: list[EarnedRewardView]


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
