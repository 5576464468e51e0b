"""`honeyguide demo` and `honeyguide doctor`: try it, and find out what is wrong with it."""

from __future__ import annotations

import platform
import sys
from typing import Annotated

import typer

from honeyguide import demo as demo_data
from honeyguide.app import House
from honeyguide.cli import app, in_house, read_settings
from honeyguide.serve import run_server
from honeyguide.settings import Settings
from honeyguide.store import health, sqlite_version

# Months and holds are decided by this process's clock; two that differ by more would decide differently.
SKEW_MS = 2_000


@app.command()
def demo(
    serve: Annotated[bool, typer.Option("--serve", help="Then serve it, and print keys and a curl line.")] = False,
) -> None:
    """Fill the database with a believable newsletter (once), and make fresh keys for it and for an empty account."""
    chosen = read_settings()
    made = in_house(demo_data.prepare)
    if not serve:
        typer.echo(_invitation(chosen, made))
        return
    run_server(chosen, on_answering=lambda: print(_invitation(chosen, made), flush=True))


def _invitation(chosen: Settings, made: demo_data.Demo) -> str:
    return (
        f"\n  Dashboard {chosen.base_url}/ login {demo_data.OWNER} / {made.password}\n\n"
        f"  API reference          {chosen.base_url}/docs\n\n"
        f"  Demo account           {demo_data.OWNER}, campaign {made.demo.campaign_id}\n"
        f"  API key, demo          {made.demo.key}\n"
        f"  Empty account          {demo_data.EMPTY}, campaign {made.empty.campaign_id}\n"
        f"  API key, empty         {made.empty.key}\n\n"
        f"  Try:\n  curl -H 'X-Api-Key: {made.demo.key}' '{chosen.base_url}/v1/campaigns/{made.demo.campaign_id}/subscribers?per_page=3'\n"
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
