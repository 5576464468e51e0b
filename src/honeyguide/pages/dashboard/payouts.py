"""Payouts and the statements behind them: to read, to print, as CSV; for the partner who earns and the owner who owes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from honeyguide.kernel import money
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.paging import Page
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.pages.downloads import attachment
from honeyguide.partners import payouts, rules, statements
from honeyguide.store.tx import Tx

# A page shows so many lines; the CSV has them all.
LINES_SHOWN = statements.BATCH


async def show(request: PageRequest) -> Response:
    async def look(tx: Tx) -> list[payouts.Payout]:
        rows, _ = await payouts.page_of(tx, request.who.account_id, Page(1, 200))
        return rows

    rows = await request.read(look)
    this_month = rules.month_of(request.now_ms)
    recent = [this_month]
    while len(recent) < 12:
        recent.append(rules.previous_month(recent[-1]))
    return await request.page("dashboard/payouts.html", rows=rows, recent=recent, money=money.show)


def _asked(request: PageRequest) -> tuple[str, str]:
    side = request.at("side")
    if side not in (statements.PARTNER, statements.OWNER):
        raise HTTPException(404)
    try:
        return side, rules.read_month(request.at("month"), param="month")
    except Invalid:
        raise HTTPException(404) from None


async def statement(request: PageRequest) -> Response:
    side, month = _asked(request)

    async def look(tx: Tx) -> dict[str, Any]:
        lines = await statements.lines(tx, request.who.account_id, side, month)
        return {
            "lines": lines,
            "total_cents": await statements.total_cents(tx, request.who.account_id, side, month),
            "payout": await payouts.find_of_month(tx, request.who.account_id, month)
            if side == statements.PARTNER
            else None,
        }

    shown = await request.read(look)
    return await request.page(
        "dashboard/statement.html",
        side=side,
        month=month,
        money=money.show,
        is_cut=len(shown["lines"]) == LINES_SHOWN,
        **shown,
    )


async def statement_csv(request: PageRequest) -> Response:
    side, month = _asked(request)

    async def parts() -> AsyncIterator[str]:
        after: statements.StatementLine | None = None
        while True:

            async def look(
                tx: Tx, after: statements.StatementLine | None = after
            ) -> list[statements.StatementLine]:
                return await statements.lines(tx, request.who.account_id, side, month, after)

            rows: list[statements.StatementLine] = await request.read(look)
            if rows or after is None:
                yield statements.csv_of(side, rows, with_headings=after is None)
            if len(rows) < statements.BATCH:
                return
            after = rows[-1]

    headers = attachment(f"statement-{side}-{month}.csv")
    return StreamingResponse(parts(), media_type="text/csv; charset=utf-8", headers=headers)
