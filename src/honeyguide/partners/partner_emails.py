"""How the emails look that a program's partners get: like its publication; and where partners write
to."""

from __future__ import annotations

from dataclasses import replace

from honeyguide.kernel.site import Site
from honeyguide.languages.language import ENGLISH
from honeyguide.mail.layout import EmailBranding
from honeyguide.store.tx import Tx
from honeyguide.subscribers import branding, campaigns


async def branding_of(
    tx: Tx, site: Site, account_id: str, publication_name: str, logo_id: str | None
) -> EmailBranding:
    """The publication's name and logo, with the color, Reply-To and legal links that its owner
    chose for subscribers."""
    owner = await branding.of(tx, await campaigns.tenant_of(tx, account_id))
    found = owner._replace(logo_id=logo_id or owner.logo_id).email_branding(site)
    return replace(found, name=publication_name, from_name=publication_name, language=ENGLISH)


async def contact_of(tx: Tx, account_id: str) -> str | None:
    """Where answers to the owner's emails go, which only joined partners read."""
    return (await branding.of(tx, await campaigns.tenant_of(tx, account_id))).reply_to
