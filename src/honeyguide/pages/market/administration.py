"""The administrator's desk: months and payouts, the proof of the books, accounts, backups. Nobody else sees that it exists."""

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
from honeyguide.mail import letters
from honeyguide.pages import forms
from honeyguide.pages.dashboard.visit import Handler, Visit
from honeyguide.pages.downloads import attachment
from honeyguide.pages.forms import Field
from honeyguide.partners import books, payouts, rules, statements
from honeyguide.store import health
from honeyguide.store.tx import Tx

FIELDS = {"reference": Field("Payment reference", "Enter a payment reference.")}
# A larger difference between our clock and the database's is shown.
CLOCK_SKEW_MS = 2_000


def only_admin(handler: Callable[[Visit], Awaitable[Response]]) -> Handler:
    async def answer(visit: Visit) -> Response:
        if not visit.who.is_admin:
            raise HTTPException(404)
        return await handler(visit)

    return answer


def _month(visit: Visit) -> str:
    """The month of the URL or, when a payout is marked, of the form."""
    try:
        return rules.read_month(visit.query.get("month") or visit.text("month"), param="month")
    except Invalid:
        return ""


@only_admin
async def show(visit: Visit) -> Response:
    return await _page(visit, {})


async def _page(visit: Visit, wrong: dict[str, str]) -> Response:
    async def look(tx: Tx) -> dict[str, Any]:
        months = await payouts.months(tx)
        return {
            "months": months,
            "so_far": {row.month: await payouts.earned_so_far(tx, row.month) for row in months if row.closed_ms is None},
            "owed": await payouts.of_month(tx, _month(visit)),
            "accounts": await accounts.all_of_them(tx),
            "invited": await invitations.of_inviter(tx, visit.who.account_id, now_ms=visit.now_ms),
            "backup_ms": await accounts.last_backup_ms(tx),
            "proof": await accounts.last_proof(tx),
            "letters": await letters.backlog(tx, now_ms=visit.now_ms),
            "deliveries": await webhooks.backlog(tx, now_ms=visit.now_ms),
            "skew_ms": await health.clock_skew_ms(tx),
        }

    # Sums over everybody: kept away from those who only want their own page.
    shown = await visit.desk.store.snapshot(look, slow=True)
    engine = "PostgreSQL" if visit.desk.store.engine == "postgres" else "SQLite"
    return await visit.page(
        "market/administration.html",
        400 if wrong else 200,
        money=money.show,
        month=_month(visit),
        engine=engine,
        version=__version__,
        closes_at=rules.closes_at,
        sends_mail=bool(visit.desk.settings.smtp_url),
        is_in_sync=abs(shown["skew_ms"]) <= CLOCK_SKEW_MS,
        wrong=wrong,
        given=visit.fields,
        **shown,
    )


@only_admin
async def prove(visit: Visit) -> Response:
    findings, sums = await visit.desk.store.snapshot(books.verify, slow=True)
    broken = sum(finding.broken for finding in findings)
    await visit.write(lambda tx: accounts.note_proof(tx, broken=broken, now_ms=visit.now_ms))
    return await visit.page("market/proof.html", findings=findings, sums=sums, money=money.show)


@only_admin
async def mark(visit: Visit) -> Response:
    payout_id, undo = visit.text("payout"), visit.text("do") == "undo"

    async def change(tx: Tx) -> payouts.Payout:
        if undo:
            return await payouts.unmark_paid(tx, payout_id, now_ms=visit.now_ms)
        return await payouts.mark_paid(tx, payout_id, visit.text("reference"), now_ms=visit.now_ms)

    try:
        payout = await visit.write(change)
    except Invalid as fault:
        return await _page(visit, forms.errors_of(fault, FIELDS))
    done = "is unpaid again" if undo else "was marked as paid"
    where = f"/administration?month={payout.month}" if _month(visit) else "/administration"
    return visit.go(where, f"The {money.show(payout.amount_cents)} payout for {rules.spoken(payout.month)} {done}.")


@only_admin
async def export(visit: Visit) -> Response:
    async def look(tx: Tx) -> list[payouts.Owed]:
        return await payouts.of_month(tx, _month(visit))

    text = statements.csv_of_payouts(await visit.read(look))
    headers = attachment(f"payouts{'-' + _month(visit) if _month(visit) else ''}.csv")
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)
