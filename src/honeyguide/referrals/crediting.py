"""What a referral does for its referrer and the operator: events, rewards and notifications, in the
transaction of the signup or of the decision.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.accounts import accounts
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import notifications, texts
from honeyguide.mail.notification_kinds import FIRST_REFERRAL
from honeyguide.referrals import (
    advocate_emails,
    campaigns,
    earned_rewards,
    event_bodies,
    rules,
    subscribers,
)
from honeyguide.referrals.subscribers import Subscriber
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class Referrer(NamedTuple):
    """The subscriber behind a code, and what of their campaign a signup needs to know."""

    id: str
    email: str
    person_key: str
    referrer_id: str | None
    network: str | None
    received_ms: int
    screening: str
    hold_days: int
    listeners: int
    milestones: int
    is_first: int
    """Whether the campaign had no referral yet."""
    friend_emails: int
    """Whether the referrer may get an email about this one."""
    has_lists: int
    """Whether the campaign has a block list or an allow list."""


_sql = beside(__file__)
_SET_FIRST_REFERRAL = _sql.command("set_first_referral")


def is_news(referral: Subscriber) -> bool:
    """Nobody is emailed about people who joined elsewhere before: those in an imported file, or
    sent to the API with a date in the past."""
    is_backfill = referral.received_ms - referral.created_ms > DAY_MS
    return referral.origin != "import" and not is_backfill


async def credit_signup(
    tx: Tx, site: Site, tenant: Tenant, referral: Subscriber, referrer: Referrer, *, now_ms: int
) -> None:
    """For a new referral, unless it is rejected."""
    if referral.referral_status == rules.Status.REJECTED:
        return
    if referrer.listeners:
        # The insert locked the referrer's row. If they were erased meanwhile, skip the event; the
        # signup still succeeds.
        advocate = await subscribers.find(tx, tenant, referrer.id)
        if advocate is not None:
            await event_bodies.new_referral(tx, site, tenant, referral, advocate, now_ms=now_ms)
    is_verified = referral.referral_status == rules.Status.VERIFIED
    if is_verified and (referrer.milestones or referrer.friend_emails):
        await credit_verified(tx, site, tenant, referral, now_ms=now_ms)
    if referrer.is_first and is_news(referral):
        await _notify_of_first(tx, site, tenant, referral, now_ms=now_ms)


async def credit_verified(
    tx: Tx, site: Site, tenant: Tenant, referral: Subscriber, *, now_ms: int
) -> None:
    """For a referral that is verified now."""
    advocate_id, news = referral.referrer_id, is_news(referral)
    if advocate_id is None:
        return
    await earned_rewards.unlock(tx, site, tenant, advocate_id, is_news=news, now_ms=now_ms)
    if news:
        await advocate_emails.tell_of_friend(tx, site, tenant, advocate_id, now_ms=now_ms)


async def _notify_of_first(
    tx: Tx, site: Site, tenant: Tenant, referral: Subscriber, *, now_ms: int
) -> None:
    await tx.run(_SET_FIRST_REFERRAL, **tenant._asdict(), now_ms=now_ms)
    account = await accounts.get(tx, tenant.account_id)
    link = f"/subscribers/{referral.id}"
    message = texts.first_referral(
        newsletter=(await campaigns.get(tx, tenant)).name, page=f"{site.base_url}{link}"
    )
    await notifications.notify(
        tx,
        account.id,
        account.email,
        FIRST_REFERRAL.name,
        f"first_referral:{tenant.campaign_id}",
        message,
        link=link,
        base_url=site.base_url,
        now_ms=now_ms,
    )
