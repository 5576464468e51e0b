"""Tells webhooks, the advocate and the operator about a reward, in the transaction that earns,
unlocks or redeems it.
"""

from __future__ import annotations

from typing import Any

from honeyguide.accounts import owner_notifications
from honeyguide.events import outbox
from honeyguide.events.outbox import Event
from honeyguide.kernel.clock import DAY_MS
from honeyguide.mail import email_kinds, shipment_texts, texts
from honeyguide.mail.content import EmailText
from honeyguide.mail.notification_kinds import (
    ADDRESS_CORRECTED,
    ITEM_TO_SEND,
    REWARD_CLAIMED,
    REWARD_TO_APPROVE,
)
from honeyguide.rewards import event_bodies, rewards
from honeyguide.rewards.rewards import Reward
from honeyguide.store.change import Change
from honeyguide.subscribers import branding, hub, names, reader_emails
from honeyguide.subscribers.subscribers import Subscriber

# Of several rewards earned in a day, each has its email, one a day. Of more than these, the rest is
# on the referral page only.
MOST_DAYS_LATER = 7


async def tell_unlocked(
    change: Change, advocate: Subscriber, reward: Reward, *, coupon_code: str | None, is_news: bool
) -> list[Event]:
    """Queues an email, if the operator sends such emails and it is news. The event is returned, to
    be emitted with others."""
    if is_news:
        await _send_unlocked(change, advocate, reward, coupon_code)
    facts = {
        "reward": body(reward.id, reward.name, reward.referrals, reward.recurring),
        "coupon_code": coupon_code,
    }
    return await events_about(change, outbox.REWARD_UNLOCKED, advocate, facts)


async def _send_unlocked(
    change: Change, advocate: Subscriber, reward: Reward, coupon_code: str | None
) -> None:
    brand = await change.fact(branding.of)
    if not brand.sends_reward_unlocked:
        return
    await reader_emails.send_news(
        change,
        advocate,
        await unlocked_email(change, advocate, reward, coupon_code),
        brand.email_branding(change.site, advocate.language),
        kind=email_kinds.REWARD_UNLOCKED,
        most_days_later=MOST_DAYS_LATER,
    )


async def unlocked_email(
    change: Change, advocate: Subscriber, reward: Reward, coupon_code: str | None
) -> EmailText:
    brand = await change.fact(branding.of)
    email_branding = brand.email_branding(change.site, advocate.language)
    ahead = rewards.next_reward(await change.fact(rewards.of_campaign), advocate.toward_rewards)
    return texts.reward_unlocked(
        email_branding.language,
        newsletter=brand.name,
        reward=reward.name,
        referrals=advocate.referrals_verified,
        toward_rewards=advocate.toward_rewards,
        hub=hub.link(change.site, advocate),
        first_name=names.first_name(advocate.name),
        coupon_code=coupon_code,
        link=reward.link,
        how_to_claim=reward.description,
        next_reward=ahead[0].name if ahead else "",
        left=ahead[1] if ahead else 0,
        referral_link=change.site.reader_link(advocate.ref_code),
        own=email_branding.own_texts,
    )


async def notify_to_approve(
    change: Change, reward: Reward, earned_id: str, *, is_news: bool
) -> None:
    """The operator is notified of each; of those that are no news, once per reward and day."""
    cause = earned_id if is_news else f"{reward.id}:{change.now_ms // DAY_MS}"
    message = texts.reward_to_approve(reward=reward.name, page=f"{change.site.base_url}/rewards")
    await owner_notifications.notify(
        change, REWARD_TO_APPROVE.name, cause, message, link="/rewards"
    )


async def notify_to_send(change: Change, earned_id: str, reward_name: str) -> None:
    message = texts.item_to_send(reward=reward_name, page=f"{change.site.base_url}/shipments")
    await owner_notifications.notify(
        change, ITEM_TO_SEND.name, earned_id, message, link="/shipments"
    )


async def notify_claimed(change: Change, earned_id: str, reward_name: str) -> None:
    """Of each claim, also of one that comes after another was declined."""
    message = texts.reward_claimed(reward=reward_name, page=f"{change.site.base_url}/rewards")
    cause = f"{earned_id}:{change.now_ms}"
    await owner_notifications.notify(change, REWARD_CLAIMED.name, cause, message, link="/rewards")


async def notify_address_corrected(change: Change, earned_id: str, reward_name: str) -> None:
    """Somebody may have printed the label already."""
    page = f"{change.site.base_url}/shipments"
    message = shipment_texts.address_corrected(reward=reward_name, page=page)
    cause = f"{earned_id}:{change.now_ms}"
    await owner_notifications.notify(change, ADDRESS_CORRECTED, cause, message, link="/shipments")


def body(reward_id: str, name: str, referrals: int, recurring: int) -> dict[str, Any]:
    return {"id": reward_id, "name": name, "referrals": referrals, "recurring": bool(recurring)}


async def events_about(
    change: Change, kind: str, advocate: Subscriber, facts: dict[str, Any]
) -> list[Event]:
    """The event `kind` about this advocate, unless nobody wants it; `facts` say which reward it
    was."""
    to = (await change.fact(outbox.listeners)).get(kind)
    if not to:
        return []
    shown = event_bodies.person(change.site, advocate, await change.fact(rewards.of_campaign))
    event_body = {"campaign_id": change.tenant.campaign_id, "subscriber": shown, **facts}
    return [Event(change.tenant.account_id, kind, event_body, to, advocate.id)]
