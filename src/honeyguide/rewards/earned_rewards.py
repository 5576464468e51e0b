"""What advocates earn: unlocked once per reward and multiple, given out in order, redeemed once.
Each step is reported by email and to webhooks in the transaction that takes it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import msgspec

from honeyguide.events import change_log, outbox
from honeyguide.events.outbox import Event
from honeyguide.kernel import checks
from honeyguide.kernel.actors import ActorKind
from honeyguide.kernel.errors import Invalid, Missing, Required
from honeyguide.kernel.ids import is_id, new_id
from honeyguide.kernel.paging import Page
from honeyguide.rewards import coupons, earned_states, reward_events, rewards, shipments
from honeyguide.rewards.earned_states import EarnedReward
from honeyguide.rewards.rewards import Reward
from honeyguide.rewards.shipments import PostalAddress
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import referral_states, subscribers
from honeyguide.subscribers.subscribers import Subscriber

UNKNOWN = "There is no such reward."
AWAITING, UNLOCKED, OUT_OF_STOCK, REDEEMED = EARNED_STATUSES = earned_states.STORED
# Given to an advocate at once, each with its email and events: some dozens of milliseconds of work.
# Of recurring rewards, more can be due when one is new to a top advocate, or after an adjustment.
MOST_AT_ONCE = 10
# On a page, of each reward.
MOST_SHOWN = 20
# In one answer of the API.
MOST_IN_ANSWER = 1_000
_ALL = 2**62
FILL_BATCH = 50


class Unlocked(NamedTuple):
    given: int
    events: list[Event]


class _Offered(NamedTuple):
    """A reward of the campaign, how many of it an advocate has, and what they have toward it."""

    reward: Reward
    verified: int
    adjustments: int
    have: int


_sql = beside(__file__)
_OFFERED = _sql.query("offered", lambda *row: _Offered(Reward(*row[:-3]), *row[-3:]))
_INSERT = _sql.command("insert")
_GRANT = _sql.command("grant")
_LACK = _sql.command("lack")
_REDEEM = _sql.command("redeem")
_CLAIM = _sql.command("claim")
_ERASE_CLAIMS = _sql.command("erase_claims")
_LOCK = _sql.value("lock", str)
_BY_ID = _sql.query("by_id", EarnedReward)
_OF_PERSON = _sql.query("of_person", EarnedReward)
_SOME_OF_PERSON = _sql.query("some_of_person", EarnedReward)
_COUNT_OF_PERSON = _sql.value("count_of_person", int)
_OF_PEOPLE = _sql.query("of_people", EarnedReward)
_OF_CAMPAIGN = _sql.query("of_campaign", EarnedReward)
_COUNT_OF_CAMPAIGN = _sql.value("count_of_campaign", int)
_WAITING = _sql.query("waiting", EarnedReward)
_QUEUED_OF_PERSON = _sql.value("queued_of_person", str)
_COUNT_QUEUED = _sql.value("count_queued", int)


async def unlock(change: Change, advocate_id: str, *, is_news: bool = True) -> Unlocked:
    """Gives an advocate every reward that they have reached and lack. `is_news` is False
    for what imports and backfills bring: there may be thousands at once. The caller emits the
    events.

    The caller's change to a count locked the advocate's row, so it is exact. The unique
    index settles the rest.
    """
    given, events = 0, list[Event]()
    for reward, verified, adjustments, have in await change.all(
        _OFFERED, subscriber_id=advocate_id
    ):
        times = reward.times_reached(referral_states.toward_rewards(verified, adjustments))
        for multiple in range(have + 1, times + 1):
            if given >= MOST_AT_ONCE and multiple > have + 1:
                break
            earned_id = new_id()
            if not await change.run(
                _INSERT,
                id=earned_id,
                reward_id=reward.id,
                subscriber_id=advocate_id,
                multiple=multiple,
            ):
                continue
            given += 1
            if reward.approval == rewards.AUTOMATIC:
                events += await _give(change, reward, earned_id, advocate_id, is_news=is_news)
            else:
                await reward_events.notify_to_approve(change, reward, earned_id, is_news=is_news)
    return Unlocked(given, events)


async def _give(
    change: Change,
    reward: Reward,
    earned_id: str,
    advocate_id: str,
    *,
    by: str | None = None,
    queued: bool = False,
    is_news: bool = True,
) -> list[Event]:
    """Hands over the reward, or queues it for a code. Either way the operator has nothing more to
    do."""
    # Read before the pool's row is locked: others who want one of its codes wait until we are done.
    winner = await change.fact(subscribers.find, advocate_id)
    code = reward.coupon_code
    if reward.is_pool:
        code = await coupons.take(change, reward, earned_id, queued=queued)
        if code is None:
            await change.put(_LACK, id=earned_id, by=by)
            return []
    await change.put(_GRANT, id=earned_id, coupon_code=code, by=by)
    if winner is None:
        return []
    return await reward_events.tell_unlocked(
        change, winner, reward, coupon_code=code, is_news=is_news
    )


async def add_codes(change: Change, reward_id: str, codes: list[str]) -> int:
    """Fills a pool, serves those who waited in their order, and returns how many codes were new."""
    reward = await rewards.get(change, reward_id)
    added = await coupons.add(change, reward, codes)
    if added:
        await change_log.record(change, "reward.codes_added", reward.id, None, {"codes": added})
        await fill(change, reward_id)
    return added


async def fill(change: Change, reward_id: str) -> bool:
    """Gives a batch of those who wait the codes there are, and returns whether more may be
    served."""
    await rewards.lock(change, reward_id)
    reward = await rewards.get(change, reward_id, deleted_too=True)
    batch = min(FILL_BATCH, reward.codes_left)
    waiting = await change.all(_WAITING, reward_id=reward_id, batch=batch)
    if batch and not waiting:
        # A wrong count must not keep codes from those who come next.
        await coupons.leave_queue(change, reward_id, reward.waiting)
    events = list[Event]()
    for earned in waiting:
        events += await _give(change, reward, earned.id, earned.subscriber_id, queued=True)
    await _emit(change, events)
    return len(waiting) == FILL_BATCH


async def _emit(change: Change, events: list[Event]) -> None:
    await outbox.emit(change.tx, events)


async def earned_by(
    at: Reading, subscriber_id: str, *, most: int = _ALL, skip: int = 0
) -> list[EarnedReward]:
    """What one advocate earned, the first first."""
    return await at.all(_OF_PERSON, subscriber_id=subscriber_id, most=most, skip=skip)


async def count_earned_by(at: Reading, subscriber_id: str) -> int:
    return await at.one(_COUNT_OF_PERSON, subscriber_id=subscriber_id) or 0


async def some_earned_by(at: Reading, subscriber_id: str) -> tuple[list[EarnedReward], int]:
    """For a page: of each reward the first that are not redeemed, then those redeemed last; and how
    many there are in all. Somebody can earn thousands of a recurring reward."""
    found = await at.all(_SOME_OF_PERSON, subscriber_id=subscriber_id, most=MOST_SHOWN)
    of_each = Counter(each.reward_id for each in found)
    is_cut = MOST_SHOWN in of_each.values()
    return found, await count_earned_by(at, subscriber_id) if is_cut else len(found)


async def earned_by_each(
    at: Reading, subscriber_ids: list[str], *, most: int = _ALL
) -> dict[str, list[EarnedReward]]:
    """The same for a page of people, in one query. Of more than `most`, everybody's first come
    before anybody's second."""
    found: dict[str, list[EarnedReward]] = {subscriber_id: [] for subscriber_id in subscriber_ids}
    ids = msgspec.json.encode(found).decode()
    for earned in await at.all(_OF_PEOPLE, ids=ids, most=most):
        found[earned.subscriber_id].append(earned)
    return found


