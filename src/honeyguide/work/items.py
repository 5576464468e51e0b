"""What a background job is, and how it goes through rows or accounts: it finds some, and does them
together. If that fails, each is done alone, and those that fail alone are skipped, recorded and
tried again later. So no row stops a job for everybody.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from honeyguide.kernel import actors
from honeyguide.kernel.clock import Clock, system_clock
from honeyguide.kernel.isolation import do_all
from honeyguide.kernel.site import Site
from honeyguide.store import Store, job_failures
from honeyguide.store.change import Change
from honeyguide.store.purging import Purge
from honeyguide.store.tx import Tx, timed

log = logging.getLogger("honeyguide.work")

Find = Callable[..., Awaitable[Sequence[Any]]]
Do = Callable[[Store, Sequence[Any], int], Awaitable[bool]]


@dataclass(frozen=True)
class Items:
    """`find(tx, most=)` reads what is to do. `do(store, some, now_ms)` does it and returns
    whether there may be more. It must be safe to do again what was done, or half done, before: of a
    batch that failed, each item is done alone.
    """

    find: Find
    do: Do
    # How many are found at once, and how many are done together.
    most: int = 1
    together: int = 1


# What cannot be done in parts: it does one bounded batch and returns whether there is more to do.
Batch = Callable[[Store, int], Awaitable[bool]]
Probe = Callable[..., Awaitable[bool]]


@dataclass(frozen=True)
class Job:
    """A job goes through items, of which one that fails stops no other (`items`). Only what is
    about the whole installation is a `Batch`; then `probe` returns whether there is anything to do.
    """

    name: str
    every_ms: int
    work: tuple[Items, ...] | Batch
    probe: Probe | None = None
    # A commit that wakes this topic also starts the job.
    topic: str | None = None
    # Whether it runs at every interval. Others look first, so that an idle installation writes
    # nothing for them.
    always_runs: bool = False


def one_by_one(site: Site, write: Callable[..., Awaitable[Any]]) -> Do:
    """Each item in a transaction of its own: `write(tx, site, item)`."""

    async def do(store: Store, found: Sequence[Any], now_ms: int) -> bool:
        for item in found:
            await store.write(timed(write, now_ms), site, item)
        return True

    return do


def changes_of(site: Site, job: str, make: Callable[[Change, Any], Awaitable[Any]]) -> Do:
    """Each item in a transaction of its own, as a change to its tenant by this job."""

    async def write(tx: Tx, site: Site, item: Any) -> None:
        await make(Change(tx, site, item.tenant, actors.job(job), tx.now_ms), item)

    return one_by_one(site, write)


def purged(*purges: Purge[Any]) -> tuple[Items, ...]:
    """Deletes old rows, one batch of each kind at a time."""

    def items(purge: Purge[Any]) -> Items:
        async def delete(store: Store, rows: Sequence[Any], now_ms: int) -> bool:
            await store.write(purge.delete, rows)
            return len(rows) == purge.batch

        return Items(purge.find, delete, purge.batch, purge.batch)

    return tuple(items(purge) for purge in purges)


def key_of(item: Any) -> str:
    """An ID, or a hash: what tells the item from others in the log must not be personal."""
    if isinstance(item, str):
        return item
    if isinstance(key := getattr(item, "id", None), str):
        return key
    return hashlib.sha256("\0".join(map(str, item)).encode()).hexdigest()[:32]


async def find_items(store: Store, items: Items, skipped: set[str], now_ms: int) -> list[Any]:
    """The next ones. Those that are skipped are found too, so it looks for as many more."""
    found = await store.read(timed(items.find, now_ms), most=items.most + len(skipped))
    return [item for item in found if key_of(item) not in skipped][: items.most]


async def has_any(store: Store, job: str, work: Sequence[Items], now_ms: int) -> bool:
    for items in work:
        if await store.read(timed(items.find, now_ms), most=1):
            skipped = await store.read(timed(job_failures.skipped, system_clock()), job)
            if not skipped or await find_items(store, items, skipped, now_ms):
                return True
    return False


async def run_all(store: Store, job: str, work: Sequence[Items], clock: Clock) -> bool:
    """Returns whether there was anything to do."""
    began_ms = system_clock()
    had_any = [await _run(store, job, items, clock) for items in work]
    await store.write(job_failures.forget_tried, job, tried_ms=began_ms)
    return any(had_any)


async def _run(store: Store, job: str, items: Items, clock: Clock) -> bool:
    skipped = await store.read(timed(job_failures.skipped, system_clock()), job)
    more, had_any = True, False
    while more:
        now_ms = clock()
        found = await find_items(store, items, skipped, now_ms)
        more, had_any = False, had_any or bool(found)

        async def do(some: Sequence[Any], now_ms: int = now_ms) -> None:
            nonlocal more
            more = await items.do(store, some, now_ms) or more

        for start in range(0, len(found), items.together):
            for item, error in await do_all(found[start : start + items.together], do):
                more = more or len(found) == items.most
                skipped.add(key_of(item))
                await _record(store, job, key_of(item), error)
    return had_any


async def _record(store: Store, job: str, key: str, error: Exception) -> None:
    log.error("Skipped %s, which failed; it will be tried again", key, exc_info=error)
    kind = type(error).__name__
    await store.write(timed(job_failures.record, system_clock()), job, key, kind)
