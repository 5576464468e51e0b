"""`honeyguide payouts`: close months, list payouts and mark them as paid."""

from __future__ import annotations

import csv
import re
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.progress import Progress, TimeElapsedColumn

from honeyguide.app import Services
from honeyguide.cli.base import fail, progress, utf8_stdout, with_existing_services, write
from honeyguide.kernel import actors, money
from honeyguide.kernel.errors import Fault, Invalid
from honeyguide.kernel.spreadsheets import unguarded
from honeyguide.partners import payout_marks, payouts, rules, statements
from honeyguide.partners.payouts import Payout
from honeyguide.store import Tx
from honeyguide.work.money import pay_out

payouts_app = typer.Typer(help="List partner payouts and mark them as paid.", no_args_is_help=True)

Month = Annotated[str, typer.Option(help="Only this month, as YYYY-MM; default: all months.")]
_ACTOR = actors.command("payouts mark-paid")
Unpaid = Annotated[bool, typer.Option("--unpaid", help="Only payouts that are not marked as paid.")]


# Digits with separators, then perhaps one or two decimals.
_AMOUNT = re.compile(r"(\d[\d.,\s]{0,20}?)(?:[.,](\d{1,2}))?", re.ASCII)


class Payment(NamedTuple):
    """A line of the administrator's spreadsheet."""

    payout_uuid: str
    reference: str
    amount: str = ""

    def contradicts(self, amount_cents: int) -> bool:
        """Whether the line is about another amount: then its reference may have slipped here from
        another line. Spreadsheets write 14.00 as 14 or 14,00, and 1400.00 as 1,400 or 1.400,00."""
        if not (typed := self.amount.strip("$ ")):
            return False
        if not (found := _AMOUNT.fullmatch(typed)):
            return True
        whole, fraction = re.sub(r"\D", "", found[1]), found[2] or ""
        return int(f"{whole}{fraction:0<2}") != amount_cents


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _progress() -> Progress:
    return progress(TimeElapsedColumn(), transient=True)


async def _payouts_of_month(services: Services, month: str, unpaid: bool) -> list[payouts.Owed]:
    if month:
        rules.parse_month(month, param="--month")
    return await services.store.slow_snapshot(payouts.of_month, month, open_only=unpaid)


@payouts_app.command("list")
def payouts_list(month: Month = "", unpaid: Unpaid = False) -> None:
    """List payouts."""
    rows = with_existing_services(_payouts_of_month, month, unpaid)
    for row in rows:
        state = f"paid, {row.paid_reference}" if row.paid_ms is not None else "unpaid"
        typer.echo(
            f"{row.id}  {row.month}  {money.show(row.amount_cents):>12}  {row.email}  {state}"
        )
    typer.echo(
        f"{_count(len(rows), 'payout')}, {money.show(sum(row.amount_cents for row in rows))}",
        err=True,
    )
    if any(row.paid_ms is None for row in rows):
        typer.echo(
            "To mark one as paid: honeyguide payouts mark-paid UUID --reference REFERENCE", err=True
        )


@payouts_app.command(
    "export",
    help="Write payouts to standard output as CSV. "
    "Fill in the references, then pass the file to `mark-paid --csv`.",
)
def payouts_export(month: Month = "", unpaid: Unpaid = False) -> None:
    rows = with_existing_services(_payouts_of_month, month, unpaid)
    utf8_stdout().write(statements.csv_of_payouts(rows))


@payouts_app.command(
    "make",
    help="Close finished months and create their payouts now. "
    "The running service does both automatically.",
)
def payouts_make() -> None:
    done = [(month, made) for month, made in with_existing_services(_make_payouts) if made]
    for month, made in done:
        typer.echo(f"{rules.month_name(month)}: {_count(made, 'payout')}")
    if not done:
        typer.echo("No payouts to create.", err=True)


async def _make_payouts(services: Services) -> list[tuple[str, int]]:
    """The months paid out now, each with the number of its payouts."""
    store, done = services.store, []
    await store.write(payouts.close_months)
    with _progress() as bar:
        for month in await store.read(payouts.months_to_pay_out, most=12):
            earners = await store.slow_snapshot(payouts.earners, month)
            task = bar.add_task(f"Payouts for {rules.month_name(month)}", total=earners)
            await pay_out(store, month, services.clock(), partial(bar.advance, task))
            done.append((month, int(bar.tasks[task].completed)))
    return done


@payouts_app.command("mark-paid")
def payouts_mark_paid(
    payout_uuid: Annotated[
        str, typer.Argument(help="UUID of the payout. Leave out with --csv.")
    ] = "",
    reference: Annotated[str, typer.Option(help="Reference of the bank transfer.")] = "",
    undo: Annotated[
        bool, typer.Option("--undo", help="Mark it as unpaid again, with a new ledger entry.")
    ] = False,
    table: Annotated[
        Path | None,
        typer.Option(
            "--csv", help="Mark every row that has a reference; columns payout_uuid and reference."
        ),
    ] = None,
) -> None:
    """Mark payouts as paid, or undo it."""
    if (table is None) == (not payout_uuid) or (undo and table):
        fail("Give one payout UUID, or a file with --csv (without --undo).")
    if table is not None:
        _mark_table(table)
        return
    payout = write(_unmark, payout_uuid) if undo else write(_mark, payout_uuid, reference)
    state = "unpaid again" if undo else "marked as paid"
    typer.echo(f"{money.show(payout.amount_cents)} for {payout.month} is {state}.")


def _mark_table(path: Path) -> None:
    """Mark all rows that have a reference, or none of them."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            rows = [
                Payment(
                    row["payout_uuid"].strip(),
                    unguarded(row["reference"].strip()),
                    (row.get("amount_usd") or "").strip(),
                )
                for row in reader
            ]
            if not {"payout_uuid", "reference"} <= set(reader.fieldnames or ()):
                raise KeyError
    except (OSError, KeyError, AttributeError, UnicodeDecodeError, csv.Error):
        fail(
            f"{path} is not a CSV file with the columns payout_uuid and reference. Start from "
            "`honeyguide payouts export`."
        )
    payments = [row for row in rows if row.reference]
    marked = write(_mark_all, payments)
    already, without = len(payments) - marked, len(rows) - len(payments)
    typer.echo(
        f"{_count(marked, 'payout')} marked as paid, {already:,} already paid, "
        f"{without:,} without a reference."
    )


async def _mark(tx: Tx, services: Services, payout_id: str, reference: str) -> Payout:
    return await payout_marks.mark_paid(tx, services.site, _ACTOR, payout_id, reference)


async def _unmark(tx: Tx, services: Services, payout_id: str) -> Payout:
    return await payout_marks.unmark_paid(tx, services.site, _ACTOR, payout_id)


async def _mark_all(tx: Tx, services: Services, payments: list[Payment]) -> int:
    """How many were marked. A payout already marked with the same reference is skipped."""
    marked = 0
    for payment in payments:
        try:
            payout = await payouts.get_any(tx, payment.payout_uuid)
            if payment.contradicts(payout.amount_cents):
                raise Invalid(
                    "The file says {paid}, but it is {amount}.",
                    paid=payment.amount,
                    amount=money.show(payout.amount_cents),
                )
            if payout.paid_reference != payment.reference:
                await _mark(tx, services, payment.payout_uuid, payment.reference)
                marked += 1
        except Fault as refused:
            raise Invalid(
                "Payout {payout}: {why} No payouts were marked.",
                code=refused.code,
                payout=payment.payout_uuid,
                why=refused.message,
            ) from None
    return marked
