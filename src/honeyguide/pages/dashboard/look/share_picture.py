"""Makes the picture of shared links again after its name, headline, color or logo has changed."""

from __future__ import annotations

import logging

from honeyguide.kernel.errors import Fault
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.readers import page_branding
from honeyguide.partners import logos, publications, share_pictures
from honeyguide.partners.logos import StoredLogo
from honeyguide.partners.share_pictures import ShareDesign
from honeyguide.store.change import Change
from honeyguide.store.reading import reads
from honeyguide.subscribers import branding
from honeyguide.subscribers.branding import Branding

log = logging.getLogger("honeyguide.pages")


def _design_of(brand: Branding) -> ShareDesign:
    shades = brand.palette.light
    headline = page_branding.of_campaign(brand).texts.promise
    return ShareDesign(brand.name, headline, shades.accent, shades.on_accent)


async def refresh(request: PageRequest) -> None:
    """Does nothing if the operator uploaded a picture, or if the one there is still right.

    A picture that cannot be made is logged and not shown: what the operator did is saved already.
    """
    try:
        await _refresh(request)
    except (Fault, RuntimeError):
        log.exception("Could not make a share picture")


async def _refresh(request: PageRequest) -> None:
    store, site, tenant = request.services.store, request.services.site, request.tenant
    brand = await store.read(reads(branding.of, site, tenant, request.now_ms))
    pictures = await store.read(reads(branding.pictures_of, site, tenant, request.now_ms))
    design = _design_of(brand)
    source = design.source(brand.logo_id)
    if pictures.share_is_own or pictures.share_source == source:
        return
    logo = None
    if brand.logo_id is not None:
        stored = await store.read(publications.get_logo, brand.logo_id)
        logo = await logos.load(stored, site.logo_folder)
    made = await share_pictures.draw_apart(design, logo)
    picture = await logos.store(made, site.logo_folder)
    await request.apply(_keep, picture, source)


async def _keep(change: Change, picture: StoredLogo, source: str) -> None:
    """Keeps a picture that we made, unless the operator has uploaded one meanwhile."""
    tx, tenant = change.tx, change.tenant
    if (await branding.pictures_of(change)).share_is_own:
        return
    await publications.add_logo(tx, tenant.account_id, picture)
    await branding.change_pictures(change, share_id=picture.id, share_source=source)
