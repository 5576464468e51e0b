"""Tells webhooks and the advocate about a reward, in the transaction that unlocks or redeems it."""

from __future__ import annotations

from typing import Any

from honeyguide.events import outbox
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import texts
from honeyguide.referrals import event_bodies, hub, names, reader_emails, rewards
from honeyguide.referrals.branding import Branding
from honeyguide.referrals.rewards import Reward
from honeyguide.referrals.subscribers import Subscriber
from honeyguide.store.tx import Tx


async def tell_unlocked(
    tx: Tx,
    site: Site,
    tenant: Tenant,
    advocate: Subscriber,
    reward: Reward,
    *,
    earned_id: str,
    coupon_code: str | None,
    brand: Branding,
    now_ms: int,
) -> None:
    facts = {
        "reward": body(reward.id, reward.name, reward.referrals, reward.recurring),
        "coupon_code": coupon_code,
    }
    await emit(tx, site, tenant, outbox.REWARD_UNLOCKED, advocate, facts, now_ms=now_ms)
    if advocate.status == "unsubscribed":  # no email, but the reward is still theirs
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
    await reader_emails.send(
        tx,
        site,
        tenant,
        advocate,
        message,
        look,
        kind="reward_unlocked",
        once=f"reward_unlocked:{earned_id}",
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
