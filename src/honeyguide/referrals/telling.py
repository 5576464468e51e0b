"""What an event says of people: the shapes that receivers written for this family of APIs read."""

from __future__ import annotations

from typing import Any

from honeyguide.events import outbox
from honeyguide.kernel.site import Site
from honeyguide.referrals.campaigns import Owner
from honeyguide.referrals.people import Subscriber
from honeyguide.store.tx import Tx


def person(site: Site, s: Subscriber) -> dict[str, Any]:
    return {
        "id": s.id,
        "email": s.email,
        "name": s.name,
        "first_name": s.name.split()[0] if s.name and s.name.strip() else None,
        "referral_code": s.ref_code,
        "referral_link": site.reader_link(s.ref_code),
        "referred": s.referrer_code is not None,
        "referral_status": s.referral_status,
        "tot_referrals": s.referrals_verified,
        "next_reward": None,
        "created_at": s.created_ms // 1000,
    }


async def new_referral(tx: Tx, site: Site, owner: Owner, subscriber: Subscriber, referrer: Subscriber, *, now_ms: int) -> None:
    """A referral was created and not rejected."""
    to = await outbox.listeners(tx, owner.account_id, outbox.NEW_REFERRAL)
    if not to:
        return
    facts = {"campaign_id": owner.campaign_id, "subscriber": person(site, subscriber), "referrer": person(site, referrer)}
    await outbox.emit(
        tx, owner.account_id, outbox.NEW_REFERRAL, facts, to=to, subscriber_id=subscriber.id, referrer_id=referrer.id,
        now_ms=now_ms,
    )  # fmt: skip
