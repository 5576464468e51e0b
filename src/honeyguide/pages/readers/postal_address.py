"""The form for a postal address, on the page where a reader claims a physical reward."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid
from honeyguide.languages import countries
from honeyguide.languages.language import Language, translatable
from honeyguide.pages.forms import Field, FormErrors, missing
from honeyguide.pages.readers import errors
from honeyguide.rewards.shipments import PostalAddress

VARIANT = Field(translatable("Option"), translatable("Choose an option."))
COUNTRY = Field(translatable("Country"), translatable("Choose your country."))
FIELDS = {
    "name": Field(translatable("Full name"), translatable("Enter your full name.")),
    "line1": Field(translatable("Street address"), translatable("Enter your street address.")),
    "line2": Field(translatable("Apartment, floor or company")),
    "city": Field(translatable("City"), translatable("Enter your city.")),
    "region": Field(translatable("State or region")),
    "postcode": Field(
        translatable("ZIP or postal code"), translatable("Enter your ZIP or postal code.")
    ),
    "country": COUNTRY,
    "phone": Field(translatable("Phone")),
}
# What browsers call these fields.
AUTOCOMPLETE = {
    "name": "name",
    "line1": "address-line1",
    "line2": "address-line2",
    "city": "address-level2",
    "region": "address-level1",
    "postcode": "postal-code",
    "country": "country",
    "phone": "tel",
}
BAD_PHONE = translatable("Enter a phone number that the carrier can call.")
_PHONE = re.compile(r"\+?[\d\s().,/#x-]{5,40}")


def parse(
    language: Language, fields: Mapping[str, str], variants: list[str]
) -> tuple[PostalAddress, str | None]:
    """The postal address and the chosen variant, or everything that is wrong with them at once."""
    entered = {name: fields.get(name, "").strip() for name in FIELDS}
    wrong = missing(FIELDS, entered)
    for name, text in entered.items():
        try:
            checks.text(text, param=name, limit=checks.STRING_LIMIT)
        except Invalid as fault:
            wrong |= errors.by_field(language, fault, FIELDS)
    country_code = countries.code_of(entered["country"])
    if not country_code:
        wrong["country"] = COUNTRY.ask
    if entered["phone"] and not _PHONE.fullmatch(entered["phone"]):
        wrong["phone"] = BAD_PHONE
    variant = fields.get("variant", "") if variants else None
    if variant is not None and variant not in variants:
        wrong["variant"] = VARIANT.ask
    if wrong:
        raise FormErrors(wrong)
    address = {name: text or None for name, text in entered.items()}
    address["country"] = countries.english_name(country_code)
    return msgspec.convert(address, PostalAddress), variant
