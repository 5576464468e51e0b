"""The same requests, jobs and deliveries with 100,000 subscribers and with 10 million (SQLite: a
million), in turn. What was measured is kept beside the databases, and not measured again.

Filling takes about half an hour, measuring as long. Delete the folder when done: it has 15 GB.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import resource
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import processes, servers
from bench.deliveries import FACTS, HOME
from bench.people import Campaign
from bench.plan import Bench
from bench.report import Table, console
from bench.scale import databases
from bench.scale.asks import ASKS, LIMIT_S, milliseconds
from bench.scale.databases import Folder
from bench.scale.expressions import LARGE, Sizes
from bench.servers import Server
from honeyguide import settings
from honeyguide.app import Services, opened
from honeyguide.events import outbox, webhooks
from honeyguide.events.webhooks import Flags, Webhook
from honeyguide.kernel.background import LoopHealth, keep_running
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.tx import Tx, timed
from honeyguide.work import money
from honeyguide.work.items import Job
from tests.support.changes import changing

ABOUT = "Growth: ten million subscribers on PostgreSQL, a million on SQLite"
DELIVERIES = 500


def folder_of(bench: Bench) -> Path:
    return Path(bench.size.keep or Path(tempfile.gettempdir()) / "honeyguide-scale")


def sizes_of(bench: Bench, engine: str) -> tuple[Sizes, Sizes]:
    """The small and the large database, a thousand subscribers to an account."""
    small = bench.size.rows // 10
    large = bench.size.rows * (10 if engine == "postgres" else 1)
    return Sizes(small, max(20, small // 1000)), Sizes(large, max(20, large // 1000))


@dataclass(frozen=True)
class Measured:
    """A filled database, for a process of its own, so that its memory can be told."""

    folder: Path
    url: str
    prefix: str  # of the names of its figures
    campaign: Campaign
    sink_port: int


Databases = dict[Sizes, dict[str, Campaign]]


def _figures(folder: Folder, engine: str, filled: Databases, bench: Bench) -> None:
    """Everything over HTTP, one database after the other for each request. The servers run no
    jobs, which are measured by themselves."""
    with ExitStack() as stack:
        running: dict[Sizes, Server] = {}
        for sizes in filled:
            url = folder.url(engine, sizes)
            running[sizes] = stack.enter_context(
                servers.service(url, bench.folder, rate_limit=0, work=False)
            )
        for ask in ASKS:
            for sizes, campaigns in filled.items():
                name = _name(engine, sizes, f"{ask.label}, {ask.account} account")
                port, campaign = running[sizes].port, campaigns[ask.account]
                took = folder.figure(name, partial(milliseconds, port, ask, campaign))
                console.print(f"{name}: {took:.1f}")
        for sizes, server in running.items():
            name = _name(engine, sizes, "memory after these requests (MB)")
            folder.figure(name, lambda server=server: sum(processes.memory_mb(server.pid)))  # type: ignore[misc]


def _name(engine: str, sizes: Sizes, label: str) -> str:
    return f"{engine} {sizes.subscribers}: {label}"


def _run_jobs(measured: Measured) -> None:
    money.CHECK_PAUSE = 0.0  # the work is measured, not the pauses
    asyncio.run(_jobs(measured))


async def _jobs(measured: Measured) -> None:
    """Each background job once, and deliveries, without a server beside them."""
    folder = Folder(measured.folder, None)
    chosen = settings.read({"HONEYGUIDE_DATABASE_URL": measured.url})
    async with opened(chosen) as services:
        for job in services.loop.jobs:
            name = f"{measured.prefix}job: {job.name}"
            if name not in folder.state.figures:
                took = await _job_ms(services, job)
                folder.figure(name, lambda took=took: took)  # type: ignore[misc]
                console.print(f"{name}: {took:.1f}")
        name = f"{measured.prefix}{DELIVERIES} deliveries"
        if name not in folder.state.figures:
            took = await _deliver(services, measured.campaign, measured.sink_port)
            folder.figure(name, lambda: took)
            console.print(f"{name}: {took:.1f}")
    name = f"{measured.prefix}most memory during the jobs (MB)"
    folder.figure(name, lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


async def _job_ms(services: Services, job: Job) -> float:
    began = time.perf_counter()
    try:
        async with asyncio.timeout(LIMIT_S):
            await services.loop.once(job)
    except TimeoutError:
        return LIMIT_S * 1000
    return (time.perf_counter() - began) * 1000


async def _deliver(services: Services, campaign: Campaign, port: int) -> float:
    """From the start of the dispatcher until everything has arrived and is recorded."""
    store, account_id = services.store, campaign.account_id
    tenant = Tenant(account_id, campaign.id)
    hook: Webhook = await store.write(
        changing(webhooks.create, services.site, tenant, system_clock()),
        "",
        f"http://127.0.0.1:{port}/hook",
        Flags(new_referral=True),
        policy=HOME,
    )
    for _ in range(DELIVERIES // 50):
        await store.write(_emit, account_id, hook.id)
    began = time.perf_counter()
    dispatching = asyncio.create_task(
        keep_running(services.dispatcher, LoopHealth(services.dispatcher.name))
    )
    while (await store.read(timed(webhooks.backlog, system_clock()))).n:
        await asyncio.sleep(0.01)
    took = (time.perf_counter() - began) * 1000
    dispatching.cancel()
    await asyncio.gather(dispatching, return_exceptions=True)
    delete = changing(webhooks.delete, services.site, tenant, system_clock())
    await store.write(delete, "", hook.id)
    return took


async def _emit(tx: Tx, account_id: str, webhook_id: str) -> None:
    event = outbox.Event(account_id, outbox.NEW_REFERRAL, FACTS, [webhook_id], None)
    await outbox.emit(tx.at(system_clock()), [event] * 50)


def _shown(milliseconds: float) -> str:
    limit_ms = LIMIT_S * 1000
    return f"{milliseconds:,.1f}" if milliseconds < limit_ms else f"over {limit_ms:,.0f}"


def _table(folder: Folder, engine: str, small: Sizes, large: Sizes) -> Table:
    title = {"sqlite": "SQLite", "postgres": "PostgreSQL"}[engine]
    rows = []
    prefix = _name(engine, small, "")
    for name, before in folder.state.figures.items():
        label = name.removeprefix(prefix)
        after = folder.state.figures.get(_name(engine, large, label))
        if name.startswith(prefix) and after is not None:
            rows.append((label, _shown(before), _shown(after), f"{after / before:.2f}"))
    columns = (
        "",
        f"{small.subscribers:,} subscribers (ms)",
        f"{large.subscribers:,} subscribers (ms)",
        "ratio",
    )
    note = (
        f"The large account has a tenth of all subscribers, so it grows with the database: "
        f"{small.large:,} and {large.large:,}. The ordinary one has about {large.ordinary:,} in "
        f"both. {small.accounts:,} and {large.accounts:,} accounts. The quickest "
        "of up to 30 requests is shown, of 3 for searches, of 1 for exports. The check of the "
        "ledger is measured without its pauses."
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
                    measured = Measured(
                        folder=folder.path,
                        url=folder.url(engine, sizes),
                        prefix=_name(engine, sizes, ""),
                        campaign=filled[sizes][LARGE],
                        sink_port=port,
                    )
                    apart = multiprocessing.get_context("spawn").Process(
                        target=_run_jobs, args=(measured,)
                    )
                    apart.start()
                    apart.join()
                    folder.load()
            tables.append(_table(folder, engine, small, large))
    return tables
