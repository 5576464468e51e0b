"""Signups that wait for a confirmation. Nobody is subscribed before that, so an address that
somebody typed under one code does not keep it from being referred with another.
"""

from __future__ import annotations

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.screening import evidence, visits
from honeyguide.screening.signals import Signal
from honeyguide.signups import claims, lifecycle, partner_signups, signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store.change import Change
from honeyguide.subscribers import subscribers
from honeyguide.subscribers.referral_states import Status
from honeyguide.subscribers.subscribers import Subscriber


async def sign_up_again(
    change: Change, subscriber: Subscriber, new: NewSubscriber, email: EmailAddress
) -> Subscriber | None:
    """One more claim, if an address that never confirmed comes with another code. None if nothing
    is changed: who comes without a code asks for the email again."""
    if not _may_come_again(subscriber):
        return None
    again = await _claim_again(change, subscriber, new, email)
    if not visits.lacks_form(new.visit):
        # Whoever entered the address without a form may have been somebody else.
        await evidence.remove(change, (again or subscriber).id, Signal.NO_FORM)
    return again


async def _claim_again(
    change: Change, subscriber: Subscriber, new: NewSubscriber, email: EmailAddress
) -> Subscriber | None:
    found = await _find_other_code(change, new, subscriber)
    if found is None:
        return None
    code, referrer_id = found
    subscriber = await subscribers.get_locked(change, subscriber.id)
    if not _may_come_again(subscriber) or code == subscriber.referrer_code:
        return None
    shown = await claims.bring_back(change, subscriber, code, only_pending=True)
    if shown is not None:
        return shown
    await claims.lock_referrers(change, subscriber.referrer_id, referrer_id)
    await claims.put_aside(change, subscriber)
    return await signups.sign_up(change, new, email=email, waiting=subscriber)


def _may_come_again(subscriber: Subscriber) -> bool:
    """Not if the owner has verified the referral before they confirmed."""
    is_decided = subscriber.referrer_code is not None and (
        subscriber.referral_status == Status.VERIFIED
    )
    return claims.is_waiting(subscriber) and not is_decided


async def _find_other_code(
    change: Change, new: NewSubscriber, subscriber: Subscriber
) -> tuple[str, str | None] | None:
    """With the subscriber whose it is, if it is no partner's."""
    claimed = (new.referrer_code or "").strip()
    if claimed.lower() in ("", subscriber.referrer_code):
        return None
    partner = await partner_signups.find(change, new, EmailAddress(new.email))
    if partner is not None:
        return partner.code, None
    referrer = await lifecycle.find_referrer(change, claimed)
    if referrer is None or referrer.id == subscriber.id:
        return None
    if referrer.ref_code == subscriber.referrer_code:
        return None
    return referrer.ref_code, referrer.id
