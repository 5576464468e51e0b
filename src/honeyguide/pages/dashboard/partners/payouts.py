"""Payouts and the statements behind them, as a page and as CSV.

A partner sees what they earned; the owner of a program sees what they owe.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from honeyguide.kernel import money
from honeyguide.kernel.errors import Invalid
from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import PageRequest, PageView
from honeyguide.pages.downloads import attachment
from honeyguide.pages.services import PageServices
from honeyguide.partners import digest_rules, month_digests, payouts, rules, statements
from honeyguide.store.reading import Reading, reads_account

# The page shows at most this many lines; the CSV has them all.
LINES_SHOWN = statements.BATCH
MONTHS_SHOWN = 24
PER_PAGE = 50


async def show(at: Reading, request: PageRequest) -> PageView:
    page, rows, total = await forms.nearest_page(
        request.query, PER_PAGE, lambda page: payouts.page_of(at, page)
    )
    charged = await statements.months_of_owner(at, most=MONTHS_SHOWN)
    return request.view(
        "payouts.html",
        rows=rows,
        charged=charged,
        total=total,
        page=page.page,
        pages=page.total_pages(total),
        money=money.show,
    )


def _side_and_month(request: PageRequest) -> tuple[str, str]:
    side = request.at("side")
    if side not in (statements.PARTNER, statements.OWNER):
        raise HTTPException(404)
    try:
        return side, rules.parse_month(request.at("month"), param="month")
    except Invalid:
        raise HTTPException(404) from None


async def statement(at: Reading, request: PageRequest) -> PageView:
    account_id, (side, month) = request.who.account_id, _side_and_month(request)
    lines = await statements.lines(at, side, month)
    payout = None
    if side == statements.PARTNER:
        payout = await payouts.find_of_month(at, month)
    return request.view(
        "statement.html",
        side=side,
        month=month,
        lines=lines,
        is_cut=len(lines) == LINES_SHOWN,
        total_cents=await statements.total_cents(at, side, month),
        payout=payout,
        digest=await month_digests.find(at.tx, account_id, month),
        grouped=digest_rules.grouped,
        money=money.show,
    )


async def statement_csv(services: PageServices, request: PageRequest) -> Response:
    side, month = _side_and_month(request)
    return StreamingResponse(
        _csv_parts(services, request.who.account_id, side, month),
        media_type="text/csv; charset=utf-8",
        headers=attachment(f"statement-{side}-{month}.csv"),
    )


async def _csv_parts(
    services: PageServices, account_id: str, side: str, month: str
) -> AsyncIterator[str]:
    found = await services.store.read(month_digests.find, account_id, month)
    digest = found.digest if found else ""
    after: statements.StatementLine | None = None
    while True:
        rows = await services.store.snapshot(
            reads_account(statements.lines, services.site, account_id, services.clock()),
            side,
            month,
            after,
        )
        if rows or after is None:
            yield statements.csv_of(side, rows, with_headings=after is None, digest=digest)
        if len(rows) < statements.BATCH:
            return
        after = rows[-1]
