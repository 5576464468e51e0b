"""`honeyguide backup` and `backups`: copies of the whole database, taken while the service runs."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from honeyguide.accounts import accounts
from honeyguide.app import Services, backup_plan_of
from honeyguide.cli.base import fail, read_settings, with_services
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Fault, Unavailable
from honeyguide.operating.backups import records
from honeyguide.operating.backups.making import BackupPlan
from honeyguide.operating.backups.names import backup_ms
from honeyguide.operating.backups.records import BackupRecord
from honeyguide.operating.backups.threads import run_apart
from honeyguide.settings import Settings
from honeyguide.store import open_store, plan_migrations, sqlite_path
from honeyguide.store.backup import dump

app = typer.Typer()

NO_PLACE = "Set HONEYGUIDE_BACKUP_URL to a folder or a bucket first"


@app.command(
    help="Copy the whole database, also while the service runs: to FILE, or without it as one of "
    "the automatic backups at HONEYGUIDE_BACKUP_URL, checked by restoring it."
)
def backup(
    target: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="File to write. It must not exist yet.")
    ] = None,
) -> None:
    if target is None:
        _back_up_to_place()
    else:
        _back_up_to_file(target)


def _back_up_to_file(target: Path) -> None:
    chosen = read_settings()
    try:
        with Progress(transient=True) as shown:
            task = shown.add_task("Copying", total=1)
            dump(
                chosen.direct_url,
                target,
                lambda done, total: shown.update(task, completed=done, total=total),
            )
    except Fault as fault:
        fail(fault.message)
    with_services(_note_backup)
    typer.echo(
        f"Wrote {target} ({_size(target.stat().st_size)}). "
        f"To restore it, stop the service and run: {_restore_command(target)}"
    )


async def _note_backup(services: Services) -> None:
    await services.store.write(accounts.note_backup)


def _restore_command(target: Path) -> str:
    return f"honeyguide restore --replace {shlex.quote(str(target))}"


def _back_up_to_place() -> None:
    if not read_settings().backup_url:
        fail(f"{NO_PLACE}, or name a file to write.")
    record = with_services(_make)
    doubt = "Not checked. " if record.result == records.UNCHECKED else ""
    typer.echo(f"Made {record.name} ({_size(record.bytes or 0)}). {doubt}{record.message}")
    if record.result != records.OK:
        raise typer.Exit(1)


async def _make(services: Services) -> BackupRecord:
    """By the job's own rules: one backup at a time, whoever makes it."""
    (job,) = (job for job in services.loop.jobs if job.name == records.JOB)
    is_announced = False
    while not await services.loop.once(dataclasses.replace(job, probe=None)):
        if not is_announced:
            typer.echo("Waiting until another process has made its backup ...", err=True)
        is_announced = True
        await asyncio.sleep(1)
    made = await services.store.read(records.last_backup)
    assert made is not None
    return made


@app.command()
def backups(
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the backups at HONEYGUIDE_BACKUP_URL, newest first, also if the database is lost."""
    chosen = read_settings()
    plan = backup_plan_of(chosen)
    if plan is None:
        fail(f"{NO_PLACE}.")
    try:
        rows = asyncio.run(_rows(chosen, plan))
    except Fault as fault:
        fail(fault.message)
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        size = _size(int(str(row["bytes"])))
        typer.echo(
            f"{row['name']}  {size:>9}  {row['result'] or '':9}  {row['message'] or ''}".rstrip()
        )
    if not rows:
        typer.echo(f"There are no backups in {plan.place.shown} yet.", err=True)


async def _rows(chosen: Settings, plan: BackupPlan) -> list[dict[str, object]]:
    made = {record.name: record for record in await _records(chosen)}
    stored = await run_apart(lambda tick: plan.place.files())
    rows: list[dict[str, object]] = []
    for file in reversed(stored):
        at_ms, record = backup_ms(file.name), made.get(file.name)
        if at_ms is not None:
            rows.append(
                {
                    "name": file.name,
                    "made_at": iso(at_ms),
                    "bytes": file.size,
                    "result": record.result if record else None,
                    "message": record.message if record else None,
                    "sha256": record.sha256 if record else None,
                }
            )
    return rows


async def _records(chosen: Settings) -> list[BackupRecord]:
    """What the database knows of them, if there is one: this command changes nothing."""
    path = sqlite_path(chosen.database_url)
    try:
        if (path is not None and not path.exists()) or await plan_migrations(chosen.direct_url):
            return []
        store = await open_store(chosen.direct_url, pool_size=1)
    except Unavailable:
        return []
    try:
        return await store.read(records.newest, 10_000)
    finally:
        await store.close()


def _size(number: int) -> str:
    if number < 1_000_000:
        return f"{max(1, round(number / 1000)):,} KB"
    return f"{number / 1_000_000:,.1f} MB"