async def page_of_earned(at: Reading, status: str, page: Page) -> tuple[list[EarnedReward], int]:
    """What the campaign's advocates earned, by status, newest first: to approve, to ship, to supply
    with codes."""
    checks.one_of(status, EARNED_STATUSES, param="status")
    conditions: dict[str, Any] = {
        "account_id": at.tenant.account_id,
        "campaign_id": at.tenant.campaign_id,
        "status": status,
    }
    total = await at.one(_COUNT_OF_CAMPAIGN, **conditions) or 0
    return await at.all(_OF_CAMPAIGN, **conditions, most=page.per_page, skip=page.skip), total


async def get(at: Reading, earned_id: str, *, of: str | None = None) -> EarnedReward:
    """`of` is the advocate it must belong to."""
    earned = await at.one(_BY_ID, id=earned_id) if is_id(earned_id) else None
    if earned is None or (of is not None and earned.subscriber_id != of):
        raise Missing(UNKNOWN)
    return earned


async def get_locked(change: Change, earned_id: str, *, of: str | None = None) -> EarnedReward:
    """For a change that depends on its current state."""
    earned = await get(change, earned_id, of=of)
    locked = await change.lock(_LOCK, id=earned.id)
    assert locked  # an earned reward is never deleted
    return await get(change, earned.id, of=of)


async def approve(change: Change, earned_id: str, *, of: str | None = None) -> EarnedReward:
    """The operator agrees. What is approved already stays as it is."""
    earned = await get_locked(change, earned_id, of=of)
    if earned.status == AWAITING:
        reward = await rewards.get(change, earned.reward_id, deleted_too=True)
        await _emit(
            change,
            await _give(change, reward, earned.id, earned.subscriber_id, by=change.actor.by),
        )
    approved = await get(change, earned.id)
    await _log(change, "earned_reward.approved", earned, approved)
    return approved


