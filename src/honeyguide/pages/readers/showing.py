"""From a brand and values to an answer: the headers of reader pages, and kind words for what cannot be shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from honeyguide.kernel.errors import Fault, Missing, TooMany, Unavailable
from honeyguide.pages import rendering
from honeyguide.pages.readers.branding import Branding
from honeyguide.pages.readers.forms import FormRefused

# A form token says when the page was made, and private pages are nobody else's: neither may be kept by a cache on the way.
_HEADERS = {"cache-control": "no-store"}
# A page whose address is a key: it goes into no index, and no link on it passes the address on.
_PRIVATE = {**_HEADERS, "x-robots-tag": "noindex", "referrer-policy": "no-referrer"}

_POLICY = (
    "default-src 'self'; style-src 'self'; img-src 'self' data:; script-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)

Endpoint = Callable[[Any, Request], Awaitable[Response]]


def shown(
    template: str,
    brand: Branding | None,
    *,
    status: int = 200,
    private: bool = False,
    retry_after_s: int = 0,
    **values: Any,
) -> HTMLResponse:
    headers = dict(_PRIVATE if private else _HEADERS)
    if retry_after_s:
        headers["retry-after"] = str(retry_after_s)
    if brand is not None and brand.thankyou_page_url:
        # Browsers hold a form's policy against the redirect that follows it, too.
        target = urlsplit(brand.thankyou_page_url)
        headers["content-security-policy"] = f"{_POLICY} {target.scheme}://{target.netloc}"
    return HTMLResponse(html(template, brand, **values), status, headers)


def html(template: str, brand: Branding | None, **values: Any) -> str:
    return rendering.page(f"readers/{template}", brand=brand, **values)


def see_other(address: str) -> RedirectResponse:
    return RedirectResponse(
        address, 303, {"cache-control": "no-store", "referrer-policy": "no-referrer"}
    )


def sorry(
    status: int, title: str, words: str, brand: Branding | None = None, retry_after_s: int = 0
) -> HTMLResponse:
    return shown(
        "sorry.html",
        brand,
        status=status,
        private=True,
        retry_after_s=retry_after_s,
        title=title,
        words=words,
    )


def lost(brand: Branding | None = None) -> HTMLResponse:
    return sorry(
        404, "This link doesn’t work", "It may be mistyped, or is no longer active.", brand
    )


def status_of(fault: Fault) -> int:
    if isinstance(fault, FormRefused):
        return fault.status
    if isinstance(fault, TooMany):
        return 429
    return 503 if isinstance(fault, Unavailable) else 400


def kind(endpoint: Endpoint) -> Endpoint:
    """Whatever stops an endpoint becomes a page a reader understands."""

    @wraps(endpoint)
    async def answered(self: Any, request: Request) -> Response:
        try:
            return await endpoint(self, request)
        except Missing:
            return lost()
        except TooMany as fault:
            return sorry(429, "Too many requests", fault.message, retry_after_s=fault.retry_after_s)
        except Unavailable:
            return sorry(
                503, "We’ll be right back", "Please try again in a minute.", retry_after_s=5
            )
        except Fault as fault:
            return sorry(status_of(fault), "Something went wrong", fault.message)

    return answered
