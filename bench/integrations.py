"""What an integration costs a signup: its latency at a real `honeyguide serve` with an email
platform connected and at one without, in turns, some dozen a second.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import statistics
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass

from bench import people, servers
from bench.people import Campaign
from bench.plan import Bench, progress
from bench.report import Table
from honeyguide.events import signature
from honeyguide.integrations import integrations
from honeyguide.integrations.about import SyncField
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.integrations.integrations import NewIntegration
from honeyguide.integrations.platform import Audience
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import open_store
from tests.support.changes import SITE, changing
from tests.support.readings import reads

ABOUT = "Integrations: a signup with an email platform connected"
SECRET_KEY = "ab" * 32
CASES = {"alone": "no platform", "synced": "platform connected"}
PATIENCE_S = 120
# Between two signups. As fast as possible, the worker would be as busy as the signups.
PAUSE_S = 0.02


@dataclass
class Target:
    case: str
    connection: http.client.HTTPConnection
    campaign: Campaign

    def sign_up(self, number: int) -> float:
        """Somebody new, by an advocate's link. Returns how many milliseconds it took."""
        code = self.campaign.code(number % self.campaign.advocates)
        body = {"email": f"p{number}@example.org", "referrer_code": code}
        headers = {"X-Api-Key": self.campaign.keys[0], "Content-Type": "application/json"}
        began = time.perf_counter()
        self.connection.request("POST", self.campaign.path, json.dumps(body), headers)
        answer = self.connection.getresponse()
        answer.read()
        took_ms = (time.perf_counter() - began) * 1000
        assert answer.status == 201, answer.status
        return took_ms


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
        connect = changing(integrations.connect, SITE, tenant, system_clock())
        await store.write(connect, keys, new)
    finally:
        await store.close()


async def _await_first_sync(url: str, campaign: Campaign) -> None:
    store = await open_store(url, pool_size=1)
    until = time.monotonic() + PATIENCE_S
    try:
        tenant = Tenant(campaign.account_id, campaign.id)
        while (await store.read(reads(integrations.get, tenant))).first_sync_ms is None:
            assert time.monotonic() < until, "the first sync does not end"
            await asyncio.sleep(0.2)
    finally:
        await store.close()


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
        targets.append(Target(case, http.client.HTTPConnection("127.0.0.1", port), made))
    return targets


def run(bench: Bench) -> list[Table]:
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    with ExitStack() as stack, progress() as bar:
        sink_port = stack.enter_context(servers.sink())
        many = bench.size.rounds * bench.size.samples
        measuring = bar.add_task("signups", total=many * len(bench.engines))
        for engine in bench.engines:
            targets = _start(bench, stack, engine, sink_port)
            for number in range(many):
                for target in targets:
                    found[engine, target.case].append(target.sign_up(number))
                    time.sleep(PAUSE_S)
                bar.advance(measuring)
    return [_table(bench, engine, found) for engine in bench.engines]


def _table(bench: Bench, engine: str, found: dict[tuple[str, str], list[float]]) -> Table:
    rows = []
    base = statistics.median(found[engine, "alone"])
    for case, label in CASES.items():
        quarters = statistics.quantiles(found[engine, case], n=4)
        rows.append(
            (
                label,
                f"{quarters[1]:.2f}",
                f"{quarters[1] / base:.2f}",
                f"{quarters[0]:.2f} to {quarters[2]:.2f}",
            )
        )
    note = (
        f"Referred signups in turns, {PAUSE_S * 1000:.0f} ms apart, {len(found[engine, 'alone'])} "
        f"each, {bench.size.people:,} subscribers. The middle half is what lies between the first "
        f"and the last quarter."
    )
    title = {"sqlite": "SQLite", "postgres": "PostgreSQL"}[engine]
    return Table(title, ("signup", "median ms", "ratio", "middle half ms"), rows, note)
