"""Runs what a job goes through, without its lease."""

from honeyguide.store import Store, job_failures
from honeyguide.work.items import Items, run_all


async def run_items(store: Store, items: Items, now_ms: int) -> None:
    """Nothing may fail in it."""
    await run_all(store, "test", (items,), lambda: now_ms)
    assert not [each for each in await store.read(job_failures.list_all) if each.job == "test"]
