"""`honeyguide serve`, `work`, `migrate`, `settings` and `version`."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from itertools import groupby
from typing import Annotated

import typer

from honeyguide import __version__, logs, settings
from honeyguide.app import Services
from honeyguide.cli.base import fail, find_settings_file, read_settings, with_services
from honeyguide.kernel.background import Background, tune_collector
from honeyguide.kernel.errors import Fault
from honeyguide.serve import exit_if_blocked, run_server
from honeyguide.settings_file import WrongSetting
from honeyguide.store import Planned, migrate, plan_migrations, sqlite_path
from honeyguide.work.loop import HealthNotes

log = logging.getLogger("honeyguide")

app = typer.Typer()
UP_TO_DATE = "The schema is up to date."


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="IP address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
    workers: Annotated[
        int, typer.Option(min=1, help="Number of server processes; more than one needs PostgreSQL.")
    ] = 1,
    work: Annotated[
        bool, typer.Option("--work/--no-work", help="Also run background jobs in this process.")
    ] = True,
) -> None:
    """Run the API, the web pages and the background jobs."""
    chosen = read_settings(host=host, port=port)
    logs.configure(chosen.log_level)
    if workers > 1 and sqlite_path(chosen.database_url) is not None:
        fail(
            "SQLite supports only one server process. To use --workers, move the database to "
            "PostgreSQL first: honeyguide copy --to postgresql://…"
        )
    run_server(chosen, workers=workers, work=work)


@app.command()
def work() -> None:
    """Run background jobs only. On PostgreSQL, any number of these can run next to `serve`."""
    logs.configure(read_settings().log_level)
    with_services(_work_until_stopped)


async def _work_until_stopped(services: Services) -> None:
    tune_collector()
    exit_if_blocked()
    background = Background(services.store.watch.loops)
    notes = HealthNotes(services.store, background, services.loop)
    background.add(notes, *services.work)
    working = asyncio.ensure_future(background.run())
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, _stop, working)
    log.info("Running background jobs. Press Ctrl-C to stop.")
    try:
        await working
    except asyncio.CancelledError:
        log.info("Stopped")


def _stop(working: asyncio.Future[None]) -> None:
    log.info("Stopping. Waiting for running jobs to finish.")
    working.cancel()


@app.command("migrate")
def migrate_command(
    plan: Annotated[
        bool, typer.Option("--plan", help="Only print what would run, and what it may lock.")
    ] = False,
) -> None:
    """Upgrade the database schema. `serve` and `work` also do this when they start."""
    chosen = read_settings()
    try:
        if plan:
            planned = asyncio.run(plan_migrations(chosen.direct_url))
            typer.echo("\n".join(_plan_lines(planned)) or UP_TO_DATE)
            return
        applied = asyncio.run(migrate(chosen.direct_url))
    except Fault as fault:
        fail(fault.message)
    typer.echo("\n".join(f"Applied {name}." for name in applied) or UP_TO_DATE)


def _plan_lines(planned: list[Planned]) -> list[str]:
    """One for each run of migrations that lock the same, in the order in which they would run."""
    runs = groupby(planned, key=lambda each: (each.locks, each.keeps_older_code))
    return [_plan_line([each.name for each in run], *key) for key, run in runs]


def _plan_line(names: list[str], locks: str, keeps_older_code: bool) -> str:
    if len(names) == 1:
        line, them = f"{names[0]} would run. It locks {locks}.", "it"
    else:
        line = f"{names[0]} to {names[-1]} ({len(names)} migrations) would run. They lock {locks}."
        them = "them"
    if keeps_older_code:
        return line
    return f"{line} Stop all processes of the old version first; they do not work with {them}."


@app.command("settings")
def settings_command() -> None:
    """List every setting with its purpose, its value and where the value comes from."""
    file = find_settings_file()
    typer.echo(
        "Settings come from the environment, else from the settings file, else they have their\n"
        "default. To read a value from a file of its own, add _FILE to the name.\n"
        f"Settings file: {file.path.absolute() if file else 'none'}\n"
    )
    try:
        sources = settings.sources(os.environ, file)
    except WrongSetting as wrong:
        fail(str(wrong))
    for name, default, about in settings.reference():
        text, origin = sources[name]
        default = f"; default: {default}" if default and origin != "default" else ""
        typer.echo(f"{name} = {text}  ({origin}{default})\n    {about}")
    read_settings()  # if one of them is invalid, this says so and fails


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)
