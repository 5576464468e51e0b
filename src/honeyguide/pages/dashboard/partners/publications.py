"""Publications: their audience and logo, with previews beside the form as it is typed."""

from __future__ import annotations

from collections.abc import Collection

from starlette.responses import HTMLResponse, Response

from honeyguide.kernel import money
from honeyguide.languages import language
from honeyguide.pages import forms, rendering
from honeyguide.pages.dashboard import cards, formats, kept_pictures
from honeyguide.pages.dashboard.bound_form import BoundForm, StructForm
from honeyguide.pages.dashboard.cards import Card
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.pages.readers import page_texts
from honeyguide.pages.readers.preview import preview_of_program
from honeyguide.pages.services import PageServices
from honeyguide.partners import audience, forecast, logos, programs, publications
from honeyguide.partners.logos import StoredLogo
from honeyguide.partners.publications import Publication, PublicationChanges, PublicationFields
from honeyguide.signups import undone_stops
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading, reads_account
from honeyguide.subscribers import branding

FORM = StructForm(
    PublicationFields,
    ask={
        "name": "Enter a name.",
        "categories": "Choose 1 to 3 categories.",
        "audience_gender": "Choose an audience.",
        "age_ranges": "Choose at least one age range.",
        "income_levels": "Choose at least one income range.",
    },
    start={"audience_gender": "mixed"},
    more={"logo": Field("Logo", "Choose a logo.")},
)

PER_PAGE = 50


async def show(at: Reading, request: PageRequest) -> PageView:
    page, rows, total = await forms.nearest_page(
        request.query, PER_PAGE, lambda page: publications.page_of(at, page)
    )
    ids = [row.id for row in rows]
    return request.view(
        "publications.html",
        rows=rows,
        programs_by_publication=await programs.of_publications(at, ids),
        total=total,
        page=page.page,
        pages=page.total_pages(total),
    )


def _checked(
    request: PageRequest, logo: StoredLogo | None, *, unless: Collection[str] = ()
) -> PublicationChanges:
    form = FORM.typed(request)
    errors = form.missing(unless=unless, logo=logo)
    if len(form.values["categories"]) > audience.MOST_CATEGORIES:
        errors["categories"] = FORM.fields["categories"].ask
    if errors:
        raise forms.FormErrors(errors)
    return form.changes(PublicationChanges)


async def _view(
    at: Reading, request: PageRequest, form: BoundForm, old: Publication | None, kept_logo: str
) -> PageView:
    logo_id = kept_logo or (old.logo_id if old else "")
    program_id = await publications.find_program_id(at.tx, old) if old else None
    undecided = None
    if program_id is not None:
        undecided = await forecast.undecided(at, program_id)
    return request.view(
        "publication.html",
        form=form,
        old=old,
        kept_logo=kept_logo,
        undecided=undecided,
        card=_card(form, logo_id),
        page=await _signup_page(at, request, form, logo_id),
    )


def _network_card(form: BoundForm, logo_id: str) -> Card:
    """The network card; empty fields get a placeholder."""
    values = form.values
    return Card(
        name=values["name"] or "Your newsletter",
        description=values["description"] or "A short description.",
        logo=f"/logos/{logo_id}" if logo_id else "",
        audience=cards.audience(values["audience_gender"], values["age_ranges"]),
        categories=values["categories"],
    )


def _card(form: BoundForm, logo_id: str) -> str:
    card = _network_card(form, logo_id)
    return rendering.page("dashboard/card_alone.html", card=card, money=money.show)


async def _signup_page(at: Reading, request: PageRequest, form: BoundForm, logo_id: str) -> str:
    """The signup page of its program, as partners' readers see it."""
    found = await at.fact(branding.of)
    card, base_url = _network_card(form, logo_id), request.services.site.base_url
    description = form.values["description"]
    return preview_of_program(found, card.name, description, card.logo, base_url=base_url)


async def new_form(at: Reading, request: PageRequest) -> PageView:
    """Starts with what the campaign says of itself, so that nobody types or uploads it twice."""
    if request.errors:
        kept_logo = kept_pictures.kept_id(request, logos.LOGO)
        return await _view(at, request, FORM.typed(request), None, kept_logo)
    found = await at.fact(branding.of)
    texts = page_texts.read(found.words, found.name, language.get_language(found.language))
    form = FORM.new(name=found.name, description=texts.details or texts.tagline)
    return await _view(at, request, form, None, found.logo_id or "")


async def create(services: PageServices, request: PageRequest) -> Response:
    logo = await kept_pictures.keep(request, logos.LOGO)
    fields = _checked(request, logo)
    assert logo is not None, "a form without a logo was refused"
    made = await request.apply(publications.create, fields, logo)
    return request.go(
        f"/program/new?publication={made.id}",
        f"{formats.isolated(made.name)} was added. Next, set up its partner program.",
    )


async def edit_form(at: Reading, request: PageRequest) -> PageView:
    old = await publications.get(at, request.at("id"))
    form = FORM.typed(request) if request.errors else FORM.saved(old)
    return await _view(at, request, form, old, kept_pictures.kept_id(request, logos.LOGO))


async def edit(services: PageServices, request: PageRequest) -> Response:
    # Decoding a logo is expensive, so nobody gets that far with somebody else's publication.
    old = await services.store.read(
        reads_account(
            publications.get, request.services.site, request.who.account_id, request.now_ms
        ),
        request.at("id"),
    )
    logo = await kept_pictures.keep(request, logos.LOGO)
    fields = _checked(request, logo, unless=("logo",))
    saved = await request.apply(undone_stops.update_publication, old.id, fields, logo)
    return request.go("/publications", f"{formats.isolated(saved.name)} was saved.")


async def delete(change: Change, request: PageRequest) -> Response:
    await publications.delete(change, request.at("id"))
    return request.go(
        "/publications", "The publication was deleted. Its history and the amounts owed are kept."
    )


async def preview_card(at: Reading, request: PageRequest) -> Response:
    """The network card as it would look with what is typed so far."""
    return HTMLResponse(_card(FORM.typed(request), await _logo_id(at, request)))


async def preview_page(at: Reading, request: PageRequest) -> Response:
    logo_id = await _logo_id(at, request)
    return HTMLResponse(await _signup_page(at, request, FORM.typed(request), logo_id))


async def _logo_id(at: Reading, request: PageRequest) -> str:
    """The one that was kept for the form, or that of the publication that is being changed."""
    if kept_id := request.text("kept_logo"):
        return (await publications.get_own_logo(at, kept_id)).id
    if not request.text("id"):
        return ""
    return (await publications.get(at, request.text("id"))).logo_id
