"""The administrator's page: months and payouts, the ledger check, accounts, backups. Others get a 404."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from honeyguide import __version__
from honeyguide.accounts import accounts, invitations
from honeyguide.events import webhooks
from honeyguide.kernel import money
from honeyguide.kernel.errors import Invalid
from honeyguide.mail import emails
from honeyguide.pages import forms
from honeyguide.pages.dashboard.page_request import Handler, PageRequest
from honeyguide.pages.downloads import attachment
from honeyguide.pages.forms import Field
from honeyguide.partners import ledger_check, payouts, rules, statements
from honeyguide.store import health
from honeyguide.store.tx import Tx

FIELDS = {"reference": Field("Payment reference", "Enter a payment reference.")}
# A larger difference between our clock and the database's is shown.
CLOCK_SKEW_MS = 2_000


def only_admin(handler: Callable[[PageRequest], Awaitable[Response]]) -> Handler:
    async def answer(request: PageRequest) -> Response:
        if not request.who.is_admin:
            raise HTTPException(404)
        return await handler(request)

    return answer


def _month(request: PageRequest) -> str:
    """The month of the URL or, when a payout is marked, of the form."""
    try:
        return rules.read_month(request.query.get("month") or request.text("month"), param="month")
    except Invalid:
        return ""


@only_admin
async def show(request: PageRequest) -> Response:
    return await _page(request, {})


async def _page(request: PageRequest, wrong: dict[str, str]) -> Response:
    async def look(tx: Tx) -> dict[str, Any]:
        months = await payouts.months(tx)
        return {
            "months": months,
            "so_far": {
                row.month: await payouts.earned_so_far(tx, row.month)
                for row in months
                if row.closed_ms is None
            },
            "owed": await payouts.of_month(tx, _month(request)),
            "accounts": await accounts.all_of_them(tx),
            "invited": await invitations.of_inviter(
                tx, request.who.account_id, now_ms=request.now_ms
            ),
            "backup_ms": await accounts.last_backup_ms(tx),
            "proof": await accounts.last_proof(tx),
            "letters": await emails.backlog(tx, now_ms=request.now_ms),
            "deliveries": await webhooks.backlog(tx, now_ms=request.now_ms),
            "skew_ms": await health.clock_skew_ms(tx),
        }

    # Sums over everybody: kept away from those who only want their own page.
    shown = await request.services.store.slow_snapshot(look)
    return await request.page(
        "dashboard/administration.html",
        400 if wrong else 200,
        money=money.show,
        month=_month(request),
        engine=request.services.store.engine_name,
        version=__version__,
        closes_at=rules.closes_at,
        sends_mail=bool(request.services.settings.smtp_url),
        is_in_sync=abs(shown["skew_ms"]) <= CLOCK_SKEW_MS,
        wrong=wrong,
        given=request.fields,
        **shown,
    )


@only_admin
async def prove(request: PageRequest) -> Response:
    findings, sums = await request.services.store.slow_snapshot(ledger_check.verify)
    broken = sum(finding.broken for finding in findings)
    await request.write(lambda tx: accounts.note_proof(tx, broken=broken, now_ms=request.now_ms))
    return await request.page(
        "dashboard/ledger_check.html", findings=findings, sums=sums, money=money.show
    )


@only_admin
async def mark(request: PageRequest) -> Response:
    payout_id, undo = request.text("payout"), request.text("do") == "undo"

    async def change(tx: Tx) -> payouts.Payout:
        if undo:
            return await payouts.unmark_paid(tx, payout_id, now_ms=request.now_ms)
        return await payouts.mark_paid(
            tx, payout_id, request.text("reference"), now_ms=request.now_ms
        )

    try:
        payout = await request.write(change)
    except Invalid as fault:
        return await _page(request, forms.errors_of(fault, FIELDS))
    done = "is unpaid again" if undo else "was marked as paid"
    where = f"/administration?month={payout.month}" if _month(request) else "/administration"
    return request.go(
        where,
        f"The {money.show(payout.amount_cents)} payout for {rules.spoken(payout.month)} {done}.",
    )


@only_admin
async def export(request: PageRequest) -> Response:
    async def look(tx: Tx) -> list[payouts.Owed]:
        return await payouts.of_month(tx, _month(request))

    text = statements.csv_of_payouts(await request.read(look))
    headers = attachment(f"payouts{'-' + _month(request) if _month(request) else ''}.csv")
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)
