"""Webhook events about signups, unsubscribes and referrals, whoever referred them."""

from __future__ import annotations

from typing import Any, NamedTuple

from honeyguide.events import outbox
from honeyguide.events.outbox import Event
from honeyguide.kernel.money import dollars
from honeyguide.partners.charges import PartnerReferral
from honeyguide.partners.reversal_reasons import Reversal
from honeyguide.rewards import event_bodies, rewards
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers import subscribers
from honeyguide.subscribers.subscribers import Subscriber


class PartnerName(NamedTuple):
    id: str
    name: str | None
    ref_code: str


_sql = beside(__file__)
_PARTNER_NAME = _sql.query("partner_name", PartnerName)

_ABOUT_SUBSCRIPTION = (outbox.NEW_SUBSCRIBER, outbox.SUBSCRIBER_UNSUBSCRIBED)


async def build(change: Change, kind: str, subscriber: Subscriber) -> list[Event]:
    """The event `kind` about a subscriber or their referral, unless nobody wants it."""
    to = (await change.fact(outbox.listeners)).get(kind)
    if not to:
        return []
    facts: dict[str, Any] = {
        "campaign_id": change.tenant.campaign_id,
        "subscriber": await _person(change, subscriber),
    }
    if kind in _ABOUT_SUBSCRIPTION:
        facts |= {"status": subscriber.status, "origin": subscriber.origin}
        return [Event(change.tenant.account_id, kind, facts, to, subscriber.id)]
    # The referral locked the referrer's row when it was counted. One who was erased meanwhile is
    # not found.
    referrer = None
    if subscriber.referrer_id is not None:
        referrer = await change.fact(subscribers.find, subscriber.referrer_id)
    if kind == outbox.NEW_REFERRAL and referrer is None:
        return []
    facts["referrer"] = None if referrer is None else await _person(change, referrer)
    if kind != outbox.NEW_REFERRAL:
        facts["reason"] = subscriber.referral_reason
    if subscriber.partner_campaign_id is not None:
        via = await change.fact(_partner_facts, subscriber.partner_campaign_id)
        facts |= via or {}
    referrer_id = None if referrer is None else referrer.id
    return [Event(change.tenant.account_id, kind, facts, to, subscriber.id, referrer_id)]


async def new_partner_referral(
    change: Change, referral: PartnerReferral, subscriber: Subscriber
) -> list[Event]:
    """Two events: the owner's has the whole subscriber, the partner's nothing that tells who they
    are."""
    return await _to_both(change, outbox.NEW_PARTNER_REFERRAL, referral, subscriber, {})


async def partner_referral_reversed(
    change: Change, referral: PartnerReferral, subscriber: Subscriber, reversal: Reversal
) -> list[Event]:
    """As `new_partner_referral`, with what was taken back and why."""
    facts = {
        "reversal": {
            "reason": reversal.reason.value,
            "text": reversal.note,
            "amount": dollars(referral.fee_cents),
        }
    }
    kind = outbox.PARTNER_REFERRAL_REVERSED
    return await _to_both(change, kind, referral, subscriber, facts)


async def _to_both(
    change: Change,
    kind: str,
    referral: PartnerReferral,
    subscriber: Subscriber,
    more: dict[str, Any],
) -> list[Event]:
    owner_id = change.tenant.account_id
    partner_id = referral.partner_account_id
    to_owner = (await change.fact(outbox.listeners)).get(kind)
    to_partner = None
    if partner_id != owner_id:
        to_partner = (await outbox.listeners_of(change.of_account(partner_id))).get(kind)
    if not to_owner and not to_partner:
        return []
    via = await change.fact(_partner_facts, referral.partner_campaign_id)
    if via is None:
        return []
    anonymous = event_bodies.anonymous(subscriber)
    events = []
    if to_owner:
        # Of somebody who was erased there is no more to show.
        shown = await _person(change, subscriber) if subscriber.email else anonymous
        facts = {"campaign_id": change.tenant.campaign_id, "subscriber": shown, **via, **more}
        events.append(Event(owner_id, kind, facts, to_owner, subscriber.id))
    if to_partner:
        facts = {"subscriber": anonymous, **via, **more}
        events.append(Event(partner_id, kind, facts, to_partner, subscriber.id))
    return events


async def _person(change: Change, subscriber: Subscriber) -> dict[str, Any]:
    return event_bodies.person(change.site, subscriber, await change.fact(rewards.of_campaign))


async def _partner_facts(at: Reading, partner_campaign_id: str) -> dict[str, Any] | None:
    """Which partner sent the subscriber, by which code."""
    partner = await at.one(_PARTNER_NAME, partner_campaign_id=partner_campaign_id)
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
