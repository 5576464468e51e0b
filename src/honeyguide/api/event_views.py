"""What webhooks receive, as types, for the OpenAPI document. The events themselves are built where
they happen; `tests/events/test_event_schemas.py` compares them with these."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, UnsetType

from honeyguide.api import bodies
from honeyguide.api.subscriber_views import Origin, RefCode, ReferralStatus
from honeyguide.api.views import View
from honeyguide.events import outbox
from honeyguide.kernel import public
from honeyguide.kernel.public import doc
from honeyguide.partners.reversal_reasons import ReversalReason
from honeyguide.subscribers.subscriber_filters import SUBSCRIBER_STATUSES

UnixSeconds = Annotated[int, doc("When they subscribed, in Unix seconds.", 1794700000)]


class EventNextReward(View, frozen=True):
    """The reward that a subscriber reaches next."""

    id: public.Uuid
    name: public.RewardName
    referrals: public.ReferralsNeeded
    referrals_left: Annotated[int, doc("How many more referrals it takes.", 2)]


class EventSubscriber(View, frozen=True):
    """A subscriber in an event."""

    id: public.Uuid
    email: public.Email
    name: public.SubscriberName | None
    first_name: Annotated[str | None, doc("First word of the name.", "Ana")]
    referral_code: RefCode
    referral_link: public.ReferralLink
    referred: Annotated[bool, doc("Whether they were referred.", True)]
    referral_status: ReferralStatus
    tot_referrals: Annotated[int, doc("Number of verified referrals.", 3, minimum=0)]
    next_reward: Annotated[
        int | None, doc("Referrals left to the next reward; null if no reward is left.", 2)
    ]
    next_reward_details: Annotated[EventNextReward | None, doc("Null if no reward is left.")]
    created_at: UnixSeconds


class EventAnonymousSubscriber(View, frozen=True):
    """A subscriber as a partner sees them: what became of the referral, not who they are."""

    id: public.Uuid
    referred: Annotated[bool, doc("Whether they were referred.", True)]
    referral_status: ReferralStatus
    created_at: UnixSeconds


class EventReward(View, frozen=True):
    """The reward in an event."""

    id: public.Uuid
    name: public.RewardName
    referrals: public.ReferralsNeeded
    recurring: public.Recurring


class EventPartnerCampaign(View, frozen=True):
    """The partner campaign that a referral came through."""

    id: public.PartnerCampaignUuid
    referral_code: Annotated[str, doc("The partner's code.", "pk7m2x9pa")]
    type: Annotated[str, doc("Always `partner`.", "partner", enum=["partner"])]


class EventPartner(View, frozen=True):
    """The partner that a referral came from."""

    id: public.Uuid
    name: Annotated[str, doc("Name of the partner.", "The Daily Comb")]


class EventReversal(View, frozen=True):
    """Why a charge was taken back."""

    reason: Annotated[str, doc("Why.", "robot", enum=list(ReversalReason))]
    text: Annotated[str | None, doc("What the owner wrote to the partner.", None)]
    amount: Annotated[float, doc("What was taken back, in US dollars.", 2.5)]


class EventBase(View, frozen=True, kw_only=True):
    type: Annotated[str, doc("Event type.", enum=[*outbox.ALL_TYPES, outbox.TEST])]
    timestamp: Annotated[public.Time, doc("When it happened.")]
    id: Annotated[
        str,
        doc(
            "The same for every attempt. Use it to detect duplicates.",
            f"msg_{public.SUBSCRIBER_UUID}",
        ),
    ]


class CampaignEvent(EventBase, frozen=True, kw_only=True):
    campaign_id: public.CampaignUuid
    subscriber: EventSubscriber


class NewReferralEvent(CampaignEvent, frozen=True, kw_only=True):
    referrer: EventSubscriber


class RewardUnlockedEvent(CampaignEvent, frozen=True, kw_only=True):
    reward: EventReward
    coupon_code: public.CouponCode | None


class RewardRedeemedEvent(RewardUnlockedEvent, frozen=True, kw_only=True):
    shipping_details: Annotated[
        bodies.ShippingDetails | None, doc("Null unless something is shipped.")
    ]
    variant: Annotated[str | None, doc("The size or color that was chosen.", None)]


class SubscriptionEvent(CampaignEvent, frozen=True, kw_only=True):
    status: Annotated[str, doc("Their status now.", "active", enum=list(SUBSCRIBER_STATUSES))]
    origin: Origin


class ReferralDecisionEvent(CampaignEvent, frozen=True, kw_only=True):
    referrer: Annotated[EventSubscriber | None, doc("Null if a partner referred them.")]
    reason: public.ReferralReason | None
    campaign: (
        Annotated[EventPartnerCampaign, doc("Only if a partner referred them.")] | UnsetType
    ) = UNSET
    partner: Annotated[EventPartner, doc("Only if a partner referred them.")] | UnsetType = UNSET


class PartnerReferralEvent(CampaignEvent, frozen=True, kw_only=True):
    campaign: EventPartnerCampaign
    partner: EventPartner


class PartnerReversalEvent(PartnerReferralEvent, frozen=True, kw_only=True):
    reversal: EventReversal


class AnonymousPartnerReferralEvent(EventBase, frozen=True, kw_only=True):
    """What the partner gets, and the owner if the subscriber was erased."""

    campaign_id: public.CampaignUuid | UnsetType = UNSET
    subscriber: EventAnonymousSubscriber
    campaign: EventPartnerCampaign
    partner: EventPartner


class AnonymousPartnerReversalEvent(AnonymousPartnerReferralEvent, frozen=True, kw_only=True):
    """What the partner gets, and the owner if the subscriber was erased."""

    reversal: EventReversal


class TestEvent(EventBase, frozen=True, kw_only=True):
    message: Annotated[str, doc("Something to read.", outbox.TEST_MESSAGE)]


# What each type of event can look like.
PAYLOADS: dict[str, tuple[type[View], ...]] = {
    outbox.NEW_REFERRAL: (NewReferralEvent,),
    outbox.NEW_PARTNER_REFERRAL: (PartnerReferralEvent, AnonymousPartnerReferralEvent),
    outbox.REWARD_UNLOCKED: (RewardUnlockedEvent,),
    outbox.REWARD_REDEEMED: (RewardRedeemedEvent,),
    outbox.NEW_SUBSCRIBER: (SubscriptionEvent,),
    outbox.SUBSCRIBER_UNSUBSCRIBED: (SubscriptionEvent,),
    outbox.REFERRAL_VERIFIED: (ReferralDecisionEvent,),
    outbox.REFERRAL_REJECTED: (ReferralDecisionEvent,),
    outbox.PARTNER_REFERRAL_REVERSED: (PartnerReversalEvent, AnonymousPartnerReversalEvent),
    outbox.TEST: (TestEvent,),
}
