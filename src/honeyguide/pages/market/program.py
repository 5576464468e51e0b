"""A program: the offer, its caps and what they would cost, where the month's money stands, and everyone partners brought."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from msgspec import UNSET
from starlette.responses import Response

from honeyguide.kernel import money
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.paging import Page
from honeyguide.pages.dashboard.visit import Visit
from honeyguide.partners import arrivals, forecast, programs, publications, rules
from honeyguide.partners.programs import Fields, Program
from honeyguide.referrals.rules import explain
from honeyguide.store.tx import Tx

PER_PAGE = 50
AMOUNTS = ("cpa", "max_payout", "total_budget")
TEXTS = ("redirect_url", "thankyou_page_url", "resources_url", "terms", "slug")


class Estimate(NamedTuple):
    """What a month with so many readers would cost, against both caps."""

    readers: int
    partners: int
    asked_cents: int
    cost_cents: int
    paid_readers: int
    held_back_by: str


def estimate(cpa_cents: int, max_payout_cents: int, budget_cents: int, readers: int, partners: int) -> Estimate:
    """Readers spread evenly over partners; whole fees only, as the rules charge them."""
    if cpa_cents == 0:
        return Estimate(readers, partners, 0, 0, readers, "")
    each = readers // max(partners, 1)
    under_cap = min(each, max_payout_cents // cpa_cents) * max(partners, 1)
    paid = min(under_cap, budget_cents // cpa_cents)
    asked = readers - readers % max(partners, 1)
    held = "the budget" if paid < under_cap else "what one partner can earn" if under_cap < asked else ""
    return Estimate(readers, partners, readers * cpa_cents, paid * cpa_cents, paid, held)


async def index(visit: Visit) -> Response:
    """The one program, or the list of them, or what to do first."""

    async def look(tx: Tx) -> tuple[list[Program], int]:
        rows, _ = await programs.page_of(tx, visit.who.account_id, Page(1, 200))
        _, total = await publications.page_of(tx, visit.who.account_id, Page(1, 1))
        return rows, total

    rows, total = await visit.read(look)
    if len(rows) == 1:
        return visit.go(f"/program/{rows[0].id}", visit.said)
    return await visit.page("market/programs.html", rows=rows, has_publication=total > 0)


async def show(visit: Visit) -> Response:
    page = Page(max(1, _whole(visit.query.get("page", "1"), 1)), PER_PAGE)

    async def look(tx: Tx) -> dict[str, Any]:
        program = await programs.get(tx, visit.who.account_id, visit.at("id"))
        month = rules.month_of(visit.now_ms)
        rows, total = await arrivals.page_of_program(tx, visit.who.account_id, program.id, page)
        return {
            "program": program,
            "publication": await publications.get(tx, visit.who.account_id, program.publication_id),
            "spend": await forecast.spend(tx, program, month, now_ms=visit.now_ms),
            "outlook": await forecast.outlook_of_program(tx, program, now_ms=visit.now_ms),
            "ripening": await forecast.ripening_of_program(tx, program),
            "rows": rows, "total": total,
        }  # fmt: skip

    shown = await visit.read(look)
    program: Program = shown["program"]
    readers, partners = _whole(visit.query.get("readers", ""), 100), _whole(visit.query.get("partners", ""), 3)
    return await visit.page(
        "market/program.html", page=page.page, pages=page.total_pages(shown["total"]), explain=explain, money=money.show,
        uncharged=rules.Uncharged, hosted=visit.desk.site.page_link(program.slug) if program.slug else "",
        guess=estimate(program.cpa_cents, program.max_payout_cents, program.total_budget_cents, readers, max(partners, 1)),
        **shown,
    )  # fmt: skip


def _whole(text: str, default: int) -> int:
    return min(int(text), 10_000_000) if text.isascii() and text.isdigit() and len(text) < 9 else default


def _given(visit: Visit) -> dict[str, Any]:
    return {
        **{name: visit.text(name) for name in (*AMOUNTS, *TEXTS)},
        "show_in_directory": bool(visit.text("show_in_directory")),
        "referral_pending_duration_enabled": bool(visit.text("referral_pending_duration_enabled")),
        "referral_pending_duration": visit.text("referral_pending_duration") or "14",
    }


def _as_given(program: Program) -> dict[str, Any]:
    amounts = {name: f"{money.dollars(getattr(program, f'{name}_cents')):.2f}" for name in AMOUNTS}
    return {**program._asdict(), **amounts}


def _number(text: str, param: str) -> Decimal:
    try:
        return Decimal(text.replace(",", "").removeprefix("$").strip())
    except InvalidOperation:
        raise Invalid(f"{param} must be an amount such as 2.50.", param=param) from None


def _fields(given: dict[str, Any]) -> Fields:
    amounts: dict[str, Any] = {name: _number(given[name], name) if given[name] else UNSET for name in AMOUNTS}
    texts: dict[str, Any] = {name: given[name] or (UNSET if name == "redirect_url" else None) for name in TEXTS}
    days = given["referral_pending_duration"]
    return Fields(
        **amounts, **texts,
        show_in_directory=given["show_in_directory"],
        referral_pending_duration_enabled=given["referral_pending_duration_enabled"],
        referral_pending_duration=int(days) if days.isascii() and days.isdigit() and len(days) < 6 else days,
    )  # fmt: skip


async def _form(
    visit: Visit, given: dict[str, Any], publication: Any, old: Program | None, fault: Invalid | None = None
) -> Response:
    return await visit.page(
        "market/program_form.html", 400 if fault else 200, given=given, publication=publication, old=old,
        wrong=fault.message if fault else "", param=fault.param if fault else "",
        page_host=visit.desk.site.signup_page_host,
    )  # fmt: skip


async def new_form(visit: Visit) -> Response:
    publication = await _publication(visit, visit.query.get("publication", ""))
    empty: dict[str, Any] = {
        **dict.fromkeys((*AMOUNTS, *TEXTS), ""), "cpa": "2.00", "max_payout": "200.00", "total_budget": "500.00",
        "show_in_directory": True, "referral_pending_duration_enabled": True, "referral_pending_duration": "14",
    }  # fmt: skip
    return await _form(visit, empty, publication, None)


async def _publication(visit: Visit, publication_id: str) -> Any:
    async def look(tx: Tx) -> Any:
        return await publications.get(tx, visit.who.account_id, publication_id)

    return await visit.read(look)


async def create(visit: Visit) -> Response:
    publication, given = await _publication(visit, visit.text("publication")), _given(visit)
    try:
        fields = _fields(given)

        async def change(tx: Tx) -> Program:
            return await programs.create(tx, visit.who.account_id, publication.id, fields, now_ms=visit.now_ms)

        made = await visit.write(change)
    except Invalid as fault:
        return await _form(visit, given, publication, None, fault)
    return visit.go(f"/program/{made.id}", "The offer is out. Partners who join get links of their own.")


async def _old(visit: Visit) -> Program:
    async def look(tx: Tx) -> Program:
        return await programs.get(tx, visit.who.account_id, visit.at("id"))

    found: Program = await visit.read(look)
    return found


async def edit_form(visit: Visit) -> Response:
    old = await _old(visit)
    return await _form(visit, _as_given(old), await _publication(visit, old.publication_id), old)


async def edit(visit: Visit) -> Response:
    old, given = await _old(visit), _given(visit)
    try:
        fields = _fields(given)

        async def change(tx: Tx) -> Program:
            return await programs.update(tx, visit.who.account_id, old.id, fields, now_ms=visit.now_ms)

        await visit.write(change)
    except Invalid as fault:
        return await _form(visit, given, await _publication(visit, old.publication_id), old, fault)
    return visit.go(f"/program/{old.id}", "Saved. Readers already on their way keep the fee of their arrival.")


async def act(visit: Visit) -> Response:
    """Pause, resume, delete."""
    old, do = await _old(visit), visit.text("do")

    async def change(tx: Tx) -> None:
        if do == "delete":
            await programs.delete(tx, visit.who.account_id, old.id, now_ms=visit.now_ms)
        else:
            await programs.pause(tx, visit.who.account_id, old.id, paused=do == "pause", now_ms=visit.now_ms)

    await visit.write(change)
    if do == "delete":
        return visit.go("/publications", "The program is deleted. What is pending runs to its end, and history stays.")
    said = "Paused: new readers are kept but do not count." if do == "pause" else "It runs again."
    return visit.go(f"/program/{old.id}", said)
