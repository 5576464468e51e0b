"""What callers send, as types: the decoder, the OpenAPI document and the endpoints all read these.

A body inherits the domain's struct of what callers may set. On create, null is the same as absent.
On update, UNSET leaves a field as it is, and null clears what may be empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.api.decoding import Body
from honeyguide.kernel import checks, public
from honeyguide.kernel.public import doc
from honeyguide.partners import programs, publications
from honeyguide.partners.programs import ProgramFields
from honeyguide.partners.publications import PublicationChanges, PublicationFields
from honeyguide.partners.reversal_reasons import NOTE_LIMIT, ReversalReason
from honeyguide.partners.verification import VerificationFields
from honeyguide.rewards import coupons, rewards
from honeyguide.rewards.adjustments import AdjustmentFields
from honeyguide.rewards.fulfillment import REASON_LIMIT
from honeyguide.rewards.rewards import RewardFields
from honeyguide.signups import group_decisions, referral_checks
from honeyguide.signups.lifecycle import FIRST_STATUSES, SignupClaims, SubscriberChanges
from honeyguide.subscribers import tags
from honeyguide.subscribers.campaigns import ReferralSettings
from honeyguide.subscribers.codes import CodeFields
from honeyguide.subscribers.link_hosts import LinkHostFields


class EmptyBody(Body, frozen=True):
    """This request needs no fields."""


class CampaignUpdate(Body, frozen=True):
    name: public.CampaignName | UnsetType = UNSET


class CampaignSettingsUpdate(Body, ReferralSettings, frozen=True):
    pass


_FIRST_STATUS = doc(
    "`active` by default. An `unsubscribed` person never counts as a referral and gets no email.",
    "active",
    enum=list(FIRST_STATUSES),
)


class SubscriberCreate(Body, SignupClaims, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("email",)

    email: public.Email | None = None
    status: Annotated[str, _FIRST_STATUS] | None = None


class SubscriberUpdate(Body, SubscriberChanges, frozen=True):
    pass


_CHECKED_ORIGIN = doc(
    "How they would come. `magic` by default if the code is a partner's, else `signup`.",
    "magic",
    enum=list(referral_checks.ORIGINS),
)


class ReferralCheckInput(Body, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("email", "referrer_code")

    email: public.Email | None = None
    referrer_code: public.ClaimedCode | None = None
    origin: Annotated[str, _CHECKED_ORIGIN] | None = None
    ip_address: public.IpAddress | None = None
    status: Annotated[str, _FIRST_STATUS] | None = None


_DECIDED_STATUS = doc(
    "What the referrals become.", "verified", enum=list(group_decisions.DECIDED_STATUSES)
)
_DECIDED_SUBSCRIBERS = doc(
    "UUIDs or email addresses of those who were referred.",
    ["reader@example.com"],
    minItems=1,
    maxItems=group_decisions.MOST,
)
_DECISION_REASON = doc(
    "Why you decided so. Only you see it.", "Bought addresses", maxLength=checks.DESCRIPTION_LIMIT
)


class ReferralDecisionsInput(Body, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("status", "subscribers")

    status: Annotated[str, _DECIDED_STATUS] | None = None
    subscribers: Annotated[list[str], _DECIDED_SUBSCRIBERS] | None = None
    reason: Annotated[str, _DECISION_REASON] | None = None


class AdjustmentCreate(Body, AdjustmentFields, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("amount", "reason")


class SubscriberCodeCreate(Body, CodeFields, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("code",)


class LinkHostCreate(Body, LinkHostFields, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("host",)


class TagsInput(Body, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("tags",)

    tags: Annotated[public.Tags, doc(None, maxItems=tags.MOST_AT_ONCE)] | None = None


CouponCodes = Annotated[
    list[str],
    doc(
        "Unique codes to add to the pool of a `coupon` reward.",
        maxItems=coupons.MOST_AT_ONCE,
        each={"minLength": 1, "maxLength": checks.STRING_LIMIT},
    ),
]


class RewardCreate(Body, RewardFields, frozen=True):
    required: ClassVar[tuple[str, ...]] = rewards.REQUIRED
    drops_nulls: ClassVar[bool] = True
    samples: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        rewards.PHYSICAL: {
            "name": "The mug",
            "referrals": 5,
            "kind": rewards.PHYSICAL,
            "description": "Holds 400 ml. Dishwasher safe.",
            "variants": ["Blue", "Yellow"],
        },
        rewards.LINK: {
            "name": "The recipe book",
            "referrals": 3,
            "kind": rewards.LINK,
            "link": "https://wax.example.org/recipes",
        },
        rewards.COUPON: {
            "name": "20% off",
            "referrals": 10,
            "kind": rewards.COUPON,
            "coupon_codes": ["WAX-7Q2M", "WAX-9KD4"],
        },
        rewards.MANUAL: {
            "name": "A shout-out",
            "referrals": 25,
            "kind": rewards.MANUAL,
            "recurring": True,
            "approval": rewards.BY_HAND,
        },
    }

    coupon_codes: CouponCodes | UnsetType = UNSET


class RewardUpdate(Body, RewardFields, frozen=True):
    samples: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easier": {"referrals": 4, "description": "Now for four referrals."}
    }

    coupon_codes: CouponCodes | UnsetType = UNSET


class ShippingDetails(msgspec.Struct, frozen=True, kw_only=True):
    name: Annotated[str, doc("Name of the recipient.", "Ana Lopes")]
    line1: Annotated[str, doc("Street and number.", "Rua das Flores 12")]
    line2: Annotated[str, doc("Second line of the address.")] | None = None
    city: Annotated[str, doc("City.", "Porto")]
    region: Annotated[str, doc("State or region.")] | None = None
    postcode: Annotated[str, doc("Postal code.", "4050-265")]
    country: Annotated[str, doc("Country.", "Portugal")]
    phone: Annotated[str, doc("Phone number for the carrier.")] | None = None


class DeclineInput(Body, frozen=True):
    reason: Annotated[
        str,
        doc(
            "A sentence for the subscriber, who reads it on their referral page.",
            "We can do this from May on. Please claim it again then.",
            maxLength=REASON_LIMIT,
        ),
    ]


class RedeemInput(Body, frozen=True):
    samples: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        rewards.PHYSICAL: {
            "shipping_details": {
                "name": "Ana Lopes",
                "line1": "Rua das Flores 12",
                "city": "Porto",
                "postcode": "4050-265",
                "country": "Portugal",
            }
        }
    }

    shipping_details: Annotated[
        ShippingDetails | None, doc("Postal address. A physical reward with one is a shipment.")
    ] = None
    variant: Annotated[str, doc("One of the reward's `variants`.")] | None = None


_TRACKING_NOTE = doc(
    "Shown to the subscriber.", "CTT, tracking number RR123456785PT", maxLength=checks.STRING_LIMIT
)


class MarkSentInput(Body, frozen=True):
    tracking_note: Annotated[str, _TRACKING_NOTE] | None = None


class EventFlags(msgspec.Struct, frozen=True):
    new_referral: public.NewReferral | UnsetType | None = UNSET
    reward_unlocked: public.RewardUnlocked | UnsetType | None = UNSET


class EventFlagsV2(EventFlags, frozen=True):
    new_partner_referral: public.NewPartnerReferral | UnsetType | None = UNSET
    reward_redeemed: public.RewardRedeemed | UnsetType | None = UNSET


class WebhookCreate(Body, EventFlags, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("url",)

    url: public.WebhookUrl | None = None
    events: Annotated[EventFlags | None, public.EVENTS] = None


class WebhookCreateV2(Body, EventFlagsV2, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("url",)

    url: public.WebhookUrl | None = None
    events: Annotated[EventFlagsV2 | None, public.EVENTS] = None


class WebhookUpdate(Body, EventFlags, frozen=True):
    url: public.WebhookUrl | UnsetType = UNSET
    events: Annotated[EventFlags | UnsetType, public.EVENTS] = UNSET


class WebhookUpdateV2(Body, EventFlagsV2, frozen=True):
    url: public.WebhookUrl | UnsetType = UNSET
    events: Annotated[EventFlagsV2 | UnsetType, public.EVENTS] = UNSET


class MoreEventsUpdate(Body, frozen=True):
    new_subscriber: public.NewSubscriberEvent | UnsetType | None = UNSET
    subscriber_unsubscribed: public.SubscriberUnsubscribed | UnsetType | None = UNSET
    referral_verified: public.ReferralVerified | UnsetType | None = UNSET
    referral_rejected: public.ReferralRejected | UnsetType | None = UNSET
    partner_referral_reversed: public.PartnerReferralReversed | UnsetType | None = UNSET


class SparkLoopTokenUpdate(Body, frozen=True):
    sparkloop_token: public.SparkLoopToken | UnsetType | None = UNSET


class ReplayInput(Body, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("since",)

    since: (
        Annotated[public.Time, doc("Send events from this time on.", "2026-11-14T18:05:00Z")] | None
    ) = None


_REVERSAL_REASON = doc("Why the charge is taken back.", "robot", enum=list(ReversalReason))
_REVERSAL_TEXT = doc(
    "What you add for the partner, who reads it; required if the reason is `other`.",
    None,
    maxLength=NOTE_LIMIT,
)


class ReversalCreate(Body, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("reason",)

    reason: Annotated[str, _REVERSAL_REASON] | None = None
    text: Annotated[str, _REVERSAL_TEXT] | None = None


class PublicationCreate(Body, PublicationFields, frozen=True):
    required: ClassVar[tuple[str, ...]] = publications.REQUIRED
    drops_nulls: ClassVar[bool] = True
    takes_form: ClassVar[bool] = True

    logo: Annotated[str, public.LOGO] | UnsetType = UNSET


class PublicationUpdate(Body, PublicationChanges, frozen=True):
    takes_form: ClassVar[bool] = True

    logo: Annotated[str, public.LOGO] | UnsetType = UNSET


class PartnerProgramCreate(Body, ProgramFields, frozen=True):
    required: ClassVar[tuple[str, ...]] = (*programs.REQUIRED, "publication_uuid")
    drops_nulls: ClassVar[bool] = True

    publication_uuid: Annotated[public.Uuid, doc("UUID of the publication.")] | None = None


class PartnerProgramUpdate(Body, ProgramFields, frozen=True):
    # The API types it as a number here and as an integer elsewhere.
    referral_pending_duration: Annotated[
        int | UnsetType, programs.HOLDING_PERIOD, doc(typed="number", multipleOf=1)
    ] = UNSET


class ProgramVerificationUpdate(Body, VerificationFields, frozen=True):
    """What `GET` answers can also be sent back as it is."""

    verification: (
        Annotated[VerificationFields, doc("The same fields, as the answer has them.")] | UnsetType
    ) = UNSET


_REASON_FOR_RECOMMENDING = doc(
    "Why you want to recommend this publication.", "Our readers cook every weekend."
)


class JoinInput(Body, frozen=True):
    reason_for_recommending: Annotated[str, _REASON_FOR_RECOMMENDING] | None = None


class BlockPartnerInput(Body, frozen=True):
    reason: Annotated[str, doc("Why. The partner sees it.", "Too many bounces")] | None = None
    end_pending: Annotated[
        bool, doc("Whether to reject what is pending in all your programs.", False)
    ] = False
