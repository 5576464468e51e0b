"""Publications: what they are, whom they reach, their logo; with the network card beside the form as it is typed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec import UNSET
from starlette.responses import HTMLResponse, Response

from honeyguide.kernel import money
from honeyguide.kernel.errors import Invalid, Required
from honeyguide.kernel.paging import Page
from honeyguide.pages import forms, rendering
from honeyguide.pages.dashboard import cards
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.dashboard.previews import picture_of_program
from honeyguide.pages.forms import Field
from honeyguide.partners import audience, logos, programs, publications
from honeyguide.partners.publications import Publication, PublicationFields
from honeyguide.referrals import campaigns
from honeyguide.store.tx import Tx

WORDS: dict[str, Any] = {
    "categories": audience.CATEGORIES,
    "genders": audience.GENDERS,
    "income_levels": audience.INCOME_LEVELS,
    "age_ranges": audience.AGE_RANGES,
}
MOST_CATEGORIES = 3
FIELDS = {
    "name": Field("Name", "Enter a name."),
    "description": Field("Description"),
    "logo": Field("Logo", "Choose a logo."),
    "categories": Field("Categories", "Choose 1 to 3 categories."),
    "audience_gender": Field("Audience", "Choose an audience."),
    "age_ranges": Field("Ages", "Choose at least one age range."),
    "income_levels": Field("Annual income", "Choose at least one income range."),
    "list_id": Field("List ID"),
}


async def show(request: PageRequest) -> Response:
    async def look(tx: Tx) -> tuple[list[Publication], dict[str, programs.Program]]:
        rows, _ = await publications.page_of(tx, request.who.account_id, Page(1, 200))
        offers, _ = await programs.page_of(tx, request.who.account_id, Page(1, 200))
        return rows, {offer.publication_id: offer for offer in offers}

    rows, offers = await request.read(look)
    return await request.page("dashboard/publications.html", rows=rows, offers=offers)


def _given(request: PageRequest) -> dict[str, Any]:
    lists = {name: request.several(name) for name in ("categories", "income_levels", "age_ranges")}
    return {
        "name": request.text("name"),
        "description": request.text("description"),
        "list_id": request.text("list_id"),
        "audience_gender": request.text("audience_gender"),
        "status": request.text("status") or "active",
        **lists,
    }


def _as_given(publication: Publication) -> dict[str, Any]:
    lists = {
        name: publication.words(name) for name in ("categories", "income_levels", "age_ranges")
    }
    return {**publication._asdict(), **lists}


def _fields(given: dict[str, Any]) -> PublicationFields:
    return PublicationFields(
        name=given["name"] or UNSET,
        description=given["description"] or None,
        categories=given["categories"] or UNSET,
        list_id=given["list_id"] or None,
        status=given["status"],
        audience_gender=given["audience_gender"] or UNSET,
        income_levels=given["income_levels"] or UNSET,
        age_ranges=given["age_ranges"] or UNSET,
    )


async def _form(
    request: PageRequest,
    given: dict[str, Any],
    old: Publication | None,
    wrong: dict[str, str] | None = None,
) -> Response:
    logo_id = old.logo_id if old else ""
    return await request.page(
        "dashboard/publication.html",
        400 if wrong else 200,
        given=given,
        old=old,
        wrong=wrong or {},
        form=FIELDS,
        card=_card(given, logo_id),
        page=await _page(request, given, logo_id),
        **WORDS,
    )


def _missing(
    request: PageRequest, given: dict[str, Any], *, unless: Collection[str] = ()
) -> dict[str, str]:
    logo = request.file.filename if request.file else ""
    wrong = forms.missing(FIELDS, {**given, "logo": logo}, unless=unless)
    if len(given["categories"]) > MOST_CATEGORIES:
        wrong["categories"] = FIELDS["categories"].ask
    return wrong


def _card(given: dict[str, Any], logo_id: str) -> str:
    return rendering.page(
        "dashboard/card_alone.html", card=cards.of_typed(given, logo_id), money=money.show
    )


async def _page(request: PageRequest, given: dict[str, Any], logo_id: str) -> str:
    """The signup page of its program, as partners' readers see it."""
    campaign = await request.read(lambda tx: campaigns.get(tx, request.tenant))
    card = cards.of_typed(given, logo_id)
    return picture_of_program(
        campaign,
        card.name,
        given["description"],
        card.logo,
        base_url=request.services.site.base_url,
    )


async def new_form(request: PageRequest) -> Response:
    empty = {
        "name": "",
        "description": "",
        "list_id": "",
        "audience_gender": "mixed",
        "status": "active",
        "categories": [],
        "income_levels": [],
        "age_ranges": [],
    }
    return await _form(request, empty, None)


async def _logo(request: PageRequest) -> logos.Logo | None:
    if request.file is None or not request.file.filename:
        return None
    data = await request.file.read(logos.SIZE_LIMIT + 1)
    return await logos.sanitize_apart(data) if data else None


async def create(request: PageRequest) -> Response:
    given = _given(request)
    if wrong := _missing(request, given):
        return await _form(request, given, None, wrong)
    try:
        fields = _fields(given)
        publications.check_required(fields, has_logo=True)
        logo = await _logo(request)
        if logo is None:
            raise Required("logo")

        async def change(tx: Tx) -> Publication:
            return await publications.create(
                tx,
                request.who.account_id,
                fields,
                logo,
                folder=request.services.site.logo_folder,
                now_ms=request.now_ms,
            )

        made = await request.write(change)
    except Invalid as fault:
        return await _form(request, given, None, forms.errors_of(fault, FIELDS))
    return request.go(
        f"/program/new?publication={made.id}",
        f"{made.name} was added. Next, set up its partner program.",
    )


async def edit_form(request: PageRequest) -> Response:
    old = await _old(request)
    return await _form(request, _as_given(old), old)


async def _old(request: PageRequest) -> Publication:
    async def look(tx: Tx) -> Publication:
        return await publications.get(tx, request.who.account_id, request.at("id"))

    found: Publication = await request.read(look)
    return found


async def edit(request: PageRequest) -> Response:
    old, given = await _old(request), _given(request)
    if wrong := _missing(request, given, unless=("logo",)):
        return await _form(request, given, old, wrong)
    try:
        fields, logo = _fields(given), await _logo(request)

        async def change(tx: Tx) -> Publication:
            return await publications.update(
                tx,
                request.who.account_id,
                old.id,
                fields,
                logo,
                folder=request.services.site.logo_folder,
                now_ms=request.now_ms,
            )

        await request.write(change)
    except Invalid as fault:
        return await _form(request, given, old, forms.errors_of(fault, FIELDS))
    return request.go("/publications", f"{given['name']} was saved.")


async def delete(request: PageRequest) -> Response:
    async def change(tx: Tx) -> None:
        await publications.delete(
            tx, request.who.account_id, request.at("id"), now_ms=request.now_ms
        )

    await request.write(change)
    return request.go(
        "/publications", "The publication was deleted. Its history and the amounts owed are kept."
    )


async def sketch_card(request: PageRequest) -> Response:
    """The network card as it would look with what is typed so far."""
    return HTMLResponse(_card(_given(request), await _logo_id(request)))


async def sketch_page(request: PageRequest) -> Response:
    return HTMLResponse(await _page(request, _given(request), await _logo_id(request)))


async def _logo_id(request: PageRequest) -> str:
    """Of the publication that is being changed; a new one has none yet."""
    wanted = request.text("id")
    if not wanted:
        return ""
    old: Publication = await request.read(
        lambda tx: publications.get(tx, request.who.account_id, wanted)
    )
    return old.logo_id
