"""`honeyguide serve`, `work`, `migrate`, `settings` and `version`."""

from __future__ import annotations

import asyncio
import logging
import signal
from typing import Annotated

import typer

from honeyguide import __version__, logs, settings
from honeyguide.app import Services
from honeyguide.cli.base import fail, read_settings, with_services
from honeyguide.kernel import memory
from honeyguide.kernel.errors import Fault
from honeyguide.serve import run_server
from honeyguide.store import Planned, migrate, plan_migrations, sqlite_path

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
            "SQLite supports only one server process. To use --workers, set "
            "HONEYGUIDE_DATABASE_URL to a postgresql:// URL."
        )
    run_server(chosen, workers=workers, work=work)


@app.command()
def work() -> None:
    """Run background jobs only. On PostgreSQL, any number of these can run next to `serve`."""
    logs.configure(read_settings().log_level)
    with_services(_work_until_stopped)


async def _work_until_stopped(services: Services) -> None:
    memory.tune_collector()
    working = asyncio.ensure_future(services.work())
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
            planned = asyncio.run(plan_migrations(chosen.database_url))
            typer.echo("\n".join(map(_plan_line, planned)) or UP_TO_DATE)
            return
        applied = asyncio.run(migrate(chosen.database_url))
    except Fault as fault:
        fail(fault.message)
    typer.echo("\n".join(f"Applied {name}." for name in applied) or UP_TO_DATE)


def _plan_line(planned: Planned) -> str:
    line = f"{planned.name} would run. It locks {planned.locks}."
    if planned.keeps_older_code:
        return line
    return f"{line} Stop all processes of the old version first; they do not work with it."


@app.command("settings")
def settings_command() -> None:
    """List every setting with its purpose and default."""
    typer.echo(
        "Set these as environment variables. To read a value from a file, add _FILE to the name.\n"
    )
    for name, default, about in settings.reference():
        typer.echo(f"{name:30} {about}{f' (default: {default})' if default else ''}")


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)
