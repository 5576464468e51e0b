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
from lab.family import ATTACK_SIGNUPS, Family, choose_third, find_families
from lab.outcomes import PlayedSignup
from lab.owner import Setting
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
    setting: Annotated[
        Setting | None, typer.Option(help="Only with such a program and owner; else with each.")
    ] = None,
    size: Annotated[int, typer.Option(help="How often an attack tries.", min=1)] = ATTACK_SIGNUPS,
    output: Annotated[Path | None, typer.Option(help="Write the reports as HTML pages.")] = None,
    database_url: Annotated[
        str, typer.Option(help="An empty PostgreSQL database; otherwise a temporary SQLite file.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Let robots and honest people sign up at a temporary service, and report what was paid.

    Exits with 1 if a limit is missed. Nothing of your installation is read or changed.
    """
    families = _chosen(family or [], size)
    if short and not family:
        families = choose_third(families, seed)
    if database_url and setting is None:
        fail("A database is for one setting: add --setting.")
    reports = {
        each: report.make(families, _play(families, short, seed, each, database_url), each)
        for each in ([setting] if setting else Setting)
    }
    if output is not None:
        for each, made in reports.items():
            _write(_path(output, each, len(reports)), made, each, seed=seed, is_short=short)
    if as_json:
        shown = {each.value: showing.as_json(made) for each, made in reports.items()}
        typer.echo(json.dumps(shown, indent=2))
    else:
        for each, made in reports.items():
            _print(made, each)
    if not all(made.is_met for made in reports.values()):
        raise typer.Exit(1)


def _path(output: Path, setting: Setting, count: int) -> Path:
    """One page for each setting, if there are several."""
    return output if count == 1 else output.with_stem(f"{output.stem}-{setting.name.lower()}")


def _chosen(names: list[str], size: int) -> list[Family]:
    families = find_families(size)
    known = {each.name for each in families}
    if unknown := [name for name in names if name not in known]:
        fail(f"There is no family {unknown[0]}. The families are: {', '.join(sorted(known))}.")
    return [each for each in families if not names or each.name in names]


def _play(
    families: list[Family], is_short: bool, seed: int, setting: Setting, database_url: str
) -> list[PlayedSignup]:
    with progress(TimeElapsedColumn(), transient=True) as bar:
        task = bar.add_task("Signing up", total=None)

        def tell(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        playing = run.run(
            families,
            is_short=is_short,
            seed=seed,
            setting=setting,
            database_url=database_url,
            tell=tell,
        )
        try:
            return uvloop.run(playing)
        except Fault as fault:
            fail(fault.message)


def _write(output: Path, made: LabReport, setting: Setting, *, seed: int, is_short: bool) -> None:
    made_on = day(system_clock())
    page = showing.as_page(made, setting, made_on=made_on, seed=seed, is_short=is_short)
    try:
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        fail(f"Could not write {output}: {error.strerror}.")


def _print(made: LabReport, setting: Setting) -> None:
    console = Console(width=None if Console().is_terminal else 140)
    console.rule(f"Setting: {setting.value}")
    for table in showing.tables(made):
        console.print(table)
    console.print(showing.NOTE, style="dim")
    if made.is_met:
        typer.echo("\nAll limits are met. Add a family that is not stopped: docs/lab.md says how.")
    else:
        missed = ", ".join(limit.name for limit in made.limits if not limit.is_met)
        typer.echo(
            f"\nMissed: {missed}. The evidence of each family is on the page: --output FILE."
        )


if __name__ == "__main__":
    app()
