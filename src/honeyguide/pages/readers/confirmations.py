"""Whether a signup on a reader page must be confirmed by email: because the newsletter asks
everybody to, because the program of the partner who sent them does, or because it came without a
form.
"""

from __future__ import annotations

from dataclasses import replace

from honeyguide.kernel.site import Site
from honeyguide.pages.readers.page_branding import PageBranding
from honeyguide.partners import links, verification
from honeyguide.store import Store
from honeyguide.subscribers.origins import Origin


async def for_code(
    store: Store, brand: PageBranding, code: str | None, origin: Origin
) -> PageBranding:
    """The same page for whoever comes with this code. A magic link's page knows its partner."""
    if brand.needs_confirmation or brand.partner_code or links.partner_code(code) is None:
        return brand
    link = await store.read(links.lookup, code or "")
    if link is None or link.tenant != brand.tenant:
        return brand
    return replace(brand, asks_to_confirm=verification.asks_to_confirm(link, origin))


def without_form(site: Site, brand: PageBranding) -> PageBranding:
    """The same page for whoever sends no token of a form, as `signups.sign_up` decides it."""
    return replace(brand, asks_to_confirm=True) if site.has_mail_server else brand
