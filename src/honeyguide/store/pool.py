"""PostgreSQL connections from asyncpg's pool, and what a lost one means. Settings are startup
parameters and statements are prepared, so both stay with a connection; nothing else does, so it is
not reset when it is given back. What this means for PgBouncer is in docs/cluster.md.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any

import asyncpg

from honeyguide.kernel.errors import Unavailable
from honeyguide.store.connections import DOWN, DOWN_ERRORS, Servers, no_connection
from honeyguide.store.watch import PoolState, StoreWatch

ACQUIRE_S = 5.0
RELEASE_S = 5.0
CLOSE_S = 5.0
# For the answer to a statement. A slow snapshot may read ten million rows for one.
COMMAND_S = 30.0
SLOW_COMMAND_S = 3_600.0
# Here a plan made for the values costs a millisecond and may save seconds. PostgreSQL's own
# random_page_cost is that of a spinning disk: for a tenth of a table it would read all of it.
SLOW_SETTINGS = (
    "SET LOCAL statement_timeout = 0; SET LOCAL enable_seqscan = on; "
    "SET LOCAL random_page_cost = 1.1; SET LOCAL plan_cache_mode = force_custom_plan"
)
# A firewall may silently drop a connection that is idle for longer.
IDLE_S = 300.0
# A statement is prepared and planned again after this long, because its tables may have grown.
PLANNED_S = 300


class ConnectionPool:
    """asyncpg's pool, and how many callers wait for a connection from it."""

    def __init__(
        self, name: str, servers: Servers, size: int, settings: dict[str, str], watch: StoreWatch
    ) -> None:
        """At most `size` connections, opened when they are needed."""
        self._name = name
        self._servers = servers
        self._watch = watch
        self._waiting = 0
        self._opened: set[Any] = set()
        self._pool = asyncpg.create_pool(
            connect=self._connect,
            min_size=0,
            max_size=size,
            max_inactive_connection_lifetime=IDLE_S,
            reset=_keep,
            server_settings=settings,
            statement_cache_size=600,
            max_cached_statement_lifetime=PLANNED_S,
            command_timeout=COMMAND_S,
        )

    async def open(self) -> None:
        await self._pool

    async def _connect(self, _url: None, **options: Any) -> Any:
        connection = await self._servers.connect(**options)
        self._opened.add(connection)
        connection.add_termination_listener(self._opened.discard)
        return connection

    def drop(self) -> None:
        """Close all connections, also those in use, because their server does not answer."""
        for connection in [*self._opened]:
            connection.terminate()

    def state(self) -> PoolState:
        size = self._pool.get_size()
        return PoolState(
            name=self._name,
            most=self._pool.get_max_size(),
            open=size,
            in_use=size - self._pool.get_idle_size(),
            waiting=self._waiting,
        )

    async def try_to_connect(self) -> None:
        """An error that says why if there is no connection to be had."""
        try:
            connection = await self.acquire()
        except (*DOWN_ERRORS, asyncpg.PostgresError) as error:
            raise no_connection(error) from error
        await self.release(connection)

    async def acquire(self) -> Any:
        began = time.perf_counter()
        self._waiting += 1
        try:
            # The pool's own timeout would start a task for each connection taken.
            async with asyncio.timeout(ACQUIRE_S):
                return await self._pool.acquire()
        finally:
            self._waiting -= 1
            self._watch.on_wait(time.perf_counter() - began)

    async def release(self, connection: Any) -> None:
        """One that is lost by now is none of the pool's any more, and what was done on it is known:
        a transaction that was committed stays so."""
        with suppress(*DOWN_ERRORS):
            await self._pool.release(connection, timeout=RELEASE_S)

    async def close(self) -> None:
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._pool.close()
        except DOWN_ERRORS:
            self._pool.terminate()


async def _keep(_connection: Any) -> None:
    """The reset of a pool that needs none."""


class PooledConnection:
    """A connection of the pool, taken when it is first needed."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self._connection: Any = None
        self.timeout_s = COMMAND_S
        # Whether a transaction is open on it.
        self.has_begun = False

    async def get(self) -> Any:
        if self._connection is None:
            try:
                self._connection = await self._pool.acquire()
            except (*DOWN_ERRORS, asyncpg.PostgresError) as error:
                raise Unavailable(DOWN) from error
        return self._connection

    async def give_back(self, *, is_usable: bool) -> None:
        """Roll back a transaction left open. A connection that cannot do even that is closed, as
        is one on which a query may still be running.
        """
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            if is_usable and connection.is_in_transaction():
                await asyncio.shield(connection.execute("ROLLBACK", timeout=RELEASE_S))
        except (*DOWN_ERRORS, asyncpg.PostgresError, asyncio.CancelledError):
            is_usable = False
        if is_usable:
            await self._pool.release(connection)
        else:
            with suppress(asyncpg.InterfaceError):  # the pool knows already that it is lost
                connection.terminate()
