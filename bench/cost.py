"""CPU time per request, of the service's processes and of PostgreSQL's, with one, two and four
processes. Unlike requests per second it does not depend on what the load generator leaves of the
machine. Takes about ten minutes.
"""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections import defaultdict
from contextlib import suppress

from bench import people, servers
from bench.deliveries import FACTS, HOME
from bench.load import Job, drive, request
from bench.meter import Cost, Meter, median
from bench.people import Campaign
from bench.plan import Bench, progress
from bench.report import Table
from bench.requests import job_for, requests_for
from bench.servers import Server
from honeyguide.accounts import accounts, keys
from honeyguide.events import outbox, webhooks
from honeyguide.events.webhooks import Flags
from honeyguide.kernel.clock import HOUR_MS, system_clock
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import Store, open_store
from honeyguide.store.tx import Tx
from honeyguide.subscribers import hub
from tests.support.changes import SITE, changing, new_change
from tests.support.readings import account_reading
from tests.support.stores import statement
from tests.support.trade import Trade

ABOUT = "Cost per request: CPU time of the service and of PostgreSQL"
LABELS = {
    "read": "read one",
    "list": "list of 50",
    "hub": "a subscriber's referral page",
    "click": "click on a referral link",
    "create": "create, referred",
    "charge": "create, referred by a partner and charged",
    "delivery": "webhook delivery",
}
WORKERS = {"sqlite": (1,), "postgres": (1, 2, 4)}
GROWTH = 1.25
READERS, PROGRAMS = 200, 10
ATTEMPTS = 3
BIG = 100_000_000  # cents: no cap is met while we measure
DUE_MS = 4_000
_MAKE_DUE = statement(
    "UPDATE delivery SET due_ms = :due_ms WHERE account_id = :account_id AND status = 'pending'"
)
IDLE = "idle"
NOTE = (
    "Each figure includes the background work that the requests cause, and not what the service "
    "takes when it is idle."
)


