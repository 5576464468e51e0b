"""Webhook deliveries: the dispatcher as a serving process runs it, against a bare loop of the same
HTTP client.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
import urllib.request
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
import uvloop

from bench import people, servers
from bench.plan import Bench, progress
from bench.report import Table, verdict
from honeyguide.events import outbox, signature, webhooks
from honeyguide.events.addresses import OutboundPolicy
from honeyguide.events.dispatcher import IN_FLIGHT_PER_WEBHOOK, Dispatcher
from honeyguide.events.outbound import Outbound
from honeyguide.events.webhooks import Flags, Webhook
from honeyguide.kernel.background import LoopHealth, keep_running, tune_collector
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import Store, migrate, open_store
from honeyguide.store.tx import Tx
from tests.support.changes import SITE, changing
from tests.support.readings import account_reading

ABOUT = "Deliveries: emptying the outbox, compared with a bare loop of the same HTTP client"
TARGET = 0.50
# Times as many rounds as elsewhere: one takes a second, and the machine's speed changes as fast.
TIMES = 3
WEBHOOKS = (1, 100)
HOME = OutboundPolicy(https_only=False, loopback_ok=True)
PERSON = {
    "id": "019a852a-63e0-7b2f-8a01-6f1c1a2b3c4d",
    "email": "ben@example.org",
    "name": "Ben Okafor",
    "first_name": "Ben",
    "referral_code": "k7m2p9qx",
    "referral_link": "https://refer.example.org/r/k7m2p9qx",
    "referred": True,
    "referral_status": "verified",
    "tot_referrals": 0,
    "next_reward": None,
    "next_reward_details": None,
    "created_at": 1794706201,
}
FACTS = {
    "campaign_id": "019a8000-1111-7a11-8111-111111111111",
    "subscriber": PERSON,
    "referrer": PERSON,
}


@dataclass
class Figures:
    rates: dict[tuple[str, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    ratios: dict[tuple[str, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    waits_ms: dict[tuple[str, int], list[float]] = field(default_factory=lambda: defaultdict(list))


class Post:
    """One database with some webhooks, all of them leading to the sink."""

    def __init__(self, store: Store, account_id: str, hooks: list[Webhook], port: int) -> None:
        self.store, self.account_id, self.hooks, self.port = store, account_id, hooks, port
        self.outbound = Outbound(HOME)

    async def emit(self, events: int) -> None:
        """So many events, each to every webhook, in transactions of at most fifty."""
        for done in range(0, events, 50):
            await self.store.write(self._emit, min(50, events - done))

    async def _emit(self, tx: Tx, count: int) -> None:
        to = (await outbox.listeners_of(account_reading(tx, self.account_id)))[outbox.NEW_REFERRAL]
        event = outbox.Event(self.account_id, outbox.NEW_REFERRAL, FACTS, to, None)
        await outbox.emit(tx.at(system_clock()), [event] * count)

    async def notes(self, count: int = 0) -> list[tuple[str, float]]:
        """What the sink noted, once it has noted so many."""
        return await asyncio.to_thread(self._ask_sink, count)

    def _ask_sink(self, count: int) -> list[tuple[str, float]]:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{self.port}/notes/{count}", timeout=120
        ) as answer:
            return json.load(answer)  # type: ignore[no-any-return]

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """The dispatcher's own loop, as in a serving process; at the end everything is on
        record.
        """
        dispatcher = Dispatcher(self.store, self.outbound, system_clock)
        loop = asyncio.create_task(keep_running(dispatcher, LoopHealth(dispatcher.name)))
        try:
            yield
        finally:
            loop.cancel()
            await asyncio.gather(loop, return_exceptions=True)

    async def arrivals(self, count: int) -> list[float]:
        found = await self.notes(count)
        if len(found) != count:
            raise RuntimeError(f"{len(found)} deliveries arrived where {count} were expected")
        return [at for _, at in found]

    async def empty_the_outbox(self, deliveries: int) -> float:
        """Deliveries a second."""
        events = deliveries // len(self.hooks)
        await self.emit(events)
        await self.notes()
        began = time.monotonic()
        async with self.working():
            last = max(await self.arrivals(events * len(self.hooks)))
        return events * len(self.hooks) / (last - began)

    async def waits_ms(self, samples: int) -> list[float]:
        """From the commit to each arrival, while the dispatcher has nothing else to do."""
        waits: list[float] = []
        await self.notes()
        async with self.working():
            await asyncio.sleep(0.2)
            for _ in range(samples):
                await self.emit(1)
                committed = time.monotonic()
                waits += [
                    max(0.0, at - committed) * 1000 for at in await self.arrivals(len(self.hooks))
                ]
        return waits

    async def bare(self, deliveries: int) -> float:
        """The client's own speed: as many at once, the same bytes and headers, nothing kept."""
        secret, body = (
            signature.new_secret(),
            json.dumps({"type": "new_referral", **FACTS}).encode(),
        )
        headers = {
            "content-type": "application/json",
            "webhook-id": "msg_019a852a-63e3-7c41-9d55-0a7c7f5d2b10",
            "webhook-timestamp": "1794706201",
            "webhook-signature": signature.sign([secret], "msg_1", 1794706201, body),
        }
        left = iter(range(deliveries))

        async def post(session: aiohttp.ClientSession) -> None:
            for _ in left:
                async with session.post(
                    f"http://127.0.0.1:{self.port}/hook", data=body, headers=headers
                ) as answer:
                    await answer.read()

        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1000)) as session:
            began = time.perf_counter()
            await asyncio.gather(
                *(post(session) for _ in range(IN_FLIGHT_PER_WEBHOOK * len(self.hooks)))
            )
            took = time.perf_counter() - began
        await self.notes()
        return deliveries / took


