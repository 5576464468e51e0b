"""Reward endpoints: a campaign's rewards, and the rewards one subscriber earned."""

from __future__ import annotations

from typing import ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.api import bodies
from honeyguide.api.bodies import Body
from honeyguide.api.call import Call, Route
from honeyguide.api.views import Message, View, WonReward
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Invalid
from honeyguide.referrals import milestones, people, rewards
from honeyguide.referrals.milestones import Reward
from honeyguide.referrals.rewards import Won
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


class OneWon(View, frozen=True):
    reward: WonReward


class WonRewards(View, frozen=True):
    rewards: list[WonReward]


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


def won_view(won: Won) -> WonReward:
    return WonReward(
        won.id,
        won.reward_id,
        won.name,
        won.status,
        won.coupon_code,
        iso(won.unlocked_ms) if won.unlocked_ms is not None else None,
        iso(won.redeemed_ms) if won.redeemed_ms is not None else None,
    )


async def create_reward(tx: Tx, call: Call) -> OneReward:
    body: RewardCreate = call.body
    new = milestones.NewReward(
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
    reward = await milestones.create(tx, call.owner, new, now_ms=call.now_ms)
    if body.coupon_codes is not None:
        await rewards.add_codes(tx, call.site, call.owner, reward.id, body.coupon_codes, now_ms=call.now_ms)
    return OneReward(_view(await milestones.get(tx, call.owner, reward.id)))


async def list_rewards(tx: Tx, call: Call) -> Rewards:
    return Rewards([_view(reward) for reward in await milestones.of_campaign(tx, call.owner)])


async def get_reward(tx: Tx, call: Call) -> OneReward:
    return OneReward(_view(await milestones.get(tx, call.owner, call.path["uuid"])))


async def update_reward(tx: Tx, call: Call) -> OneReward:
    body: RewardUpdate = call.body
    changes = milestones.Changes(
        body.name, body.referrals, body.kind, body.recurring, body.approval, body.description, body.link, body.coupon_code
    )
    reward = await milestones.update(tx, call.owner, call.path["uuid"], changes)
    if body.coupon_codes is not UNSET:
        await rewards.add_codes(tx, call.site, call.owner, reward.id, body.coupon_codes, now_ms=call.now_ms)
    return OneReward(_view(await milestones.get(tx, call.owner, reward.id)))


async def delete_reward(tx: Tx, call: Call) -> Message:
    await milestones.delete(tx, call.owner, call.path["uuid"], now_ms=call.now_ms)
    return Message("The reward was deleted.")


async def list_won_rewards(tx: Tx, call: Call) -> WonRewards:
    winner = await people.get(tx, call.owner, call.path["uuid"])
    return WonRewards([won_view(won) for won in await rewards.won_by(tx, call.owner, winner.id)])


async def _named(tx: Tx, call: Call) -> tuple[str, str | None]:
    """The won reward's id, and the advocate it must belong to where the address names one."""
    if "reward_uuid" not in call.path:
        return call.path["uuid"], None
    return call.path["reward_uuid"], (await people.get(tx, call.owner, call.path["uuid"])).id


async def approve_reward(tx: Tx, call: Call) -> OneWon:
    won_id, of = await _named(tx, call)
    return OneWon(won_view(await rewards.approve(tx, call.site, call.owner, won_id, by=BY, of=of, now_ms=call.now_ms)))


async def redeem_reward(tx: Tx, call: Call) -> OneWon:
    won_id, of = await _named(tx, call)
    shipping = _shipping(call.body.shipping_details)
    won = await rewards.redeem(tx, call.site, call.owner, won_id, by=BY, shipping=shipping, of=of, now_ms=call.now_ms)
    return OneWon(won_view(won))


def _shipping(given: ShippingDetails | None) -> rewards.Shipping | None:
    if given is None:
        return None
    for field in ("name", "line1", "city", "postcode", "country"):
        if not getattr(given, field):
            raise Invalid("{field} needs {part}.", param="shipping_details", part=field)
    return rewards.Shipping(
        **{name: value for name, value in msgspec.structs.asdict(given).items() if value is not None}
    ).checked()


_C = "/v1/campaigns/{campaign_uuid}"
_S = f"{_C}/subscribers/{{uuid}}/rewards"
_TAG = "Rewards"
_CODES = (
    "`coupon_code` is one code shared by everyone; `coupon_codes` is a pool of unique codes, up to 10,000 per request. Codes "
    "already in the pool are skipped."
)
_KEPT = "Rewards already earned are kept."
_WON = "Takes the UUID of the earned reward. "

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
    Route("GET", f"{_C}/rewards", list_rewards, "List rewards", Rewards, tag=_TAG, detail="Fewest referrals first."),
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
    Route("DELETE", f"{_C}/rewards/{{uuid}}", delete_reward, "Delete a reward", Message, tag=_TAG, detail=_KEPT),
    Route("GET", _S, list_won_rewards, "List a subscriber's earned rewards", WonRewards, tag=_TAG),
    Route(
        "POST",
        f"{_S}/{{reward_uuid}}/approve",
        approve_reward,
        "Approve an earned reward",
        OneWon,
        bodies.Nothing,
        tag=_TAG,
        detail=_WON + "Approving twice changes nothing.",
    ),
    Route(
        "POST",
        f"{_S}/{{reward_uuid}}/redeem",
        redeem_reward,
        "Mark an earned reward as redeemed",
        OneWon,
        Redeem,
        tag=_TAG,
        detail=_WON + "Redeeming twice changes nothing.",
    ),
    Route(
        "POST",
        f"{_C}/rewards/{{uuid}}/approve",
        approve_reward,
        "Approve an earned reward",
        OneWon,
        bodies.Nothing,
        tag=_TAG,
        detail=_WON + "Same as the endpoint under the subscriber.",
    ),
    Route(
        "POST",
        f"{_C}/rewards/{{uuid}}/redeem",
        redeem_reward,
        "Mark an earned reward as redeemed",
        OneWon,
        Redeem,
        tag=_TAG,
        detail=_WON + "Same as the endpoint under the subscriber.",
    ),
)
