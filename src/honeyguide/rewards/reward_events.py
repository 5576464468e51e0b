"""Tells webhooks, the advocate and the operator about a reward, in the transaction that earns,
unlocks or redeems it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from honeyguide.accounts import accounts
from honeyguide.events import outbox
from honeyguide.events.outbox import Event
from honeyguide.kernel.clock import DAY_MS
from honeyguide.mail import notification_kinds, shipment_texts, texts
from honeyguide.mail.email_kinds import REWARD_UNLOCKED
from honeyguide.mail.emails import EmailToSend
from honeyguide.mail.notification_kinds import (
    ADDRESS_CORRECTED,
    ITEM_TO_SEND,
    REWARD_CLAIMED,
    REWARD_TO_APPROVE,
)
from honeyguide.mail.texts import RewardAhead, UnlockedReward
from honeyguide.rewards import event_bodies, rewards
from honeyguide.rewards.rewards import Reward
from honeyguide.rewards.shipment_emails import town_of
from honeyguide.rewards.shipments import read_address
from honeyguide.store.change import Change
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.subscribers import branding, reader_emails
from honeyguide.subscribers.subscribers import Subscriber

# Of several rewards earned in a day, each has its email, one a day. Of more than these, the rest is
# on the referral page only.
MOST_DAYS_LATER = 7


class Claimant(NamedTuple):
    """Whom a notification about an earned reward is about."""

    earned_id: str
    reward: str
    variant: str | None
    shipping: str | None
    name: str | None
    email: str

    @property
    def who(self) -> str:
        return self.name or self.email

    def says(self, kind: str) -> str:
        """In the words of this kind; empty for kinds about something else. Names are read when the
        notification is shown and are not stored with it, so that erasing forgets them."""
        reward = f"“{self.reward}”" + (f" ({self.variant})" if self.variant else "")
        town = town_of(read_address(self.shipping))
        words = notification_kinds.named(kind)
        return words.format(who=self.who, reward=reward, to=f", to {town}" if town else "")


_sql = beside(__file__)
_CLAIMANTS = _sql.query("claimants", Claimant)


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
    if (await change.fact(branding.of)).sends_reward_unlocked:
        email = await unlocked_email(change, advocate, reward, coupon_code)
        await reader_emails.send_news(change, advocate, email, most_days_later=MOST_DAYS_LATER)


async def unlocked_email(
    change: Change, advocate: Subscriber, reward: Reward, coupon_code: str | None
) -> EmailToSend:
    site = change.site
    brand = (await change.fact(branding.of)).email_branding(site, advocate.language)
    ahead = rewards.next_reward(await change.fact(rewards.of_campaign), advocate.toward_rewards)
    message = texts.reward_unlocked(
        brand,
        reader_emails.facts_of(site, advocate),
        UnlockedReward(reward.name, coupon_code, reward.link, reward.description),
        RewardAhead(ahead[0].name, ahead[1], site.reader_link(advocate.ref_code))
        if ahead
        else None,
    )
    return reader_emails.email_to(change, advocate, REWARD_UNLOCKED, message, brand)


async def notify_to_approve(
    change: Change, reward: Reward, earned_id: str, *, is_news: bool
) -> None:
    """The operator is notified of each; of those that are no news, once per reward and day."""
    cause = earned_id if is_news else f"{reward.id}:{change.now_ms // DAY_MS}"
    message = texts.reward_to_approve(reward=reward.name, page=f"{change.site.base_url}/rewards")
    await accounts.notify_owner(change, REWARD_TO_APPROVE.name, cause, message, link="/rewards")


async def claimants(at: AccountReading, earned_ids: Iterable[str]) -> dict[str, Claimant]:
    """By the id of what they earned."""
    found = await at.all(_CLAIMANTS, ids=list(earned_ids))
    return {each.earned_id: each for each in found}


async def notify_to_send(change: Change, earned_id: str, reward_name: str) -> None:
    message = texts.item_to_send(reward=reward_name, page=f"{change.site.base_url}/shipments")
    await accounts.notify_owner(change, ITEM_TO_SEND.name, earned_id, message, link="/shipments")


async def notify_claimed(change: Change, earned_id: str, reward_name: str) -> None:
    """Of each claim, also of one that comes after another was declined."""
    message = texts.reward_claimed(reward=reward_name, page=f"{change.site.base_url}/rewards")
    cause = f"{earned_id}:{change.now_ms}"
    await accounts.notify_owner(change, REWARD_CLAIMED.name, cause, message, link="/rewards")


async def notify_address_corrected(change: Change, earned_id: str, reward_name: str) -> None:
    """Somebody may have printed the label already."""
    page = f"{change.site.base_url}/shipments"
    message = shipment_texts.address_corrected(reward=reward_name, page=page)
    cause = f"{earned_id}:{change.now_ms}"
    await accounts.notify_owner(change, ADDRESS_CORRECTED, cause, message, link="/shipments")


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
