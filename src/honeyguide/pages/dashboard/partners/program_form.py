"""Creating and changing a partner program: the form, with the network card and the estimated cost
beside it as it is typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET
from starlette.responses import HTMLResponse, Response

from honeyguide.kernel import money
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.site import Site
from honeyguide.pages import forms, rendering
from honeyguide.pages.dashboard import cards, formats
from honeyguide.pages.dashboard.bound_form import BoundForm, StructForm
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.services import PageServices
from honeyguide.partners import (
    forecast,
    network,
    programs,
    publications,
    term_changes,
    verification,
)
from honeyguide.partners.programs import Program, ProgramFields
from honeyguide.partners.publications import Publication
from honeyguide.partners.rules import Estimate, estimate_month
from honeyguide.partners.verification import Origins, Texts, Verification, VerificationFields
from honeyguide.store.change import Change
from honeyguide.store.reading import Reading
from honeyguide.subscribers import slugs

FORM = StructForm(
    ProgramFields,
    VerificationFields,
    ask={
        "cpa": "Enter a fee.",
        "max_payout": "Enter a monthly cap per partner.",
        "total_budget": "Enter a monthly budget.",
        "redirect_url": "Enter your own page’s URL, or choose an address for our signup page.",
    },
    start={
        "cpa": "2.00",
        "max_payout": "200.00",
        "total_budget": "500.00",
        "show_in_directory": True,
        "referral_pending_duration_enabled": True,
    },
)
AMOUNTS = ("cpa", "max_payout", "total_budget")
# The volume of the estimate until the owner types another one.
SUBSCRIBERS, PARTNERS = 100, 3
MOST_VOLUME = 10_000_000


def _saved(program: Program, now: Verification, site: Site) -> BoundForm:
    """A program as its form shows it. Without a landing page of its own, it is our signup page."""
    hosted = site.page_link(program.slug) if program.slug else ""
    own_page = "" if program.redirect_url == hosted else program.redirect_url
    shown = {name: getattr(now, name) for name in ("rule", "screening", "origins")}
    first_look = "" if now.first_look is None else str(now.first_look)
    return FORM.saved(program, redirect_url=own_page, first_look=first_look, **shown)


def _checked(request: PageRequest) -> ProgramFields:
    form = FORM.typed(request)
    slug, days = form.values["slug"], form.values["referral_pending_duration"]
    wrong = {}
    if forms.whole_number(days) is None:
        wrong = forms.errors_of(programs.bad_holding_period(), FORM.fields)
    if form.values["redirect_url"] or not slug:
        return form.valid(ProgramFields, wrong=wrong)
    # Without a page of the owner's, partner links lead to the program's signup page here.
    hosted = request.services.site.page_link(slug)
    return form.valid(ProgramFields, unless=["redirect_url"], wrong=wrong, redirect_url=hosted)


def _chosen(request: PageRequest, shown: Verification) -> VerificationFields:
    """What differs from what the form showed. What does not is not the owner's choice, and a form
    without these fields changes none."""
    typed = msgspec.structs.asdict(FORM.typed(request).changes(VerificationFields))
    sent = {name: value for name, value in typed.items() if name in request.fields}
    chosen = {name: value for name, value in sent.items() if value != getattr(shown, name)}
    if ("rule" in chosen or "screening" in chosen) and "origins" in sent:
        chosen["origins"] = sent["origins"]
    return VerificationFields(**chosen)


def _first_choice(request: PageRequest) -> VerificationFields:
    """What a program starts with that is made here, but for what its owner chose otherwise."""
    shown = _recommended(request)
    chosen = msgspec.structs.asdict(_chosen(request, shown))
    by_default = {"origins": shown.origins, "first_look": shown.first_look}
    given = {name: value for name, value in chosen.items() if value is not UNSET}
    return VerificationFields(**(by_default | given))


def _recommended(request: PageRequest) -> Verification:
    rule, level = verification.recommended(request.services.site)
    return Verification(rule, level, Origins.ALL, verification.FIRST_LOOK, has_own_level=True)


def _cents(text: str) -> int | None:
    """An amount that may be half typed."""
    try:
        return money.cents(forms.amount(text, param=""), param="")
    except Invalid:
        return None


def guess(fee_cents: int, cap_cents: int, budget_cents: int, volume: Mapping[str, str]) -> Estimate:
    """What a month of so many new subscribers would cost."""
    return estimate_month(
        fee_cents=fee_cents,
        partner_cap_cents=cap_cents,
        budget_cents=budget_cents,
        subscribers=_volume(volume.get("subscribers", ""), SUBSCRIBERS),
        partners=_volume(volume.get("partners", ""), PARTNERS),
    )


def _guess(form: BoundForm, volume: Mapping[str, str]) -> Estimate | None:
    """None while an amount cannot be read."""
    fee, cap, budget = (_cents(form.values[name]) for name in AMOUNTS)
    if fee is None or cap is None or budget is None:
        return None
    return guess(fee, cap, budget, volume)


def _wrong_amounts(form: BoundForm) -> list[str]:
    """What the form will say of them once it is sent."""
    try:
        form.valid(ProgramFields)
    except forms.FormErrors as wrong:
        return [wrong.errors[name] for name in AMOUNTS if name in wrong.errors]
    return []


def _volume(text: str, otherwise: int) -> int:
    number = forms.whole_number(text)
    return otherwise if number is None else min(number, MOST_VOLUME)


async def _card(
    at: Reading, request: PageRequest, form: BoundForm, publication: Publication, program_id: str
) -> str:
    """The network card with what is typed. What is known of a live program stays on it."""
    values, known = form.values, None
    if program_id:
        program = await programs.get(at, program_id)
        found = await network.get_own(at, program.id)
        known = cards.of_network_program(found).terms
    card = cards.priced(
        cards.of_publication(publication),
        cpa_cents=_cents(values["cpa"]),
        days=forms.whole_number(values["referral_pending_duration"]) or 0,
        waits=values["referral_pending_duration_enabled"],
        known=known,
    )
    return rendering.page("dashboard/card_alone.html", card=card, money=money.show)


def _texts(texts: Mapping[Any, Texts]) -> list[tuple[str, str, str]]:
    return [(word, text.label, text.to_owner) for word, text in texts.items()]


async def _view(
    at: Reading,
    request: PageRequest,
    form: BoundForm,
    publication: Publication,
    old: Program | None = None,
    now: Verification | None = None,
    lowering: str = "",
) -> PageView:
    return request.view(
        "program_form.html",
        form=form,
        publication=publication,
        old=old,
        rules=_texts(verification.RULES),
        levels=_texts(verification.LEVELS),
        origins=_texts(verification.ORIGINS),
        is_by_campaign=now is not None and not now.has_own_level,
        has_mail_server=request.services.site.has_mail_server,
        page_host=request.services.site.signup_page_host,
        card=await _card(at, request, form, publication, old.id if old else ""),
        money=money.show,
        guess=_guess(form, request.fields),
        lowering=lowering,
        subscribers=SUBSCRIBERS,
        partners=PARTNERS,
    )


async def new_form(at: Reading, request: PageRequest) -> PageView:
    if request.errors:
        publication = await publications.get(at, request.text("publication"))
        return await _view(at, request, FORM.typed(request), publication)
    publication = await publications.get(at, request.query.get("publication", ""))
    shown = _recommended(request)
    slug = await slugs.suggest(at.tx, publication.name)
    form = FORM.new(
        rule=shown.rule,
        screening=shown.screening,
        origins=shown.origins,
        first_look=str(shown.first_look),
        slug=slug,
    )
    return await _view(at, request, form, publication)


async def create(change: Change, request: PageRequest) -> Response:
    publication = await publications.get(change, request.text("publication"))
    chosen = _first_choice(request)
    made = await programs.create(change, publication.id, _checked(request), chosen)
    return request.go(
        f"/program/{made.id}", "Your program is live. Partners who join get their own links."
    )


async def edit_form(at: Reading, request: PageRequest) -> PageView:
    old = await programs.get(at, request.at("id"))
    publication = await publications.get(at, old.publication_id)
    now = await verification.get(at, old.id)
    waiting = await term_changes.find_waiting(at, old.id)
    saved = _saved(*term_changes.shown(old, now, waiting), request.services.site)
    form = FORM.typed(request) if request.errors else saved
    lowering = await _what_stays(at, request, old)
    return await _view(at, request, form, publication, old, now, lowering=lowering)


async def _what_stays(at: Reading, request: PageRequest, program: Program) -> str:
    """What a lower cap or budget does not change; empty if nothing."""
    undecided = await forecast.undecided(at, program.id)
    return undecided.sentence_of_lowering


async def edit(change: Change, request: PageRequest) -> Response:
    old = await programs.get(change, request.at("id"))
    waiting = await term_changes.find_waiting(change, old.id)
    now = await verification.get(change, old.id)
    _, shown = term_changes.shown(old, now, waiting)
    chosen = _chosen(request, shown)
    starts_ms = await term_changes.change_soon(change, old.id, _checked(request), chosen)
    changed = await programs.get(change, old.id)
    message = "Saved. Pending referrals keep their original fee."
    if _is_lowered(old, changed):
        message = f"{message} {await _what_stays(change, request, changed)}".strip()
    if starts_ms is not None:
        day = formats.short_day(starts_ms)
        message += f" What is worse for partners begins on {day}, and they are told now."
    return request.go(f"/program/{old.id}", message)


def _is_lowered(old: Program, new: Program) -> bool:
    return (
        new.total_budget_cents < old.total_budget_cents
        or new.max_payout_cents < old.max_payout_cents
    )


async def preview_card(at: Reading, request: PageRequest) -> Response:
    publication = await publications.get(at, request.text("publication"))
    form, program_id = FORM.typed(request), request.text("program")
    return HTMLResponse(await _card(at, request, form, publication, program_id))


async def preview_cost(services: PageServices, request: PageRequest) -> Response:
    form = FORM.typed(request)
    values = {"guess": _guess(form, request.fields), "wrong": _wrong_amounts(form)}
    return HTMLResponse(rendering.page("dashboard/estimate.html", **values, money=money.show))
