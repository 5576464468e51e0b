"""Reward endpoints: a campaign's rewards, and the rewards one subscriber earned."""

from __future__ import annotations

from typing import ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.api import bodies
from honeyguide.api.bodies import Body
from honeyguide.api.call import Call, Route
from honeyguide.api.views import EarnedRewardView, Message, View
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Invalid
from honeyguide.referrals import earned_rewards, rewards, subscribers
from honeyguide.referrals.earned_rewards import EarnedReward
from honeyguide.referrals.rewards import Reward
from honeyguide.store.tx import Tx

# Recorded as the decider when an API key decided.
BY = "api"


class RewardCreate(Body, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("name", "referrals")

    name: str | None = None
    referrals: int | None = None
    kind: str | None = None
    recurring: bool | None = None
    approval: str | None = None
    description: str | None = None
    link: str | None = None
    coupon_code: str | None = None
    coupon_codes: list[str] | None = None


class RewardUpdate(Body, frozen=True):
    name: str | UnsetType = UNSET
    referrals: int | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    recurring: bool | UnsetType = UNSET
    approval: str | UnsetType = UNSET
    description: str | UnsetType | None = UNSET
    link: str | UnsetType = UNSET
    coupon_code: str | UnsetType = UNSET
    coupon_codes: list[str] | UnsetType = UNSET


class ShippingDetails(msgspec.Struct, frozen=True):
    name: str | None = None
    line1: str | None = None
    line2: str | None = None
    city: str | None = None
    region: str | None = None
    postcode: str | None = None
    country: str | None = None


class Redeem(Body, frozen=True):
    shipping_details: ShippingDetails | None = None


class RewardView(View, frozen=True):
    """A reward that advocates can earn."""

    uuid: str
    name: str
    referrals: int
    kind: str
    recurring: bool
    approval: str
    description: str | None
    link: str | None
    coupon_code: str | None
    coupon_codes_total: int | None
    coupon_codes_left: int | None
    created_at: str


class OneReward(View, frozen=True):
    reward: RewardView


class Rewards(View, frozen=True):
    rewards: list[RewardView]


class OneEarnedReward(View, frozen=True):
    reward: EarnedRewardView


class EarnedRewards(View, frozen=True):
    rewards: list[EarnedRewardView]


def _view(r: Reward) -> RewardView:
    return RewardView(
        r.id,
        r.name,
        r.referrals,
        r.kind,
        bool(r.recurring),
        r.approval,
        r.description,
        r.link,
        r.coupon_code,
        r.codes_total if r.is_pool else None,
        r.codes_left if r.is_pool else None,
        iso(r.created_ms),
    )


def earned_view(earned: EarnedReward) -> EarnedRewardView:
    return EarnedRewardView(
        earned.id,
        earned.reward_id,
        earned.name,
        earned.status,
        earned.coupon_code,
        iso(earned.unlocked_ms) if earned.unlocked_ms is not None else None,
        iso(earned.redeemed_ms) if earned.redeemed_ms is not None else None,
    )


async def create_reward(tx: Tx, call: Call) -> OneReward:
    body: RewardCreate = call.body
    new = rewards.NewReward(
        body.name,
        body.referrals,
        body.kind,
        body.recurring,
        body.approval,
        body.description,
        body.link,
        body.coupon_code,
        pool=body.coupon_codes is not None,
    )
    reward = await rewards.create(tx, call.tenant, new, now_ms=call.now_ms)
    if body.coupon_codes is not None:
        await earned_rewards.add_codes(
            tx, call.site, call.tenant, reward.id, body.coupon_codes, now_ms=call.now_ms
        )
    return OneReward(_view(await rewards.get(tx, call.tenant, reward.id)))


async def list_rewards(tx: Tx, call: Call) -> Rewards:
    return Rewards([_view(reward) for reward in await rewards.of_campaign(tx, call.tenant)])


async def get_reward(tx: Tx, call: Call) -> OneReward:
    return OneReward(_view(await rewards.get(tx, call.tenant, call.path["uuid"])))


async def update_reward(tx: Tx, call: Call) -> OneReward:
    body: RewardUpdate = call.body
    changes = rewards.RewardChanges(
        body.name,
        body.referrals,
        body.kind,
        body.recurring,
        body.approval,
        body.description,
        body.link,
        body.coupon_code,
    )
    reward = await rewards.update(tx, call.tenant, call.path["uuid"], changes)
    if body.coupon_codes is not UNSET:
        await earned_rewards.add_codes(
            tx, call.site, call.tenant, reward.id, body.coupon_codes, now_ms=call.now_ms
        )
    return OneReward(_view(await rewards.get(tx, call.tenant, reward.id)))


async def delete_reward(tx: Tx, call: Call) -> Message:
    await rewards.delete(tx, call.tenant, call.path["uuid"], now_ms=call.now_ms)
    return Message("The reward was deleted.")


async def list_earned_rewards(tx: Tx, call: Call) -> EarnedRewards:
    winner = await subscribers.get(tx, call.tenant, call.path["uuid"])
    return EarnedRewards(
        [
            earned_view(earned)
            for earned in await earned_rewards.earned_by(tx, call.tenant, winner.id)
        ]
    )


async def _named(tx: Tx, call: Call) -> tuple[str, str | None]:
    """The earned reward's id, and the advocate it must belong to where the address names one."""
    if "reward_uuid" not in call.path:
        return call.path["uuid"], None
    return call.path["reward_uuid"], (await subscribers.get(tx, call.tenant, call.path["uuid"])).id


async def approve_reward(tx: Tx, call: Call) -> OneEarnedReward:
    earned_id, of = await _named(tx, call)
    return OneEarnedReward(
        earned_view(
            await earned_rewards.approve(
                tx, call.site, call.tenant, earned_id, by=BY, of=of, now_ms=call.now_ms
            )
        )
    )


async def redeem_reward(tx: Tx, call: Call) -> OneEarnedReward:
    earned_id, of = await _named(tx, call)
    shipping = _shipping(call.body.shipping_details)
    earned = await earned_rewards.redeem(
        tx, call.site, call.tenant, earned_id, by=BY, shipping=shipping, of=of, now_ms=call.now_ms
    )
    return OneEarnedReward(earned_view(earned))


def _shipping(given: ShippingDetails | None) -> earned_rewards.Shipping | None:
    if given is None:
        return None
    for field in ("name", "line1", "city", "postcode", "country"):
        if not getattr(given, field):
            raise Invalid("{field} needs {part}.", param="shipping_details", part=field)
    return earned_rewards.Shipping(
        **{
            name: value
            for name, value in msgspec.structs.asdict(given).items()
            if value is not None
        }
    ).checked()


_C = "/v1/campaigns/{campaign_uuid}"
_S = f"{_C}/subscribers/{{uuid}}/rewards"
_TAG = "Rewards"
_CODES = (
    "`coupon_code` is one code shared by everyone; `coupon_codes` is a pool of unique codes, up to 10,000 per request. Codes "
    "already in the pool are skipped."
)
_KEPT = "Rewards already earned are kept."
_EARNED = "Takes the UUID of the earned reward. "

ROUTES = (
    Route(
        "POST",
        f"{_C}/rewards",
        create_reward,
        "Create a reward",
        OneReward,
        RewardCreate,
        201,
        tag=_TAG,
        detail=f"Advocates who already qualify get it within a minute. {_CODES}",
    ),
    Route(
        "GET",
        f"{_C}/rewards",
        list_rewards,
        "List rewards",
        Rewards,
        tag=_TAG,
        detail="Fewest referrals first.",
    ),
    Route("GET", f"{_C}/rewards/{{uuid}}", get_reward, "Get a reward", OneReward, tag=_TAG),
    Route(
        "PUT",
        f"{_C}/rewards/{{uuid}}",
        update_reward,
        "Update a reward",
        OneReward,
        RewardUpdate,
        tag=_TAG,
        detail=f"`kind` cannot change. `coupon_codes` are added to the pool; waiting advocates get them first. {_KEPT}",
    ),
    Route(
        "DELETE",
        f"{_C}/rewards/{{uuid}}",
        delete_reward,
        "Delete a reward",
        Message,
        tag=_TAG,
        detail=_KEPT,
    ),
    Route(
        "GET",
        _S,
        list_earned_rewards,
        "List a subscriber's earned rewards",
        EarnedRewards,
        tag=_TAG,
    ),
    Route(
        "POST",
        f"{_S}/{{reward_uuid}}/approve",
        approve_reward,
        "Approve an earned reward",
        OneEarnedReward,
        bodies.Nothing,
        tag=_TAG,
        detail=_EARNED + "Approving twice changes nothing.",
    ),
    Route(
        "POST",
        f"{_S}/{{reward_uuid}}/redeem",
        redeem_reward,
        "Mark an earned reward as redeemed",
        OneEarnedReward,
        Redeem,
        tag=_TAG,
        detail=_EARNED + "Redeeming twice changes nothing.",
    ),
    Route(
        "POST",
        f"{_C}/rewards/{{uuid}}/approve",
        approve_reward,
        "Approve an earned reward",
        OneEarnedReward,
        bodies.Nothing,
        tag=_TAG,
        detail=_EARNED + "Same as the endpoint under the subscriber.",
    ),
    Route(
        "POST",
        f"{_C}/rewards/{{uuid}}/redeem",
        redeem_reward,
        "Mark an earned reward as redeemed",
        OneEarnedReward,
        Redeem,
        tag=_TAG,
        detail=_EARNED + "Same as the endpoint under the subscriber.",
    ),
)
