"""Confirming a subscription by the link in an email. It takes a press: a GET confirms nothing."""

from __future__ import annotations

from typing import NamedTuple

from starlette.responses import Response

from honeyguide.kernel import actors
from honeyguide.kernel.errors import Missing
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages.readers import page_branding
from honeyguide.pages.readers.page_branding import PageBranding
from honeyguide.pages.readers.page_route import ReaderRequest, ReaderView
from honeyguide.pages.readers.showing import WayOn, see_other, sorry
from honeyguide.signups import signups
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.store.tx import Tx
from honeyguide.subscribers import branding, hub, links, reader_links
from honeyguide.subscribers.subscribers import Subscriber


class _Confirming(NamedTuple):
    brand: PageBranding
    subscriber: Subscriber | None
    """None if the link has expired, or they have other links by now."""
    via: str = ""
    """Whose code the signup came with that the link is about."""


async def show(tx: Tx, request: ReaderRequest) -> ReaderView | Response:
    brand, subscriber, _ = await _find(tx, request)
    if subscriber is None:
        return _expired(request, brand)
    return request.view("confirm.html", brand, private=True)


async def confirm(tx: Tx, request: ReaderRequest) -> Response:
    brand, subscriber, via = await _find(tx, request)
    if subscriber is None:
        return _expired(request, brand)
    site = request.services.site
    change = Change(tx, site, brand.tenant, actors.subscriber(subscriber.id), request.now_ms)
    subscriber = await signups.confirm(change, subscriber, via=via)
    return see_other(f"/hub/{hub.token_of(site, subscriber)}?welcome=1")


async def _find(tx: Tx, request: ReaderRequest) -> _Confirming:
    site, token = request.services.site, request.at("token")
    # Also of a link that ended: it says whose newsletter it was.
    signed = reader_links.read_confirm_token(site, token)
    link = await links.lookup(tx, signed.code) if signed else None
    if link is None:
        raise Missing(page_branding.UNKNOWN)
    tenant = Tenant(link.account_id, link.campaign_id)
    brand = page_branding.of_campaign(await branding.of(Reading(tx, site, tenant, request.now_ms)))
    brand = brand.for_reader(request.accepted_languages)
    found = await reader_links.find(tx, site, signed)
    if found is None or signed is None or signed.until_ms < request.now_ms:
        return _Confirming(brand, None)
    return _Confirming(brand, found[1], signed.via)


def _expired(request: ReaderRequest, brand: PageBranding) -> Response:
    """Also for who confirmed back then and opens the old email again."""
    language = brand.language
    return sorry(
        language,
        410,
        language.gettext("This link has expired"),
        language.gettext("Sign up again and we’ll email you a new one."),
        brand=brand,
        ways=[
            WayOn(language.gettext("Sign up again"), brand.page_link(request.services.site)),
            WayOn(language.gettext("Find your referral page"), f"/hub?of={brand.slug}"),
        ],
    )
