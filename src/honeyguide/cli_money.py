"""The administrator's commands about money: prove the books, list and pay out what is owed."""

from __future__ import annotations

import csv
import sys
from typing import Annotated

import typer

from honeyguide.app import House
from honeyguide.cli import app, in_house
from honeyguide.kernel import money
from honeyguide.partners import books, payouts, rules
from honeyguide.partners.statements import safe_cell
from honeyguide.store import Tx

payouts_app = typer.Typer(help="What is owed to partners, and what was paid.", no_args_is_help=True)
app.add_typer(payouts_app, name="payouts")

Month = Annotated[str, typer.Option(help="A month, YYYY-MM; default all.")]


@app.command()
def verify() -> None:
    """Prove the books: every promise about money, checked in one snapshot."""

    async def prove(house: House) -> tuple[list[books.Finding], books.Sums]:
        return await house.store.snapshot(books.verify, slow=True)

    findings, sums = in_house(prove)
    for finding in findings:
        mark = typer.style("wrong", fg=typer.colors.RED) if finding.broken else typer.style("right", fg=typer.colors.GREEN)
        places = f" ({finding.broken} places)" if finding.broken else ""
        typer.echo(f"{mark}  {finding.promise}{places}")
    charged, paid_out = money.show(sums.charged_cents), money.show(sums.paid_out_cents)
    typer.echo(f"\n{sums.transfers:,} transfers; {charged} charged, {paid_out} of it in payouts. Entries sum to zero.")
    if any(finding.broken for finding in findings):
        typer.secho("The books are wrong; please report this with the lines above.", err=True, fg=typer.colors.RED)
        raise typer.Exit(1)


def _owed(month: str, open_only: bool) -> list[payouts.Owed]:
    if month:
        rules.read_month(month, param="--month")

    async def look(house: House) -> list[payouts.Owed]:
        async def read(tx: Tx) -> list[payouts.Owed]:
            return await payouts.of_month(tx, month, open_only=open_only)

        return await house.store.snapshot(read, slow=True)

    return in_house(look)


@payouts_app.command("list")
def payouts_list(month: Month = "", unpaid: Annotated[bool, typer.Option("--unpaid", help="Only open ones.")] = False) -> None:
    """Show payouts."""
    rows = _owed(month, unpaid)
    for row in rows:
        state = f"paid, {row.paid_reference}" if row.paid_ms is not None else "open"
        typer.echo(f"{row.id}  {row.month}  {money.show(row.amount_cents):>12}  {row.email}  {state}")
    typer.echo(f"{len(rows)} payouts, {money.show(sum(row.amount_cents for row in rows))}", err=True)


@payouts_app.command("export")
def payouts_export(
    month: Month = "", unpaid: Annotated[bool, typer.Option("--unpaid", help="Only open ones.")] = False
) -> None:
    """Write payouts as CSV to standard output."""
    writer = csv.writer(sys.stdout)
    writer.writerow(["payout_uuid", "month", "amount_usd", "email", "name", "paid", "reference"])
    for row in _owed(month, unpaid):
        amount = f"{money.dollars(row.amount_cents):.2f}"
        name, reference = safe_cell(row.name or ""), safe_cell(row.paid_reference or "")
        writer.writerow([row.id, row.month, amount, safe_cell(row.email), name, "yes" if row.paid_ms else "no", reference])


@payouts_app.command("mark-paid")
def payouts_mark_paid(
    payout_uuid: str,
    reference: Annotated[str, typer.Option(help="The bank's reference.")] = "",
    undo: Annotated[bool, typer.Option("--undo", help="Take it back, as a new entry in the books.")] = False,
) -> None:
    """Mark a payout as paid, with a reference; or take that back."""

    async def mark(house: House) -> payouts.Payout:
        async def change(tx: Tx) -> payouts.Payout:
            if undo:
                return await payouts.unmark_paid(tx, payout_uuid, now_ms=house.clock())
            return await payouts.mark_paid(tx, payout_uuid, reference, now_ms=house.clock())

        return await house.store.write(change)

    payout = in_house(mark)
    typer.echo(f"{money.show(payout.amount_cents)} for {payout.month} is {'open again' if undo else 'marked as paid'}.")
