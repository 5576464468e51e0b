"""`honeyguide doctor`: check an installation."""

from __future__ import annotations

import json
import platform
from typing import Annotated

import typer
import uvloop

from honeyguide import __version__
from honeyguide.app import clock_of
from honeyguide.cli.base import fail, read_settings
from honeyguide.kernel.errors import Fault
from honeyguide.operating.doctor.checks import check_all
from honeyguide.operating.doctor.results import TITLES, CheckResult, HealthLevel, is_healthy

app = typer.Typer()

COLORS = {
    HealthLevel.OK: typer.colors.GREEN,
    HealthLevel.WARNING: typer.colors.YELLOW,
    HealthLevel.PROBLEM: typer.colors.RED,
}


@app.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    """Check the installation and say what to fix. Exits with 1 if there is a problem."""
    chosen = read_settings()
    try:
        found = uvloop.run(check_all(chosen, clock_of(chosen)))
    except Fault as fault:
        fail(fault.message)
    if as_json:
        checks = [result._asdict() for result in found]
        typer.echo(json.dumps({"healthy": is_healthy(found), "checks": checks}, indent=2))
    else:
        python = f"Python {platform.python_version()} on {platform.system()}"
        typer.echo(f"Honeyguide {__version__}, {python}\n")
        print_results(found)
    if not is_healthy(found):
        raise typer.Exit(1)


def print_results(found: list[CheckResult]) -> None:
    for result in found:
        typer.secho(f"{result.level:8}", fg=COLORS[result.level], nl=False)
        typer.echo(f"{TITLES[result.name]}: {result.message}")
        if result.remedy:
            typer.echo(f"        {result.remedy}")
    counts = [_count(found, level) for level in (HealthLevel.PROBLEM, HealthLevel.WARNING)]
    typer.echo(f"\n{', '.join(filter(None, counts)) or 'No problems found'}.")


def _count(found: list[CheckResult], level: HealthLevel) -> str:
    number = sum(result.level is level for result in found)
    return f"{number} {level}{'' if number == 1 else 's'}" if number else ""
