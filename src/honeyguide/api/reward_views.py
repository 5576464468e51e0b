"""Rewards, and the rewards that subscribers earned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from honeyguide.api.views import META, PageMeta, Total, View, filler
from honeyguide.kernel import public
from honeyguide.kernel.clock import iso
from honeyguide.kernel.public import doc
from honeyguide.rewards import earned_rewards, earned_states, rewards
from honeyguide.rewards.adjustments import Adjustment
from honeyguide.rewards.earned_states import EarnedReward, EarnedState
from honeyguide.rewards.rewards import Reward, next_reward
from honeyguide.subscribers.subscribers import Subscriber


class RewardView(View, frozen=True):
    """A reward that advocates can earn."""

    uuid: public.Uuid
    name: public.RewardName
    referrals: public.ReferralsNeeded
    kind: rewards.Kind
    recurring: public.Recurring
    approval: rewards.Approval
    description: public.RewardDescription | None
    link: public.RewardLink | None
    coupon_code: public.CouponCode | None
    coupon_codes_total: Annotated[
        int | None, doc("Codes added to the pool; null without a pool.", None)
    ]
    coupon_codes_left: Annotated[
        int | None, doc("Codes left in the pool; null without a pool.", None)
    ]
    variants: rewards.Variants
    created_at: public.CreatedAt


class OneReward(View, frozen=True):
    reward: RewardView


class RewardList(View, frozen=True):
    rewards: list[RewardView]


# What was claimed and is not done yet is `unlocked`; `claimed_at` says so.
_STATES = [*earned_states.STORED, *earned_states.SHIPMENTS]


class EarnedRewardView(View, frozen=True):
    uuid: public.Uuid
    reward_uuid: Annotated[public.Uuid, doc("UUID of the reward.")]
    name: public.RewardName
    status: Annotated[str, doc("What became of it so far.", EarnedState.UNLOCKED, enum=_STATES)]
    coupon_code: public.CouponCode | None
    unlocked_at: Annotated[public.Time, doc("When it was unlocked.")] | None
    redeemed_at: Annotated[public.Time | None, doc("When it was redeemed.", None)]
    claimed_at: Annotated[
        public.Time | None,
        doc(
            "When the subscriber asked for a manual reward, which stays `unlocked` until you "
            "redeem it. Null once you decline the claim.",
            None,
        ),
    ]


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
    adjusted_by: Annotated[str | None, doc("`operator` or `api`.", "api")]
    created_at: public.CreatedAt


class OneAdjustment(View, frozen=True):
    adjustment: AdjustmentView


class AdjustmentList(View, frozen=True):
    adjustments: list[AdjustmentView]
    progress: RewardProgress


class OneEarnedReward(View, frozen=True):
    reward: EarnedRewardView


class EarnedRewardMeta(PageMeta, frozen=True):
    # These pages are larger than those of other lists.
    per_page: Annotated[
        int, doc("Items per page.", 1_000, minimum=1, maximum=earned_rewards.MOST_IN_ANSWER)
    ]
    total_rewards: Total


class EarnedRewardList(View, frozen=True):
    rewards: list[EarnedRewardView]
    progress: RewardProgress
    meta: Annotated[EarnedRewardMeta, META]


def _or_no_variants(names: list[str] | None) -> list[str]:
    return names or []


_fill_reward = filler(RewardView, Reward, variants=("variants", _or_no_variants))


def reward_view(r: Reward) -> RewardView:
    return _fill_reward(
        r,
        coupon_codes_total=r.codes_total if r.is_pool else None,
        coupon_codes_left=r.codes_left if r.is_pool else None,
    )


adjustment_view = filler(
    AdjustmentView, Adjustment, adjusted_by="by", created_at=("adjusted_ms", iso)
)


def progress_view(subscriber: Subscriber, offered: Sequence[Reward]) -> RewardProgress:
    ahead = next_reward(offered, subscriber.toward_rewards)
    return RewardProgress(
        referrals=subscriber.referrals_verified,
        adjustments=subscriber.adjustments,
        toward_rewards=subscriber.toward_rewards,
        next_reward=None
        if ahead is None
        else NextRewardView(uuid=ahead[0].id, name=ahead[0].name, referrals_left=ahead[1]),
    )


earned_view = filler(EarnedRewardView, EarnedReward)
