"""Imports that are stored, tried and run from the command line, with a progress bar."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NamedTuple

import typer
from rich.progress import TimeRemainingColumn

from honeyguide.app import Services
from honeyguide.cli.base import fail, progress, read_of, write_of
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import findings, import_files, importing
from honeyguide.moving.findings import ImportFinding
from honeyguide.moving.import_files import RefusedLine
from honeyguide.moving.trial import Trial
from honeyguide.store.tx import timed
from honeyguide.work.moving import import_file

SHOWN = 20


class ImportOutcome(NamedTuple):
    added: int
    skipped: int
    refused: list[RefusedLine]
    findings: list[ImportFinding]
    counted: list[str]
    """The findings in words."""


async def try_import(services: Services, tenant: Tenant, import_id: str) -> ImportOutcome:
    """What the import would do. Nothing is changed."""
    store, site, now_ms = services.store, services.site, services.clock()
    kept = await read_of(services, tenant, importing.get, import_id)
    trial, n = Trial(kept.plan.form), 0
    with progress(TimeRemainingColumn(), transient=False) as bar:
        task = bar.add_task("Checking", total=kept.total)
        while await store.read(timed(importing.try_part, now_ms), site, kept, n, trial):
            n += 1
            bar.update(task, completed=trial.added + trial.skipped + len(trial.refused))
        while await store.read(timed(importing.try_referrers, now_ms), site, kept, trial):
            pass
    refused = [importing.refused_line(*each) for each in trial.refused]
    counted = findings.in_words(trial.counted)
    return ImportOutcome(trial.added, trial.skipped, refused, trial.findings, counted)


async def run_import(services: Services, tenant: Tenant, import_id: str) -> ImportOutcome:
    """Runs an import to its end. If this process ends early, a server goes on with it."""
    store = services.store
    await write_of(services, tenant, "import", importing.start, import_id)
    with progress(TimeRemainingColumn(), transient=False) as bar:
        kept = await read_of(services, tenant, importing.get, import_id)
        task = bar.add_task("Importing", total=kept.total * len(kept.plan.stages))
        while kept.status == "running":
            if not await import_file(services.site, store, [import_id], services.clock()):
                await asyncio.sleep(0.1)  # a server is at it
            kept = await read_of(services, tenant, importing.get, import_id)
            bar.update(task, completed=kept.steps_done)
    refused = await read_of(services, tenant, importing.errors, import_id, most=kept.total)
    found = await read_of(
        services,
        tenant,
        importing.findings_of,
        import_id,
        most=kept.total,
    )
    counted = findings.in_words(
        await read_of(services, tenant, importing.count_findings, import_id)
    )
    return ImportOutcome(kept.added, kept.skipped, refused, found, counted)


def show_lines(outcome: ImportOutcome) -> None:
    """The first lines with a problem, on stderr."""
    lines = [(each.line, each.sentence) for each in outcome.refused[:SHOWN]]
    lines += [(each.line, each.sentence) for each in outcome.findings[:SHOWN]]
    for line, sentence in lines:
        typer.secho(f"line {line}: {sentence}", err=True, fg=typer.colors.YELLOW)


def in_words(outcome: ImportOutcome, *, is_dry: bool) -> str:
    would = "would be added" if is_dry else "added"
    text = (
        f"{outcome.added:,} {would}, {outcome.skipped:,} already subscribed, "
        f"{len(outcome.refused):,} failed."
    )
    if outcome.counted:
        text += f"\nNot taken over as in the file: {', '.join(outcome.counted)}."
    return text


def keep_refused(errors: Path | None, header: list[str], outcome: ImportOutcome) -> None:
    """Writes the lines that failed to a file, if one was given."""
    if not outcome.refused:
        return
    if errors is None:
        typer.echo("To save the failed rows to a file, add --errors FILE.", err=True)
        return
    try:
        text = import_files.csv_of_refused(header, outcome.refused)
        errors.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        fail(f"Cannot write {errors}: {error.strerror}.")
    typer.echo(f"The failed rows are in {errors}. Fix them there, then import that file.", err=True)
