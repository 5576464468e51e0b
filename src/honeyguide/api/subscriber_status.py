"""Endpoints for what the specification's subscriber does not say: whether they are subscribed, and
where their referral page is."""

from __future__ import annotations

from typing import Annotated

from honeyguide.api.call import Call
from honeyguide.api.views import View, iso_or_none
from honeyguide.kernel import public
from honeyguide.kernel.public import doc
from honeyguide.store.reading import Reading
from honeyguide.subscribers import hub, subscribers
from honeyguide.subscribers.subscriber_filters import SUBSCRIBER_STATUSES


class SubscriberStatus(View, frozen=True):
    status: Annotated[
        str,
        doc(
            "`confirmed` means that they confirmed their email address.",
            "active",
            enum=list(SUBSCRIBER_STATUSES),
        ),
    ]
    is_subscribed: Annotated[
        bool, doc("Whether to send them the newsletter. False if they left or must confirm first.")
    ]
    is_confirmed: Annotated[bool, doc("Whether they confirmed their email address.", False)]
    must_confirm: Annotated[
        bool, doc("Whether they still have to confirm their email address.", False)
    ]
    unsubscribed_at: Annotated[
        public.Time | None, doc("When they left; null if they are subscribed.", None)
    ]


class SubscriberReferralPage(View, frozen=True):
    referral_page_url: Annotated[
        public.Url,
        doc(
            "The subscriber's own page: their link, their referrals and their rewards. Give it to "
            "nobody else, because it works without a login.",
            "https://go.example.org/hub/k7m2x9pa5f0c9b7d1e2a4c6f8b3d5a7e9c1f2b4d",
        ),
    ]


async def get_subscriber_status(at: Reading, call: Call[None]) -> SubscriberStatus:
    """Get a subscriber's status.

    Whether they are subscribed, and whether they confirmed their email address.
    """
    found = await subscribers.get(at.tx, at.tenant, call.path["uuid"])
    has_left = found.status == "unsubscribed"
    return SubscriberStatus(
        status=found.status,
        is_subscribed=not has_left and not found.must_confirm,
        is_confirmed=found.status == "confirmed",
        must_confirm=not has_left and bool(found.must_confirm),
        unsubscribed_at=iso_or_none(found.unsubscribed_ms) if has_left else None,
    )


async def get_subscriber_referral_page(at: Reading, call: Call[None]) -> SubscriberReferralPage:
    """Get the link to a subscriber's referral page.

    The same link that emails to the subscriber have. Whoever opens it can claim rewards and
    unsubscribe on the subscriber's behalf, so a key that may only read does not get it.
    """
    found = await subscribers.get(at.tx, at.tenant, call.path["uuid"])
    return SubscriberReferralPage(hub.link(at.site, found))