class Measured:
    """One database, and the requests to send to the service on it."""

    def __init__(self, bench: Bench, engine: str, url: str, campaign: Campaign) -> None:
        self.bench, self.engine, self.url, self.campaign = bench, engine, url, campaign
        self.charged, self.account_id = asyncio.run(_add_programs(url))
        self.links = asyncio.run(_reader_links(url, campaign))
        self.number = 1

    def meter(self, server: Server) -> Meter:
        self._drive(self.job(server.port, "read"))  # opens the connections
        postgres = self.bench.postgres if self.engine == "postgres" else None
        return Meter([server.pid], postgres.pid if postgres else None)

    def run_case(self, server: Server, meter: Meter, case: str, sink_port: int) -> Cost:
        """Again if the machine was so busy that a request was refused."""
        for _ in range(ATTEMPTS - 1):
            with suppress(RuntimeError):
                return self._run_once(server, meter, case, sink_port)
        return self._run_once(server, meter, case, sink_port)

    def _run_once(self, server: Server, meter: Meter, case: str, sink_port: int) -> Cost:
        if case == "delivery":
            count = max(400, self.bench.size.people // 2)
            asyncio.run(_emit(self.url, self.account_id, sink_port, count))
            return meter.measure(lambda: _received(sink_port, count))
        job = self.job(server.port, case)
        return meter.measure(lambda: self._drive(job))

    def job(self, port: int, case: str) -> Job:
        requests = requests_for(self.campaign)
        if case in requests:
            return job_for(self.bench, port, case, requests[case], self.number)
        size = self.bench.size
        requests |= self.links | {"charge": self.charged}
        expect = {"charge": 201, "click": 302, "hub": 200}[case]
        return Job(port, requests[case], expect, size.connections, size.seconds, self.number)

    def _drive(self, job: Job) -> int:
        """How many requests were sent."""
        driven = drive(job)
        self.number += driven.sent
        return driven.sent


async def _add_programs(url: str) -> tuple[list[bytes], str]:
    """Signups through partners' links, and an account for webhooks."""
    store = await open_store(url)
    now_ms = system_clock()
    requests, account_id = [], ""
    for _ in range(PROGRAMS):
        trade = await Trade.begin(store, cpa=1, total_budget=BIG, max_payout=BIG, now_ms=now_ms)
        account_id = trade.owner.account_id
        create = changing(keys.create, trade.site, trade.owner, now_ms)
        key = await store.write(create, name="bench")
        body = (
            b'{"email":"c%012d@example.org","referrer_code":"'
            + trade.partners[0].ref_code.encode()
            + b'"}'
        )
        path = f"/v1/campaigns/{trade.owner.campaign_id}/subscribers"
        requests.append(request("POST", path, key, body))
    await store.close()
    return requests, account_id


async def _reader_links(url: str, campaign: Campaign) -> dict[str, list[bytes]]:
    """Links and referral pages of the first subscribers; every click comes from a visitor of its
    own."""
    store = await open_store(url)
    site = Site("", "", await store.write(accounts.instance_secret))
    codes = await people.give_codes(store, campaign, min(READERS, campaign.advocates))
    await store.close()
    tokens = [hub.token(site, subscriber_id, code) for subscriber_id, code in codes]
    return {
        "hub": [_browser_request(f"/hub/{token}") for token in tokens],
        "click": [_browser_request(f"/r/{code}?utm_source=mail") for _, code in codes],
    }


def click_requests(url: str, campaign: Campaign) -> list[bytes]:
    return asyncio.run(_reader_links(url, campaign))["click"]


def _browser_request(path: str) -> bytes:
    """To be formatted with a number, so that every request comes from a visitor of its own."""
    return (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/%012d\r\n\r\n"
    ).encode()


async def _emit(url: str, account_id: str, sink_port: int, count: int) -> None:
    """Events that are due all at once, a moment later, however long it takes to write them."""
    store: Store = await open_store(url)
    due_ms = system_clock() + HOUR_MS
    webhook_id = await store.write(_webhook, account_id, f"http://127.0.0.1:{sink_port}/hook")
    for done in range(0, count, 50):
        await store.write(_emit_some, account_id, webhook_id, min(50, count - done), due_ms)
    await store.write(_make_due, account_id, system_clock() + DUE_MS)
    await store.close()


async def _webhook(tx: Tx, account_id: str, url: str) -> str:
    for old in await webhooks.of_account(account_reading(tx, account_id), ""):
        if old.url == url:
            return old.id
    change = new_change(tx, SITE, Tenant(account_id, ""), system_clock())
    made = await webhooks.create(change, "", url, Flags(new_referral=True), policy=HOME)
    return made.id


async def _emit_some(tx: Tx, account_id: str, webhook_id: str, count: int, due_ms: int) -> None:
    event = outbox.Event(account_id, outbox.NEW_REFERRAL, FACTS, [webhook_id], None)
    await outbox.emit(tx.at(due_ms), [event] * count)


async def _make_due(tx: Tx, account_id: str, due_ms: int) -> None:
    await tx.run(_MAKE_DUE, account_id=account_id, due_ms=due_ms)


def _received(sink_port: int, count: int) -> int:
    address = f"http://127.0.0.1:{sink_port}/notes/{count}"
    with urllib.request.urlopen(address, timeout=120) as answer:
        return len(json.load(answer))


Costs = dict[tuple[str, int, str], list[Cost]]


def _measure(bench: Bench) -> Costs:
    costs: Costs = defaultdict(list)
    runs = sum(len(WORKERS[engine]) for engine in bench.engines) * len(LABELS) * bench.size.rounds
    with progress() as bar, servers.sink() as sink_port:
        measuring = bar.add_task("cost", total=runs)
        for engine in bench.engines:
            url = bench.database_url(engine, "cost")
            plan = people.Plan("cost", bench.size.people)
            campaign = people.make(url, [plan], lambda _: None).campaigns["cost"]
            measured = Measured(bench, engine, url, campaign)
            for workers in WORKERS[engine]:
                with servers.service(
                    url,
                    bench.folder,
                    rate_limit=0,
                    trusted_proxies="127.0.0.1",
                    workers=workers,
                ) as server:
                    meter = measured.meter(server)
                    costs[engine, workers, IDLE].append(meter.idle)
                    for _ in range(bench.size.rounds):
                        for case in LABELS:
                            cost = measured.run_case(server, meter, case, sink_port)
                            costs[engine, workers, case].append(cost)
                            bar.advance(measuring)
    return costs


def _sqlite_table(costs: Costs) -> Table:
    rows = []
    for case, label in LABELS.items():
        cost = median(costs["sqlite", 1, case])
        rows.append((label, f"{cost.service:,.0f}", f"{1_000_000 / cost.service:,.0f}"))
    idle = median(costs["sqlite", 1, IDLE])
    rows.append(("idle, for one second", f"{idle.service:,.0f}", ""))
    columns = ("request", "service (µs)", "one core serves per second")
    return Table("SQLite, one process", columns, rows, NOTE)


def _postgres_table(costs: Costs) -> Table:
    rows = []
    for case, label in LABELS.items():
        row = [label]
        by_workers = [median(costs["postgres", n, case]) for n in WORKERS["postgres"]]
        for cost in by_workers:
            row += [f"{cost.service:,.0f} + {cost.postgres:,.0f}"]
        growth = by_workers[-1].total / by_workers[0].total
        row += [
            f"{growth:.2f}",
            "" if growth <= GROWTH else "MORE",
            f"{1_000_000 / by_workers[0].total:,.0f}",
        ]
        rows.append(tuple(row))
    idle = [median(costs["postgres", n, IDLE]) for n in WORKERS["postgres"]]
    rows.append(
        (
            "idle, for one second",
            *(f"{cost.service:,.0f} + {cost.postgres:,.0f}" for cost in idle),
            *("", "", ""),
        )
    )
    columns = (
        "request",
        *(f"{n} process{'es' if n > 1 else ''} (µs)" for n in WORKERS["postgres"]),
        "growth",
        f"over {GROWTH}",
        "one core serves per second",
    )
    note = "Service + PostgreSQL. One core serves: one process and PostgreSQL together on one core."
    return Table("PostgreSQL", columns, rows, f"{note} {NOTE}")


def run(bench: Bench) -> list[Table]:
    costs = _measure(bench)
    tables = []
    if "sqlite" in bench.engines:
        tables.append(_sqlite_table(costs))
    if "postgres" in bench.engines:
        tables.append(_postgres_table(costs))
    return tables
