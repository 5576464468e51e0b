"""A pool of PostgreSQL connections, the last used first. Taking an idle one and giving it back
never waits: asyncpg's own pool spends more time on that (42 µs) than on a query (31 µs).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg

from honeyguide.kernel.errors import Unavailable

RELEASE_S = 5.0
# A firewall may silently drop a connection that is idle for longer.
IDLE_S = 300.0


# Errors that pass: the connection broke (08), the server lacks resources (53), an operator or a
# limit of ours stopped it (57, idle in a transaction), its disk failed (58), or a replica is not
# the leader yet.
DOWN_ERRORS = (
    asyncpg.PostgresConnectionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.OperatorInterventionError,
    asyncpg.PostgresSystemError,
    asyncpg.PostgresIOError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)
DOWN = "The database is not responding; try again in a moment."
NO_CONNECTION = (
    "Cannot connect to PostgreSQL: {error}. "
    "Check HONEYGUIDE_DATABASE_URL and that the server is running."
)


class Pool:
    """At most `size` connections, opened when they are needed."""

    def __init__(
        self, connect: Callable[[], Awaitable[Any]], size: int, *, patience_s: float
    ) -> None:
        self._connect = connect
        self._size = size
        self._patience_s = patience_s
        self._open = 0
        self._idle: list[tuple[Any, float]] = []
        self._taken: set[Any] = set()
        # Each with the time when its patience ends.
        self._waiting: deque[tuple[asyncio.Future[Any], float]] = deque()
        self._alarm: asyncio.TimerHandle | None = None

    async def take(self) -> Any:
        """Take a connection until it is given back. TimeoutError if none is free for too long."""
        while True:
            connection = self._find_idle() or (
                await self._another() if self._open < self._size else await self._wait()
            )
            if connection is not None:
                self._taken.add(connection)
                return connection

    def _find_idle(self) -> Any:
        while self._idle:
            connection, since = self._idle.pop()
            if not connection.is_closed():
                if asyncio.get_running_loop().time() - since < IDLE_S:
                    return connection
                connection.terminate()
            self._open -= 1
        return None

    async def _another(self) -> Any:
        self._open += 1
        try:
            return await self._connect()
        except BaseException:
            self._lose()
            raise

    async def _wait(self) -> Any:
        """Wait for the next one given back; None if there is room to open another."""
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        self._waiting.append((waiter, loop.time() + self._patience_s))
        if self._alarm is None:
            self._alarm = loop.call_later(self._patience_s, self._end_patience)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._pass_on(waiter.result())  # it came as our caller gave up
            raise

    def _end_patience(self) -> None:
        """One timer for all: it fires for the longest waiter and is then set for the next."""
        self._alarm = None
        loop = asyncio.get_running_loop()
        while self._waiting:
            waiter, until = self._waiting[0]
            if not waiter.done() and until > loop.time():
                self._alarm = loop.call_at(until, self._end_patience)
                return
            self._waiting.popleft()
            if not waiter.done():
                waiter.set_exception(TimeoutError())

    def give(self, connection: Any) -> None:
        """Give it to the next waiter. A closed connection only makes room for a new one."""
        self._taken.discard(connection)
        if connection.is_closed():
            self._lose()
        else:
            self._pass_on(connection)

    def _lose(self) -> None:
        self._open -= 1
        self._pass_on(None)

    def _pass_on(self, connection: Any) -> None:
        while self._waiting:
            waiter, _ = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(connection)
                return
        if connection is not None:
            self._idle.append((connection, asyncio.get_running_loop().time()))

    async def close(self) -> None:
        """Close the idle connections properly and terminate the others."""
        if self._alarm is not None:
            self._alarm.cancel()
        for connection in self._taken:
            connection.terminate()
        idle, self._idle = self._idle, []
        await asyncio.gather(
            *(connection.close() for connection, _ in idle), return_exceptions=True
        )

    def terminate(self) -> None:
        for connection in (*self._taken, *(connection for connection, _ in self._idle)):
            connection.terminate()


class Lent:
    """A connection of the pool, taken when it is first needed."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._connection: Any = None

    async def get(self) -> Any:
        if self._connection is None:
            try:
                self._connection = await self._pool.take()
            except (*DOWN_ERRORS, asyncpg.PostgresError) as error:
                raise Unavailable(DOWN) from error
        return self._connection

    def cut(self) -> None:
        if self._connection is not None:
            self._connection.terminate()

    async def give_back(self) -> None:
        """Roll back a transaction left open. A connection that cannot do even that is closed."""
        connection = self._connection
        if connection is None:
            return
        try:
            if not connection.is_closed() and connection.is_in_transaction():
                await asyncio.shield(connection.execute("ROLLBACK", timeout=RELEASE_S))
        except (*DOWN_ERRORS, asyncpg.PostgresError, asyncio.CancelledError):
            connection.terminate()
        finally:
            self._pool.give(connection)
