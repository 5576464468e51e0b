"""The command line. Each command says what it did and what to do next; an error is one line on stderr and a non-zero exit."""

from __future__ import annotations

import asyncio
import io
import json
import os
import shlex
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, NoReturn, TextIO, TypeVar

import typer
import uvloop

from honeyguide import __version__, settings
from honeyguide.accounts import accounts, keys
from honeyguide.app import Services, opened
from honeyguide.kernel import memory
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Fault
from honeyguide.serve import run_server
from honeyguide.settings import Settings, WrongSetting
from honeyguide.store import Tx, migrate

T = TypeVar("T")

Email = Annotated[str, typer.Argument(help="Email address of the account.")]

app = typer.Typer(
    help="Honeyguide runs newsletter referral and partner programs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
account_app = typer.Typer(help="Create accounts and set their passwords.", no_args_is_help=True)
keys_app = typer.Typer(help="Create, list and revoke API keys.", no_args_is_help=True)
app.add_typer(account_app, name="account")
app.add_typer(keys_app, name="keys")


def fail(sentence: str) -> NoReturn:
    typer.secho(sentence, err=True, fg=typer.colors.RED)
    raise typer.Exit(1)


def read_settings(**overrides: str | int | None) -> Settings:
    try:
        return settings.read(os.environ, **overrides)
    except WrongSetting as wrong:
        fail(str(wrong))


def with_services(work: Callable[[Services], Coroutine[Any, Any, T]]) -> T:
    """Runs a command with the store open."""

    async def inside() -> T:
        async with opened(read_settings()) as services:
            return await work(services)

    try:
        return uvloop.run(inside())
    except Fault as fault:
        fail(fault.message)


def utf8_stdout() -> TextIO:
    """Standard output for the text of a file: UTF-8 in every locale, line ends as written."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="")
    return sys.stdout


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
    if workers > 1 and chosen.database_url.startswith("sqlite:"):
        fail(
            "SQLite supports only one server process. To use --workers, set HONEYGUIDE_DATABASE_URL to a postgresql:// URL."
        )
    run_server(chosen, workers=workers, work=work)


@app.command()
def work() -> None:
    """Run background jobs only. On PostgreSQL, any number of these can run next to `serve`."""

    async def forever(services: Services) -> None:
        memory.settle()
        working = asyncio.ensure_future(services.work())

        def stop() -> None:
            typer.echo("Stopping. Waiting for running jobs to finish.")
            working.cancel()

        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop)
        typer.echo("Running background jobs. Press Ctrl-C to stop.")
        try:
            await working
        except asyncio.CancelledError:
            typer.echo("Stopped.")

    with_services(forever)


@app.command("migrate")
def migrate_command() -> None:
    """Upgrade the database schema. `serve` and `work` also do this when they start."""
    chosen = read_settings()
    try:
        applied = asyncio.run(migrate(chosen.database_url))
    except Fault as fault:
        fail(fault.message)
    typer.echo("\n".join(f"Applied {name}." for name in applied) or "The schema is up to date.")


@account_app.command("create")
def account_create(
    email: Email,
    name: Annotated[
        str | None, typer.Option(help="Name of the account and of its campaign.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON.")] = False,
) -> None:
    """Create an account with its campaign and first API key. The key is shown only once."""

    async def create(services: Services) -> dict[str, str]:
        async def change(tx: Tx) -> dict[str, str]:
            now_ms = services.clock()
            made = await accounts.create(tx, email, name=name, now_ms=now_ms)
            key = await keys.create(tx, made.account_id, name="first key", now_ms=now_ms)
            return {
                "account_uuid": made.account_id,
                "campaign_uuid": made.campaign_id,
                "api_key": key,
            }

        return await services.store.write(change)

    made = with_services(create)
    if as_json:
        typer.echo(json.dumps(made))
        return
    typer.echo(json.dumps(made, indent=2))
    typer.secho("\nSave the API key now; it is not shown again.", err=True)
    typer.secho(
        f"To use the dashboard, set a password:\n  honeyguide account password {shlex.quote(email)}",
        err=True,
    )
    base = read_settings().base_url
    typer.secho("To try the API, start `honeyguide serve` and run:", err=True)
    typer.secho(
        f"  curl -H 'X-Api-Key: {made['api_key']}' {base}/v1/campaigns/{made['campaign_uuid']}/subscribers",
        err=True,
    )


@keys_app.command("create")
def keys_create(
    email: Email, name: Annotated[str, typer.Option(help="What the key is for.")] = "key"
) -> None:
    """Create another API key for an account. The key is shown only once."""

    async def create(services: Services) -> str:
        async def change(tx: Tx) -> str:
            account = await accounts.get_by_email(tx, email)
            return await keys.create(tx, account.id, name=name, now_ms=services.clock())

        return await services.store.write(change)

    typer.echo(with_services(create))
    typer.echo("Save this key now; it is not shown again.", err=True)


@keys_app.command("list")
def keys_list(email: Email) -> None:
    """List an account's API keys with their state, last use and name."""

    async def found(services: Services) -> list[keys.Key]:
        async def look(tx: Tx) -> list[keys.Key]:
            return await keys.of_account(tx, (await accounts.get_by_email(tx, email)).id)

        return await services.store.read(look)

    listed = with_services(found)
    if not listed:
        typer.echo(
            f"No keys yet. Create one with: honeyguide keys create {shlex.quote(email)}", err=True
        )
    for key in listed:
        used = f"last used {iso(key.last_used_ms)}" if key.last_used_ms else "never used"
        state = f"revoked {iso(key.revoked_ms)}" if key.revoked_ms else "active"
        typer.echo(f"{key.id}  {key.prefix}…  {state}  {used}  {key.name}")


@keys_app.command("revoke")
def keys_revoke(
    key: Annotated[str, typer.Argument(help="ID or prefix of the key, as `keys list` shows it.")],
) -> None:
    """Revoke an API key, effective from the next request."""

    async def revoke(services: Services) -> None:
        async def change(tx: Tx) -> None:
            account_id, key_id = await keys.find_by_shown(tx, key)
            await keys.revoke(tx, account_id, key_id, now_ms=services.clock())

        await services.store.write(change)

    with_services(revoke)
    typer.echo("Key revoked. It is refused from the next request on.")


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


def main() -> None:
    from honeyguide import cli_backup, cli_demo, cli_money, cli_people  # noqa: F401 - their commands join the same `app`

    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
