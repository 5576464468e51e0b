"""A program: where the month's money stands, what a month could cost, and everyone partners brought."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from honeyguide.kernel import money
from honeyguide.kernel.paging import Page
from honeyguide.pages.dashboard.visit import Visit
from honeyguide.pages.market import cards, offering
from honeyguide.partners import arrivals, forecast, programs, publications, rules
from honeyguide.partners.programs import Program
from honeyguide.referrals.rules import explain
from honeyguide.store.tx import Tx

PER_PAGE = 50


async def index(visit: Visit) -> Response:
    """The one program, or the list of them, or what to do first."""

    async def look(tx: Tx) -> tuple[list[Program], int]:
        rows, _ = await programs.page_of(tx, visit.who.account_id, Page(1, 200))
        _, total = await publications.page_of(tx, visit.who.account_id, Page(1, 1))
        return rows, total

    rows, total = await visit.read(look)
    if len(rows) == 1:
        return visit.go(f"/program/{rows[0].id}", visit.said)
    return await visit.page("market/programs.html", rows=rows, has_publication=total > 0, money=money.show)


async def show(visit: Visit) -> Response:
    page = Page(max(1, offering.whole(visit.query.get("page", "1"), 1)), PER_PAGE)

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
    return await visit.page(
        "market/program.html", page=page.page, pages=page.total_pages(shown["total"]), explain=explain, money=money.show,
        uncharged=rules.Uncharged, hosted=visit.desk.site.page_link(program.slug) if program.slug else "",
        invite=f"{visit.desk.site.base_url}/network/{program.id}", hold=cards.hold,
        guess=offering.guess(offering.as_given(program), visit.query), **shown,
    )  # fmt: skip


async def act(visit: Visit) -> Response:
    """Pause, resume, delete."""
    old, do = await offering.program_of(visit), visit.text("do")

    async def change(tx: Tx) -> None:
        if do == "delete":
            await programs.delete(tx, visit.who.account_id, old.id, now_ms=visit.now_ms)
        else:
            await programs.pause(tx, visit.who.account_id, old.id, paused=do == "pause", now_ms=visit.now_ms)

    await visit.write(change)
    if do == "delete":
        return visit.go(
            "/publications", "The program was deleted. Pending referrals finish as planned, and its history is kept."
        )
    said = "The program is paused. New partner referrals do not count." if do == "pause" else "The program is active again."
    return visit.go(f"/program/{old.id}", said)
