"""What callers send, as types: the decoder, the OpenAPI document and the handlers all read these.

On create a null is the same as absent. On update UNSET means "leave it", and a null clears what may be cleared.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any, ClassVar, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from honeyguide.kernel.errors import Invalid

B = TypeVar("B", bound="Body")


# A JSON number that must not pass through a binary float: decoded as it is written, judged by the domain.
Number = Annotated[Any, msgspec.Meta(extra_json_schema={"type": ["number", "null"]})]


class Body(msgspec.Struct, frozen=True):
    """Unknown keys are ignored: old clients send extras."""

    required: ClassVar[tuple[str, ...]] = ()


class CampaignUpdate(Body, frozen=True):
    name: str | UnsetType = UNSET


class SubscriberCreate(Body, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("email",)

    email: str | None = None
    name: str | None = None
    referrer_code: str | None = None
    ip_address: str | None = None
    user_agent: str | None = None
    utm_source: str | None = None
    utm_campaign: str | None = None
    created_at: str | None = None
    status: str | None = None


class SubscriberUpdate(Body, frozen=True):
    status: str | UnsetType = UNSET
    name: str | UnsetType | None = UNSET
    email: str | UnsetType = UNSET


class EventFlagsV1(msgspec.Struct, frozen=True):
    new_referral: bool | UnsetType | None = UNSET
    reward_unlocked: bool | UnsetType | None = UNSET


class EventFlags(EventFlagsV1, frozen=True):
    new_partner_referral: bool | UnsetType | None = UNSET
    reward_redeemed: bool | UnsetType | None = UNSET


class WebhookCreateV1(Body, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("url",)

    url: str | None = None
    new_referral: bool | UnsetType | None = UNSET
    reward_unlocked: bool | UnsetType | None = UNSET
    events: EventFlagsV1 | None = None


class WebhookCreate(Body, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("url",)

    url: str | None = None
    new_referral: bool | UnsetType | None = UNSET
    new_partner_referral: bool | UnsetType | None = UNSET
    reward_unlocked: bool | UnsetType | None = UNSET
    reward_redeemed: bool | UnsetType | None = UNSET
    events: EventFlags | None = None


class WebhookUpdateV1(Body, frozen=True):
    url: str | UnsetType = UNSET
    new_referral: bool | UnsetType | None = UNSET
    reward_unlocked: bool | UnsetType | None = UNSET
    events: EventFlagsV1 | UnsetType = UNSET


class WebhookUpdate(Body, frozen=True):
    url: str | UnsetType = UNSET
    new_referral: bool | UnsetType | None = UNSET
    new_partner_referral: bool | UnsetType | None = UNSET
    reward_unlocked: bool | UnsetType | None = UNSET
    reward_redeemed: bool | UnsetType | None = UNSET
    events: EventFlags | UnsetType = UNSET


class PublicationBody(Body, frozen=True):
    """What a publication says of itself; the same names on create and update."""

    name: str | UnsetType | None = UNSET
    description: str | UnsetType | None = UNSET
    categories: list[str] | UnsetType | None = UNSET
    list_id: str | UnsetType | None = UNSET
    status: str | UnsetType | None = UNSET
    logo: str | UnsetType | None = UNSET
    enabled_partner_program: bool | UnsetType | None = UNSET
    audience_gender: str | UnsetType | None = UNSET
    income_levels: list[str] | UnsetType | None = UNSET
    age_ranges: list[str] | UnsetType | None = UNSET


class PublicationCreate(PublicationBody, frozen=True):
    required: ClassVar[tuple[str, ...]] = (
        "name",
        "categories",
        "logo",
        "audience_gender",
        "income_levels",
        "age_ranges",
    )


class PublicationUpdate(PublicationBody, frozen=True):
    pass


class ProgramBody(Body, frozen=True):
    max_payout: Number = UNSET
    total_budget: Number = UNSET
    cpa: Number = UNSET
    redirect_url: str | UnsetType | None = UNSET
    thankyou_page_url: str | UnsetType | None = UNSET
    terms: str | UnsetType | None = UNSET
    resources_url: str | UnsetType | None = UNSET
    slug: str | UnsetType | None = UNSET
    show_in_directory: bool | UnsetType | None = UNSET
    referral_pending_duration_enabled: bool | UnsetType | None = UNSET


class ProgramCreate(ProgramBody, frozen=True):
    required: ClassVar[tuple[str, ...]] = (
        "max_payout",
        "total_budget",
        "cpa",
        "redirect_url",
        "publication_uuid",
    )

    publication_uuid: str | None = None
    referral_pending_duration: int | UnsetType | None = UNSET


class ProgramUpdate(ProgramBody, frozen=True):
    referral_pending_duration: Number = UNSET


class Join(Body, frozen=True):
    reason_for_recommending: str | None = None


class Nothing(Body, frozen=True):
    """This request needs no fields."""


class Replay(Body, frozen=True):
    required: ClassVar[tuple[str, ...]] = ("since",)

    since: str | None = None


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
    """The body as its type, or one sentence about what is wrong with it. An empty body is an empty object."""
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
    """The same from the text fields of a form, where a number or a flag is spelled out."""
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
