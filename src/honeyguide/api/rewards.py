"""Reward endpoints: a campaign's rewards, and the rewards one subscriber earned."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.accounts.permissions import Right
from honeyguide.api import bodies
from honeyguide.api.call import Call, Listed, resource
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


async def create_reward(change: Change, call: Call) -> OneReward:
    fields = msgspec.structs.asdict(call.body)
    codes = fields.pop("coupon_codes")
    new = rewards.NewReward(**fields, pool=codes is not UNSET)
    reward = await rewards.create(change, new)
    return await _with_codes(change, call, reward, codes)


async def _with_codes(
    change: Change, call: Call, reward: Reward, codes: list[str] | UnsetType
) -> OneReward:
    """Add codes to the reward's pool, if the request has any."""
    if codes is not UNSET:
        await earned_rewards.add_codes(change, reward.id, codes)
        reward = await rewards.get(change, reward.id)
    return OneReward(reward_view(reward))


async def list_rewards(at: Reading, call: Call) -> RewardList:
    return RewardList([reward_view(reward) for reward in await rewards.of_campaign(at)])


async def get_reward(at: Reading, call: Call) -> OneReward:
    return OneReward(reward_view(await rewards.get(at, call.path["uuid"])))


async def update_reward(change: Change, call: Call) -> OneReward:
    reward = await rewards.update(change, call.path["uuid"], call.body)
    return await _with_codes(change, call, reward, call.body.coupon_codes)


async def delete_reward(change: Change, call: Call) -> Message:
    await rewards.delete(change, call.path["uuid"])
    return Message("The reward was deleted.")


async def list_earned_rewards(at: Reading, call: Call) -> Listed:
    page = Page(call.page.page, earned_rewards.MOST_IN_ANSWER)
    subscriber = await subscribers.get(at, call.path["uuid"])
    earned = await earned_rewards.earned_by(at, subscriber.id, most=page.per_page, skip=page.skip)
    total = await earned_rewards.count_earned_by(at, subscriber.id)
    offered = await rewards.of_campaign(at)
    shown = [earned_view(each) for each in earned]
    meta = EarnedRewardMeta(page.per_page, page.page, page.total_pages(total), total)
    return Listed(EarnedRewardList(shown, progress_view(subscriber, offered), meta), page, total)


async def list_adjustments(at: Reading, call: Call) -> AdjustmentList:
    subscriber = await subscribers.get(at, call.path["uuid"])
    made = await adjustments.of_subscriber(at, subscriber.id)
    offered = await rewards.of_campaign(at)
    shown = [adjustment_view(each) for each in made]
    return AdjustmentList(shown, progress_view(subscriber, offered))


async def create_adjustment(change: Change, call: Call) -> OneAdjustment:
    made = await adjustments.add(change, call.path["uuid"], call.body)
    return OneAdjustment(adjustment_view(made))


async def _named(at: Reading, call: Call) -> tuple[str, str | None]:
    """The earned reward's id, and the subscriber it must belong to, if the path names one."""
    if "reward_uuid" not in call.path:
        return call.path["uuid"], None
    return call.path["reward_uuid"], (await subscribers.get(at, call.path["uuid"])).id


async def approve_earned_reward(change: Change, call: Call) -> OneEarnedReward:
    earned_id, of = await _named(change, call)
    earned = await earned_rewards.approve(change, earned_id, of=of)
    return OneEarnedReward(earned_view(earned))


async def redeem_earned_reward(change: Change, call: Call) -> OneEarnedReward:
    earned_id, of = await _named(change, call)
    shipping = _shipping(call.body.shipping_details)
    earned = await earned_rewards.redeem(
        change, earned_id, shipping=shipping, variant=call.body.variant, of=of
    )
    return OneEarnedReward(earned_view(earned))


async def decline_claim(change: Change, call: Call) -> OneEarnedReward:
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


_C = "/v1/campaigns/{campaign_uuid}"
_S = f"{_C}/subscribers/{{uuid}}/rewards"
_A = f"{_C}/subscribers/{{uuid}}/adjustments"
_CODES = (
    "`coupon_code` is one code shared by everyone; `coupon_codes` is a pool of unique codes, "
    "up to 10,000 per request. Codes already in the pool are skipped."
)
_KEPT = "Rewards already earned are kept."
_EARNED = "Takes the UUID of the earned reward. "

