"""`honeyguide demo` and `honeyguide doctor`: try it, and find out what is wrong with it."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from honeyguide import demo as demo_data
from honeyguide.accounts import accounts
from honeyguide.app import House
from honeyguide.cli import app, fail, in_house, read_settings
from honeyguide.serve import only_server, run_server
from honeyguide.settings import PREFIX, Settings
from honeyguide.store import health, sqlite_path, sqlite_version

# Months and holds are decided by this process's clock; two that differ by more would decide differently.
SKEW_MS = 2_000


@app.command()
def demo(
    serve: Annotated[bool, typer.Option("--serve", help="Then serve it, and print keys and a curl line.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Begin with an empty file, and make the demo anew (SQLite).")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --reset: also where the database holds other accounts.")] = False,
) -> None:
    """Fill the database with a believable market (once), and make fresh keys for it and for an empty account."""
    chosen = _with_toys(read_settings())
    if reset:
        _empty(chosen, yes)
    made = in_house(demo_data.prepare)
    if not serve:
        typer.echo(_invitation(chosen, made))
        return
    run_server(chosen, on_answering=lambda: print(_invitation(chosen, made), flush=True))


def _with_toys(chosen: Settings) -> Settings:
    """On one's own machine a demo has a clock to move, and keeps its letters as files instead of printing them."""
    if not chosen.on_loopback:
        return chosen
    path = sqlite_path(chosen.database_url)
    base = Path(path or "var/honeyguide-demo.db").absolute()
    toys = {"test_clock": f"{base}.clock", "smtp_url": f"file://{base.with_name('letters').as_posix()}"}
    for name, value in toys.items():
        if not getattr(chosen, name):
            os.environ[f"{PREFIX}{name.upper()}"] = value
    base.parent.mkdir(parents=True, exist_ok=True)
    return read_settings()


def _empty(chosen: Settings, yes: bool) -> None:
    path = sqlite_path(chosen.database_url)
    if path is None:
        name = urlsplit(chosen.database_url).path.lstrip("/")
        fail(
            "On PostgreSQL the demo cannot be reset in place, for the ledger in it refuses to be emptied, by anybody. Make the "
            f"database anew with `dropdb {name}` and `createdb {name}`, then run this again without --reset."
        )
    lock = only_server(chosen)
    if path.exists() and not yes:
        strangers = in_house(_strangers)
        if strangers:
            fail(
                f"{path} holds accounts that are not the demo's, such as {strangers[0]}; nothing was done. "
                "To lose them all the same, add --yes."
            )
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm", f"{path.name}.clock"):
        path.with_name(name).unlink(missing_ok=True)
    del lock


async def _strangers(house: House) -> list[str]:
    ours = {*demo_data.EMAILS, demo_data.EMPTY}
    return [account.email for account in await house.store.read(accounts.all_of_them) if account.email not in ours]


def _invitation(chosen: Settings, made: demo_data.Demo) -> str:
    address = f"{chosen.base_url}/v1/campaigns/{made.demo.campaign_id}/subscribers?per_page=3"
    partners = " and ".join(email for email in demo_data.EMAILS if email != demo_data.OWNER)
    return (
        f"\n  Dashboard {chosen.base_url}/ login {demo_data.OWNER} / {made.password}\n"
        f"  Its partners           {partners}, same password\n\n"
        f"  Account, API keys      {chosen.base_url}/account\n"
        f"  API reference          {chosen.base_url}/docs\n\n"
        f"  Demo account           {demo_data.OWNER}, campaign {made.demo.campaign_id}\n"
        f"  API key, demo          {made.demo.key}\n"
        f"  Empty account          {demo_data.EMPTY}, campaign {made.empty.campaign_id}\n"
        f"  API key, empty         {made.empty.key}\n\n"
        f"  Try:\n  curl -H 'X-Api-Key: {made.demo.key}' '{address}'\n"
    )


@app.command()
def doctor() -> None:
    """Check the set-up and say what to mend."""
    chosen = read_settings()
    typer.echo(f"Python {platform.python_version()} on {platform.system()}, SQLite library {sqlite_version()}")
    typer.echo(f"database  {chosen.database_url.split('@')[-1]}")

    async def look(house: House) -> int:
        return await house.store.read(health.clock_skew_ms)

    skew_ms = in_house(look)
    typer.echo(f"clock     {abs(skew_ms)} ms from the database's")
    if abs(skew_ms) > SKEW_MS and not chosen.test_clock:
        typer.secho("This machine and its database disagree about the time; set both by NTP.", err=True, fg=typer.colors.RED)
        sys.exit(1)
    typer.secho("All is well.", fg=typer.colors.GREEN)
