"""`honeyguide backup`: a copy of the whole database, taken while the service runs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from honeyguide.accounts import accounts
from honeyguide.cli.base import current_ms, fail, read_settings, write
from honeyguide.kernel.errors import Fault
from honeyguide.store import sqlite_path
from honeyguide.store.backup import backup_postgres, backup_sqlite

app = typer.Typer()


@app.command(
    help="Copy the whole database to one file, also while the service runs. "
    "Prints the command that restores it."
)
def backup(
    target: Annotated[Path, typer.Argument(help="File to write. It must not exist yet.")],
) -> None:
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
    write(accounts.note_backup, now_ms=current_ms())
    restore = _restore_command(source, shlex.quote(str(target)))
    typer.echo(
        f"Wrote {target} ({target.stat().st_size / 1_000_000:.1f} MB). "
        f"To restore it, stop the service and run: {restore}"
    )


def _restore_command(source: Path | None, target: str) -> str:
    if source is None:
        return f'pg_restore --clean --if-exists --dbname="$HONEYGUIDE_DATABASE_URL" {target}'
    # A killed process can leave a journal next to the old file. SQLite would replay it over the
    # restored one.
    place, wal, shm = (shlex.quote(f"{source}{ending}") for ending in ("", "-wal", "-shm"))
    return f"rm -f {wal} {shm} && cp {target} {place}"
