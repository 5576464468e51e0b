"""Public forms: a token that says when the form was shown and to whom, a hidden field that only
bots fill in, and whose IP network it came from.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl

from starlette.requests import Request

from honeyguide.kernel import clock
from honeyguide.kernel.errors import Fault
from honeyguide.kernel.ip_networks import ip_network_of
from honeyguide.kernel.site import Site
from honeyguide.languages.language import Language, translatable
from honeyguide.pages.forms import Field, FormErrors, missing
from honeyguide.pages.readers import errors
from honeyguide.signups import used_forms
from honeyguide.subscribers import clicks

# What a form answers that takes an address takes at least this long, so that its time tells nothing
# about the address.
ANSWER_AFTER_S = 0.25
BODY_LIMIT = 16 * 1024
FIELDS_LIMIT = 40
# What a token holds, in bytes: when it was made; for a form that can be used once also a random
# number, and the beginning of the visitor's hash.
_TIME, _RANDOM, _VISITOR = 6, 8, 8
TRAP = "website"
BAD_EMAIL = translatable("Enter a valid email address.")
# Of a limit per network: most of those who read it sent the form only once.
TOO_MANY = translatable(
    "Too many people are using this form from your network. Please try again {wait}."
)
EMAIL_FIELDS = {
    "email": Field(translatable("Email address"), translatable("Enter your email address."))
}


class ShownForm(NamedTuple):
    """What the token of a form that was sent tells about it."""

    token_hash: str
    shown_ms: int
    is_same_visitor: bool
    """Whether who sends it has the IP address and browser of who was shown it. Phones change their
    address, so this is evidence and no reason to refuse a form."""


async def wait_until(time_s: float) -> None:
    """By the clock of the event loop."""
    await asyncio.sleep(time_s - asyncio.get_running_loop().time())


def _refused(sentence: str, *, status: int = 400) -> FormErrors:
    return FormErrors({"": sentence}, status=status)


async def read(request: Request) -> dict[str, str]:
    """The fields of a posted form. Multipart is refused: its parsers had many security bugs."""
    # Otherwise another site could have its visitors submit our form, each from their own network.
    if request.headers.get("sec-fetch-site") == "cross-site":
        raise _refused(
            translatable(
                "This form was sent from another website. Please use the form on this page."
            ),
            status=403,
        )
    return await read_fields(request)


async def read_fields(request: Request) -> dict[str, str]:
    """The fields, from wherever the form was sent."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise _refused(
            translatable("We couldn’t read this form. Please use the form on this page."),
            status=415,
        )
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > BODY_LIMIT:
            raise _refused(
                translatable("That’s too much text for this form. Please shorten it."), status=413
            )
    try:
        return dict(
            parse_qsl(
                body.decode(), keep_blank_values=True, max_num_fields=FIELDS_LIMIT, errors="strict"
            )
        )
    except ValueError:
        raise _refused(translatable("We couldn’t read this form. Please try again.")) from None


def token(site: Site, purpose: str, now_ms: int) -> str:
    """When this form was shown, and for what: the token of one form does not fit another."""
    return site.seal(f"form {purpose}", now_ms.to_bytes(_TIME, "big"))


def single_use_token(site: Site, purpose: str, http: Request, now_ms: int) -> str:
    """No two are the same. Nothing is stored until the form is used."""
    content = now_ms.to_bytes(_TIME, "big") + secrets.token_bytes(_RANDOM)
    return site.seal(f"form {purpose}", content + _visitor(site, http, now_ms))


def _visitor(site: Site, http: Request, shown_ms: int) -> bytes:
    agent = http.headers.get("user-agent", "")
    return bytes.fromhex(clicks.visitor_hash(site, peer(http), agent, shown_ms))[:_VISITOR]


def find_shown(
    site: Site, purpose: str, http: Request, token: str, now_ms: int
) -> ShownForm | None:
    """What the token says, unless it has expired or is none of ours."""
    content = site.unseal(f"form {purpose}", token)
    if content is None:
        return None
    shown_ms = int.from_bytes(content[:_TIME], "big")
    # Clocks of several machines may differ a little.
    if not -clock.MINUTE_MS <= now_ms - shown_ms <= used_forms.LONGEST_MS:
        return None
    return ShownForm(
        # Of the content: the same content can be written as more than one text.
        token_hash=site.keyed_hash(f"form {purpose}", content.hex()),
        shown_ms=shown_ms,
        is_same_visitor=content[_TIME + _RANDOM :] == _visitor(site, http, shown_ms),
    )


def check(
    site: Site, purpose: str, http: Request, fields: dict[str, str], now_ms: int
) -> ShownForm:
    if fields.get(TRAP):
        # Not ignored silently: a browser may have filled it in for a real reader.
        raise _refused(
            translatable(
                "A hidden field was filled in, perhaps by your browser. "
                "Please submit the form again."
            )
        )
    shown = find_shown(site, purpose, http, fields.get("token", ""), now_ms)
    if shown is None:
        raise _refused(translatable("This page has expired. Please submit the form again."))
    return shown


def email_errors(language: Language, fault: Fault, given: Mapping[str, str]) -> dict[str, str]:
    """The sentences for a form whose only field is an email address."""
    if fault.code == "invalid_email":
        fault = FormErrors(missing(EMAIL_FIELDS, given) or {"email": BAD_EMAIL})
    return errors.by_field(language, fault, EMAIL_FIELDS)


def peer(request: Request) -> str:
    """The sender's IP address. Behind a trusted proxy, uvicorn puts the real one here."""
    return request.client.host if request.client else ""


def ip_network(request: Request) -> str:
    """What limits count by. An IPv6 network is a /64: one visitor can use all of its addresses."""
    address = peer(request)
    return ip_network_of(address) or address
