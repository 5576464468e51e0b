"""What callers send, as types: the decoder, the OpenAPI document and the endpoints all read these.

A body inherits the domain's struct of what callers may set. On create, null is the same as absent.
On update, UNSET leaves a field as it is, and null clears what may be empty.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any, ClassVar, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.kernel import checks, public
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.public import doc
from honeyguide.partners import programs, publications
from honeyguide.partners.programs import HOLDING_PERIOD, ProgramFields
from honeyguide.partners.publications import PublicationFields
from honeyguide.referrals.campaigns import ReferralSettings
from honeyguide.referrals.lifecycle import FIRST_STATUSES, SignupClaims, SubscriberChanges
from honeyguide.referrals.rewards import RewardChanges, RewardFields

B = TypeVar("B", bound="Body")


class Body(msgspec.Struct, frozen=True):
    """Unknown keys are ignored: old clients send extras."""

    required: ClassVar[tuple[str, ...]] = ()


class Nothing(Body, frozen=True):
    """This request needs no fields."""


class CampaignUpdate(Body, frozen=True):
    name: public.CampaignName | UnsetType = UNSET


class SettingsUpdate(Body, ReferralSettings, frozen=True):
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


class TagList(Body, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("tags",)

    tags: public.Tags | None = None


CouponCodes = Annotated[
    list[str], doc("Unique codes to add to the pool.", ["WAX-7Q2M", "WAX-9KD4"])
]


class RewardCreate(Body, RewardFields, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("name", "referrals")

    coupon_codes: CouponCodes | None = None


class RewardUpdate(Body, RewardChanges, frozen=True):
    coupon_codes: CouponCodes | UnsetType = UNSET


class ShippingDetails(msgspec.Struct, frozen=True):
    name: Annotated[str, doc("Name of the recipient.", "Ana Lopes")] | None = None
    line1: Annotated[str, doc("Street and number.")] | None = None
    line2: Annotated[str, doc("Second line of the address.")] | None = None
    city: Annotated[str, doc("City.")] | None = None
    region: Annotated[str, doc("State or region.")] | None = None
    postcode: Annotated[str, doc("Postal code.")] | None = None
    country: Annotated[str, doc("Country.")] | None = None
    phone: Annotated[str, doc("Phone number for the carrier.")] | None = None


class Redeem(Body, frozen=True):
    shipping_details: Annotated[
        ShippingDetails | None, doc("Postal address. A physical reward with one is a shipment.")
    ] = None
    variant: Annotated[str, doc("One of the reward's `variants`.")] | None = None


class MarkSent(Body, frozen=True):
    tracking_note: (
        Annotated[str, doc("Shown to the subscriber.", maxLength=checks.STRING_LIMIT)] | None
    ) = None


class EventFlagsV1(msgspec.Struct, frozen=True):
    new_referral: public.NewReferral | UnsetType | None = UNSET
    reward_unlocked: public.RewardUnlocked | UnsetType | None = UNSET


class EventFlags(EventFlagsV1, frozen=True):
    new_partner_referral: public.NewPartnerReferral | UnsetType | None = UNSET
    reward_redeemed: public.RewardRedeemed | UnsetType | None = UNSET


class WebhookCreateV1(Body, EventFlagsV1, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("url",)

    url: public.WebhookUrl | None = None
    events: Annotated[EventFlagsV1 | None, public.EVENTS] = None


class WebhookCreate(Body, EventFlags, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("url",)

    url: public.WebhookUrl | None = None
    events: Annotated[EventFlags | None, public.EVENTS] = None


class WebhookUpdateV1(Body, EventFlagsV1, frozen=True):
    url: public.WebhookUrl | UnsetType = UNSET
    events: Annotated[EventFlagsV1 | UnsetType, public.EVENTS] = UNSET


class WebhookUpdate(Body, EventFlags, frozen=True):
    url: public.WebhookUrl | UnsetType = UNSET
    events: Annotated[EventFlags | UnsetType, public.EVENTS] = UNSET


class MoreEventsUpdate(Body, frozen=True):
    new_subscriber: public.NewSubscriberEvent | UnsetType | None = UNSET
    subscriber_unsubscribed: public.SubscriberUnsubscribed | UnsetType | None = UNSET
    referral_verified: public.ReferralVerified | UnsetType | None = UNSET
    referral_rejected: public.ReferralRejected | UnsetType | None = UNSET


class Replay(Body, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("since",)

    since: (
        Annotated[public.Time, doc("Send events from this time on.", "2026-11-14T18:05:00Z")] | None
    ) = None


class PublicationUpdate(Body, PublicationFields, frozen=True):
    logo: Annotated[str, public.LOGO] | UnsetType | None = UNSET


class PublicationCreate(PublicationUpdate, frozen=True):
    required: ClassVar[tuple[str, ...]] = publications.REQUIRED


class ProgramCreate(Body, ProgramFields, frozen=True):
    required: ClassVar[tuple[str, ...]] = (*programs.REQUIRED, "publication_uuid")

    publication_uuid: Annotated[public.Uuid, doc("UUID of the publication.")] | None = None
    referral_pending_duration: Annotated[int | UnsetType | None, HOLDING_PERIOD] = UNSET


class ProgramUpdate(Body, ProgramFields, frozen=True):
    pass


class Join(Body, frozen=True):
    reason_for_recommending: (
        Annotated[str, doc("Why you want to recommend this publication.")] | None
    ) = None


def null_as_unset(body: B) -> B:
    """The body of a create, where null is the same as absent."""
    nulls = {name: UNSET for name in body.__struct_fields__ if getattr(body, name) is None}
    return msgspec.structs.replace(body, **nulls)


_decoders: dict[type[Any], msgspec.json.Decoder[Any]] = {}
_WRONG_TYPE = re.compile(r"Expected `(.+?)`, got `(.+?)`(?: - at `\$\.?(.*?)`)?$")
_WORDS = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
NOT_JSON = "The body is not valid JSON."


def decode(kind: type[B], raw: bytes) -> B:
    """Decode a JSON body. The error says what is wrong. An empty body is an empty object."""
    decoder = _decoders.get(kind)
    if decoder is None:
        decoder = _decoders[kind] = msgspec.json.Decoder(kind, float_hook=Decimal)
    try:
        body: B = decoder.decode(raw or b"{}")
    except msgspec.ValidationError as error:
        raise _explained(str(error)) from None
    except (msgspec.DecodeError, RecursionError, ValueError, ArithmeticError):
        raise Invalid(NOT_JSON, code="invalid_json") from None
    return body


def convert(kind: type[B], fields: dict[str, Any]) -> B:
    """The same for the text fields of a form, where numbers and flags are text."""
    try:
        body: B = msgspec.convert(fields, kind, strict=False)
    except msgspec.ValidationError as error:
        raise _explained(str(error)) from None
    return body


def _explained(message: str) -> Invalid:
    match = _WRONG_TYPE.fullmatch(message)
    if match is None:
        return Invalid(NOT_JSON, code="invalid_json")
    wanted, got, where = match.groups()
    if not where:
        return Invalid("The body must be a JSON object.", code="invalid_json")
    param = re.split(r"[.\[]", where)[0]
    kinds = [_WORDS.get(word.strip(), word.strip()) for word in wanted.split("|")]
    return Invalid(
        "{field} must be {kinds}, not {got}.",
        param=param,
        code="invalid_type",
        kinds=" or ".join(kinds),
        got=_WORDS.get(got, got),
    )
