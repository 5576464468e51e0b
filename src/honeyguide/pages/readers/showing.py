"""Rendering reader pages: their headers, and what readers are told when a page cannot be shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse, Response

from honeyguide.languages.language import Language
from honeyguide.pages import redirects, rendering
from honeyguide.pages.readers.page_branding import PageBranding

# A form's token says when the page was made, and private pages are for one reader: no proxy may
# cache either.
_HEADERS = {"cache-control": "no-store"}
# A page whose URL is a key: it is not indexed, and links on it do not pass the URL on.
_PRIVATE = {**_HEADERS, "x-robots-tag": "noindex", "referrer-policy": "no-referrer"}

_POLICY = (
    "default-src 'self'; style-src 'self'; img-src 'self' data:; script-src 'self'; "
    "object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)


def shown(
    template: str,
    brand: PageBranding | None,
    language: Language,
    *,
    status: int = 200,
    private: bool = False,
    **values: Any,
) -> HTMLResponse:
    headers = dict(_PRIVATE if private else _HEADERS)
    if brand is None or brand.follows_browser:
        headers["vary"] = "accept-language"
    if brand is not None and brand.thankyou_page_url:
        # Browsers apply a form's policy to the redirect that follows it, too.
        target = urlsplit(brand.thankyou_page_url)
        headers["content-security-policy"] = f"{_POLICY} {target.scheme}://{target.netloc}"
    return HTMLResponse(html(template, brand, language, **values), status, headers)


def html(template: str, brand: PageBranding | None, language: Language, **values: Any) -> str:
    return rendering.reader_page(language, f"readers/{template}", brand=brand, **values)


_LEAVING = {"cache-control": "no-store", "referrer-policy": "no-referrer"}


def see_other(path: str) -> Response:
    return redirects.to_page(path, headers=_LEAVING)


def see_website(url: str) -> Response:
    return redirects.to_website(url, headers=_LEAVING)


class WayOn(NamedTuple):
    """A button on a page that could not show what was asked for."""

    label: str
    url: str


def sorry(
    language: Language,
    status: int,
    title: str,
    text: str,
    *,
    brand: PageBranding | None = None,
    ways: Sequence[WayOn] = (),
    elsewhere: str = "",
) -> HTMLResponse:
    """`title`, `text` and the labels are in the reader's language already. `elsewhere` is where the
    page's links lead and its files are, if not where the page is."""
    return shown(
        "sorry.html",
        brand,
        language,
        status=status,
        private=True,
        title=title,
        text=text,
        ways=ways,
        elsewhere=elsewhere,
    )


def lost(
    language: Language,
    brand: PageBranding | None = None,
    *,
    signup_url: str = "",
    is_readers: bool = False,
    elsewhere: str = "",
) -> HTMLResponse:
    """`is_readers` if only a subscriber would have such a link, so that they do not need to sign
    up."""
    of = f"?of={brand.slug}" if brand and brand.slug else ""
    ways = [WayOn(language.gettext("Find your referral page"), f"/hub{of}")]
    if brand and signup_url:
        ways.insert(1 if is_readers else 0, WayOn(brand.texts.button, signup_url))
    return sorry(
        language,
        404,
        language.gettext("This link doesn’t work"),
        language.gettext("It may be mistyped, or is no longer active."),
        brand=brand,
        ways=ways,
        elsewhere=elsewhere,
    )


def failure(language: Language, status: int) -> HTMLResponse:
    """What the router or a bug of ours answers."""
    if status == 404:
        return lost(language)
    text = (
        language.gettext(
            "The problem is on our side, and it has been logged. Try again in a moment."
        )
        if status >= 500
        else language.gettext("Please go back and try again.")
    )
    return sorry(language, status, language.gettext("Something went wrong"), text)
