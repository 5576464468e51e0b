"""`honeyguide import` and `honeyguide export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress, TimeRemainingColumn

from honeyguide.accounts import accounts
from honeyguide.app import Services
from honeyguide.cli import import_runs, remote_import
from honeyguide.cli.base import fail, progress, utf8_stdout, with_services
from honeyguide.cli.import_runs import ImportOutcome
from honeyguide.cli.remote_import import RemoteImport
from honeyguide.kernel import actors
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.spreadsheets import csv_text
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import exporting, findings, import_columns, import_files, importing
from honeyguide.moving.import_files import ImportLine
from honeyguide.moving.importing import UploadedFile
from honeyguide.moving.trial import Trial
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


def _is_api(file: Path) -> bool:
    """A file of that name is a file."""
    return str(file) == remote_import.SPARKLOOP and not file.is_file()


def _existing(file: Path) -> Path:
    if not _is_api(file) and not file.is_file():
        raise typer.BadParameter(f"File '{file}' does not exist.")
    return file


@app.command("import")
def import_command(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV file with a header row; or `sparkloop`, to import from the API of SparkLoop "
            "or of another Honeyguide.",
            callback=_existing,
        ),
    ],
    account: Annotated[str, typer.Option(help="Email address of the account to import into.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen without changing anything.")
    ] = False,
    errors: Annotated[
        Path | None,
        typer.Option(help="File for the rows that could not be imported, with the reasons."),
    ] = None,
    give_rewards: Annotated[
        bool,
        typer.Option(
            "--give-rewards",
            help="Give rewards that subscribers have reached, instead of marking them as given.",
        ),
    ] = False,
    base_url: Annotated[
        str | None,
        typer.Option(help="From an API: where it is; default: SparkLoop’s."),
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option(
            help="From an API: file with its key. Without it, the key is taken from "
            f"{remote_import.KEY_NAME} or asked for."
        ),
    ] = None,
) -> None:
    """Import subscribers from a CSV file or an API: their codes, referrers and counts too.
    Existing subscribers only get the tags, codes and referrers that they lack. Nobody is emailed
    and no webhooks are sent."""
    if _is_api(file):
        key = remote_import.read_key(key_file)
        remote_import.import_from_api(
            RemoteImport(account, base_url, key, dry_run, give_rewards), errors
        )
    else:
        _import_file(file, account, errors, dry_run=dry_run, give_rewards=give_rewards)


def _import_file(
    file: Path, account: str, errors: Path | None, *, dry_run: bool, give_rewards: bool
) -> None:
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
    if dry_run:
        done = with_services(_try, account, lines, mapping)
    else:
        kept = UploadedFile(header, mapping, importing.as_stored(lines), len(lines))
        done = with_services(_import, account, file.name, kept, give_rewards)
    import_runs.show_lines(done)
    typer.echo(f"{lost}{import_runs.in_words(done, is_dry=dry_run)}\n{columns}")
    import_runs.keep_refused(errors, header, done)
    if dry_run:
        typer.echo("Nothing was changed. To import, run this again without --dry-run.", err=True)


async def _try(
    services: Services, account: str, lines: list[ImportLine], mapping: dict[str, int]
) -> ImportOutcome:
    tenant = await services.store.read(_tenant, account)
    trial = Trial(mapping)

    def change(tx: Tx) -> Change:
        return Change(tx, services.site, tenant, actors.command("import"), services.clock())

    async def add(tx: Tx, part: list[ImportLine]) -> None:
        await trial.add(change(tx), part)

    with _progress() as bar:
        task = bar.add_task("Checking", total=len(lines))
        for part in import_files.parts(lines):
            await services.store.read(add, part)
            bar.advance(task, len(part))
        while await services.store.read(lambda tx: trial.check_referrers(change(tx))):
            pass
    refused = [importing.refused_line(*each) for each in trial.refused]
    counted = findings.in_words(trial.counted)
    return ImportOutcome(trial.added, trial.skipped, refused, trial.findings, counted)


async def _import(
    services: Services, account: str, name: str, file: UploadedFile, give_rewards: bool
) -> ImportOutcome:
    """Stores the file as an upload does, and imports it."""
    store, now_ms = services.store, services.clock()
    tenant = await store.read(_tenant, account)
    import_id = await store.write(
        importing.begin, tenant, name, file.header, file.mapping, now_ms=now_ms
    )
    for first in range(0, len(file.parts), importing.SLICE):
        batch = file.parts[first : first + importing.SLICE]
        await store.write(importing.add_parts, tenant, import_id, first, batch)
    await store.write(importing.complete, tenant, import_id, file.total)
    await store.write(importing.choose, tenant, import_id, file.mapping, gives_rewards=give_rewards)
    return await import_runs.run_import(services, tenant, import_id)


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
