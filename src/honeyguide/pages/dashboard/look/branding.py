"""Branding: how the pages and emails that readers see look, with a preview beside the form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from starlette.responses import HTMLResponse, Response

from honeyguide.kernel import colors, fields
from honeyguide.kernel.errors import Invalid
from honeyguide.languages import language
from honeyguide.pages import rendering
from honeyguide.pages.dashboard import kept_pictures
from honeyguide.pages.dashboard.bound_form import StructForm
from honeyguide.pages.dashboard.look import share_picture
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field, FormErrors
from honeyguide.pages.readers.preview import HUB, PREVIEWED_PAGES, SIGNUP, THANKS, preview
from honeyguide.pages.services import PageServices
from honeyguide.partners import logos, publications
from honeyguide.partners.logos import Shape, StoredLogo
from honeyguide.rewards import rewards
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading, reads
from honeyguide.subscribers import branding
from honeyguide.subscribers.branding import BrandFields, Branding, BrandPictures

FORM = StructForm(
    BrandFields,
    more={
        "logo": Field("Logo"),
        "icon": Field("Browser icon"),
        "share_picture": Field("Share picture"),
    },
)
PREVIEWS = ((SIGNUP, "Signup page"), (THANKS, "Thank-you page"), (HUB, "Referral page"))
THEMES = (("", "Reader’s theme"), ("light", "Light"), ("dark", "Dark"))
# Shown where the operator has not chosen a color.
START_COLOR = "#955600"
_SHAPES = (logos.LOGO, logos.ICON, logos.SHARE)


class Uploads(NamedTuple):
    """The pictures of one form, stored already. An icon may come with a new logo."""

    logo: StoredLogo | None = None
    icon: StoredLogo | None = None
    icon_is_own: bool = False
    share: StoredLogo | None = None


def _typed(request: PageRequest) -> BrandFields:
    return FORM.typed(request).changes(BrandFields)


async def show(at: Reading, request: PageRequest) -> PageView:
    found = await at.fact(branding.of)
    pictures = await branding.pictures_of(at)
    form = FORM.typed(request) if request.errors else FORM.saved(found)
    chosen = form.changes(BrandFields)
    wants_own = request.text("share") == "own" if request.errors else pictures.share_is_own
    return request.view(
        "branding.html",
        form=form,
        brand=found,
        pictures=pictures,
        wants_own=wants_own,
        kept={shape.param: kept_pictures.kept_id(request, shape) for shape in _SHAPES},
        **_color_note(chosen.accent),
        start_color=START_COLOR,
        languages=language.NAMES,
        previews=PREVIEWS,
        themes=THEMES,
        consent_limit=branding.CONSENT_LIMIT,
        preview=await _preview(at, request, _with(found, chosen)),
    )


async def save(services: PageServices, request: PageRequest) -> Response:
    chosen = _typed(request)
    # Stored first, so that an error elsewhere does not lose them.
    given = {shape: await kept_pictures.keep(request, shape) for shape in _SHAPES}
    errors = {
        str(problem.param): problem.message_for(FORM.fields[str(problem.param)].label)
        for problem in fields.problems(BrandFields, chosen)
    }
    pictures = await services.store.read(
        reads(branding.pictures_of, request.services.site, request.tenant, request.now_ms)
    )
    wants_own = request.text("share") == "own"
    if wants_own and not pictures.share_is_own and given[logos.SHARE] is None:
        errors["share_picture"] = "Choose a picture to upload."
    if errors:
        raise FormErrors(errors)
    uploads = await _uploads(services, request, pictures, given)
    removed = frozenset(name for name in ("logo", "icon") if request.text(f"remove_{name}"))
    if not wants_own and pictures.share_is_own:
        removed |= {"share"}
    await request.apply(_keep, chosen, uploads, removed)
    await share_picture.refresh(request)
    return request.go("/look/branding", "Changes saved. Your pages show them now.")


async def show_preview(at: Reading, request: PageRequest) -> Response:
    """A page with the branding as it is being typed, saved or not."""
    found = await at.fact(branding.of)
    return HTMLResponse(await _preview(at, request, _with(found, _typed(request))))


async def show_color_note(at: Reading, request: PageRequest) -> Response:
    """What becomes of the color that is being typed."""
    noted = _color_note(request.text("accent") or None)
    return HTMLResponse(rendering.page("dashboard/color_note.html", **noted))


async def _uploads(
    services: PageServices,
    request: PageRequest,
    pictures: BrandPictures,
    given: Mapping[Shape, StoredLogo | None],
) -> Uploads:
    folder = services.site.logo_folder
    logo, icon = given[logos.LOGO], given[logos.ICON]
    is_own = icon is not None
    keeps_icon = pictures.icon_is_own and not request.text("remove_icon")
    if logo is not None and icon is None and not keeps_icon:
        drawn = await logos.sanitize_apart(await logos.load(logo, folder), logos.ICON)
        icon = await logos.store(drawn, folder)
    share = given[logos.SHARE] if request.text("share") == "own" else None
    return Uploads(logo=logo, icon=icon, icon_is_own=is_own, share=share)


async def _keep(
    change: Change, chosen: BrandFields, uploads: Uploads, removed: frozenset[str]
) -> None:
    changes: dict[str, Any] = {}
    if "logo" in removed:
        changes["logo_id"] = None
    if removed & {"logo", "icon"}:
        changes |= {"icon_id": None, "icon_is_own": 0}
    if "share" in removed:
        changes |= {"share_id": None, "share_is_own": 0, "share_source": ""}
    for picture in (uploads.logo, uploads.icon, uploads.share):
        if picture is not None:
            await publications.add_logo(change.tx, change.tenant.account_id, picture)
    if uploads.logo is not None:
        changes["logo_id"] = uploads.logo.id
    if uploads.icon is not None:
        changes |= {"icon_id": uploads.icon.id, "icon_is_own": uploads.icon_is_own}
    if uploads.share is not None:
        changes |= {"share_id": uploads.share.id, "share_is_own": 1, "share_source": ""}
    await branding.save(change, chosen)
    if changes:
        await branding.change_pictures(change, **changes)


def _with(found: Branding, chosen: BrandFields) -> Branding:
    """The saved branding with what is typed, as far as it is right."""
    wrong = {problem.param for problem in fields.problems(BrandFields, chosen)}
    typed = {
        name: value for name, value in msgspec.structs.asdict(chosen).items() if name not in wrong
    }
    if typed.get("accent"):
        typed["accent"] = colors.parse(str(typed["accent"]), param="accent")
    if typed.get("consent_text"):
        typed["consent_text_id"] = "sample"
    return found._replace(**typed)


async def _preview(at: Reading, request: PageRequest, found: Branding) -> str:
    kind, theme = request.text("preview_page"), request.text("preview_theme")
    return preview(
        kind if kind in PREVIEWED_PAGES else SIGNUP,
        found,
        found.words,
        await at.fact(rewards.of_campaign),
        base_url=request.services.site.base_url,
        theme=theme if theme in ("light", "dark") else "",
    )


def _color_note(accent: str | None) -> dict[str, Any]:
    """How readable the color is, and what we use instead where it is not."""
    is_color, color = True, None
    if accent is not None:
        try:
            color = colors.parse(accent, param="accent")
        except Invalid:
            is_color = False
    palette = colors.palette(color) if color else colors.NEUTRAL
    return {
        "is_color": is_color,
        "color": color,
        "palette": palette,
        "contrast": colors.contrast,
    }
