"""The same requests, jobs and deliveries with 100,000 subscribers and with 10 million (SQLite: a
million), in turn. What was measured is kept beside the databases, and not measured again.

Filling takes about half an hour, measuring as long. Delete the folder when done: it has 15 GB.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from bench import processes, servers
from bench.deliveries import FACTS, HOME
from bench.people import Campaign
from bench.plan import Bench
from bench.report import Table, console
from bench.scale import databases
from bench.scale.asks import ASKS, milliseconds
from bench.scale.databases import Folder
from bench.scale.words import LARGE, Sizes
from bench.servers import Server
from honeyguide import settings
from honeyguide.app import Services, opened
from honeyguide.events import outbox, webhooks
from honeyguide.events.webhooks import Flags, Webhook
from honeyguide.kernel.clock import system_clock
from honeyguide.store.tx import Tx

ABOUT = "Growth: ten million subscribers on PostgreSQL, a million on SQLite"
DELIVERIES = 500


def folder_of(bench: Bench) -> Path:
    return Path(bench.size.keep or Path(tempfile.gettempdir()) / "honeyguide-scale")


def sizes_of(bench: Bench, engine: str) -> tuple[Sizes, Sizes]:
    """The small and the large database, a thousand subscribers to an account."""
    small = bench.size.rows // 10
    large = bench.size.rows * (10 if engine == "postgres" else 1)
    return Sizes(small, max(20, small // 1000)), Sizes(large, max(20, large // 1000))


Databases = dict[Sizes, dict[str, Campaign]]


def _figures(folder: Folder, engine: str, filled: Databases, bench: Bench) -> None:
    """Everything over HTTP, one database after the other for each request."""
    with ExitStack() as stack:
        running: dict[Sizes, Server] = {}
        for sizes in filled:
            url = folder.url(engine, sizes)
            running[sizes] = stack.enter_context(servers.service(url, bench.folder, rate_limit=0))
        for ask in ASKS:
            for sizes, campaigns in filled.items():
                name = _name(engine, sizes, f"{ask.words}, {ask.account} account")
                port, campaign = running[sizes].port, campaigns[ask.account]
                took = folder.figure(name, partial(milliseconds, port, ask, campaign))
                console.print(f"{name}: {took:.1f}")
        for sizes, server in running.items():
            name = _name(engine, sizes, "memory after these requests (MB)")
            folder.figure(name, lambda server=server: sum(processes.memory_mb(server.pid)))  # type: ignore[misc]


def _name(engine: str, sizes: Sizes, words: str) -> str:
    return f"{engine} {sizes.subscribers}: {words}"


async def _jobs(folder: Folder, engine: str, sizes: Sizes, campaign: Campaign, port: int) -> None:
    """Each background job once, and deliveries, without a server beside them."""
    chosen = settings.read({"HONEYGUIDE_DATABASE_URL": folder.url(engine, sizes)})
    async with opened(chosen) as services:
        for job in services.loop.jobs:
            name = _name(engine, sizes, f"job: {job.name}")
            if name not in folder.state.figures:
                began = time.perf_counter()
                await services.loop.once(job)
                took = (time.perf_counter() - began) * 1000
                folder.figure(name, lambda took=took: took)  # type: ignore[misc]
                console.print(f"{name}: {took:.1f}")
        name = _name(engine, sizes, f"{DELIVERIES} deliveries")
        if name not in folder.state.figures:
            took = await _deliver(services, campaign, port)
            folder.figure(name, lambda: took)
            console.print(f"{name}: {took:.1f}")


async def _deliver(services: Services, campaign: Campaign, port: int) -> float:
    """From the start of the dispatcher until everything has arrived and is recorded."""
    store, account_id = services.store, campaign.account_id
    hook: Webhook = await store.write(
        webhooks.create,
        account_id,
        "",
        f"http://127.0.0.1:{port}/hook",
        Flags(new_referral=True),
        policy=HOME,
        now_ms=system_clock(),
    )
    for _ in range(DELIVERIES // 50):
        await store.write(_emit, account_id, hook.id)
    began = time.perf_counter()
    dispatching = asyncio.create_task(services.dispatcher.run())
    while (await store.read(webhooks.backlog, now_ms=system_clock())).n:
        await asyncio.sleep(0.01)
    took = (time.perf_counter() - began) * 1000
    dispatching.cancel()
    await asyncio.gather(dispatching, return_exceptions=True)
    await store.write(webhooks.delete, account_id, "", hook.id)
    return took


async def _emit(tx: Tx, account_id: str, webhook_id: str) -> None:
    for _ in range(50):
        await outbox.emit(
            tx,
            account_id,
            outbox.NEW_REFERRAL,
            FACTS,
            to=[webhook_id],
            subscriber_id=None,
            now_ms=system_clock(),
        )


def _table(folder: Folder, engine: str, small: Sizes, large: Sizes) -> Table:
    title = {"sqlite": "SQLite", "postgres": "PostgreSQL"}[engine]
    rows = []
    prefix = _name(engine, small, "")
    for name, before in folder.state.figures.items():
        words = name.removeprefix(prefix)
        after = folder.state.figures.get(_name(engine, large, words))
        if name.startswith(prefix) and after is not None:
            rows.append((words, f"{before:,.1f}", f"{after:,.1f}", f"{after / before:.2f}"))
    columns = (
        "",
        f"{small.subscribers:,} subscribers (ms)",
        f"{large.subscribers:,} subscribers (ms)",
        "ratio",
    )
    note = (
        f"The large account has a tenth of all subscribers, so it grows with the database: "
        f"{small.large:,} and {large.large:,}. The ordinary one has about {large.ordinary:,} in "
        f"both. {small.accounts:,} and {large.accounts:,} accounts."
    )
    return Table(title, columns, rows, note)


def run(bench: Bench) -> list[Table]:
    tables = []
    for engine in bench.engines:
        small, large = sizes_of(bench, engine)
        with databases.opened(folder_of(bench), with_postgres=engine == "postgres") as folder:
            filled = {
                sizes: folder.database(engine, sizes, console.print) for sizes in (small, large)
            }
            _figures(folder, engine, filled, bench)
            with servers.sink() as port:
                for sizes in filled:
                    asyncio.run(_jobs(folder, engine, sizes, filled[sizes][LARGE], port))
            tables.append(_table(folder, engine, small, large))
    return tables
