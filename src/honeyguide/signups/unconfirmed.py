"""Signups that wait for a confirmation. Nobody is subscribed before that, so an address that
somebody typed under one code does not keep it from being referred with another.
"""

from __future__ import annotations

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.referrals import lifecycle
from honeyguide.referrals.lifecycle import NewSubscriber
from honeyguide.referrals.subscribers import Subscriber
from honeyguide.signups import partner_signups, signups
from honeyguide.store.change import Change


async def give_way(change: Change, subscriber: Subscriber, new: NewSubscriber) -> bool:
    """Deletes a signup that was never confirmed if the same address comes with another code. Its
    referral is rejected, and the caller signs the address up anew."""
    if not subscriber.must_confirm or subscriber.status != "active":
        return False
    code = (new.referrer_code or "").strip().lower()
    if code in ("", subscriber.referrer_code) or not await _is_known(change, new, code):
        return False
    await signups.reject_unconfirmed(change, subscriber.id)
    await signups.erase(change, subscriber.id)
    return True


async def _is_known(change: Change, new: NewSubscriber, code: str) -> bool:
    if await partner_signups.find(change, new, EmailAddress(new.email)) is not None:
        return True
    return await lifecycle.find_referrer(change.tx, change.tenant, code) is not None