async def _opened(database_url: str, webhook_count: int, port: int) -> Post:
    await migrate(database_url)
    store = await open_store(database_url, pool_size=10)
    account_id = (await people.campaign(store, webhook_count, 1)).account_id
    create = changing(webhooks.create, SITE, Tenant(account_id, ""), system_clock())
    url = f"http://127.0.0.1:{port}/hook"
    made = [
        await store.write(create, "", url, Flags(new_referral=True), policy=HOME)
        for _ in range(webhook_count)
    ]
    return Post(store, account_id, made, port)


async def _measure(bench: Bench, port: int) -> Figures:
    figures, deliveries = Figures(), max(400, bench.size.people // 2)
    posts = {
        (engine, count): await _opened(
            bench.database_url(engine, f"deliveries_{count}"), count, port
        )
        for engine in bench.engines
        for count in WEBHOOKS
    }
    tune_collector()  # as in a serving process, for the bare loop as well
    with progress() as bar:
        measuring = bar.add_task(
            "deliveries", total=TIMES * bench.size.rounds * len(WEBHOOKS) * len(bench.engines)
        )
        for number in range(TIMES * bench.size.rounds):
            for count in WEBHOOKS:
                for engine in bench.engines:
                    post = posts[engine, count]
                    # The machine's own speed changes within seconds, so the bare loop runs right
                    # before and right after.
                    before = await post.bare(deliveries)
                    rate = await post.empty_the_outbox(deliveries)
                    base = (before + await post.bare(deliveries)) / 2
                    figures.rates["bare", count].append(base)
                    figures.rates[engine, count].append(rate)
                    figures.ratios[engine, count].append(rate / base)
                    if number % TIMES == 0:
                        figures.waits_ms[engine, count] += await post.waits_ms(bench.size.samples)
                    bar.advance(measuring)
    for post in posts.values():
        await post.outbound.close()
        await post.store.close()
    return figures


def run(bench: Bench) -> list[Table]:
    with servers.sink() as port:
        figures = uvloop.run(_measure(bench, port))
    columns = (
        "webhooks",
        "of bare",
        "target",
        "reached",
        "per second",
        "bare per second",
        "commit to arrival p50 ms",
        "p99 ms",
    )
    tables = []
    for engine in bench.engines:
        rows = []
        for count in WEBHOOKS:
            ratio, waits = (
                statistics.median(figures.ratios[engine, count]),
                figures.waits_ms[engine, count],
            )
            rows.append(
                (
                    str(count),
                    f"{ratio:.2f}",
                    *verdict(ratio, TARGET),
                    f"{statistics.median(figures.rates[engine, count]):,.0f}",
                    f"{statistics.median(figures.rates['bare', count]):,.0f}",
                    f"{statistics.median(waits):.1f}",
                    f"{statistics.quantiles(waits, n=100)[-1]:.1f}",
                )
            )
        note = (
            f"{TIMES * bench.size.rounds} interleaved rounds, medians. "
            "Each delivery is claimed, signed, guarded and recorded."
        )
        tables.append(
            Table({"sqlite": "SQLite", "postgres": "PostgreSQL"}[engine], columns, rows, note)
        )
    return tables
