"""How the emails look that a program's partners get: like its publication; and where partners write
to."""

from __future__ import annotations

from dataclasses import replace

from honeyguide.languages.language import ENGLISH
from honeyguide.mail.layout import EmailBranding
from honeyguide.store.reading import AccountReading
from honeyguide.subscribers import branding, campaigns


async def branding_of(
    at: AccountReading, publication_name: str, logo_id: str | None
) -> EmailBranding:
    """The publication's name and logo, with the color, Reply-To and legal links that its owner
    chose for subscribers."""
    owner = await branding.of(at.of(await campaigns.tenant_of(at.tx, at.account_id)))
    found = owner._replace(logo_id=logo_id or owner.logo_id).email_branding(at.site)
    return replace(found, name=publication_name, from_name=publication_name, language=ENGLISH)


async def contact_of(at: AccountReading) -> str | None:
    """Where answers to the owner's emails go, which only joined partners read."""
    return (await branding.of(at.of(await campaigns.tenant_of(at.tx, at.account_id)))).reply_to
