"""Webhook events about signups, unsubscribes and decided referrals, whoever referred them.

`new_referral` is recorded in `referrals`, where the referrer is at hand.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from honeyguide.events import outbox
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.partners.charges import PartnerReferral
from honeyguide.referrals import campaigns, event_bodies, rewards, subscribers
from honeyguide.referrals.lifecycle import Changed
from honeyguide.referrals.rules import Status
from honeyguide.referrals.subscribers import Subscriber
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class PartnerName(NamedTuple):
    id: str
    name: str | None
    ref_code: str


_sql = beside(__file__)
_PARTNER_NAME = _sql.query("partner_name", PartnerName)

IMPORT = "import"  # the origin of imported subscribers

_DECIDED_TYPES = {
    Status.VERIFIED: outbox.REFERRAL_VERIFIED,
    Status.REJECTED: outbox.REFERRAL_REJECTED,
}


async def signed_up(
    tx: Tx, site: Site, tenant: Tenant, subscriber: Subscriber, *, now_ms: int
) -> None:
    """The events of a signup: the new subscriber, and the referral if it was decided at once."""
    # An imported list is one that the operator has already; nobody in it signed up just now.
    if subscriber.origin != IMPORT and await _is_on_list(tx, tenant, subscriber):
        await _emit(tx, site, tenant, outbox.NEW_SUBSCRIBER, subscriber, now_ms=now_ms)
    await referred(tx, site, tenant, subscriber, now_ms=now_ms)


async def referred(
    tx: Tx, site: Site, tenant: Tenant, subscriber: Subscriber, *, now_ms: int
) -> None:
    """The event of a new referral that was decided at once."""
    if subscriber.referrer_code is not None:
        await _referral_decided(tx, site, tenant, subscriber, now_ms=now_ms)


async def changed(tx: Tx, site: Site, tenant: Tenant, change: Changed, *, now_ms: int) -> None:
    """The events of a new status of the subscriber or of the referral."""
    before, after = change
    if before.status != after.status:
        if after.status == "unsubscribed":
            kind = outbox.SUBSCRIBER_UNSUBSCRIBED
            await _emit(tx, site, tenant, kind, after, now_ms=now_ms)
        elif not await _is_on_list(tx, tenant, before):
            await _emit(tx, site, tenant, outbox.NEW_SUBSCRIBER, after, now_ms=now_ms)
    if before.referral_status != after.referral_status:
        await _referral_decided(tx, site, tenant, after, now_ms=now_ms)


async def _is_on_list(tx: Tx, tenant: Tenant, subscriber: Subscriber) -> bool:
    """Whether the newsletter may be sent to them: not before they confirmed, if the campaign
    requires that."""
    if subscriber.status == "active":
        return not (await campaigns.get(tx, tenant)).needs_confirmation
    return subscriber.status == "confirmed"


async def _emit(
    tx: Tx, site: Site, tenant: Tenant, kind: str, subscriber: Subscriber, *, now_ms: int
) -> None:
    to = await outbox.listeners(tx, tenant.account_id, kind)
    if not to:
        return
    facts = {
        "campaign_id": tenant.campaign_id,
        "subscriber": await _person(tx, site, tenant, subscriber),
        "status": subscriber.status,
        "origin": subscriber.origin,
    }
    await outbox.emit(
        tx, tenant.account_id, kind, facts, to=to, subscriber_id=subscriber.id, now_ms=now_ms
    )


async def _referral_decided(
    tx: Tx, site: Site, tenant: Tenant, subscriber: Subscriber, *, now_ms: int
) -> None:
    kind = _DECIDED_TYPES.get(Status(subscriber.referral_status))
    to = [] if kind is None else await outbox.listeners(tx, tenant.account_id, kind)
    if kind is None or not to:
        return
    # Counting the referral locked the referrer's row. One who was erased meanwhile is not found.
    referrer = (
        await subscribers.find(tx, tenant, subscriber.referrer_id)
        if subscriber.referrer_id is not None
        else None
    )
    facts: dict[str, Any] = {
        "campaign_id": tenant.campaign_id,
        "subscriber": await _person(tx, site, tenant, subscriber),
        "referrer": None if referrer is None else await _person(tx, site, tenant, referrer),
        "reason": subscriber.referral_reason,
    }
    if subscriber.partner_campaign_id is not None:
        facts |= await _partner_facts(tx, tenant, subscriber.partner_campaign_id) or {}
    await outbox.emit(
        tx,
        tenant.account_id,
        kind,
        facts,
        to=to,
        subscriber_id=subscriber.id,
        referrer_id=None if referrer is None else referrer.id,
        now_ms=now_ms,
    )


async def new_partner_referral(
    tx: Tx,
    site: Site,
    tenant: Tenant,
    referral: PartnerReferral,
    subscriber: Subscriber,
    *,
    now_ms: int,
) -> None:
    """Two events: the owner's has the whole subscriber, the partner's nothing that tells who they
    are."""
    kind, partner_account_id = outbox.NEW_PARTNER_REFERRAL, referral.partner_account_id
    to_owner = await outbox.listeners(tx, tenant.account_id, kind)
    is_own = partner_account_id == tenant.account_id
    to_partner = [] if is_own else await outbox.listeners(tx, partner_account_id, kind)
    if not to_owner and not to_partner:
        return
    via = await _partner_facts(tx, tenant, referral.partner_campaign_id)
    if via is None:
        return
    if to_owner:
        shown = await _person(tx, site, tenant, subscriber)
        facts = {"campaign_id": tenant.campaign_id, "subscriber": shown, **via}
        await outbox.emit(
            tx,
            tenant.account_id,
            kind,
            facts,
            to=to_owner,
            subscriber_id=subscriber.id,
            now_ms=now_ms,
        )
    if to_partner:
        facts = {"subscriber": event_bodies.anonymous(subscriber), **via}
        await outbox.emit(
            tx,
            partner_account_id,
            kind,
            facts,
            to=to_partner,
            subscriber_id=subscriber.id,
            now_ms=now_ms,
        )


async def _person(tx: Tx, site: Site, tenant: Tenant, subscriber: Subscriber) -> dict[str, Any]:
    return event_bodies.person(site, subscriber, await rewards.of_campaign(tx, tenant))


async def _partner_facts(tx: Tx, tenant: Tenant, partner_campaign_id: str) -> dict[str, Any] | None:
    """Which partner sent the subscriber, by which code."""
    partner = await tx.one(
        _PARTNER_NAME, partner_campaign_id=partner_campaign_id, account_id=tenant.account_id
    )
    if partner is None:
        return None
    return {
        "campaign": {
            "id": partner_campaign_id,
            "referral_code": partner.ref_code,
            "type": "partner",
        },
        "partner": {"id": partner.id, "name": partner.name},
    }
