"""Checks on what callers write: text, URLs, slugs, choices. Each returns the value or raises a
refusal.

The sentence starts with the parameter's name. Lengths are counted in characters. Nothing is trimmed
or repaired: what is accepted is kept as it was written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from ipaddress import IPv6Address

from honeyguide.kernel.errors import Invalid, Required

NAME_LIMIT = 255
STRING_LIMIT = 255
DESCRIPTION_LIMIT = 2_000
TERMS_LIMIT = 10_000
URL_LIMIT = 2_048
USER_AGENT_LIMIT = 1_024
SLUG_LIMIT = 60

# The first segments of our own URLs, and words that look like one of them: hosted pages may share
# our host. `tests/laws/test_route_tables.py` compares them with all route tables. A slug that was
# chosen before it was reserved is kept; it works everywhere but at the root of our own host.
_RESERVED = """
accents account accounts admin administration administrator api app assets auth billing branding
campaigns checklist clock confirm css dashboard docs earnings emails embed export favicon fonts
health healthz help honeyguide hooks hub images img import index integrations internal invite join
js login logo logos logout look m metrics network newsletter notices oauth openapi overview p pages
partner-network partners password payouts privacy program programs publications r readyz reference
register reset review rewards robots search sessions settings setup shipments signin signout signup
sitemap statements static stop subscribe subscribers support team terms thank-you thankyou
unsubscribe v1 v2 v3 verify webhooks welcome well-known www
"""
RESERVED_SLUGS = frozenset(_RESERVED.split())

# Line breaks and other controls, and what turns the direction of the text around it.
_NOT_IN_A_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
# What mail programs turn into a link: surely, and perhaps ("ASP.NET Weekly").
_LINK = re.compile(r"://|\bwww\.|\w\.[^\W\d_]{2,}/", re.IGNORECASE)
_PERHAPS_LINK = re.compile(r"\w\.\w")
_HTTP = re.compile(r"https?://([^/?#]+)", re.IGNORECASE)
_AUTHORITY = re.compile(
    r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[\w.-]+))(?::(?P<port>[0-9]{1,5}))?"
)


def text(value: str, *, param: str, limit: int, blank_ok: bool = True) -> str:
    """Text that both databases can store, within its limit. `blank_ok=False` requires a visible
    character."""
    if "\x00" in value:
        raise Invalid("{field} must not contain NUL characters.", param=param)
    if len(value) > limit:
        raise Invalid(
            "{field} must be at most {limit:,} characters long.", param=param, limit=limit
        )
    # JSON can spell half of a surrogate pair, which no encoding can store.
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise Invalid("{field} must not contain unpaired surrogate characters.", param=param)
    if not blank_ok and not value.strip():
        raise Required(param, "{field} must not be blank.")
    return value


def name(value: str, *, param: str, limit: int = NAME_LIMIT) -> str:
    """A name that stands in emails, so that nobody sends advertisements with links by it."""
    text(value, param=param, limit=limit, blank_ok=False)
    if not is_one_line(value):
        raise Invalid("{field} must not contain line breaks or control characters.", param=param)
    if _LINK.search(_as_read(value)):
        raise Invalid("{field} must not contain a link.", param=param)
    return value


def may_be_linked(value: str) -> bool:
    plain = _as_read(value)
    return bool(_LINK.search(plain) or _PERHAPS_LINK.search(plain))


def _as_read(value: str) -> str:
    """By mail programs and browsers, to which full width letters and the dots of Chinese and
    Japanese are letters and dots."""
    return unicodedata.normalize("NFKC", value).replace("\N{IDEOGRAPHIC FULL STOP}", ".")


def is_one_line(value: str) -> bool:
    """Whether it can be a header, a heading or a name. Spaces that do not break and joined emoji
    can, which `str.isprintable` would refuse."""
    return _NOT_IN_A_LINE.search(value) is None


def http_url(value: str, *, param: str) -> str:
    """An absolute http(s) URL that every browser reads as we do, so that a redirect goes where it
    seems to go."""
    text(value, param=param, limit=URL_LIMIT)
    # Browsers drop control characters and turn backslashes into slashes, so a URL with either may
    # lead elsewhere.
    if " " in value or "\\" in value or not value.isprintable():
        raise Invalid(
            "{field} must not contain spaces, backslashes or control characters.", param=param
        )
    address = _HTTP.match(value)
    if address is None:
        raise Invalid(
            "{field} must be an absolute http or https URL, such as https://example.com/welcome.",
            param=param,
        )
    authority = address[1]
    if "@" in authority:
        raise Invalid("{field} must not contain a user name or password.", param=param)
    if not _is_host_and_port(authority):
        raise Invalid("{field} must have a valid host and port.", param=param)
    return value


def _is_host_and_port(authority: str) -> bool:
    # Parsed by hand: urlsplit drops what it does not understand, so `good[::1]evil` would pass as
    # `::1`.
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None or int(parts["port"] or 0) > 65_535:
        return False
    if parts["v6"]:
        try:
            IPv6Address(parts["v6"])
        except ValueError:
            return False
        return True
    labels = parts["name"].removesuffix(".").split(".")
    return len(parts["name"]) <= 253 and all(0 < len(label) <= 63 for label in labels)


def slug_text(value: str, *, param: str) -> str:
    """The last part of a hosted page's address, also one that was chosen before it was reserved."""
    if len(value) > SLUG_LIMIT or not _SLUG.fullmatch(value):
        raise Invalid(
            "{field} must be 1 to {limit} lower-case letters, digits or hyphens, "
            "with no hyphen at either end.",
            param=param,
            limit=SLUG_LIMIT,
        )
    return value


def slug(value: str, *, param: str) -> str:
    """The last part of a new hosted page's address."""
    if slug_text(value, param=param) in RESERVED_SLUGS:
        raise Invalid("{field} is reserved; choose another.", param=param)
    return value


def slug_from(name: str) -> str:
    """A slug that reads like the name, or empty if nothing of the name can be in one."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    made = re.sub(r"[^a-z0-9]+", "-", plain.replace("'", ""))[:SLUG_LIMIT].strip("-")
    return "" if made in RESERVED_SLUGS else made


def one_of(value: object, allowed: Collection[str], *, param: str) -> str:
    """One of the allowed words, letter for letter."""
    if not isinstance(value, str) or value not in allowed:
        raise Invalid("{field} must be one of: {allowed}.", param=param, allowed=", ".join(allowed))
    return value


def some_of(
    values: object, allowed: Collection[str], *, param: str, least: int = 1, most: int | None = None
) -> list[str]:
    """A list of allowed words. One named twice is kept once, at its first place; toward the limit
    it counts twice."""
    if (
        isinstance(values, list)
        and least <= len(values)
        and (most is None or len(values) <= most)
        and all(isinstance(value, str) and value in allowed for value in values)
    ):
        return list(dict.fromkeys(values))
    number = f"at least {least}" if most is None else f"{least} to {most}"
    raise Invalid(
        "{field} must be {number} of: {allowed}.",
        param=param,
        number=number,
        allowed=", ".join(allowed),
    )
