"""Two units of work at one moment, in the order a test chooses: the first has done its work and not
committed it when the second comes.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from honeyguide.store import Store
from honeyguide.store.tx import Tx

from .stores import outcome, statement

_NOTHING = statement("SELECT 1 AS one")
_WAITING = statement(
    "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = "
    "current_database()"
)

Work = Callable[[Tx], Awaitable[Any]]


async def overlapping(store: Store, first: Work, second: Work) -> tuple[Any, Any]:
    """What each came to, or its error. On PostgreSQL the first commits once the second waits for it
    or is at its end; SQLite has one writer, so there the second follows the first.
    """
    if store.engine == "sqlite":
        return await outcome(store.write(first)), await outcome(store.write(second))
    all_done, go_on = asyncio.Event(), asyncio.Event()

    async def held(tx: Tx) -> Any:
        result = await first(tx)
        await tx.all(_NOTHING)  # whatever was put has gone out
        all_done.set()
        await go_on.wait()
        return result

    async with asyncio.timeout(120):
        one = asyncio.create_task(outcome(store.write(held)))
        await asyncio.wait(
            [one, asyncio.create_task(all_done.wait())], return_when=asyncio.FIRST_COMPLETED
        )
        other = asyncio.create_task(outcome(store.write(second)))
        while not other.done() and not await store.read(lambda tx: tx.all(_WAITING)):
            await asyncio.sleep(0.005)
        go_on.set()
        return await one, await other
