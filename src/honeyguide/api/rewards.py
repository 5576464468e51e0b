"""Reward endpoints: a campaign's rewards, and the rewards one subscriber earned."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.api import bodies
from honeyguide.api.call import Call, Listed
from honeyguide.api.reward_views import (
    AdjustmentList,
    EarnedRewardList,
    EarnedRewardMeta,
    OneAdjustment,
    OneEarnedReward,
    OneReward,
    RewardList,
    adjustment_view,
    earned_view,
    progress_view,
    reward_view,
)
from honeyguide.api.views import Message
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.paging import Page
from honeyguide.rewards import adjustments, earned_rewards, fulfillment, rewards
from honeyguide.rewards.rewards import Reward
from honeyguide.rewards.shipments import PostalAddress
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import subscribers


async def create_reward(change: Change, call: Call[bodies.RewardCreate]) -> OneReward:
    """Create a reward.

    Advocates who already qualify get it within a minute. `coupon_code` is one code shared by
    everyone; `coupon_codes` is a pool of unique codes, up to 10,000 per request. Codes already in
    the pool are skipped.
    """
    fields = msgspec.structs.asdict(call.body)
    codes = fields.pop("coupon_codes")
    new = rewards.NewReward(**fields, pool=codes is not UNSET)
    reward = await rewards.create(change, new)
    return await _with_codes(change, reward, codes)


async def _with_codes(change: Change, reward: Reward, codes: list[str] | UnsetType) -> OneReward:
    """Add codes to the reward's pool, if the request has any."""
    if codes is not UNSET:
        await earned_rewards.add_codes(change, reward.id, codes)
        reward = await rewards.get(change, reward.id)
    return OneReward(reward_view(reward))


async def list_rewards(at: Reading, call: Call[None]) -> RewardList:
    """List rewards.

    Fewest referrals first.
    """
    return RewardList([reward_view(reward) for reward in await rewards.of_campaign(at)])


async def get_reward(at: Reading, call: Call[None]) -> OneReward:
    """Get a reward.

    A deleted reward is not found, even if subscribers have earned it.
    """
    return OneReward(reward_view(await rewards.get(at, call.path["uuid"])))


async def update_reward(change: Change, call: Call[bodies.RewardUpdate]) -> OneReward:
    """Update a reward.

    `kind` cannot change. `coupon_codes` are added to the pool; waiting advocates get them first.
    Rewards already earned are kept.
    """
    reward = await rewards.update(change, call.path["uuid"], call.body)
    return await _with_codes(change, reward, call.body.coupon_codes)


async def delete_reward(change: Change, call: Call[None]) -> Message:
    """Delete a reward.

    Rewards already earned are kept.
    """
    await rewards.delete(change, call.path["uuid"])
    return Message("The reward was deleted.")


async def list_earned_rewards(at: Reading, call: Call[None]) -> Listed[EarnedRewardList]:
    """List a subscriber's earned rewards.

    `progress` says what they have toward the next one. A page has 1,000 of them.
    """
    page = Page(call.page.page, earned_rewards.MOST_IN_ANSWER)
    subscriber = await subscribers.get(at, call.path["uuid"])
    earned = await earned_rewards.earned_by(at, subscriber.id, most=page.per_page, skip=page.skip)
    total = await earned_rewards.count_earned_by(at, subscriber.id)
    offered = await rewards.of_campaign(at)
    shown = [earned_view(each) for each in earned]
    meta = EarnedRewardMeta(page.per_page, page.page, page.total_pages(total), total)
    return Listed(EarnedRewardList(shown, progress_view(subscriber, offered), meta), page, total)


async def list_adjustments(at: Reading, call: Call[None]) -> AdjustmentList:
    """List a subscriber's adjustments.

    Newest first.
    """
    subscriber = await subscribers.get(at, call.path["uuid"])
    made = await adjustments.of_subscriber(at, subscriber.id)
    offered = await rewards.of_campaign(at)
    shown = [adjustment_view(each) for each in made]
    return AdjustmentList(shown, progress_view(subscriber, offered))


async def create_adjustment(change: Change, call: Call[bodies.AdjustmentCreate]) -> OneAdjustment:
    """Adjust a subscriber's progress.

    Adds to what they have toward rewards, or takes off. Rewards they reach by it are unlocked;
    rewards they earned stay. `referrals_count` does not change.
    """
    made = await adjustments.add(change, call.path["uuid"], call.body)
    return OneAdjustment(adjustment_view(made))


async def _named(at: Reading, call: Call[Any]) -> tuple[str, str | None]:
    """The earned reward's id, and the subscriber it must belong to, if the path names one."""
    if "reward_uuid" not in call.path:
        return call.path["uuid"], None
    return call.path["reward_uuid"], (await subscribers.get(at, call.path["uuid"])).id


async def approve_earned_reward(change: Change, call: Call[bodies.EmptyBody]) -> OneEarnedReward:
    """Approve an earned reward.

    Takes the UUID of the earned reward. Approving twice changes nothing.
    """
    earned_id, of = await _named(change, call)
    earned = await earned_rewards.approve(change, earned_id, of=of)
    return OneEarnedReward(earned_view(earned))


async def redeem_earned_reward(change: Change, call: Call[bodies.RedeemInput]) -> OneEarnedReward:
    """Mark an earned reward as redeemed.

    Takes the UUID of the earned reward. Redeeming twice changes nothing.
    """
    earned_id, of = await _named(change, call)
    shipping = _shipping(call.body.shipping_details)
    earned = await earned_rewards.redeem(
        change, earned_id, shipping=shipping, variant=call.body.variant, of=of
    )
    return OneEarnedReward(earned_view(earned))


async def decline_claim(change: Change, call: Call[bodies.DeclineInput]) -> OneEarnedReward:
    """Decline a claim.

    Takes the UUID of the earned reward. Only a manual reward that was claimed and is not redeemed.
    It stays `unlocked`, and the subscriber may claim it again. Declining twice changes nothing.
    """
    earned_id, of = await _named(change, call)
    earned = await fulfillment.decline(change, earned_id, call.body.reason, of=of)
    return OneEarnedReward(earned_view(earned))


def _shipping(given: bodies.ShippingDetails | None) -> PostalAddress | None:
    if given is None:
        return None
    for field in ("name", "line1", "city", "postcode", "country"):
        if not getattr(given, field):
            raise Invalid("{field} needs {part}.", param="shipping_details", part=field)
    return msgspec.convert(given, PostalAddress, from_attributes=True).checked()
