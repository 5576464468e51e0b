"""Publications: their audience and logo, with previews beside the form as it is typed."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from msgspec import UNSET
from starlette.responses import HTMLResponse, Response

from honeyguide.kernel import money
from honeyguide.kernel.errors import Required
from honeyguide.kernel.paging import Page
from honeyguide.pages import forms, rendering
from honeyguide.pages.dashboard import cards, formats
from honeyguide.pages.dashboard.cards import Card
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.pages.readers.preview import preview_of_program
from honeyguide.pages.services import PageServices
from honeyguide.partners import audience, forecast, logos, programs, publications
from honeyguide.partners.publications import Publication, PublicationChanges
from honeyguide.referrals import branding
from honeyguide.store.tx import Tx

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

PER_PAGE = 50


class PublicationForm(NamedTuple):
    """What the fields of the form hold: the defaults, what is saved, or what was typed."""

    name: str = ""
    description: str = ""
    list_id: str = ""
    audience_gender: str = "mixed"
    status: str = "active"
    categories: Collection[str] = ()
    income_levels: Collection[str] = ()
    age_ranges: Collection[str] = ()

    def card(self, logo_id: str) -> Card:
        """The network card; empty fields get a placeholder."""
        return Card(
            name=self.name or "Your newsletter",
            description=self.description or "A short description.",
            logo=f"/logos/{logo_id}" if logo_id else "",
            audience=cards.audience(self.audience_gender, self.age_ranges),
            categories=list(self.categories),
        )


async def show(tx: Tx, request: PageRequest) -> PageView:
    account_id = request.who.account_id
    page = Page(forms.page_number(request.query.get("page", "")), PER_PAGE)
    rows, total = await publications.page_of(tx, account_id, page)
    ids = [row.id for row in rows]
    return request.view(
        "publications.html",
        rows=rows,
        programs_by_publication=await programs.of_publications(tx, account_id, ids),
        total=total,
        page=page.page,
        pages=page.total_pages(total),
    )


def _typed(request: PageRequest) -> PublicationForm:
    return PublicationForm(
        name=request.text("name"),
        description=request.text("description"),
        list_id=request.text("list_id"),
        audience_gender=request.text("audience_gender"),
        status=request.text("status") or "active",
        categories=request.several("categories"),
        income_levels=request.several("income_levels"),
        age_ranges=request.several("age_ranges"),
    )


def _form_of(publication: Publication) -> PublicationForm:
    return PublicationForm(
        name=publication.name,
        description=publication.description or "",
        list_id=publication.list_id or "",
        audience_gender=publication.audience_gender,
        status=publication.status,
        categories=publication.words("categories"),
        income_levels=publication.words("income_levels"),
        age_ranges=publication.words("age_ranges"),
    )


def _checked(request: PageRequest, *, unless: Collection[str] = ()) -> PublicationChanges:
    """What was typed, for the domain, which has the rules."""
    form = _typed(request)
    logo = request.file("logo")
    errors = forms.missing(FIELDS, {**form._asdict(), "logo": logo}, unless=unless)
    if len(form.categories) > MOST_CATEGORIES:
        errors["categories"] = FIELDS["categories"].ask
    if errors:
        raise forms.FormErrors(errors)
    return PublicationChanges(
        name=form.name or UNSET,
        description=form.description or None,
        categories=list(form.categories) or UNSET,
        list_id=form.list_id or None,
        status=form.status,
        audience_gender=form.audience_gender or UNSET,
        income_levels=list(form.income_levels) or UNSET,
        age_ranges=list(form.age_ranges) or UNSET,
    )


async def _view(
    tx: Tx, request: PageRequest, form: PublicationForm, old: Publication | None
) -> PageView:
    logo_id = old.logo_id if old else ""
    program_id = await publications.find_program_id(tx, old) if old else None
    undecided = None
    if program_id is not None:
        undecided = await forecast.undecided(tx, request.who.account_id, program_id)
    return request.view(
        "publication.html",
        given=form,
        old=old,
        form=FIELDS,
        undecided=undecided,
        card=_card(form, logo_id),
        page=await _signup_page(tx, request, form, logo_id),
        categories=audience.CATEGORIES,
        genders=audience.GENDERS,
        income_levels=audience.INCOME_LEVELS,
        age_ranges=audience.AGE_RANGES,
    )


def _card(form: PublicationForm, logo_id: str) -> str:
    return rendering.page("dashboard/card_alone.html", card=form.card(logo_id), money=money.show)


async def _signup_page(tx: Tx, request: PageRequest, form: PublicationForm, logo_id: str) -> str:
    """The signup page of its program, as partners' readers see it."""
    found = await branding.of(tx, request.tenant)
    card, base_url = form.card(logo_id), request.services.site.base_url
    return preview_of_program(found, card.name, form.description, card.logo, base_url=base_url)


async def new_form(tx: Tx, request: PageRequest) -> PageView:
    form = _typed(request) if request.errors else PublicationForm()
    return await _view(tx, request, form, None)


async def _logo(request: PageRequest) -> logos.StoredLogo | None:
    file = request.file("logo")
    if file is None:
        return None
    data = await file.read(logos.SIZE_LIMIT + 1)
    if not data:
        return None
    return await logos.store(await logos.sanitize_apart(data), request.services.site.logo_folder)


async def create(services: PageServices, request: PageRequest) -> Response:
    fields = _checked(request)
    publications.check_required(fields, has_logo=True)
    logo = await _logo(request)
    if logo is None:
        raise Required("logo")
    made = await request.apply(publications.create, fields, logo)
    return request.go(
        f"/program/new?publication={made.id}",
        f"{formats.isolated(made.name)} was added. Next, set up its partner program.",
    )


async def edit_form(tx: Tx, request: PageRequest) -> PageView:
    old = await publications.get(tx, request.who.account_id, request.at("id"))
    return await _view(tx, request, _typed(request) if request.errors else _form_of(old), old)


async def edit(services: PageServices, request: PageRequest) -> Response:
    # Decoding a logo is expensive, so nobody gets that far with somebody else's publication.
    old = await services.store.read(publications.get, request.who.account_id, request.at("id"))
    fields = _checked(request, unless=("logo",))
    saved = await request.apply(publications.update, old.id, fields, await _logo(request))
    return request.go("/publications", f"{formats.isolated(saved.name)} was saved.")


async def delete(tx: Tx, request: PageRequest) -> Response:
    await publications.delete(request.change(tx), request.at("id"))
    return request.go(
        "/publications", "The publication was deleted. Its history and the amounts owed are kept."
    )


async def sketch_card(tx: Tx, request: PageRequest) -> Response:
    """The network card as it would look with what is typed so far."""
    return HTMLResponse(_card(_typed(request), await _logo_id(tx, request)))


async def sketch_page(tx: Tx, request: PageRequest) -> Response:
    logo_id = await _logo_id(tx, request)
    return HTMLResponse(await _signup_page(tx, request, _typed(request), logo_id))


async def _logo_id(tx: Tx, request: PageRequest) -> str:
    """Of the publication that is being changed; a new one has none yet."""
    if not request.text("id"):
        return ""
    return (await publications.get(tx, request.who.account_id, request.text("id"))).logo_id
