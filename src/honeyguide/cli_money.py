"""The administrator's commands about money: check the ledger, close months, list payouts and mark them as paid."""

from __future__ import annotations

import csv
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from honeyguide.app import Services
from honeyguide.cli import app, fail, utf8_stdout, with_services
from honeyguide.kernel import money
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.spreadsheets import unguarded
from honeyguide.partners import ledger_check, payouts, rules, statements
from honeyguide.store import Tx
from honeyguide.work.money import pay_out

payouts_app = typer.Typer(help="List partner payouts and mark them as paid.", no_args_is_help=True)
app.add_typer(payouts_app, name="payouts")

Month = Annotated[str, typer.Option(help="Only this month, as YYYY-MM; default: all months.")]
Unpaid = Annotated[bool, typer.Option("--unpaid", help="Only payouts that are not marked as paid.")]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _progress() -> Progress:
    """A progress bar on stderr, and only on a terminal: stdout may be a file."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(
        *columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True
    )


@app.command()
def verify() -> None:
    """Check the ledger: every rule about money, in one snapshot. Exits with 1 if a check fails."""

    async def prove(services: Services) -> tuple[list[ledger_check.Finding], ledger_check.Sums]:
        with _progress() as bar:
            task = bar.add_task("Checking the ledger", total=ledger_check.CHECKS)

            async def look(tx: Tx) -> tuple[list[ledger_check.Finding], ledger_check.Sums]:
                return await ledger_check.verify(tx, lambda: bar.advance(task))

            return await services.store.slow_snapshot(look)

    findings, sums = with_services(prove)
    for finding in findings:
        mark = (
            typer.style("FAILED", fg=typer.colors.RED)
            if finding.broken
            else typer.style("ok", fg=typer.colors.GREEN)
        )
        places = f" ({_count(finding.broken, 'row')} wrong)" if finding.broken else ""
        typer.echo(f"{mark}  {finding.promise}{places}")
    charged, paid_out = money.show(sums.charged_cents), money.show(sums.paid_out_cents)
    typer.echo(
        f"\n{_count(sums.transfers, 'transfer')}: {charged} charged, {paid_out} of it in payouts."
    )
    if any(finding.broken for finding in findings):
        fail("The ledger check failed. Hold payouts, and report this with the lines above.")


def _owed(month: str, unpaid: bool) -> list[payouts.Owed]:
    async def look(services: Services) -> list[payouts.Owed]:
        if month:
            rules.read_month(month, param="--month")

        async def read(tx: Tx) -> list[payouts.Owed]:
            return await payouts.of_month(tx, month, open_only=unpaid)

        return await services.store.slow_snapshot(read)

    return with_services(look)


@payouts_app.command("list")
def payouts_list(month: Month = "", unpaid: Unpaid = False) -> None:
    """List payouts."""
    rows = _owed(month, unpaid)
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


@payouts_app.command("export")
def payouts_export(month: Month = "", unpaid: Unpaid = False) -> None:
    """Write payouts to standard output as CSV. Fill in the references, then pass the file to `mark-paid --csv`."""
    utf8_stdout().write(statements.csv_of_payouts(_owed(month, unpaid)))


@payouts_app.command("make")
def payouts_make() -> None:
    """Close finished months and create their payouts now. The running service does both automatically."""

    async def make(services: Services) -> list[tuple[str, int]]:
        async def close(tx: Tx) -> list[str]:
            return await payouts.close_months(tx, now_ms=services.clock())

        await services.store.write(close)
        done = []
        with _progress() as bar:
            while (month := await services.store.read(payouts.month_to_pay_out)) is not None:
                task = bar.add_task(
                    f"Payouts for {rules.spoken(month)}", total=await _earners(services, month)
                )
                await pay_out(
                    services.store,
                    services.clock(),
                    partial(bar.advance, task),
                )
                done.append((month, int(bar.tasks[task].completed)))
        return done

    done = [(month, made) for month, made in with_services(make) if made]
    for month, made in done:
        typer.echo(f"{rules.spoken(month)}: {_count(made, 'payout')}")
    if not done:
        typer.echo("No payouts to create.", err=True)


async def _earners(services: Services, month: str) -> int:
    async def look(tx: Tx) -> int:
        return await payouts.earners(tx, month)

    return await services.store.slow_snapshot(look)


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

    async def mark(services: Services) -> payouts.Payout:
        async def change(tx: Tx) -> payouts.Payout:
            if undo:
                return await payouts.unmark_paid(tx, payout_uuid, now_ms=services.clock())
            return await payouts.mark_paid(tx, payout_uuid, reference, now_ms=services.clock())

        return await services.store.write(change)

    payout = with_services(mark)
    typer.echo(
        f"{money.show(payout.amount_cents)} for {payout.month} is {'unpaid again' if undo else 'marked as paid'}."
    )


def _mark_table(path: Path) -> None:
    """Marks all rows that have a reference, or none. A payout already marked with the same reference is skipped."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            rows = [
                (row["payout_uuid"].strip(), unguarded(row["reference"].strip())) for row in reader
            ]
            if not {"payout_uuid", "reference"} <= set(reader.fieldnames or ()):
                raise KeyError
    except (OSError, KeyError, AttributeError, UnicodeDecodeError, csv.Error):
        fail(
            f"{path} is not a CSV file with the columns payout_uuid and reference. Start from `honeyguide payouts export`."
        )
    wanted = [(payout_uuid, reference) for payout_uuid, reference in rows if reference]

    async def mark(services: Services) -> int:
        async def change(tx: Tx) -> int:
            marked = 0
            for payout_uuid, reference in wanted:
                try:
                    await payouts.mark_paid(tx, payout_uuid, reference, now_ms=services.clock())
                    marked += 1
                except Invalid as refused:
                    if (
                        refused.code != "already_paid"
                        or (await payouts.get_any(tx, payout_uuid)).paid_reference != reference
                    ):
                        raise Invalid(
                            "Payout {payout}: {why} No payouts were marked.",
                            code=refused.code,
                            payout=payout_uuid,
                            why=refused.message,
                        ) from None
            return marked

        return await services.store.write(change)

    marked = with_services(mark)
    already, without = len(wanted) - marked, len(rows) - len(wanted)
    typer.echo(
        f"{_count(marked, 'payout')} marked as paid, {already:,} already paid, {without:,} without a reference."
    )
