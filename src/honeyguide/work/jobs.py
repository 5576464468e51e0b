"""Time-driven work, one table: what, and how often."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from honeyguide.accounts import idempotency
from honeyguide.events import outbox
from honeyguide.kernel.clock import HOUR_MS, MINUTE_MS, SECOND_MS
from honeyguide.referrals import listing
from honeyguide.store import Store
from honeyguide.store.tx import Tx

# A job does one bounded batch and tells whether more waits.
Batch = Callable[[Store, int], Awaitable[bool]]


@dataclass(frozen=True)
class Job:
    name: str
    every_ms: int
    batch: Batch


async def fold_listings(store: Store, now_ms: int) -> bool:
    return await store.write(listing.fold, snapshot=True)


async def purge_idempotency(store: Store, now_ms: int) -> bool:
    async def work(tx: Tx) -> bool:
        return await idempotency.purge(tx, now_ms=now_ms)

    return await store.write(work)


async def purge_events(store: Store, now_ms: int) -> bool:
    async def work(tx: Tx) -> bool:
        return await outbox.purge(tx, now_ms=now_ms)

    return await store.write(work)


JOBS = (
    Job("fold listings", SECOND_MS, fold_listings),
    Job("purge idempotency keys", 10 * MINUTE_MS, purge_idempotency),
    Job("purge old events", HOUR_MS, purge_events),
)