_rewards = resource("Rewards", right=Right.REWARDS)

ROUTES = (
    _rewards(
        "POST",
        f"{_C}/rewards",
        create_reward,
        summary="Create a reward",
        detail=f"Advocates who already qualify get it within a minute. {_CODES}",
        body=bodies.RewardCreate,
        answer=OneReward,
        status=201,
    ),
    _rewards(
        "GET",
        f"{_C}/rewards",
        list_rewards,
        summary="List rewards",
        detail="Fewest referrals first.",
        answer=RewardList,
    ),
    _rewards(
        "GET",
        f"{_C}/rewards/{{uuid}}",
        get_reward,
        summary="Get a reward",
        detail="A deleted reward is not found, even if subscribers have earned it.",
        answer=OneReward,
    ),
    _rewards(
        "PUT",
        f"{_C}/rewards/{{uuid}}",
        update_reward,
        summary="Update a reward",
        detail="`kind` cannot change. `coupon_codes` are added to the pool; waiting advocates get "
        f"them first. {_KEPT}",
        body=bodies.RewardUpdate,
        answer=OneReward,
    ),
    _rewards(
        "DELETE",
        f"{_C}/rewards/{{uuid}}",
        delete_reward,
        summary="Delete a reward",
        detail=_KEPT,
        answer=Message,
    ),
    _rewards(
        "GET",
        _S,
        list_earned_rewards,
        summary="List a subscriber's earned rewards",
        detail="`progress` says what they have toward the next one. A page has 1,000 of them.",
        query=("page",),
        answer=EarnedRewardList,
        snapshot=True,
    ),
    _rewards(
        "GET",
        _A,
        list_adjustments,
        summary="List a subscriber's adjustments",
        detail="Newest first.",
        answer=AdjustmentList,
        snapshot=True,
    ),
    _rewards(
        "POST",
        _A,
        create_adjustment,
        summary="Adjust a subscriber's progress",
        detail="Adds to what they have toward rewards, or takes off. Rewards they reach by it are "
        "unlocked; rewards they earned stay. `referrals_count` does not change.",
        body=bodies.AdjustmentCreate,
        answer=OneAdjustment,
        status=201,
    ),
    _rewards(
        "POST",
        f"{_S}/{{reward_uuid}}/approve",
        approve_earned_reward,
        operation_id="approveSubscriberReward",
        summary="Approve an earned reward",
        detail=_EARNED + "Approving twice changes nothing.",
        body=bodies.EmptyBody,
        answer=OneEarnedReward,
    ),
    _rewards(
        "POST",
        f"{_S}/{{reward_uuid}}/redeem",
        redeem_earned_reward,
        operation_id="redeemSubscriberReward",
        summary="Mark an earned reward as redeemed",
        detail=_EARNED + "Redeeming twice changes nothing.",
        body=bodies.RedeemInput,
        answer=OneEarnedReward,
    ),
    _rewards(
        "POST",
        f"{_S}/{{reward_uuid}}/decline",
        decline_claim,
        operation_id="declineSubscriberClaim",
        summary="Decline a claim",
        detail=_EARNED + "Only a manual reward that was claimed and is not redeemed. It stays "
        "`unlocked`, and the subscriber may claim it again. Declining twice changes nothing.",
        body=bodies.DeclineInput,
        answer=OneEarnedReward,
    ),
    _rewards(
        "POST",
        f"{_C}/rewards/{{uuid}}/approve",
        approve_earned_reward,
        summary="Approve an earned reward",
        detail=_EARNED + "Same as the endpoint under the subscriber.",
        body=bodies.EmptyBody,
        answer=OneEarnedReward,
    ),
    _rewards(
        "POST",
        f"{_C}/rewards/{{uuid}}/redeem",
        redeem_earned_reward,
        summary="Mark an earned reward as redeemed",
        detail=_EARNED + "Same as the endpoint under the subscriber.",
        body=bodies.RedeemInput,
        answer=OneEarnedReward,
    ),
    _rewards(
        "POST",
        f"{_C}/rewards/{{uuid}}/decline",
        decline_claim,
        summary="Decline a claim",
        detail=_EARNED + "Same as the endpoint under the subscriber.",
        body=bodies.DeclineInput,
        answer=OneEarnedReward,
    ),
)
