"""`honeyguide jobs`: what runs in the background, and how it went."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from honeyguide.app import Services
from honeyguide.cli.base import with_services
from honeyguide.kernel.clock import iso
from honeyguide.store import job_failures, job_runs
from honeyguide.store.job_runs import JobRun

app = typer.Typer()


@app.command()
def jobs(
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the background jobs: how often each runs, when, how long and how it last ran, when it
    last looked for work, and what it skips because it failed.
    """
    rows = with_services(_rows)
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    width = max(len(str(row["name"])) for row in rows)
    for row in rows:
        typer.echo(f"{row['name']:<{width}}  {_interval(row['interval_s'])}  {_last_run(row)}")
        for skipped in row["skipped"]:
            typer.echo(
                f"{'':<{width}}  skipped {skipped['item']}: {skipped['error']}, failed "
                f"{skipped['failures']} times, next try {skipped['next_try']}"
            )


async def _rows(services: Services) -> list[dict[str, Any]]:
    runs = {run.name: run for run in await services.store.read(job_runs.all_jobs)}
    failures = await services.store.read(job_failures.list_all)
    rows = []
    for job in services.loop.jobs:
        run = runs.get(job.name)
        rows.append(
            {
                "name": job.name,
                "interval_s": job.every_ms / 1000,
                "last_run": iso(run.started_ms) if run and run.started_ms else None,
                "duration_ms": run.duration_ms if run else None,
                "result": run.result if run else None,
                "last_looked": iso(_looked_ms(run)) if run else None,
                "skipped": [
                    {
                        "item": failure.item,
                        "error": failure.error,
                        "failures": failure.failures,
                        "last_failed": iso(failure.failed_ms),
                        "next_try": iso(failure.retry_ms),
                    }
                    for failure in failures
                    if failure.job == job.name
                ],
            }
        )
    return rows


def _interval(seconds: object) -> str:
    assert isinstance(seconds, float)
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= unit:
            return f"every {seconds / unit:3g} {name:<3}"
    return f"every {seconds:3g} s  "


def _looked_ms(run: JobRun) -> int:
    """A run is a look, too; looks are written once a minute."""
    return max(run.looked_ms, run.started_ms)


def _last_run(row: dict[str, Any]) -> str:
    if row["last_looked"] is None:
        return "has not run yet"
    looked = f"last looked {row['last_looked']}"
    if row["last_run"] is None:
        return f"{looked}  no work yet"
    if row["result"] is None:
        return f"{looked}  last work {row['last_run']}  running"
    return f"{looked}  last work {row['last_run']}  {row['duration_ms']} ms  {row['result']}"