def check_approvable(earned: EarnedReward) -> None:
    if earned.status != AWAITING:
        raise Invalid("This reward is already approved.")


async def _log(change: Change, action: str, before: EarnedReward, after: EarnedReward) -> None:
    old, new = ({"status": each.status, "claimed": each.is_claimed} for each in (before, after))
    await change_log.record(change, action, after.id, old, new)


async def redeem(
    change: Change,
    earned_id: str,
    *,
    shipping: PostalAddress | None = None,
    variant: str | None = None,
    of: str | None = None,
) -> EarnedReward:
    """Marks it as redeemed. What is redeemed already stays as it is, without a second event. A
    physical reward with a postal address becomes a shipment."""
    earned = await get_locked(change, earned_id, of=of)
    if earned.status == REDEEMED:
        return earned
    check_redeemable(earned)
    address = shipping.checked() if shipping is not None else None
    if variant is not None:
        checks.one_of(variant, earned.variants or [], param="variant")
    # Read after the lock, because an erasure takes the same lock: no address is stored for someone
    # erased.
    winner = await change.fact(subscribers.find, earned.subscriber_id)
    if winner is None and change.actor.kind is ActorKind.SUBSCRIBER:
        raise Missing(UNKNOWN)
    await change.run(_REDEEM, id=earned.id, by=change.actor.by)
    if winner is not None:
        if earned.kind == rewards.PHYSICAL and address is not None:
            await shipments.create(change, earned.id, address, variant)
            await reward_events.notify_to_send(change, earned.id, earned.name)
        facts = {
            "reward": reward_events.body(
                earned.reward_id, earned.name, earned.referrals, earned.recurring
            ),
            "coupon_code": earned.coupon_code,
            "shipping_details": None if address is None else msgspec.to_builtins(address),
            "variant": variant,
        }
        await _emit(
            change,
            await reward_events.events_about(change, outbox.REWARD_REDEEMED, winner, facts),
        )
    redeemed = await get(change, earned.id)
    await _log(change, "earned_reward.redeemed", earned, redeemed)
    return redeemed


def check_redeemable(earned: EarnedReward) -> None:
    if earned.status == AWAITING:
        raise Invalid("This reward is awaiting approval; approve it first.", code=AWAITING)
    if earned.status == OUT_OF_STOCK:
        raise Invalid("This reward has no coupon code left; add codes first.", code=OUT_OF_STOCK)
    if earned.status == REDEEMED:
        raise Invalid("This reward is already redeemed.")


async def claim(
    change: Change,
    subscriber: Subscriber,
    earned_id: str,
    *,
    shipping: PostalAddress | None = None,
    variant: str | None = None,
) -> EarnedReward:
    """The subscriber takes what is theirs. A physical reward needs an address, and one of its
    variants if it has any. A manual one is redeemed when the operator has handed it over."""
    earned = await get(change, earned_id, of=subscriber.id)
    if earned.kind == rewards.MANUAL:
        return await _ask_for(change, earned.id, subscriber.id)
    if earned.kind != rewards.PHYSICAL:
        shipping = variant = None
    elif earned.status == UNLOCKED and shipping is None:
        raise Invalid("A shipping address is required.", param="shipping")
    elif earned.status == UNLOCKED and earned.variants and variant is None:
        raise Required("variant")
    return await redeem(change, earned.id, shipping=shipping, variant=variant, of=subscriber.id)


async def _ask_for(change: Change, earned_id: str, subscriber_id: str) -> EarnedReward:
    """Asking twice changes nothing."""
    earned = await get_locked(change, earned_id, of=subscriber_id)
    if earned.status == REDEEMED or earned.is_claimed:
        return earned
    check_redeemable(earned)
    if await change.fact(subscribers.find, subscriber_id) is None:  # after the lock, as in `redeem`
        raise Missing(UNKNOWN)
    await change.run(_CLAIM, id=earned.id)
    await reward_events.notify_claimed(change, earned.id, earned.name)
    claimed = await get(change, earned.id)
    await _log(change, "earned_reward.claimed", earned, claimed)
    return claimed


async def erase(change: Change, subscriber_id: str) -> None:
    """Removes addresses, takes claims back and leaves the queue for codes. Earned rewards keep
    their status."""
    await change.run(_ERASE_CLAIMS, subscriber_id=subscriber_id)
    for reward_id in await change.all(_QUEUED_OF_PERSON, subscriber_id=subscriber_id):
        await rewards.lock(change, reward_id)
        queued = await change.one(_COUNT_QUEUED, subscriber_id=subscriber_id, reward_id=reward_id)
        await coupons.leave_queue(change, reward_id, queued or 0)
    await shipments.erase(change, subscriber_id)
