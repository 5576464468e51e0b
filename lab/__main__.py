"""`make lab`: measure how much robots are paid, and which honest people are not paid for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
import uvloop
from rich.console import Console
from rich.progress import TimeElapsedColumn

from honeyguide.cli.base import fail, progress
from honeyguide.kernel.clock import day, system_clock
from honeyguide.kernel.errors import Fault
from lab import report, run, showing
from lab.family import Family, choose_third, find_families
from lab.outcomes import PlayedSignup
from lab.report import LabReport

app = typer.Typer()


@app.command()
def lab(
    short: Annotated[
        bool, typer.Option("--short", help="A third of the families, with fewer honest people.")
    ] = False,
    seed: Annotated[
        int, typer.Option(help="Another number gives other people, and another third.", min=0)
    ] = 0,
    family: Annotated[
        list[str] | None, typer.Option(help="Only this family; can be given several times.")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Write the report as an HTML page.")] = None,
    database_url: Annotated[
        str, typer.Option(help="An empty PostgreSQL database; otherwise a temporary SQLite file.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Let robots and honest people sign up at a temporary service, and report what was paid.

    Exits with 1 if a limit is missed. Nothing of your installation is read or changed.
    """
    families = _chosen(family or [])
    if short and not family:
        families = choose_third(families, seed)
    made = report.make(families, _play(families, short, seed, database_url))
    if output is not None:
        _write(output, made, seed=seed, is_short=short)
    if as_json:
        typer.echo(json.dumps(showing.as_json(made), indent=2))
    else:
        _print(made, output)
    if not made.is_met:
        raise typer.Exit(1)


def _chosen(names: list[str]) -> list[Family]:
    families = find_families()
    known = {each.name for each in families}
    if unknown := [name for name in names if name not in known]:
        fail(f"There is no family {unknown[0]}. The families are: {', '.join(sorted(known))}.")
    return [each for each in families if not names or each.name in names]


def _play(
    families: list[Family], is_short: bool, seed: int, database_url: str
) -> list[PlayedSignup]:
    with progress(TimeElapsedColumn(), transient=True) as bar:
        task = bar.add_task("Signing up", total=None)

        def tell(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        playing = run.run(
            families, is_short=is_short, seed=seed, database_url=database_url, tell=tell
        )
        try:
            return uvloop.run(playing)
        except Fault as fault:
            fail(fault.message)


def _write(output: Path, made: LabReport, *, seed: int, is_short: bool) -> None:
    page = showing.as_page(made, made_on=day(system_clock()), seed=seed, is_short=is_short)
    try:
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        fail(f"Could not write {output}: {error.strerror}.")


def _print(made: LabReport, output: Path | None) -> None:
    console = Console(width=None if Console().is_terminal else 120)
    for table in showing.tables(made):
        console.print(table)
    console.print(showing.NOTE, style="dim")
    if output is not None:
        typer.echo(f"\nWrote {output}.")
    if made.is_met:
        typer.echo("\nAll limits are met. Add a family that is not stopped: docs/lab.md says how.")
    else:
        missed = ", ".join(limit.name for limit in made.limits if not limit.is_met)
        typer.echo(
            f"\nMissed: {missed}. The evidence of each family is on the page: --output FILE."
        )


if __name__ == "__main__":
    app()
