"""The demo newsletters' branding, with pictures that are drawn before they are saved."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from honeyguide.demo.newsletters import Newsletter
from honeyguide.kernel import colors
from honeyguide.partners import logos, publications, share_pictures
from honeyguide.partners.logos import Logo, StoredLogo
from honeyguide.partners.share_pictures import ShareDesign
from honeyguide.store.change import Change
from honeyguide.subscribers import branding


class BrandDrawings(NamedTuple):
    logo: StoredLogo
    icon: StoredLogo
    share: StoredLogo
    share_source: str


async def draw(newsletter: Newsletter, logo: Logo, folder: Path | None) -> BrandDrawings:
    shades = colors.palette(newsletter.brand.accent or colors.NEUTRAL.light.accent).light
    headline = newsletter.texts["promise"]
    design = ShareDesign(newsletter.name, headline, shades.accent, shades.on_accent)
    stored = await logos.store(logo, folder)
    icon = logos.sanitize(logo.data, logos.ICON)
    share = share_pictures.draw(design, logo.data)
    return BrandDrawings(
        stored,
        await logos.store(icon, folder),
        await logos.store(share, folder),
        design.source(stored.id),
    )


async def save(change: Change, newsletter: Newsletter, drawings: BrandDrawings) -> None:
    for picture in (drawings.logo, drawings.icon, drawings.share):
        await publications.add_logo(change.tx, change.tenant.account_id, picture)
    await branding.save(change, newsletter.brand)
    await branding.change_pictures(
        change,
        logo_id=drawings.logo.id,
        icon_id=drawings.icon.id,
        share_id=drawings.share.id,
        share_source=drawings.share_source,
    )
