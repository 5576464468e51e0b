"""`honeyguide import`, `honeyguide export` and `honeyguide account password`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from honeyguide.accounts import accounts, passwords
from honeyguide.app import Services
from honeyguide.cli import Email, account_app, app, fail, utf8_stdout, with_services
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.spreadsheets import csv_text
from honeyguide.kernel.tenant import Tenant
from honeyguide.referrals import campaigns, page_index, search
from honeyguide.signups import exporting, import_columns, importing
from honeyguide.store import Tx


async def _owner(services: Services, email: str) -> Tenant:
    async def look(tx: Tx) -> Tenant:
        return await campaigns.tenant_of(tx, (await accounts.get_by_email(tx, email)).id)

    return await services.store.read(look)


def _bar() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())


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
    """Import subscribers from a CSV file. Existing subscribers are not changed."""
    try:
        header, lines = importing.read(file.read_bytes(), any_size=True)
        mapping = import_columns.guess(header)
        if "email" not in mapping:
            fail(f"{file} has no column with email addresses. Name that column `email`.")
    except Invalid as fault:
        fail(fault.message)
    columns = _columns(import_columns.uses(header, mapping))
    typer.echo(columns, err=True)

    async def bring(services: Services) -> tuple[int, int, list[importing.RefusedLine]]:
        tenant, now_ms = await _owner(services, account), services.clock()
        added, skipped, seen = 0, 0, set[str]()
        refused: list[importing.RefusedLine] = []
        with _bar() as bar:
            task = bar.add_task("Checking" if dry_run else "Importing", total=len(lines))
            for part in importing.parts(lines):

                async def work(
                    tx: Tx, part: list[importing.ImportLine] = part
                ) -> importing.ImportResult:
                    return await importing.bring(
                        tx,
                        services.site,
                        tenant,
                        part,
                        mapping,
                        now_ms=now_ms,
                        dry=dry_run,
                        seen=seen if dry_run else None,
                    )

                outcome = await (
                    services.store.read(work) if dry_run else services.store.write(work)
                )
                added, skipped = added + outcome.added, skipped + outcome.skipped
                refused += outcome.refused
                bar.advance(task, len(part))
        return added, skipped, refused

    added, skipped, refused = with_services(bring)
    for each in refused[:20]:
        typer.secho(f"line {each.line}: {each.sentence}", err=True, fg=typer.colors.YELLOW)
    would = "would be added" if dry_run else "added"
    typer.echo(
        f"{added:,} {would}, {skipped:,} already subscribed, {len(refused):,} failed.\n{columns}"
    )
    if errors is not None and refused:
        try:
            errors.write_text(importing.csv_to_mend(header, refused), encoding="utf-8", newline="")
        except OSError as error:
            fail(f"Cannot write {errors}: {error.strerror}.")
        typer.echo(
            f"The failed rows are in {errors}. Fix them there, then import that file.", err=True
        )
    elif refused:
        typer.echo("To save the failed rows to a file, add --errors FILE.", err=True)
    if dry_run:
        typer.echo("Nothing was changed. To import, run this again without --dry-run.", err=True)


@app.command("export")
def export_command(
    account: Annotated[str, typer.Option(help="Email address of the account.")],
    file: Annotated[
        Path | None, typer.Option(help="File to write; default: standard output.")
    ] = None,
    show: Annotated[
        str, typer.Option(help=f"Which subscribers: {', '.join(search.SHOWS)}.")
    ] = "all",
) -> None:
    """Export subscribers as CSV."""
    if show not in search.SHOWS:
        fail(f"--show must be one of: {', '.join(search.SHOWS)}.")

    async def write(services: Services) -> int:
        tenant = await _owner(services, account)

        async def count(tx: Tx) -> int:
            return await page_index.total(tx, tenant.campaign_id, "all")

        try:
            out = file.open("w", encoding="utf-8", newline="") if file else utf8_stdout()
        except OSError as error:
            fail(f"Cannot write {file}: {error.strerror}.")
        written = 0
        with _bar() as bar:
            task = bar.add_task("Writing", total=await services.store.read(count))
            out.write(csv_text([exporting.COLUMNS]))
            async for rows in exporting.batches(services.store, tenant, show):
                out.write(csv_text(exporting.line(services.site, row) for row in rows))
                written += len(rows)
                bar.advance(task, len(rows))
        if file:
            out.close()
        return written

    written = with_services(write)
    typer.secho(f"Exported {written:,} subscribers.", err=True)


@account_app.command("password")
def account_password(email: Email) -> None:
    """Set a new password for an account and log out all its sessions."""
    password = typer.prompt("New password", hide_input=True, confirmation_prompt=True)
    try:
        passwords.checked(password, email=email)
    except Invalid as fault:
        fail(fault.message)

    async def change(services: Services) -> None:
        password_hash = await passwords.hashed(password)

        async def work(tx: Tx) -> None:
            account = await accounts.get_by_email(tx, email)
            await passwords.set_hash(tx, account.id, password_hash)

        await services.store.write(work)

    with_services(change)
    typer.echo("Password changed. All sessions of this account are logged out.")
