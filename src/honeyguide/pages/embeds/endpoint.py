"""How the public endpoints answer: JSON, to the websites that the operator listed and to no other.

Every request is one that browsers send without asking first, so a form's report is not lost when
its page goes away. No cookie is read or set.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from honeyguide.accounts import attempts
from honeyguide.accounts.attempts import Limit
from honeyguide.kernel.clock import MINUTE_MS
from honeyguide.kernel.errors import Fault, Forbidden, Invalid, Missing, TooMany, Unavailable
from honeyguide.kernel.site import Site
from honeyguide.languages.language import CODES, Language, get_language
from honeyguide.pages.handlers import WebRoute, refused
from honeyguide.pages.readers import errors, forms, page_branding, signup
from honeyguide.pages.readers.forms import ANSWER_AFTER_S
from honeyguide.pages.readers.page_branding import PageBranding
from honeyguide.pages.readers.reader_services import ReaderServices
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx
from honeyguide.subscribers import branding, embeds
from honeyguide.subscribers.embeds import Embed

# Exact over all processes. Many honest people share a network.
BY_CAMPAIGN_AND_NETWORK = Limit("embed by campaign and network", 60, 10 * MINUTE_MS, forms.TOO_MANY)
BY_NETWORK = Limit("embed by network", 120, 10 * MINUTE_MS, forms.TOO_MANY)
BY_CAMPAIGN = Limit("embed by campaign", 10_000, 10 * MINUTE_MS)
# More than forms: many who begin to fill one in don't send it.
TOKENS_BY_NETWORK = Limit("embed token by network", 480, 10 * MINUTE_MS, forms.TOO_MANY)
_PRIVATE = {"cache-control": "no-store"}


@dataclass
class EmbedRequest:
    http: Request
    services: ReaderServices
    now_ms: int
    embed: Embed
    brand: PageBranding
    origin: str
    """The website that sent it."""
    fields: dict[str, str] = field(default_factory=dict)

    async def count(self) -> None:
        """One more form from this network: refused if there were too many lately."""
        ip_network = forms.ip_network(self.http)
        services, campaign_id = self.services, self.embed.campaign_id
        await services.store.write(_count, services.site, campaign_id, ip_network)

    async def count_token(self) -> None:
        """One more token for this network, which a robot could otherwise collect."""
        who = forms.ip_network(self.http)
        store, site = self.services.store, self.services.site
        await store.write(attempts.count, site, TOKENS_BY_NETWORK, who)


async def _count(tx: Tx, site: Site, campaign_id: str, ip_network: str) -> None:
    both = f"{campaign_id} {ip_network}"
    await attempts.count(tx, site, BY_CAMPAIGN_AND_NETWORK, both)
    await attempts.count(tx, site, BY_NETWORK, ip_network)
    await attempts.count(tx, site, BY_CAMPAIGN, campaign_id)


@dataclass(frozen=True)
class EmbedRoute(WebRoute[EmbedRequest, Mapping[str, Any]]):
    cache_control: str = "no-store"


def endpoint(
    services: ReaderServices, route: EmbedRoute
) -> Callable[[Request], Awaitable[Response]]:
    async def answer(http: Request) -> Response:
        began_s = asyncio.get_running_loop().time()
        try:
            found = await services.store.read(_find, services.site, http.path_params["public_id"])
        except Unavailable:
            return JSONResponse({"errors": {"": "Please try again."}}, 503, _PRIVATE)
        if found is None:
            return JSONResponse({"errors": {"": "There is no such campaign."}}, 404, _PRIVATE)
        embed, brand = found
        origin = _allowed_origin(http, embed, services.site.base_url)
        if origin is None:
            return JSONResponse(
                {"errors": {"": "This website is not listed on the Embed page."}}, 403, _PRIVATE
            )
        brand = _in_language(http, brand)
        request = EmbedRequest(http, services, services.clock(), embed, brand, origin)
        response = await _answered(request, route)
        response.headers["access-control-allow-origin"] = origin
        response.headers["vary"] = "origin, accept-language"
        if http.method == "POST":
            await forms.wait_until(began_s + ANSWER_AFTER_S)
        return response

    return answer


async def _find(tx: Tx, site: Site, public_id: str) -> tuple[Embed, PageBranding] | None:
    embed = await embeds.find_by_public_id(tx, public_id)
    if embed is None:
        return None
    return embed, page_branding.of_campaign(
        await branding.of(Reading(tx, site, embed.tenant, tx.now_ms))
    )


def _allowed_origin(http: Request, embed: Embed, base_url: str) -> str | None:
    """The website that sent the request, if it may. Our own pages show previews."""
    ours = "{0.scheme}://{0.netloc}".format(urlsplit(base_url))
    origin = http.headers.get("origin")
    if origin is None:
        # Browsers leave the origin out where a page reads from its own.
        is_ours = http.method == "GET" and http.headers.get("sec-fetch-site") == "same-origin"
        return ours if is_ours else None
    return origin if origin == ours or embed.lists(origin) else None


def _in_language(http: Request, brand: PageBranding) -> PageBranding:
    """The one that the website asks for, else as on the hosted page."""
    asked = http.query_params.get("language", "").partition("-")[0].lower()
    if asked in CODES:
        return brand.in_language(get_language(asked))
    return brand.for_reader(http.headers.get("accept-language", ""))


async def _answered(request: EmbedRequest, route: EmbedRoute) -> Response:
    language = request.brand.language
    try:
        if request.http.method == "POST":
            request.fields = await forms.read_fields(request.http)
        answer = await route.call(request)
        return JSONResponse(answer, headers={"cache-control": route.cache_control})
    except (Invalid, TooMany, Missing, Forbidden, Unavailable) as fault:
        wrong = _errors(language, fault, request.fields)
        return refused(JSONResponse({"errors": wrong}, headers=_PRIVATE), fault)


def _errors(language: Language, fault: Fault, given: Mapping[str, str]) -> dict[str, str]:
    if fault.code == "invalid_email":
        return forms.email_errors(language, fault, given)
    return errors.by_field(language, fault, signup.SIGNUP_FIELDS)
