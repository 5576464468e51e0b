"""Rendering reader pages: their headers, and what readers are told when a page cannot be shown."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse, RedirectResponse

from honeyguide.pages import rendering
from honeyguide.pages.readers.page_branding import PageBranding

# A form's token says when the page was made, and private pages are for one reader: no proxy may
# cache either.
_HEADERS = {"cache-control": "no-store"}
# A page whose URL is a key: it is not indexed, and links on it do not pass the URL on.
_PRIVATE = {**_HEADERS, "x-robots-tag": "noindex", "referrer-policy": "no-referrer"}

_POLICY = (
    "default-src 'self'; style-src 'self'; img-src 'self' data:; script-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)


def shown(
    template: str,
    brand: PageBranding | None,
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
        # Browsers apply a form's policy to the redirect that follows it, too.
        target = urlsplit(brand.thankyou_page_url)
        headers["content-security-policy"] = f"{_POLICY} {target.scheme}://{target.netloc}"
    return HTMLResponse(html(template, brand, **values), status, headers)


def html(template: str, brand: PageBranding | None, **values: Any) -> str:
    return rendering.page(f"readers/{template}", brand=brand, **values)


def see_other(address: str) -> RedirectResponse:
    return RedirectResponse(
        address, 303, {"cache-control": "no-store", "referrer-policy": "no-referrer"}
    )


def sorry(
    status: int, title: str, words: str, brand: PageBranding | None = None, retry_after_s: int = 0
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


def lost(brand: PageBranding | None = None) -> HTMLResponse:
    return sorry(
        404, "This link doesn’t work", "It may be mistyped, or is no longer active.", brand
    )
