"""`honeyguide jobs`: what runs in the background, and how it went."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from honeyguide.app import Services
from honeyguide.cli.base import with_services
from honeyguide.kernel.clock import iso
from honeyguide.store import job_runs

app = typer.Typer()


@app.command()
def jobs(
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the background jobs: how often each runs, and when, how long and how it last ran."""
    rows = with_services(_rows)
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    width = max(len(str(row["name"])) for row in rows)
    for row in rows:
        typer.echo(f"{row['name']:<{width}}  {_interval(row['interval_s'])}  {_last_run(row)}")


async def _rows(services: Services) -> list[dict[str, object]]:
    runs = {run.name: run for run in await services.store.read(job_runs.all_runs)}
    rows = []
    for job in services.loop.jobs:
        run = runs.get(job.name)
        rows.append(
            {
                "name": job.name,
                "interval_s": job.every_ms / 1000,
                "last_run": iso(run.started_ms) if run else None,
                "duration_ms": run.duration_ms if run else None,
                "result": run.result if run else None,
            }
        )
    return rows


def _interval(seconds: object) -> str:
    assert isinstance(seconds, float)
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= unit:
            return f"every {seconds / unit:3g} {name:<3}"
    return f"every {seconds:3g} s  "


def _last_run(row: dict[str, object]) -> str:
    if row["last_run"] is None:
        return "has not run yet"
    if row["result"] is None:
        return f"{row['last_run']}  running"
    return f"{row['last_run']}  {row['duration_ms']} ms  {row['result']}"
