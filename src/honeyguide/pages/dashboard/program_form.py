"""Making and changing an offer: its form, with the network card and what a month could cost beside it as it is typed."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from msgspec import UNSET
from starlette.responses import HTMLResponse, Response

from honeyguide.kernel import money
from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms, rendering
from honeyguide.pages.dashboard import cards
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.forms import Field
from honeyguide.partners import programs, publications
from honeyguide.partners.programs import Program, ProgramFields
from honeyguide.partners.publications import Publication
from honeyguide.partners.rules import Estimate, estimate_month
from honeyguide.store.tx import Tx

AMOUNTS = ("cpa", "max_payout", "total_budget")
TEXTS = ("redirect_url", "thankyou_page_url", "resources_url", "terms", "slug")
FIELDS = {
    "cpa": Field("Fee per new subscriber", "Enter a fee."),
    "max_payout": Field("Monthly cap per partner", "Enter a monthly cap per partner."),
    "total_budget": Field("Monthly budget", "Enter a monthly budget."),
    "referral_pending_duration": Field("Holding period"),
    "redirect_url": Field("Landing page URL", "Enter the URL that partner links lead to."),
    "thankyou_page_url": Field("Thank-you page URL"),
    "slug": Field("Signup page URL"),
    "resources_url": Field("Promo material URL"),
    "terms": Field("Terms"),
}
# A volume to begin with, until the owner types their own.
READERS, PARTNERS = 100, 3


def whole(text: str, default: int) -> int:
    return (
        min(int(text), 10_000_000)
        if text.isascii() and text.isdigit() and len(text) < 9
        else default
    )


def _given(request: PageRequest) -> dict[str, Any]:
    return {
        **{name: request.text(name) for name in (*AMOUNTS, *TEXTS)},
        "show_in_directory": bool(request.text("show_in_directory")),
        "referral_pending_duration_enabled": bool(
            request.text("referral_pending_duration_enabled")
        ),
        "referral_pending_duration": request.text("referral_pending_duration") or "14",
    }


def as_given(program: Program) -> dict[str, Any]:
    """A program as its form holds it: all text."""
    amounts = {name: f"{money.dollars(getattr(program, f'{name}_cents')):.2f}" for name in AMOUNTS}
    return {
        **program._asdict(),
        **amounts,
        "referral_pending_duration": str(program.referral_pending_duration),
    }


def _number(text: str, param: str) -> Decimal:
    try:
        return Decimal(text.replace(",", "").removeprefix("$").strip())
    except InvalidOperation:
        raise Invalid("{field} must be an amount such as 2.50.", param=param) from None


def _fields(given: dict[str, Any]) -> ProgramFields:
    amounts: dict[str, Any] = {
        name: _number(given[name], name) if given[name] else UNSET for name in AMOUNTS
    }
    texts: dict[str, Any] = {
        name: given[name] or (UNSET if name == "redirect_url" else None) for name in TEXTS
    }
    days = given["referral_pending_duration"]
    return ProgramFields(
        **amounts,
        **texts,
        show_in_directory=given["show_in_directory"],
        referral_pending_duration_enabled=given["referral_pending_duration_enabled"],
        referral_pending_duration=int(days)
        if days.isascii() and days.isdigit() and len(days) < 6
        else days,
    )


def _cents(given: dict[str, Any], name: str) -> int | None:
    """An amount that may be half typed."""
    try:
        return money.cents(_number(given[name], name), param=name)
    except Invalid:
        return None


def guess(given: dict[str, Any], volume: Mapping[str, str]) -> Estimate | None:
    """What a month of so many readers would cost; None while an amount cannot be read."""
    fee, most, budget = (_cents(given, name) for name in AMOUNTS)
    if fee is None or most is None or budget is None:
        return None
    return estimate_month(
        fee_cents=fee,
        partner_cap_cents=most,
        budget_cents=budget,
        readers=whole(volume.get("readers", ""), READERS),
        partners=whole(volume.get("partners", ""), PARTNERS),
    )


def _card(given: dict[str, Any], publication: Publication) -> str:
    days, waits = (
        whole(given["referral_pending_duration"], 0),
        bool(given["referral_pending_duration_enabled"]),
    )
    card = cards.priced(
        cards.of_publication(publication),
        cpa_cents=_cents(given, "cpa") or 0,
        days=days,
        waits=waits,
    )
    return rendering.page("dashboard/card_alone.html", card=card, money=money.show)


async def _form(
    request: PageRequest,
    given: dict[str, Any],
    publication: Publication,
    old: Program | None,
    wrong: dict[str, str] | None = None,
) -> Response:
    return await request.page(
        "dashboard/program_form.html",
        400 if wrong else 200,
        given=given,
        publication=publication,
        old=old,
        wrong=wrong or {},
        form=FIELDS,
        page_host=request.services.site.signup_page_host,
        card=_card(given, publication),
        money=money.show,
        guess=guess(given, request.fields),
        readers=READERS,
        partners=PARTNERS,
    )


async def new_form(request: PageRequest) -> Response:
    publication = await _publication(request, request.query.get("publication", ""))
    empty: dict[str, Any] = {
        **dict.fromkeys((*AMOUNTS, *TEXTS), ""),
        "cpa": "2.00",
        "max_payout": "200.00",
        "total_budget": "500.00",
        "show_in_directory": True,
        "referral_pending_duration_enabled": True,
        "referral_pending_duration": "14",
    }
    return await _form(request, empty, publication, None)


async def _publication(request: PageRequest, publication_id: str) -> Publication:
    found: Publication = await request.read(
        lambda tx: publications.get(tx, request.who.account_id, publication_id)
    )
    return found


async def create(request: PageRequest) -> Response:
    publication, given = await _publication(request, request.text("publication")), _given(request)
    if wrong := forms.missing(FIELDS, given):
        return await _form(request, given, publication, None, wrong)
    try:
        fields = _fields(given)

        async def change(tx: Tx) -> Program:
            return await programs.create(
                tx, request.who.account_id, publication.id, fields, now_ms=request.now_ms
            )

        made = await request.write(change)
    except Invalid as fault:
        return await _form(request, given, publication, None, forms.errors_of(fault, FIELDS))
    return request.go(
        f"/program/{made.id}", "Your program is live. Partners who join get their own links."
    )


async def edit_form(request: PageRequest) -> Response:
    old = await program_of(request)
    return await _form(request, as_given(old), await _publication(request, old.publication_id), old)


async def program_of(request: PageRequest) -> Program:
    """The program that the address names, if it is one's own."""
    found: Program = await request.read(
        lambda tx: programs.get(tx, request.who.account_id, request.at("id"))
    )
    return found


async def edit(request: PageRequest) -> Response:
    old, given = await program_of(request), _given(request)
    publication = await _publication(request, old.publication_id)
    if wrong := forms.missing(FIELDS, given):
        return await _form(request, given, publication, old, wrong)
    try:
        fields = _fields(given)

        async def change(tx: Tx) -> Program:
            return await programs.update(
                tx, request.who.account_id, old.id, fields, now_ms=request.now_ms
            )

        await request.write(change)
    except Invalid as fault:
        return await _form(request, given, publication, old, forms.errors_of(fault, FIELDS))
    return request.go(f"/program/{old.id}", "Saved. Pending referrals keep their original fee.")


async def sketch_card(request: PageRequest) -> Response:
    return HTMLResponse(
        _card(_given(request), await _publication(request, request.text("publication")))
    )


async def sketch_cost(request: PageRequest) -> Response:
    html = rendering.page(
        "dashboard/estimate.html", guess=guess(_given(request), request.fields), money=money.show
    )
    return HTMLResponse(html)
