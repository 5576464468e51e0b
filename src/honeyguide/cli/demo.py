"""`honeyguide demo`: try the service with a year of made-up data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer
from rich.progress import TimeElapsedColumn

from honeyguide import demo as demo_data
from honeyguide import logs
from honeyguide.accounts import accounts
from honeyguide.app import opened
from honeyguide.cli.base import fail, progress, read, read_settings, with_services
from honeyguide.demo import (
    KeptSecrets,
    future,
    load_secrets,
    local_tools,
    save_secrets,
    secrets_file,
    team,
)
from honeyguide.serve import only_server, run_server
from honeyguide.settings import Settings, without_secrets
from honeyguide.settings_file import PREFIX
from honeyguide.store import sqlite_path

app = typer.Typer()


@app.command()
def demo(
    serve: Annotated[bool, typer.Option("--serve", help="Then start the server.")] = False,
    reset: Annotated[
        bool,
        typer.Option(
            "--reset", help="Delete the database and create the demo again (SQLite only)."
        ),
    ] = False,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", help="Also if the database has accounts that are not part of the demo."
        ),
    ] = False,
) -> None:
    """Add demo data to the database (once), and print a login, API keys and a request to try."""
    chosen = read_settings()
    file = secrets_file(_base(chosen))
    if reset or _is_half_made(chosen):
        _empty(chosen, yes)
    elif not yes:
        _refuse_real_database(chosen)
    kept = load_secrets(file)
    if chosen.on_loopback:
        chosen = _with_toys(chosen, kept)
    made = _prepare(kept)
    if chosen.on_loopback:
        save_secrets(file, kept)
    if not serve:
        typer.echo(_invitation(chosen, made))
        typer.echo("  Start the server with: honeyguide serve")
        return
    local_tools.start(kept.port)
    logs.configure(chosen.log_level)
    text = f"{_invitation(chosen, made)}\n  Press Ctrl-C to stop.\n"

    def greet() -> None:
        print(text, flush=True)
        if chosen.test_clock:
            future.start(lambda: opened(chosen))

    run_server(chosen, on_answering=greet)


def _prepare(kept: KeptSecrets) -> demo_data.Demo:
    with progress(TimeElapsedColumn(), transient=True) as bar:
        task = bar.add_task("Creating demo data, week by week", total=None, visible=False)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, visible=True)

        return with_services(demo_data.prepare, kept, show)


def _base(chosen: Settings) -> Path:
    """What the demo's own files are beside."""
    return Path(sqlite_path(chosen.database_url) or "var/honeyguide-demo.db").absolute()


def _with_toys(chosen: Settings, kept: KeptSecrets) -> Settings:
    """For a loopback base URL: a clock that can be moved, emails in files, a key for email tools,
    and a log that leaves the login on the screen."""
    base = _base(chosen)
    toys = {
        "test_clock": f"{base}.clock",
        "smtp_url": f"file://{base.with_name('emails').as_posix()}",
        "secret_key": kept.secret_key,
    }
    for name, value in toys.items():
        if not getattr(chosen, name):
            os.environ[f"{PREFIX}{name.upper()}"] = value
    # What somebody chose stays, also in a settings file, where it is rarely the default.
    if chosen.log_level == "info":
        os.environ.setdefault(f"{PREFIX}LOG_LEVEL", "warning")
    try:
        base.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(
            f"The folder {base.parent} cannot be created: {error.strerror}. Run this command in a "
            "folder that you may write to, or set HONEYGUIDE_DATABASE_URL."
        )
    return read_settings()


def _refuse_real_database(chosen: Settings) -> None:
    """The settings file may name the database of a real service."""
    file = sqlite_path(chosen.database_url)
    if file is not None and not file.exists():
        return
    known = {*demo_data.EMAILS, demo_data.EMPTY}
    emails = {account.email for account in read(accounts.list_all)}
    if emails and not emails & known:
        fail(
            f"{without_secrets('database_url', chosen.database_url)} has accounts, but not the "
            "demo's. Nothing was added. To add demo data to it, add --yes."
        )


def _is_half_made(chosen: Settings) -> bool:
    """It would look as if the newsletter had ended months ago, at every start."""
    file = sqlite_path(chosen.database_url)
    if (file is not None and not file.exists()) or not read(demo_data.is_half_made):
        return False
    typer.echo("The demo is only half made, because its creation was stopped. It is made anew.")
    return True


def _empty(chosen: Settings, yes: bool) -> None:
    path = sqlite_path(chosen.database_url)
    if path is None:
        name = urlsplit(chosen.database_url).path.lstrip("/")
        fail(
            "The demo cannot be reset on PostgreSQL, because the ledger in it cannot be deleted. "
            f"Recreate the database with `dropdb {name}` and `createdb {name}`, then run this "
            "command again without --reset."
        )
    lock = only_server(chosen)
    if path.exists() and not yes:
        known = {*demo_data.EMAILS, demo_data.EMPTY}
        emails = [account.email for account in read(accounts.list_all)]
        if strangers := [email for email in emails if email not in known]:
            fail(
                f"{path} contains accounts that are not part of the demo, such as {strangers[0]}. "
                "Nothing was deleted. To delete them too, add --yes."
            )
    for ending in ("", "-wal", "-shm", ".clock", ".demo"):
        path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)
    del lock


def _invitation(chosen: Settings, made: demo_data.Demo) -> str:
    address = f"{chosen.base_url}/v1/campaigns/{made.demo.campaign_id}/subscribers?per_page=3"
    partners = " and ".join(email for email in demo_data.EMAILS if email != demo_data.OWNER)
    colleagues = " and ".join(f"{email} ({role})" for email, (_, role) in team.COLLEAGUES.items())
    return (
        f"\n  Dashboard              {chosen.base_url}/\n"
        f"  Login                  {demo_data.OWNER} / {made.password}\n"
        f"  Team logins            {colleagues}, same password\n"
        f"  Partner logins         {partners}, same password\n\n"
        f"  API keys               {chosen.base_url}/account/keys\n"
        f"  API reference          {chosen.base_url}/docs\n\n"
        f"  Demo account           {demo_data.OWNER}, campaign {made.demo.campaign_id}\n"
        f"  API key, demo          {made.demo.key}\n"
        f"  Empty account          {demo_data.EMPTY}, campaign {made.empty.campaign_id}\n"
        f"  API key, empty         {made.empty.key}\n\n"
        f"  Try it:\n  curl -H 'X-Api-Key: {made.demo.key}' '{address}'\n"
    )
