"""`honeyguide backup`: a copy of the whole database, taken while the service runs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from honeyguide.accounts import accounts
from honeyguide.app import Services
from honeyguide.cli import app, fail, read_settings, with_services
from honeyguide.kernel.errors import Fault
from honeyguide.store import Tx, sqlite_path
from honeyguide.store.backup import backup_postgres, backup_sqlite


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(help="File to write. It must not exist yet.")],
) -> None:
    """Copy the whole database to one file, also while the service runs. Prints the command that restores it."""
    chosen = read_settings()
    source = sqlite_path(chosen.database_url)
    try:
        if source is None:
            backup_postgres(chosen.database_url, target)
        else:
            if not source.exists():
                fail(f"There is no database at {source}. Check HONEYGUIDE_DATABASE_URL.")
            with Progress(transient=True) as shown:
                task = shown.add_task("Copying", total=1)
                backup_sqlite(
                    source,
                    target,
                    lambda done, total: shown.update(task, completed=done, total=total),
                )
    except Fault as fault:
        fail(fault.message)

    async def note(services: Services) -> None:
        async def change(tx: Tx) -> None:
            await accounts.note_backup(tx, now_ms=services.clock())

        await services.store.write(change)

    with_services(note)
    restore = f'pg_restore --clean --if-exists --dbname="$HONEYGUIDE_DATABASE_URL" {shlex.quote(str(target))}'
    if source is not None:
        # A killed process can leave a journal next to the old file. SQLite would replay it over the restored one.
        place, wal, shm = (shlex.quote(f"{source}{ending}") for ending in ("", "-wal", "-shm"))
        restore = f"rm -f {wal} {shm} && cp {shlex.quote(str(target))} {place}"
    typer.echo(
        f"Wrote {target} ({target.stat().st_size / 1_000_000:.1f} MB). To restore it, stop the service and run: {restore}"
    )
