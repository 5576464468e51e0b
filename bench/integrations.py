"""What an integration costs a signup: one request at a time to a real `honeyguide serve`, with an
email platform connected and without one, in turns.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass

from bench import people, servers
from bench.load import Job, drive, request
from bench.people import Campaign
from bench.plan import Bench, progress
from bench.report import Table
from honeyguide.events import signature
from honeyguide.integrations import integrations
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.integrations.integrations import NewIntegration
from honeyguide.integrations.platform import Audience, SyncField
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import open_store

ABOUT = "Integrations: a signup with an email platform connected"
SECRET_KEY = "ab" * 32
CASES = {"alone": "no platform", "synced": "platform connected"}
PATIENCE_S = 120


@dataclass
class Target:
    case: str
    port: int
    requests: list[bytes]


async def _connect(url: str, campaign: Campaign, sink_port: int) -> None:
    new = NewIntegration(
        platform="generic",
        credentials={"url": f"http://127.0.0.1:{sink_port}/", "secret": signature.new_secret()},
        audience=Audience(id="url", name="URL"),
        field_names={SyncField.CODE: "code", SyncField.LINK: "link"},
        code_field="",
        adds_existing=True,
        hook_key="bench",
    )
    tenant, keys = (
        Tenant(campaign.account_id, campaign.id),
        EncryptionKeys([bytes.fromhex(SECRET_KEY)]),
    )
    store = await open_store(url, pool_size=1)
    try:
        await store.write(integrations.connect, tenant, keys, new, now_ms=system_clock())
    finally:
        await store.close()


async def _await_first_sync(url: str, campaign: Campaign) -> None:
    store = await open_store(url, pool_size=1)
    until = time.monotonic() + PATIENCE_S
    try:
        tenant = Tenant(campaign.account_id, campaign.id)
        while (await store.read(integrations.get, tenant)).first_sync_ms is None:
            assert time.monotonic() < until, "the first sync does not end"
            await asyncio.sleep(0.2)
    finally:
        await store.close()


def _requests(campaign: Campaign) -> list[bytes]:
    """Signups, each by another advocate's link."""
    return [
        request(
            "POST",
            campaign.path,
            campaign.keys[0],
            b'{"email":"p%012d@example.org","referrer_code":"'
            + campaign.code(n).encode()
            + b'","ip_address":"192.0.2.1"}',
        )
        for n in range(campaign.advocates)
    ]


def _start(bench: Bench, stack: ExitStack, engine: str, sink_port: int) -> list[Target]:
    targets = []
    for case in CASES:
        url = bench.database_url(engine, f"integrations_{case}")
        plan = people.Plan(case, bench.size.people)
        made = people.make(url, [plan], lambda n: None).campaigns[case]
        if case == "synced":
            asyncio.run(_connect(url, made, sink_port))
        port = stack.enter_context(
            servers.honeyguide(url, bench.folder, rate_limit=1_000_000, secret_key=SECRET_KEY)
        )
        if case == "synced":
            asyncio.run(_await_first_sync(url, made))
        targets.append(Target(case, port, _requests(made)))
    return targets


def run(bench: Bench) -> list[Table]:
    medians: dict[tuple[str, str], list[float]] = defaultdict(list)
    p99s: dict[tuple[str, str], list[float]] = defaultdict(list)
    with ExitStack() as stack, progress() as bar:
        sink_port = stack.enter_context(servers.sink())
        measuring = bar.add_task(
            "signups", total=bench.size.rounds * len(CASES) * len(bench.engines)
        )
        for engine in bench.engines:
            targets, number = _start(bench, stack, engine, sink_port), 1
            for _ in range(bench.size.rounds):
                for target in targets:
                    job = Job(target.port, target.requests, 201, 1, bench.size.seconds, number)
                    driven = drive(job)
                    number += driven.sent
                    medians[engine, target.case].append(driven.median_ms)
                    p99s[engine, target.case].append(driven.p99_ms)
                    bar.advance(measuring)
    return [_table(bench, engine, medians, p99s) for engine in bench.engines]


def _table(
    bench: Bench,
    engine: str,
    medians: dict[tuple[str, str], list[float]],
    p99s: dict[tuple[str, str], list[float]],
) -> Table:
    rows = []
    base = statistics.median(medians[engine, "alone"])
    for case, words in CASES.items():
        found = medians[engine, case]
        median = statistics.median(found)
        rows.append(
            (
                words,
                f"{median:.2f}",
                f"{median / base:.2f}",
                f"{min(found):.2f} to {max(found):.2f}",
                f"{statistics.median(p99s[engine, case]):.1f}",
            )
        )
    note = (
        f"Referred signups, one at a time, {bench.size.people:,} subscribers, "
        f"{bench.size.rounds} interleaved rounds of {bench.size.seconds} s."
    )
    title = {"sqlite": "SQLite", "postgres": "PostgreSQL"}[engine]
    return Table(title, ("signup", "median ms", "ratio", "rounds ms", "p99 ms"), rows, note)
