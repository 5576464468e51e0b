"""`honeyguide copy`: move to another database, of the same engine or of the other."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Annotated

import typer
import uvloop
from rich.progress import TimeElapsedColumn

from honeyguide.accounts import invitations
from honeyguide.app import clock_of
from honeyguide.cli.base import counted, fail, find_settings_file, progress, read_settings
from honeyguide.kernel.errors import Fault, Invalid
from honeyguide.operating.copying.copying import CopyReport, CopyRequest, copy
from honeyguide.operating.doctor import records
from honeyguide.operating.doctor.results import HealthLevel
from honeyguide.operating.doctor.secret_keys import secret_key
from honeyguide.settings import Settings, without_secrets
from honeyguide.store import Store, sqlite_path
from honeyguide.store.tx import timed

app = typer.Typer()


@app.command(
    "copy",
    help="Copy the whole database of HONEYGUIDE_DATABASE_URL to an empty one: from SQLite to "
    "PostgreSQL, or back. Stop the service first. The source is not changed, and the target is "
    "there only when every table has been compared and `verify` agrees.",
)
def copy_command(
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="URL", help="postgresql://user@host/name or sqlite:////folder/file.db."
        ),
    ],
    while_running: Annotated[
        bool,
        typer.Option(
            "--while-running",
            help="Copy while the service runs, as a rehearsal: what is written after the start of "
            "the copy is not in it.",
        ),
    ] = False,
    ignore_errors: Annotated[
        bool, typer.Option("--ignore-errors", help="Copy even if verify finds errors.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the tables as JSON.")] = False,
) -> None:
    chosen = read_settings()
    file = sqlite_path(to)
    if file is not None and file.name:  # the service may run in another folder
        to = f"sqlite:///{file.absolute()}"

    async def check_keys(store: Store) -> None:
        await _check_keys(store, chosen)

    try:
        with _Shown() as shown:
            asked = CopyRequest(
                source_url=chosen.direct_url,
                target_url=to,
                check_keys=check_keys,
                is_while_running=while_running,
                ignores_errors=ignore_errors,
                begin=shown.begin,
                advance=shown.advance,
            )
            report = uvloop.run(copy(asked))
    except Fault as fault:
        fail(fault.message)
    if as_json:
        typer.echo(json.dumps(_as_json(chosen, to, report), indent=2))
        return
    for line in [*_report(report), "", *_next_steps(chosen, to, is_rehearsal=while_running)]:
        typer.echo(line)


async def _check_keys(store: Store, chosen: Settings) -> None:
    """Before anything is written: what is encrypted stays so, and needs the same key there."""
    found = await store.read(timed(records.read, clock_of(chosen)()))
    is_used = not await store.read(invitations.is_untouched)
    if is_used and found.stored_secret is None and not chosen.secret_keys:
        raise Invalid(
            "This database was used with a HONEYGUIDE_SECRET_KEY that is not in the settings. "
            "Add it, then try again."
        )
    result = secret_key(
        chosen,
        found.stored_secret,
        found.encrypted,
        found.encrypted_slack_urls,
        found.encrypted_signing_keys,
        found.encrypted_second_factors,
    )
    if result.level is HealthLevel.PROBLEM:
        raise Invalid("{message} {remedy}", message=result.message, remedy=result.remedy)


class _Shown:
    """A bar on a terminal, otherwise a line for each step."""

    def __init__(self) -> None:
        self._bar = progress(TimeElapsedColumn(), transient=True)
        self._is_terminal = sys.stderr.isatty()

    def __enter__(self) -> _Shown:
        self._bar.start()
        self._task = self._bar.add_task("")
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, step: str, total: int) -> None:
        if not self._is_terminal:
            typer.echo(f"{step} ...", err=True)
        self._bar.reset(self._task, description=step, total=total or None)

    def advance(self, done: int) -> None:
        self._bar.advance(self._task, done)


def _report(report: CopyReport) -> Iterator[str]:
    for each in report.tables:
        if each.digest.rows:
            yield f"  {each.table:26}{each.digest.rows:>14,}  equal"
    empty = sum(not each.digest.rows for each in report.tables)
    yield (
        f"Copied {len(report.tables)} tables, {empty} of them empty, with {report.rows:,} rows. "
        "Every table is equal in both databases."
    )
    if report.broken:
        yield "verify found the same errors in both. Run `honeyguide verify` to see them."
    else:
        yield "verify found no errors in either."
    if dropped := counted(report.dropped):
        yield (
            f"Not copied, so that nothing lets somebody in twice: {dropped}. "
            "Everybody logs in again."
        )
    if report.left_out:
        yield f"Not copied, because they are not Honeyguide's: {', '.join(report.left_out)}."


def _next_steps(chosen: Settings, to: str, *, is_rehearsal: bool) -> Iterator[str]:
    if is_rehearsal:
        yield (
            "This was a rehearsal: what was written after it began is not in the copy. To move, "
            "delete the copy, stop the service and run the command without --while-running."
        )
        return
    file = find_settings_file()
    where = f" in {file.path}" if file else ""
    yield "Next:"
    yield f"  Change the setting{where}:"
    yield f"    HONEYGUIDE_DATABASE_URL={without_secrets('database_url', to)}"
    others = [
        f"HONEYGUIDE_{name.upper()}"
        for name in ("database_direct_url", "replica_url")
        if getattr(chosen, name)
    ]
    if others:
        yield f"  It leads elsewhere, so change or remove it too: {', '.join(others)}"
    if sqlite_path(to) is not None:
        yield "  Start one server process only, without --workers."
    yield "  Keep HONEYGUIDE_SECRET_KEY as it is. Then check the installation, and start it:"
    yield "    honeyguide doctor"
    yield "    honeyguide serve"
    yield "  The old database was not changed. Delete it when you no longer need it."


def _as_json(chosen: Settings, to: str, report: CopyReport) -> dict[str, object]:
    return {
        "source": without_secrets("database_url", chosen.direct_url),
        "target": without_secrets("database_url", to),
        "rows": report.rows,
        "tables": [
            {"name": each.table, "rows": each.digest.rows, "sha256": each.digest.sha256}
            for each in report.tables
        ],
        "left_out": report.left_out,
        "verify": [finding._asdict() for finding in report.findings],
    }
