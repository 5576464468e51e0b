"""Creating and changing a partner program: the form, with the network card and the estimated cost
beside it as it is typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import UNSET
from starlette.responses import HTMLResponse, Response

from honeyguide.kernel import checks, money
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.site import Site
from honeyguide.pages import forms, rendering
from honeyguide.pages.dashboard import cards
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.forms import Field
from honeyguide.pages.services import PageServices
from honeyguide.partners import programs, publications, verification
from honeyguide.partners.programs import Program, ProgramFields
from honeyguide.partners.publications import Publication
from honeyguide.partners.rules import Estimate, estimate_month
from honeyguide.partners.verification import Verification, VerificationFields
from honeyguide.store.tx import Tx

FIELDS = {
    "cpa": Field("Fee per new subscriber", "Enter a fee."),
    "max_payout": Field("Monthly cap per partner", "Enter a monthly cap per partner."),
    "total_budget": Field("Monthly budget", "Enter a monthly budget."),
    "referral_pending_duration": Field("Holding period"),
    "rule": Field("Rule"),
    "screening": Field("Screening"),
    "redirect_url": Field(
        "Landing page URL", "Enter the URL that partner links lead to, or a signup page below."
    ),
    "thankyou_page_url": Field("Thank-you page URL"),
    "slug": Field("Signup page URL"),
    "resources_url": Field("Promo material URL"),
    "terms": Field("Terms"),
}
# The volume of the estimate until the owner types another one.
SUBSCRIBERS, PARTNERS = 100, 3
MOST_VOLUME = 10_000_000


class ProgramForm(NamedTuple):
    """What the fields of the form hold: the defaults, what is saved, or what was typed."""

    cpa: str = "2.00"
    max_payout: str = "200.00"
    total_budget: str = "500.00"
    redirect_url: str = ""
    thankyou_page_url: str = ""
    resources_url: str = ""
    terms: str = ""
    slug: str = ""
    show_in_directory: bool = True
    referral_pending_duration_enabled: bool = True
    referral_pending_duration: str = "14"
    rule: str = ""
    screening: str = ""


def new_form_of(site: Site) -> ProgramForm:
    rule, level = verification.recommended(site)
    return ProgramForm(rule=rule, screening=level)


def form_of(program: Program, site: Site) -> ProgramForm:
    """A program as its form shows it. Without a landing page of its own, it is our signup page."""
    hosted = site.page_link(program.slug) if program.slug else ""
    return ProgramForm(
        cpa=_dollars(program.cpa_cents),
        max_payout=_dollars(program.max_payout_cents),
        total_budget=_dollars(program.total_budget_cents),
        redirect_url="" if program.redirect_url == hosted else program.redirect_url,
        thankyou_page_url=program.thankyou_page_url or "",
        resources_url=program.resources_url or "",
        terms=program.terms or "",
        slug=program.slug or "",
        show_in_directory=bool(program.show_in_directory),
        referral_pending_duration_enabled=bool(program.referral_pending_duration_enabled),
        referral_pending_duration=str(program.referral_pending_duration),
    )


def _dollars(cents: int) -> str:
    return f"{money.dollars(cents):.2f}"


def _typed(request: PageRequest) -> ProgramForm:
    return ProgramForm(
        cpa=request.text("cpa"),
        max_payout=request.text("max_payout"),
        total_budget=request.text("total_budget"),
        redirect_url=request.text("redirect_url"),
        thankyou_page_url=request.text("thankyou_page_url"),
        resources_url=request.text("resources_url"),
        terms=request.text("terms"),
        slug=request.text("slug"),
        show_in_directory=bool(request.text("show_in_directory")),
        referral_pending_duration_enabled=bool(request.text("referral_pending_duration_enabled")),
        referral_pending_duration=request.text("referral_pending_duration") or "14",
        rule=request.text("rule"),
        screening=request.text("screening"),
    )


def _checked(request: PageRequest) -> ProgramFields:
    """What was typed, for the domain, which has the rules."""
    form = _typed(request)
    forms.require(FIELDS, form._asdict(), unless=["redirect_url"] if form.slug else [])
    days = forms.whole_number(form.referral_pending_duration)
    if days is None:
        raise programs.bad_holding_period()
    return ProgramFields(
        cpa=forms.amount(form.cpa, param="cpa"),
        max_payout=forms.amount(form.max_payout, param="max_payout"),
        total_budget=forms.amount(form.total_budget, param="total_budget"),
        redirect_url=form.redirect_url or _hosted_page(request, form.slug),
        thankyou_page_url=form.thankyou_page_url or None,
        resources_url=form.resources_url or None,
        terms=form.terms or None,
        slug=form.slug or None,
        show_in_directory=form.show_in_directory,
        referral_pending_duration_enabled=form.referral_pending_duration_enabled,
        referral_pending_duration=days,
    )


def _chosen(request: PageRequest, rule: str, level: str) -> VerificationFields:
    """What differs from the rule and the level that the form showed. What does not is not the
    owner's choice, and a form without these fields changes neither."""
    form = _typed(request)
    return VerificationFields(
        rule=form.rule if form.rule not in ("", rule) else UNSET,
        screening=form.screening if form.screening not in ("", level) else UNSET,
    )


