"""A read replica for slow pages and exports. It is read only once it has everything that was
committed when the page was asked for, so nobody misses a change of their own: decision 21.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

from honeyguide.kernel.errors import Unavailable
from honeyguide.store.pool import ConnectionPool, PooledConnection

# How long a page waits for a replica that is behind, before it reads the primary.
CATCH_UP_S = 0.5
POLL_EVERY_S = 0.02
# How long a replica that was away or too far behind is left alone.
AVOID_S = 5.0

log = logging.getLogger("honeyguide.store")


class Replica:
    def __init__(self, pool: ConnectionPool) -> None:
        self.pool = pool
        self._avoid_until = 0.0

    async def has_caught_up(self, run: Callable[..., Any], primary: ConnectionPool) -> bool:
        """Whether everything committed by now can be read here. `run(pool, use, *args)` calls
        `use` with a connection of the pool.
        """
        if time.monotonic() < self._avoid_until:
            return False
        try:
            async with asyncio.timeout(CATCH_UP_S):
                position = await run(primary, _written_up_to)
                while not await run(self.pool, _has_replayed, position):
                    await asyncio.sleep(POLL_EVERY_S)
        except (TimeoutError, Unavailable):
            self.avoid()
            return False
        return True

    def avoid(self) -> None:
        self._avoid_until = time.monotonic() + AVOID_S
        log.warning("The read replica is away or behind. Slow pages read the primary for a while.")


async def _written_up_to(pooled: PooledConnection) -> str:
    """The primary's position in its log. Everything that was acknowledged is before it."""
    found: str = await (await pooled.get()).fetchval("SELECT pg_current_wal_lsn()::TEXT")
    return found


async def _has_replayed(pooled: PooledConnection, position: str) -> bool:
    found: bool | None = await (await pooled.get()).fetchval(
        "SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= $1::TEXT::PG_LSN", position
    )
    return bool(found)
