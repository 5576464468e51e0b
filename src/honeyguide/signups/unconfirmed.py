"""Signups that wait for a confirmation. Nobody is subscribed before that, so an address that
somebody typed under one code does not keep it from being referred with another.
"""

from __future__ import annotations

from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.ids import new_id
from honeyguide.mail import emails
from honeyguide.signups import lifecycle, partner_signups, signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store.change import Change
from honeyguide.subscribers import form_codes
from honeyguide.subscribers.subscribers import Subscriber

REPLACED = "Cancelled: the address came again with another code."


async def sign_up_again(
    change: Change, subscriber: Subscriber, new: NewSubscriber, email: EmailAddress
) -> Subscriber | None:
    """Deletes a signup that was never confirmed if the same address comes with another code, and
    signs the address up anew. Its first referral is rejected. None if nothing is changed."""
    if not subscriber.must_confirm or subscriber.status != "active":
        return None
    if not await _names_another_referrer(change, new, subscriber):
        return None
    kept_by = new_id()
    await signups.reject_unconfirmed(change, subscriber.id)
    # The link in an email that is not sent yet leads nowhere any more. What was sent still counts
    # for the limits of the mailbox, which an erasure would make us forget.
    await emails.cancel_unsent(change, subscriber.id, REPLACED)
    await emails.hand_over(change, subscriber.id, kept_by)
    await signups.erase(change, subscriber.id)
    signed_up = await signups.sign_up(change, new, email=email)
    await emails.hand_over(change, kept_by, signed_up.id)
    await form_codes.hand_over(change, subscriber, signed_up.id)
    return signed_up


async def _names_another_referrer(
    change: Change, new: NewSubscriber, subscriber: Subscriber
) -> bool:
    claimed = (new.referrer_code or "").strip()
    if claimed.lower() in ("", subscriber.referrer_code):
        return False
    if await partner_signups.find(change, new, EmailAddress(new.email)) is not None:
        return True
    referrer = await lifecycle.find_referrer(change, claimed)
    return referrer is not None and referrer.ref_code != subscriber.referrer_code
