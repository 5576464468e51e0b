"""`honeyguide import sparkloop`: moves an account of the incumbent, or of another Honeyguide,
through its API. It can be interrupted at any time; the same command goes on.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import NamedTuple

import typer
from rich.progress import TimeRemainingColumn

from honeyguide.app import Services
from honeyguide.cli import import_runs
from honeyguide.cli.base import fail, progress, read_of, tenant_named, with_services, write_of
from honeyguide.cli.import_runs import ImportOutcome
from honeyguide.integrations.problems import PlatformError
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import fetching, importing, moved_documents, remote_people
from honeyguide.moving.fetching import FetchStage, RemoteFetch
from honeyguide.moving.remote_api import SPARKLOOP_URL, RemoteApi, parse_base_url, parse_key
from honeyguide.work.fetches import Fetcher

SPARKLOOP = "sparkloop"
KEY_NAME = "HONEYGUIDE_IMPORT_KEY"
# A dry run fetched everybody already. Older ones are fetched anew.
REUSED_MS = DAY_MS


class RemoteImport(NamedTuple):
    """What the command was given."""

    account: str
    base_url: str | None
    key: str
    dry_run: bool
    gives_rewards: bool


class _Moved(NamedTuple):
    fetch: RemoteFetch
    outcome: ImportOutcome | None
    documents: int


def read_key(key_file: Path | None) -> str:
    """Never an argument: other users of the machine can see those."""
    try:
        if key_file is not None:
            return parse_key(key_file.read_text(encoding="utf-8"))
        if given := os.environ.get(KEY_NAME):
            return parse_key(given)
        if not sys.stdin.isatty():
            fail(f"Give the API key with --key-file FILE or as {KEY_NAME}.")
        return parse_key(typer.prompt("API key of the other service", hide_input=True))
    except Invalid as fault:
        fail(fault.message_for("The API key"))
    except (OSError, UnicodeDecodeError):
        fail(f"Cannot read {key_file}.")


def import_from_api(given: RemoteImport, errors: Path | None) -> None:
    moved = with_services(_move, given)
    name = moved.fetch.name
    if moved.outcome is None:
        typer.echo(f"{name} has no subscribers.")
    else:
        import_runs.show_lines(moved.outcome)
        typer.echo(import_runs.in_words(moved.outcome, is_dry=given.dry_run))
        import_runs.keep_refused(errors, remote_people.HEADER, moved.outcome)
        if not moved.fetch.says_who_left:
            typer.echo(fetching.NO_STATUS)
    if moved.documents:
        typer.echo(f"{moved.documents:,} documents are on the dashboard, under Import.")
    for text in _not_understood(moved.fetch):
        typer.echo(text)
    if given.dry_run:
        typer.echo("No subscriber was changed. To import, run this without --dry-run.", err=True)


def _not_understood(fetch: RemoteFetch) -> list[str]:
    counts = dict(fetch.not_understood)
    lost = counts.pop(remote_people.UNREADABLE, 0)
    sentences = [f"{lost:,} {remote_people.UNREADABLE} were left out."] if lost else []
    if counts:
        listed = ", ".join(f"{name} ({count:,})" for name, count in sorted(counts.items()))
        sentences.append(f"Not understood, and left out: {listed}.")
    return sentences


async def _move(services: Services, given: RemoteImport) -> _Moved:
    store = services.store
    tenant = await store.read(tenant_named, given.account)
    base_url = parse_base_url(given.base_url or SPARKLOOP_URL, services.policy)
    fetcher = Fetcher(store, services.outbound, services.site, services.clock)
    api = fetcher.api(base_url, given.key)
    fetch = await _begin(services, tenant, base_url, api)
    if fetch.stage == FetchStage.DONE and not given.dry_run and fetch.import_status == "new":
        # A dry run fetched people only.
        await write_of(services, tenant, "import", fetching.go_on_with_partners, fetch)
        fetch = await read_of(services, tenant, fetching.get, fetch.import_id)
    fetch = await _fetch(services, fetcher, fetch, api, only_people=given.dry_run)
    documents = await read_of(services, tenant, moved_documents.count)
    if not fetch.lines:
        await write_of(services, tenant, "import", importing.forget, fetch.import_id)
        return _Moved(fetch, None, documents)
    if given.dry_run:
        outcome = await import_runs.try_import(services, tenant, fetch.import_id)
        return _Moved(fetch, outcome, documents)
    kept = await read_of(services, tenant, importing.get, fetch.import_id)
    await write_of(
        services,
        tenant,
        "import",
        importing.choose,
        kept.id,
        kept.mapping,
        gives_rewards=given.gives_rewards,
    )
    return _Moved(fetch, await import_runs.run_import(services, tenant, kept.id), documents)


async def _begin(services: Services, tenant: Tenant, base_url: str, api: RemoteApi) -> RemoteFetch:
    """The fetch that was interrupted, or a new one."""
    found = await read_of(services, tenant, fetching.find_unfinished, base_url)
    is_old = found is not None and services.clock() - found.created_ms > REUSED_MS
    if found is not None and not (is_old and found.stage == FetchStage.DONE):
        typer.echo(f"Going on with {found.fetched:,} people fetched before.", err=True)
        await write_of(services, tenant, "import", fetching.resume, found, secret=found.secret)
        return await read_of(services, tenant, fetching.get, found.import_id)
    try:
        campaign = await api.campaign()
    except PlatformError as error:
        fail(error.reason)
    import_id = await write_of(services, tenant, "import", fetching.begin, base_url, campaign.name)
    return await read_of(services, tenant, fetching.get, import_id)


async def _fetch(
    services: Services, fetcher: Fetcher, fetch: RemoteFetch, api: RemoteApi, *, only_people: bool
) -> RemoteFetch:
    with progress(TimeRemainingColumn(), transient=False) as bar:
        task = bar.add_task("Fetching", total=fetch.total or None)
        while fetch.stage != FetchStage.DONE:
            fetch = await fetcher.fetch_page(fetch, api, only_people=only_people)
            bar.update(task, completed=fetch.fetched, total=fetch.total)
            if fetch.is_stopped:
                fail(f"{fetch.problem} What was fetched is kept. Run this again to go on.")
            if wait_s := max(0, fetch.next_ms - services.clock()) / 1000:
                typer.echo(f"{fetch.problem} Trying again in {wait_s:.0f} seconds.", err=True)
                await asyncio.sleep(wait_s)
    return fetch
