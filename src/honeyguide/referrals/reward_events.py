"""Tells webhooks, the advocate and the operator about a reward, in the transaction that earns,
unlocks or redeems it.
"""

from __future__ import annotations

from typing import Any

from honeyguide.accounts import accounts
from honeyguide.events import outbox
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import email_kinds, notifications, texts
from honeyguide.mail.content import EmailText
from honeyguide.mail.notification_kinds import ITEM_TO_SEND, REWARD_TO_APPROVE, NotificationKind
from honeyguide.referrals import event_bodies, hub, names, reader_emails, rewards
from honeyguide.referrals.branding import Branding
from honeyguide.referrals.rewards import Reward
from honeyguide.referrals.subscribers import Subscriber
from honeyguide.store.tx import Tx

# Of several rewards earned in a day, each has its email, one a day. Of more than these, the rest is
# on the referral page only.
MOST_DAYS_LATER = 7


async def tell_unlocked(
    tx: Tx,
    site: Site,
    tenant: Tenant,
    advocate: Subscriber,
    reward: Reward,
    *,
    coupon_code: str | None,
    brand: Branding,
    is_news: bool,
    now_ms: int,
) -> None:
    """The event, and an email if the operator sends such emails and it is news."""
    facts = {
        "reward": body(reward.id, reward.name, reward.referrals, reward.recurring),
        "coupon_code": coupon_code,
    }
    await emit(tx, site, tenant, outbox.REWARD_UNLOCKED, advocate, facts, now_ms=now_ms)
    if not is_news or not brand.sends_reward_unlocked:
        return
    look = brand.email_branding(site)
    offered = await rewards.of_campaign(tx, tenant)
    ahead = rewards.next_reward(offered, advocate.referrals_verified)
    message = texts.reward_unlocked(
        look.language,
        newsletter=brand.name,
        reward=reward.name,
        referrals=advocate.referrals_verified,
        hub=hub.link(site, advocate),
        first_name=names.first_name(advocate.name),
        coupon_code=coupon_code,
        link=reward.link,
        how_to_claim=reward.description,
        next_reward=ahead[0].name if ahead else "",
        left=ahead[1] if ahead else 0,
        referral_link=site.reader_link(advocate.ref_code),
        own=look.own_texts,
    )
    await reader_emails.send_news(
        tx,
        site,
        tenant,
        advocate,
        message,
        look,
        kind=email_kinds.REWARD_UNLOCKED,
        now_ms=now_ms,
        most_days_later=MOST_DAYS_LATER,
    )


async def notify_to_approve(
    tx: Tx,
    site: Site,
    tenant: Tenant,
    reward: Reward,
    earned_id: str,
    *,
    is_news: bool,
    now_ms: int,
) -> None:
    """The operator is notified of each; of those that are no news, once per reward and day."""
    cause = earned_id if is_news else f"{reward.id}:{now_ms // DAY_MS}"
    page = f"{site.base_url}/rewards"
    message = texts.reward_to_approve(reward=reward.name, page=page)
    await _notify(
        tx, site, tenant, REWARD_TO_APPROVE, cause, message, link="/rewards", now_ms=now_ms
    )


async def notify_to_send(
    tx: Tx, site: Site, tenant: Tenant, earned_id: str, reward_name: str, *, now_ms: int
) -> None:
    message = texts.item_to_send(reward=reward_name, page=f"{site.base_url}/shipments")
    await _notify(
        tx, site, tenant, ITEM_TO_SEND, earned_id, message, link="/shipments", now_ms=now_ms
    )


async def _notify(
    tx: Tx,
    site: Site,
    tenant: Tenant,
    kind: NotificationKind,
    cause: str,
    message: EmailText,
    *,
    link: str,
    now_ms: int,
) -> None:
    account = await accounts.get(tx, tenant.account_id)
    await notifications.notify(
        tx,
        account.id,
        account.email,
        kind.name,
        f"{kind.name}:{cause}",
        message,
        link=link,
        base_url=site.base_url,
        now_ms=now_ms,
    )


def body(reward_id: str, name: str, referrals: int, recurring: int) -> dict[str, Any]:
    return {"id": reward_id, "name": name, "referrals": referrals, "recurring": bool(recurring)}


async def emit(
    tx: Tx,
    site: Site,
    tenant: Tenant,
    kind: str,
    advocate: Subscriber,
    facts: dict[str, Any],
    *,
    now_ms: int,
) -> None:
    """The event `kind` about this advocate; `facts` say which reward it was."""
    to = await outbox.listeners(tx, tenant.account_id, kind)
    if not to:
        return
    shown = event_bodies.person(site, advocate, await rewards.of_campaign(tx, tenant))
    body = {"campaign_id": tenant.campaign_id, "subscriber": shown, **facts}
    await outbox.emit(
        tx, tenant.account_id, kind, body, to=to, subscriber_id=advocate.id, now_ms=now_ms
    )
