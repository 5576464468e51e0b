"""Endpoints that find: subscribers by a part of their name or address, and referrals that wait for
an operator. A few rows each, however long the list is.
"""

from __future__ import annotations

from typing import Annotated

from honeyguide.api.call import Call
from honeyguide.api.subscriber_views import RefCode, ReferralsCount, ReferralStatus, SignedUpAt
from honeyguide.api.views import View, filler, iso_or_none
from honeyguide.kernel import public
from honeyguide.kernel.checks import STRING_LIMIT
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.public import doc
from honeyguide.store.reading import Reading
from honeyguide.subscribers import search
from honeyguide.subscribers.search import FoundSubscriber
from honeyguide.subscribers.subscriber_filters import SUBSCRIBER_STATUSES

MOST_FOUND = 20
MOST_TO_REVIEW = 100


class MatchingSubscriber(View, frozen=True):
    """A subscriber that a search found."""

    uuid: public.Uuid
    email: public.Email
    name: public.SubscriberName | None
    status: Annotated[str, doc("Whether they left.", "active", enum=list(SUBSCRIBER_STATUSES))]
    ref_code: RefCode
    referrals_count: ReferralsCount
    referrer_code: public.ReferrerCode | None
    referral_status: ReferralStatus
    created_at: SignedUpAt


class MatchingSubscribers(View, frozen=True):
    subscribers: Annotated[
        list[MatchingSubscriber], doc(f"The likeliest first, at most {MOST_FOUND}.")
    ]


class ReferralToReview(View, frozen=True):
    """A suspicious referral that waits for your decision."""

    subscriber_uuid: Annotated[public.Uuid, doc("UUID of the subscriber who was referred.")]
    email: public.Email
    name: public.SubscriberName | None
    referrer_code: public.ReferrerCode | None
    referrer_uuid: Annotated[public.Uuid, doc("UUID of the referrer.")] | None
    reason: public.ReferralReason | None
    explanation: public.ReferralExplanation
    due_at: public.DueAt | None
    created_at: SignedUpAt


class ReferralsToReview(View, frozen=True):
    referrals: Annotated[list[ReferralToReview], doc(f"Newest first, at most {MOST_TO_REVIEW}.")]


_matching = filler(MatchingSubscriber, FoundSubscriber, referrals_count="referrals_verified")
_to_review = filler(
    ReferralToReview,
    FoundSubscriber,
    subscriber_uuid="id",
    reason="referral_reason",
    explanation="why",
    due_at=("referral_due_ms", iso_or_none),
)


async def search_subscribers(at: Reading, call: Call[None]) -> MatchingSubscribers:
    """Search for subscribers.

    At most {MOST_FOUND}: advocates and recent subscribers whose name or email address contains the
    text, and those whose address begins with it.
    """
    text = " ".join(call.query.get("q", "").split())
    if not text:
        return MatchingSubscribers([])
    if len(text) > STRING_LIMIT:
        raise Invalid(
            "{field} must have at most {most} characters.", param="q", most=str(STRING_LIMIT)
        )
    found = await search.find_quickly(at, text, most=MOST_FOUND)
    return MatchingSubscribers([_matching(row) for row in found])


async def list_referrals_to_review(at: Reading, call: Call[None]) -> ReferralsToReview:
    """List referrals to review.

    Suspicious referrals that wait for your decision, as the dashboard's Review page lists them:
    newest first, at most {MOST_TO_REVIEW}. Decide them with `referral_decisions`.
    """
    rows = await search.judged(at, "suspected", before=None, most=MOST_TO_REVIEW)
    return ReferralsToReview([_to_review(row) for row in rows])
