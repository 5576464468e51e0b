"""`honeyguide import` and `honeyguide export`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress, TimeRemainingColumn

from honeyguide.app import Services
from honeyguide.cli import import_runs, remote_import
from honeyguide.cli.base import fail, progress, tenant_named, utf8_stdout, with_services, write_of
from honeyguide.cli.import_runs import ImportOutcome
from honeyguide.cli.remote_import import RemoteImport
from honeyguide.kernel import actors
from honeyguide.kernel.errors import Invalid
from honeyguide.moving import (
    exporting,
    findings,
    import_files,
    importing,
    sources,
    stored_files,
    uploaded_files,
)
from honeyguide.moving.export_formats import ExportFormat
from honeyguide.moving.import_dates import DateOrder
from honeyguide.moving.import_files import ImportLine
from honeyguide.moving.sources import Fate, ImportSource
from honeyguide.moving.trial import Trial
from honeyguide.moving.uploaded_files import MOST_COMMAND_BYTES, UploadedFile
from honeyguide.store import Tx
from honeyguide.store.change import Change
from honeyguide.store.reading import reads
from honeyguide.subscribers import page_index, subscriber_filters

app = typer.Typer()


def _progress() -> Progress:
    return progress(TimeRemainingColumn(), transient=False)


# What `--dates` takes.
_DATES = {"day-first": DateOrder.DAY_FIRST, "month-first": DateOrder.MONTH_FIRST}


def _columns(file: UploadedFile) -> str:
    """What becomes of every column. Ignored ones say why, each on a line of its own."""
    uses = sources.uses(file.source, file.header, file.mapping)
    used = ", ".join(f"{use.name} as {use.text}" for use in uses if use.fate is Fate.USED)
    noted = ", ".join(use.name for use in uses if use.fate is Fate.NOTE)
    ignored = [f"  {use.name}: {use.text}" for use in uses if use.fate is Fate.IGNORED]
    lines = [f"File from: {file.source.facts.name}.", f"Columns used: {used}."]
    if noted:
        lines.append(f"Columns kept as a note: {noted}.")
    lines += ["Columns ignored:", *ignored] if ignored else ["Columns ignored: none."]
    return "\n".join(lines)


def _read_file(file: Path, source: str | None) -> UploadedFile:
    chosen = None
    if source is not None:
        chosen = next((each for each in ImportSource if each == source), None)
        if chosen is None:
            fail(f"--source must be one of: {', '.join(ImportSource)}.")
    try:
        if file.stat().st_size > MOST_COMMAND_BYTES:
            import_files.refuse_size(MOST_COMMAND_BYTES)
        data = file.read_bytes()
        read = uploaded_files.read(data, file.name, most_bytes=MOST_COMMAND_BYTES, source=chosen)
    except OSError as error:
        fail(f"Cannot read {file}: {error.strerror}.")
    except Invalid as fault:
        fail(fault.message)
    if "email" not in read.mapping:
        if problem := sources.without_addresses(read.header, read.mapping):
            fail(f"{file}: {problem}")
        fail(f"{file} has no column with email addresses. Name that column `email`.")
    return read


def _settle_dates(file: UploadedFile, dates: str | None) -> DateOrder:
    """The order of day and month where the file does not tell."""
    if dates is not None and dates not in _DATES:
        fail(f"--dates must be one of: {', '.join(_DATES)}.")
    order = _DATES[dates or "day-first"]
    if file.dates.is_open and dates is None:
        other = "some dates can only be read as month/day" if file.dates is DateOrder.MIXED else ""
        typer.secho(
            "The file does not tell whether 03/04 is 3 April or March 4"
            f"{', and ' + other if other else ''}. We read it as 3 April; "
            "for the other, add --dates month-first.",
            err=True,
            fg=typer.colors.YELLOW,
        )
    return order


def _is_api(file: Path) -> bool:
    """A file of that name is a file."""
    return str(file) == remote_import.SPARKLOOP and not file.is_file()


def _existing(file: Path) -> Path:
    if not _is_api(file) and not file.is_file():
        raise typer.BadParameter(f"File '{file}' does not exist.")
    return file


FileArgument = Annotated[
    Path,
    typer.Argument(
        help="CSV file, or a zip archive of CSV files; or `sparkloop`, to import from the "
        "API of SparkLoop or of another Honeyguide.",
        callback=_existing,
    ),
]
IntoAccount = Annotated[str, typer.Option(help="Email address of the account to import into.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would happen without changing anything.")
]
ErrorFile = Annotated[
    Path | None,
    typer.Option(help="File for the rows that could not be imported, with the reasons."),
]
GiveRewards = Annotated[
    bool,
    typer.Option(
        "--give-rewards",
        help="Give rewards that subscribers have reached, instead of marking them as given.",
    ),
]
SourceOption = Annotated[
    str | None,
    typer.Option(
        help=f"The tool that the file is from, if it is not recognized: {', '.join(ImportSource)}."
    ),
]
DatesOption = Annotated[
    str | None,
    typer.Option(
        help="Whether 03/04 is 3 April (`day-first`, the default) or March 4 (`month-first`), "
        "if the file does not tell."
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(help="From an API: where it is; default: SparkLoop’s."),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        help="From an API: file with its key. Without it, the key is taken from "
        f"{remote_import.KEY_NAME} or asked for."
    ),
]


@app.command("import")
def import_command(
    file: FileArgument,
    account: IntoAccount,
    dry_run: DryRun = False,
    errors: ErrorFile = None,
    give_rewards: GiveRewards = False,
    source: SourceOption = None,
    dates: DatesOption = None,
    base_url: BaseUrl = None,
    key_file: KeyFile = None,
) -> None:
    """Import subscribers from a CSV file or an API: their codes, referrers and counts too.
    Existing subscribers only get the tags, codes and referrers that they lack. Nobody is emailed
    and no webhooks are sent."""
    if _is_api(file):
        key = remote_import.read_key(key_file)
        given = RemoteImport(account, base_url, key, dry_run, give_rewards)
        remote_import.import_from_api(given, errors)
        return
    read = _read_file(file, source)
    order = _settle_dates(read, dates)
    columns = _columns(read)
    typer.echo(columns, err=True)
    if dry_run:
        done = with_services(_try, account, read, order)
    else:
        done = with_services(_import, account, file.name, read, (order, give_rewards))
    import_runs.show_lines(done)
    typer.echo(import_runs.in_words(done, is_dry=dry_run))
    if not sys.stdout.isatty():  # a terminal has shown them already
        typer.echo(columns)
    import_runs.keep_refused(errors, read.header, done)
    if dry_run:
        typer.echo("Nothing was changed. To import, run this again without --dry-run.", err=True)


async def _try(
    services: Services, account: str, file: UploadedFile, order: DateOrder
) -> ImportOutcome:
    tenant = await services.store.read(tenant_named, account)
    lines, dates = file.lines, order if file.dates.is_open else file.dates
    trial = Trial(uploaded_files.line_format(file.source, file.header, file.mapping, dates))

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
    services: Services,
    account: str,
    name: str,
    file: UploadedFile,
    chosen: tuple[DateOrder, bool],
) -> ImportOutcome:
    """Stores the file as an upload does, and imports it."""
    store = services.store
    tenant = await store.read(tenant_named, account)
    in_parts = stored_files.in_parts(file)
    write = partial(write_of, services, tenant, "import")
    import_id = await stored_files.store_file(write, name, in_parts)
    order, gives_rewards = chosen
    await write_of(
        services,
        tenant,
        "import",
        importing.choose,
        import_id,
        file.mapping,
        gives_rewards=gives_rewards,
        date_choice=order,
    )
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
    form: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help="`honeyguide` has everything; `sparkloop` is what SparkLoop imports, without "
            "those who unsubscribed.",
        ),
    ] = ExportFormat.HONEYGUIDE,
) -> None:
    """Export subscribers as CSV."""
    if show not in subscriber_filters.SHOWS:
        fail(f"--show must be one of: {', '.join(subscriber_filters.SHOWS)}.")
    written = with_services(_export, account, file, show, form)
    typer.secho(f"Exported {written:,} subscribers.", err=True)


async def _export(
    services: Services, account: str, file: Path | None, show: str, form: ExportFormat
) -> int:
    tenant = await services.store.read(tenant_named, account)
    filters = subscriber_filters.of_show(show)
    total = await services.store.read(page_index.total, tenant.campaign_id, "all")
    try:
        out = file.open("w", encoding="utf-8", newline="") if file else utf8_stdout()
    except OSError as error:
        fail(f"Cannot write {file}: {error.strerror}.")
    written, after, is_last = 0, None, False
    with _progress() as bar:
        task = bar.add_task("Writing", total=total)
        out.write(form.header)
        while not is_last:
            rows, after = await services.store.replica_snapshot(
                reads(exporting.batch, services.site, tenant, services.clock()),
                filters,
                after=after,
            )
            out.write(form.text(services.site, rows))
            written += form.count_lines(rows)
            bar.advance(task, len(rows))
            is_last = after is None
    if file:
        out.close()
    return written