def _hosted_page(request: PageRequest, slug: str) -> str:
    """Where partner links lead if the owner has no page: the program's signup page here."""
    return request.services.site.page_link(checks.slug(slug, param="slug"))


def _cents(text: str) -> int | None:
    """An amount that may be half typed."""
    try:
        return money.cents(forms.amount(text, param=""), param="")
    except Invalid:
        return None


def guess(form: ProgramForm, volume: Mapping[str, str]) -> Estimate | None:
    """What a month of so many new subscribers would cost; None while an amount cannot be read."""
    fee, cap, budget = _cents(form.cpa), _cents(form.max_payout), _cents(form.total_budget)
    if fee is None or cap is None or budget is None:
        return None
    return estimate_month(
        fee_cents=fee,
        partner_cap_cents=cap,
        budget_cents=budget,
        subscribers=_volume(volume.get("subscribers", ""), SUBSCRIBERS),
        partners=_volume(volume.get("partners", ""), PARTNERS),
    )


def _volume(text: str, otherwise: int) -> int:
    number = forms.whole_number(text)
    return otherwise if number is None else min(number, MOST_VOLUME)


def _card(form: ProgramForm, publication: Publication) -> str:
    card = cards.priced(
        cards.of_publication(publication),
        cpa_cents=_cents(form.cpa) or 0,
        days=forms.whole_number(form.referral_pending_duration) or 0,
        waits=form.referral_pending_duration_enabled,
    )
    return rendering.page("dashboard/card_alone.html", card=card, money=money.show)


def _scope(now: Verification | None) -> str:
    """Which referrals the rule and the level are for; `now` is None for a new program."""
    if now is not None and now.is_chosen:
        return "They hold for all new referrals."
    if now is not None and not now.has_own_level:
        until = "Until you change it, the level is that of your campaign"
    else:
        until = "Until you change them, they are for magic links and hosted pages and forms"
    return f"{until}; what you change holds for all new referrals, also by API and import."


def _view(
    request: PageRequest,
    form: ProgramForm,
    publication: Publication,
    old: Program | None = None,
    now: Verification | None = None,
) -> PageView:
    return request.view(
        "program_form.html",
        given=form,
        publication=publication,
        old=old,
        form=FIELDS,
        rules=verification.RULES,
        levels=verification.LEVELS,
        scope=_scope(now),
        has_mail_server=request.services.site.has_mail_server,
        page_host=request.services.site.signup_page_host,
        card=_card(form, publication),
        money=money.show,
        guess=guess(form, request.fields),
        subscribers=SUBSCRIBERS,
        partners=PARTNERS,
    )


async def new_form(tx: Tx, request: PageRequest) -> PageView:
    if request.errors:
        publication_id, form = request.text("publication"), _typed(request)
    else:
        publication_id = request.query.get("publication", "")
        form = new_form_of(request.services.site)
    publication = await publications.get(tx, request.who.account_id, publication_id)
    return _view(request, form, publication)


async def create(tx: Tx, request: PageRequest) -> Response:
    publication = await publications.get(tx, request.who.account_id, request.text("publication"))
    chosen = _chosen(request, *verification.recommended(request.services.site))
    made = await programs.create(request.change(tx), publication.id, _checked(request), chosen)
    return request.go(
        f"/program/{made.id}", "Your program is live. Partners who join get their own links."
    )


async def edit_form(tx: Tx, request: PageRequest) -> PageView:
    old = await programs.get(tx, request.who.account_id, request.at("id"))
    publication = await publications.get(tx, request.who.account_id, old.publication_id)
    now = await verification.get(tx, request.who.account_id, old.id)
    form = form_of(old, request.services.site)._replace(rule=now.rule, screening=now.screening)
    return _view(request, _typed(request) if request.errors else form, publication, old, now)


async def edit(tx: Tx, request: PageRequest) -> Response:
    change = request.change(tx)
    changed = await programs.update(change, request.at("id"), _checked(request))
    now = await verification.get(tx, request.who.account_id, changed.id)
    chosen = _chosen(request, now.rule, now.screening)
    await verification.set_verification(change, changed.id, chosen)
    return request.go(f"/program/{changed.id}", "Saved. Pending referrals keep their original fee.")


async def sketch_card(tx: Tx, request: PageRequest) -> Response:
    publication = await publications.get(tx, request.who.account_id, request.text("publication"))
    return HTMLResponse(_card(_typed(request), publication))


async def sketch_cost(services: PageServices, request: PageRequest) -> Response:
    values = {"guess": guess(_typed(request), request.fields), "money": money.show}
    return HTMLResponse(rendering.page("dashboard/estimate.html", **values))
