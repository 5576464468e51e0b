"""`honeyguide import` and `honeyguide export`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress, TimeRemainingColumn

from honeyguide.accounts import accounts
from honeyguide.app import Services
from honeyguide.cli.base import fail, progress, utf8_stdout, with_services
from honeyguide.kernel import actors
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.isolation import do_all
from honeyguide.kernel.spreadsheets import csv_text
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import exporting, import_columns, import_files, importing
from honeyguide.moving.import_files import ImportLine, RefusedLine
from honeyguide.referrals import campaigns, page_index, subscriber_filters
from honeyguide.store import Tx
from honeyguide.store.change import Change

app = typer.Typer()


async def _tenant(tx: Tx, email: str) -> Tenant:
    return await campaigns.tenant_of(tx, (await accounts.get_by_email(tx, email)).id)


def _progress() -> Progress:
    return progress(TimeRemainingColumn(), transient=False)


def _columns(columns: list[import_columns.Column]) -> str:
    used = ", ".join(f"{column.name} as {column.used_as}" for column in columns if column.used_as)
    ignored = ", ".join(column.name for column in columns if not column.used_as) or "none"
    return f"Columns used: {used}.\nColumns ignored: {ignored}."


@app.command("import")
def import_command(
    file: Annotated[
        Path, typer.Argument(help="CSV file with a header row.", exists=True, dir_okay=False)
    ],
    account: Annotated[str, typer.Option(help="Email address of the account to import into.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen without changing anything.")
    ] = False,
    errors: Annotated[
        Path | None,
        typer.Option(help="File for the rows that could not be imported, with the reasons."),
    ] = None,
) -> None:
    """Import subscribers from a CSV file. Existing subscribers only get the tags of their row."""
    try:
        header, lines = import_files.read(file.read_bytes(), any_size=True)
        mapping = import_columns.guess(header, lines)
        if "email" not in mapping:
            fail(f"{file} has no column with email addresses. Name that column `email`.")
    except Invalid as fault:
        fail(fault.message)
    columns = _columns(import_columns.uses(header, mapping))
    losses = import_columns.losses(header, mapping)
    lost = f"{losses}\n" if losses else ""
    typer.echo(f"{lost}{columns}", err=True)
    added, skipped, refused = with_services(_import, account, lines, mapping, dry_run)
    for each in refused[:20]:
        typer.secho(f"line {each.line}: {each.sentence}", err=True, fg=typer.colors.YELLOW)
    would = "would be added" if dry_run else "added"
    typer.echo(
        f"{lost}{added:,} {would}, {skipped:,} already subscribed, {len(refused):,} failed.\n"
        f"{columns}"
    )
    if errors is not None and refused:
        _write_refused(errors, import_files.csv_of_refused(header, refused))
    elif refused:
        typer.echo("To save the failed rows to a file, add --errors FILE.", err=True)
    if dry_run:
        typer.echo("Nothing was changed. To import, run this again without --dry-run.", err=True)


async def _import(
    services: Services,
    account: str,
    lines: list[ImportLine],
    mapping: dict[str, int],
    dry_run: bool,
) -> tuple[int, int, list[RefusedLine]]:
    """The number of lines added and skipped, and the refused lines."""
    tenant = await services.store.read(_tenant, account)
    run = services.store.read if dry_run else services.store.write
    added, skipped, seen = 0, 0, set[str]()
    refused: list[RefusedLine] = []
    with _progress() as bar:
        task = bar.add_task("Checking" if dry_run else "Importing", total=len(lines))

        async def bring(some: Sequence[ImportLine]) -> None:
            nonlocal added, skipped
            outcome = await run(
                _bring, services, tenant, some, mapping, seen=seen if dry_run else None
            )
            added, skipped = added + outcome.added, skipped + outcome.skipped
            refused.extend(outcome.refused)

        for part in import_files.parts(lines):
            for line, error in await do_all(part, bring):
                refused.append(importing.unexpected(line, error))
            bar.advance(task, len(part))
    return added, skipped, refused


async def _bring(
    tx: Tx,
    services: Services,
    tenant: Tenant,
    part: Sequence[ImportLine],
    mapping: dict[str, int],
    *,
    seen: set[str] | None,
) -> importing.ImportResult:
    """`seen` is for a dry run."""
    change = Change(tx, services.site, tenant, actors.command("import"), services.clock())
    return await importing.bring(change, part, mapping, dry=seen is not None, seen=seen)


def _write_refused(errors: Path, text: str) -> None:
    try:
        errors.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        fail(f"Cannot write {errors}: {error.strerror}.")
    typer.echo(f"The failed rows are in {errors}. Fix them there, then import that file.", err=True)


@app.command("export")
def export_command(
    account: Annotated[str, typer.Option(help="Email address of the account.")],
    file: Annotated[
        Path | None, typer.Option(help="File to write; default: standard output.")
    ] = None,
    show: Annotated[
        str, typer.Option(help=f"Which subscribers: {', '.join(subscriber_filters.SHOWS)}.")
    ] = "all",
) -> None:
    """Export subscribers as CSV."""
    if show not in subscriber_filters.SHOWS:
        fail(f"--show must be one of: {', '.join(subscriber_filters.SHOWS)}.")
    written = with_services(_export, account, file, show)
    typer.secho(f"Exported {written:,} subscribers.", err=True)


async def _export(services: Services, account: str, file: Path | None, show: str) -> int:
    tenant = await services.store.read(_tenant, account)
    filters = subscriber_filters.of_show(show)
    total = await services.store.read(page_index.total, tenant.campaign_id, "all")
    try:
        out = file.open("w", encoding="utf-8", newline="") if file else utf8_stdout()
    except OSError as error:
        fail(f"Cannot write {file}: {error.strerror}.")
    written, after, is_last = 0, None, False
    with _progress() as bar:
        task = bar.add_task("Writing", total=total)
        out.write(csv_text([exporting.COLUMNS]))
        while not is_last:
            rows, after = await services.store.replica_snapshot(
                exporting.batch, tenant, filters, after=after
            )
            out.write(csv_text(exporting.line(services.site, row) for row in rows))
            written += len(rows)
            bar.advance(task, len(rows))
            is_last = after is None
    if file:
        out.close()
    return written
