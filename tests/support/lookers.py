"""Processes that verify the same due referrals beside each other, each with a store of its own."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
from collections.abc import Awaitable, Callable

from honeyguide.kernel.tenant import Tenant
from honeyguide.signups import signups
from honeyguide.store import Tx, open_store

from .changes import SITE, changing
from .confirmers import side_by_side


async def _verify(url: str, owner: Tenant, ids: list[str], now_ms: int) -> None:
    store = await open_store(url, pool_size=4)
    verify_due = changing(signups.verify_due, SITE, owner, now_ms)

    def verifying(subscriber_id: str) -> Callable[[], Awaitable[None]]:
        async def work(tx: Tx) -> None:
            await verify_due(tx, subscriber_id)

        return lambda: store.write(work)

    await side_by_side([verifying(each) for each in ids])
    await store.close()


def _run(url: str, owner: Tenant, ids: list[str], now_ms: int, seed: int) -> None:
    random.Random(seed).shuffle(ids)
    asyncio.run(_verify(url, owner, ids, now_ms))


def verify_together(
    url: str, owner: Tenant, ids: list[str], now_ms: int, *, processes: int
) -> None:
    forked = multiprocessing.get_context("forkserver")  # `confirmers` tells it what to import once
    crowd = [
        forked.Process(target=_run, args=(url, owner, list(ids), now_ms, seed))
        for seed in range(processes)
    ]
    for process in crowd:
        process.start()
    for process in crowd:
        process.join()
        assert process.exitcode == 0
