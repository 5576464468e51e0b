"""The page for a link that leads nowhere: with a way on, and in the newsletter's branding and
language if its address says whose it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import HTMLResponse

from honeyguide.kernel.errors import Fault
from honeyguide.kernel.ids import CODE_LENGTH
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages.readers import page_branding
from honeyguide.pages.readers.page_branding import PageBranding
from honeyguide.pages.readers.reader_services import ReaderServices, language_of
from honeyguide.pages.readers.showing import lost
from honeyguide.pages.services import PageServices
from honeyguide.store.reading import Reading, reads
from honeyguide.store.tx import Tx
from honeyguide.subscribers import branding, campaigns, links, reader_links

# Pages that only a subscriber has a link to. Who could not confirm is none yet.
_SUBSCRIBERS = (reader_links.HUB, reader_links.STOP)


async def show(services: ReaderServices, http: Request) -> HTMLResponse:
    path = http.url.path
    try:
        brand = await services.store.read(_find_brand, services.site, path)
    except Fault:
        brand = None
    if brand is None:
        return lost(language_of(http))
    brand = brand.for_reader(http.headers.get("accept-language", ""))
    return lost(
        brand.language,
        brand,
        signup_url=brand.page_link(services.site),
        is_readers=path.split("/")[1] in _SUBSCRIBERS,
    )


async def at_link_host(services: PageServices, tenant: Tenant, http: Request) -> HTMLResponse:
    """The same at a link host, whose owner is known. Nothing but the page itself is there, so its
    style sheets, pictures and links are those of our own host."""
    site = services.site
    brand = page_branding.of_campaign(
        await services.store.read(reads(branding.of, site, tenant, services.clock()))
    )
    brand = brand.for_reader(http.headers.get("accept-language", ""))
    page = lost(
        brand.language, brand, signup_url=brand.page_link(site), elsewhere=f"{site.base_url}/"
    )
    page.headers["content-security-policy"] = (
        f"default-src 'none'; style-src {site.base_url}; img-src {site.base_url} data:; "
        f"base-uri {site.base_url}; frame-ancestors 'none'"
    )
    page.headers["x-content-type-options"] = "nosniff"
    return page


async def _find_brand(tx: Tx, site: Site, path: str) -> PageBranding | None:
    """By the newsletter's name or a subscriber's code in the path, whatever is wrong with the rest
    of it; otherwise that of the only newsletter here."""
    first, *rest = path.strip("/").split("/")
    tenant = None
    if first == "r" and len(rest) == 2:
        tenant = await links.find_campaign(tx, rest[0])
    elif rest:
        code = _code_in(site, first, rest)
        tenant = await links.find_campaign_by_code(tx, code) if code else None
    tenant = tenant or await campaigns.find_only(tx)
    return (
        page_branding.of_campaign(await branding.of(Reading(tx, site, tenant, tx.now_ms)))
        if tenant
        else None
    )


def _code_in(site: Site, first: str, rest: Sequence[str]) -> str | None:
    """A subscriber's code, also of one who was erased."""
    if first == "r":
        return rest[-1][:CODE_LENGTH]
    return reader_links.code_in(site, first, rest[0])
