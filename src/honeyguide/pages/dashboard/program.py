"""A program: where the month's money stands, what a month could cost, and everyone partners brought."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from honeyguide.kernel import money
from honeyguide.kernel.paging import Page
from honeyguide.pages.dashboard import cards, program_form
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.partners import forecast, programs, publications, rules
from honeyguide.partners.programs import Program
from honeyguide.referrals.rules import explain
from honeyguide.signups import signups
from honeyguide.store.tx import Tx

PER_PAGE = 50


async def index(request: PageRequest) -> Response:
    """The one program, or the list of them, or what to do first."""

    async def look(tx: Tx) -> tuple[list[Program], int]:
        rows, _ = await programs.page_of(tx, request.who.account_id, Page(1, 200))
        _, total = await publications.page_of(tx, request.who.account_id, Page(1, 1))
        return rows, total

    rows, total = await request.read(look)
    if len(rows) == 1:
        return request.go(f"/program/{rows[0].id}", request.flash)
    return await request.page(
        "dashboard/programs.html", rows=rows, has_publication=total > 0, money=money.show
    )


async def show(request: PageRequest) -> Response:
    page = Page(max(1, program_form.whole(request.query.get("page", "1"), 1)), PER_PAGE)

    async def look(tx: Tx) -> dict[str, Any]:
        program = await programs.get(tx, request.who.account_id, request.at("id"))
        month = rules.month_of(request.now_ms)
        rows, total = await signups.page_of_program(tx, request.who.account_id, program.id, page)
        return {
            "program": program,
            "publication": await publications.get(
                tx, request.who.account_id, program.publication_id
            ),
            "spend": await forecast.spend(tx, program, month, now_ms=request.now_ms),
            "outlook": await forecast.outlook_of_program(tx, program, now_ms=request.now_ms),
            "upcoming": await forecast.upcoming_of_program(tx, program),
            "rows": rows,
            "total": total,
        }

    shown = await request.read(look)
    program: Program = shown["program"]
    return await request.page(
        "dashboard/program.html",
        page=page.page,
        pages=page.total_pages(shown["total"]),
        explain=explain,
        money=money.show,
        uncharged=rules.Uncharged,
        hosted=request.services.site.page_link(program.slug) if program.slug else "",
        invite=f"{request.services.site.base_url}/network/{program.id}",
        hold=cards.hold,
        guess=program_form.guess(program_form.as_given(program), request.query),
        **shown,
    )


async def act(request: PageRequest) -> Response:
    """Pause, resume, delete."""
    old, do = await program_form.program_of(request), request.text("do")

    async def change(tx: Tx) -> None:
        if do == "delete":
            await programs.delete(tx, request.who.account_id, old.id, now_ms=request.now_ms)
        else:
            await programs.pause(
                tx, request.who.account_id, old.id, paused=do == "pause", now_ms=request.now_ms
            )

    await request.write(change)
    if do == "delete":
        return request.go(
            "/publications",
            "The program was deleted. Pending referrals finish as planned, and its history is kept.",
        )
    flash = (
        "The program is paused. New partner referrals do not count."
        if do == "pause"
        else "The program is active again."
    )
    return request.go(f"/program/{old.id}", flash)
