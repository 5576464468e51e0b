"""`honeyguide restore`: bring a backup back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from honeyguide.app import backup_plan_of, site_of
from honeyguide.cli.base import counted, current_ms, fail, read_settings
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Fault
from honeyguide.operating.backups.access import KeptAccess
from honeyguide.operating.backups.restoring import Restored, Restoring, restore

app = typer.Typer()


@app.command(
    "restore",
    help="Restore a backup into the database of HONEYGUIDE_DATABASE_URL. Stop the service first. "
    "The backup is loaded next to the database, upgraded and verified, and only then moved into "
    "place. People who were erased after the backup are erased again.",
)
def restore_command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|NAME|latest",
            help="A file, or a backup at HONEYGUIDE_BACKUP_URL as `honeyguide backups` names it.",
        ),
    ],
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Do everything in a scratch database, and change nothing."),
    ] = False,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Replace a database in use; it is kept under another name."),
    ] = False,
    identity: Annotated[
        Path | None,
        typer.Option(help="File with the age key (AGE-SECRET-KEY-1…) of an encrypted backup."),
    ] = None,
    ignore_errors: Annotated[
        bool, typer.Option("--ignore-errors", help="Restore even if verify finds errors.")
    ] = False,
) -> None:
    chosen = read_settings()
    plan = backup_plan_of(chosen)
    asked = Restoring(
        source=source,
        database_url=chosen.direct_url,
        place=plan.place if plan else None,
        site_of=partial(site_of, settings=chosen),
        identity=identity,
        dry_run=dry_run,
        replaces=replace,
        ignores_errors=ignore_errors,
        tell=lambda step: typer.echo(f"{step} ...", err=True),
    )
    try:
        done = asyncio.run(restore(asked, now_ms=current_ms()))
    except Fault as fault:
        fail(fault.message)
    for line in _report(done, dry_run=dry_run):
        typer.echo(line)


def _report(done: Restored, *, dry_run: bool) -> Iterator[str]:
    found = done.verified.contents
    newest = f", newest signup: {iso(found.newest_ms)}" if found.newest_ms else ""
    verb = "can be restored" if dry_run else "is restored"
    yield (
        f"{done.name} {verb}. Accounts: {found.accounts:,}, "
        f"subscribers: {found.subscribers:,}{newest}."
    )
    if done.verified.broken:
        yield "verify found errors in it. Run `honeyguide verify` to see them."
    else:
        yield "verify found no errors in it."
    if done.migrations:
        yield "It was made by an older version and has been upgraded."
    if not done.has_erasure_log:
        yield (
            "No log of erasures was found: people who were erased after this backup are in it. "
            "Erase them again."
        )
    else:
        yield f"People erased after the backup, and now erased again: {done.erased_again:,}."
    yield from _report_access(done.access)
    if done.old is not None:
        yield f"The old database is kept as {done.old}. Delete it when you no longer need it."
    yield "Nothing was changed." if dry_run else "You can start the service now."


def _report_access(access: KeptAccess) -> Iterator[str]:
    """What of the backup lets nobody in, and what nobody knows."""
    if dropped := counted(access.dropped):
        yield f"Everybody logs in again. Of the backup these were left out: {dropped}."
    if changed := counted(access.changed):
        yield (
            "Who gets in stays as in the database that was there. So these are otherwise than in "
            f"the backup: {changed}."
        )
    if access.dropped_actions:
        yield (
            "Delayed actions of the backup that were left out, because they may have been undone "
            f"since: {access.dropped_actions:,}."
        )
    if access.unknown_accounts:
        yield (
            "What was revoked after this backup is not known for this many accounts, because no "
            f"database that has them could be read: {access.unknown_accounts:,}. There, logins, "
            "members, second factors, API keys, webhook secrets and keys of other services are "
            "as in the backup. Look through them, and revoke again what should not work."
        )
