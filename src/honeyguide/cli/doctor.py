"""`honeyguide doctor`: check an installation."""

from __future__ import annotations

import platform
from collections.abc import Iterator

import typer

from honeyguide.cli.base import fail, read, read_settings
from honeyguide.settings import Settings
from honeyguide.store import health, sqlite_version

app = typer.Typer()

# Month ends and holding periods follow this process's clock. Processes whose clocks differ by more
# than this could disagree.
SKEW_MS = 2_000


@app.command()
def doctor() -> None:
    """Check the installation and say what to fix."""
    chosen = read_settings()
    python = f"Python {platform.python_version()} on {platform.system()}"
    typer.echo(f"{python}, SQLite library {sqlite_version()}")
    typer.echo(f"Database  {chosen.database_url.split('@')[-1]}")
    skew_ms = read(health.clock_skew_ms)
    typer.echo(f"Clock     {abs(skew_ms)} ms from the database's")
    if abs(skew_ms) > SKEW_MS and not chosen.test_clock:
        fail(
            "The clocks of this machine and its database differ too much. "
            "Synchronize both with NTP."
        )
    for line in _before_going_live(chosen):
        typer.secho(f"To do: {line}", fg=typer.colors.YELLOW)
    typer.secho("No errors found.", fg=typer.colors.GREEN)


def _before_going_live(chosen: Settings) -> Iterator[str]:
    if chosen.on_loopback:
        yield (
            f"{chosen.base_url} works only on this machine. "
            "Set HONEYGUIDE_BASE_URL to the public URL."
        )
    if not chosen.smtp_url.startswith("smtp"):
        yield "Emails are not sent yet. Set HONEYGUIDE_SMTP_URL to your mail server."
