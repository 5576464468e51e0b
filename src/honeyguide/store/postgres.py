"""PostgreSQL through asyncpg, with few round trips: a transaction begins at its first write that wants an answer, and writes
that want none travel together as one statement. READ COMMITTED, so a read before the first write loses nothing by that.
"""

from __future__ import annotations

import asyncio
import functools
import random
import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import asyncpg

from honeyguide.kernel.errors import Unavailable
from honeyguide.store.pool import Pool
from honeyguide.store.statements import Statement
from honeyguide.store.tx import Again, Refusals, Work, refusal

R = TypeVar("R")
T = TypeVar("T")

ATTEMPTS = 5
ACQUIRE_S = 5.0
CONNECT_S = 5.0
RELEASE_S = 5.0
# Writes that travel as one statement. Each combination is prepared once per connection and a statement has at most 32,767
# parameters, so this is bounded; past it the rest follows in the next round trip.
TOGETHER = 8
# A twin waits this long for the first to finish; every other lock is held for milliseconds.
LOCK_MS = 10_000
SETTINGS = {
    "timezone": "UTC",
    "application_name": "honeyguide",
    "lock_timeout": str(LOCK_MS),
    "statement_timeout": str(LOCK_MS + 5_000),
    "idle_in_transaction_session_timeout": "30000",
    # The planner's compiled plans cost more than our short statements do.
    "jit": "off",
    # Statements are written for their indexes. A plan made while a table was small would else read it whole, and be kept while
    # the table grows, until somebody analyzes it.
    "enable_seqscan": "off",
}
CHANNEL = "honeyguide"

Put = tuple[Statement[Any], tuple[Any, ...], Refusals | None]


class LockWait(Unavailable):
    """Somebody else held a row for longer than we wait."""


# What passes by itself: the connection broke (08), the server lacks something (53), an operator or a limit of ours stopped it
# (57, idle in a transaction), its disk failed (58), or a replica is not the leader yet.
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
# A second run meets none of these: a deadlock, a row changed under a snapshot, a statement prepared before a migration.
_COLLIDED = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError, asyncpg.exceptions.InvalidCachedStatementError)
DOWN = "The database does not answer; try again in a moment."


@functools.lru_cache(maxsize=512)
def _together(statements: tuple[Statement[Any], ...]) -> str:
    """Several writes as one: each but the last becomes a data-modifying CTE, its parameters numbered on."""
    texts, shift = [], 0
    for statement in statements:
        texts.append(_shifted(statement.postgres, shift))
        shift += len(statement.postgres_order)
    *first, last = texts
    if not first:
        return last
    return "WITH " + ", ".join(f"w{i} AS ({text})" for i, text in enumerate(first)) + " " + last


def _shifted(sql: str, shift: int) -> str:
    return re.sub(r"\$(\d+)", lambda match: f"${int(match[1]) + shift}", sql) if shift else sql


def _apart(earlier: Statement[Any], later: Statement[Any]) -> bool:
    """All parts of one statement see the moment before it, and none may touch a row twice: then the later write must wait."""
    if earlier.target in later.sources:
        return True
    return earlier.target == later.target and (earlier.changes_rows or later.changes_rows)


class PostgresTx:
    engine = "postgres"

    def __init__(self, connection: Any, begin: str | None) -> None:
        self._connection = connection
        self._begin = begin  # None: reads only
        self.begun = False
        self._puts: list[Put] = []
        self.topics: set[str] = set()

    async def _ask(self, call: Awaitable[T], taken: Refusals | None) -> T:
        try:
            return await call
        except asyncpg.UniqueViolationError as error:
            raise refusal(error.constraint_name or "", taken) from None
        except _COLLIDED as error:
            raise Again() from error
        except asyncpg.LockNotAvailableError as error:
            raise LockWait("Another change held the same row for too long; try again in a moment.") from error

    async def open(self) -> None:
        if not self.begun and self._begin is not None:
            await self._connection.execute(self._begin)
            self.begun = True

    async def _ready(self, statement: Statement[Any]) -> None:
        if self._puts:
            await self.open()
            await self.flush()
        if not statement.reads or statement.locks:
            await self.open()

    async def one(self, statement: Statement[R], /, taken: Refusals | None = None, **params: Any) -> R | None:
        await self._ready(statement)
        call = self._connection.fetchrow(statement.postgres, *statement.postgres_values(params))
        row = await self._ask(call, taken)
        return None if row is None else statement.row(*row)

    async def all(self, statement: Statement[R], /, taken: Refusals | None = None, **params: Any) -> list[R]:
        await self._ready(statement)
        call = self._connection.fetch(statement.postgres, *statement.postgres_values(params))
        make = statement.row
        return [make(*row) for row in await self._ask(call, taken)]

    async def run(self, statement: Statement[Any], /, taken: Refusals | None = None, **params: Any) -> int:
        await self._ready(statement)
        call = self._connection.execute(statement.postgres, *statement.postgres_values(params))
        tag: str = await self._ask(call, taken)
        return int(tag.rsplit(" ", 1)[-1])

    async def put(self, statement: Statement[Any], /, taken: Refusals | None = None, **params: Any) -> None:
        if len(self._puts) == TOGETHER or any(_apart(earlier[0], statement) for earlier in self._puts):
            await self.open()
            await self.flush()
        self._puts.append((statement, statement.postgres_values(params), taken))

    async def flush(self) -> None:
        puts, self._puts = self._puts, []
        if puts:
            sql = _together(tuple([put[0] for put in puts]))
            taken = {name: meaning for put in puts for name, meaning in (put[2] or {}).items()}
            await self._ask(self._connection.execute(sql, *[value for put in puts for value in put[1]]), taken)

    def wake(self, topic: str) -> None:
        self.topics.add(topic)


async def open_pool(url: str, size: int) -> Pool:
    async def connect() -> Any:
        return await asyncpg.connect(
            url, server_settings=SETTINGS, statement_cache_size=600, max_cached_statement_lifetime=0, command_timeout=30,
            timeout=CONNECT_S,
        )  # fmt: skip

    pool = Pool(connect, size, patience_s=ACQUIRE_S)
    try:
        pool.give(await pool.take())
    except (*DOWN_ERRORS, asyncpg.PostgresError) as error:
        raise Unavailable(f"PostgreSQL does not answer: {error or 'no answer in time'}") from error
    return pool


class PostgresStore:
    """Any number of processes on any number of machines share one database."""

    engine = "postgres"

    def __init__(self, pool: Pool, url: str) -> None:
        self._pool = pool
        self._url = url
        self._listeners: dict[str, list[Callable[[], None]]] = {}
        self._to_tell: set[str] = set()
        self._telling: asyncio.Task[None] | None = None
        self._ear: asyncio.Task[None] | None = None

    async def _with(self, use: Callable[[Any], Awaitable[T]]) -> T:
        try:
            connection = await self._pool.take()
        except (*DOWN_ERRORS, asyncpg.PostgresError) as error:
            raise Unavailable(DOWN) from error
        try:
            return await use(connection)
        except DOWN_ERRORS as error:
            if isinstance(error, ValueError):
                raise  # a value the driver cannot send is a bug of ours, not the server's trouble
            connection.terminate()
            raise Unavailable(DOWN) from error
        except asyncio.CancelledError:
            connection.terminate()  # a query may be under way on it
            raise
        finally:
            if not connection.is_closed() and connection.is_in_transaction():
                await self._roll_back(connection)
            self._pool.give(connection)

    async def _roll_back(self, connection: Any) -> None:
        """Whatever interrupted it, no transaction is left open; a connection that cannot even do that is closed."""
        try:
            await asyncio.shield(connection.execute("ROLLBACK", timeout=RELEASE_S))
        except (*DOWN_ERRORS, asyncpg.PostgresError, asyncio.CancelledError):
            connection.terminate()

    async def _again_and_again(self, use: Callable[[Any], Awaitable[T]]) -> T:
        for attempt in range(ATTEMPTS):
            try:
                return await self._with(use)
            except Again:
                await asyncio.sleep(random.uniform(0, 0.01 * 2**attempt))
        raise Unavailable("The change collided with others; try again in a moment.")

    async def read(self, work: Work[T]) -> T:
        async def use(connection: Any) -> T:
            return await work(PostgresTx(connection, None))

        return await self._again_and_again(use)

    async def snapshot(self, work: Work[T], *, slow: bool = False) -> T:
        async def use(connection: Any) -> T:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                if slow:
                    await connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL enable_seqscan = on")
                return await work(PostgresTx(connection, None))

        return await self._again_and_again(use)

    async def write(self, work: Work[T], *, snapshot: bool = False) -> T:
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ" if snapshot else "BEGIN"
        topics: set[str] = set()

        async def use(connection: Any) -> T:
            tx = PostgresTx(connection, begin)
            result = await _transact(connection, tx, work, at_once=snapshot)
            topics.update(tx.topics)
            return result

        result = await self._again_and_again(use)
        self._tell(topics)
        return result

    # Wake-ups: our own listeners at once, other processes by NOTIFY; many commits in a row make one notice.
    def _tell(self, topics: set[str]) -> None:
        if not topics:
            return
        for topic in topics:
            self._wake(topic)
        self._to_tell |= topics
        if self._telling is None or self._telling.done():
            self._telling = asyncio.get_running_loop().create_task(self._notify())

    async def _notify(self) -> None:
        while self._to_tell:
            topics, self._to_tell = self._to_tell, set()
            for topic in topics:
                try:
                    await self._with(functools.partial(_notice, topic=topic))
                except Unavailable:
                    return  # listeners also look by themselves now and then
            await asyncio.sleep(0.02)

    def listen(self, topic: str, callback: Callable[[], None]) -> None:
        self._listeners.setdefault(topic, []).append(callback)
        if self._ear is None:
            self._ear = asyncio.get_running_loop().create_task(self._hear())

    def _wake(self, topic: str) -> None:
        for callback in self._listeners.get(topic, ()):
            callback()

    async def _hear(self) -> None:
        def heard(_connection: Any, _pid: int, _channel: str, topic: str) -> None:
            self._wake(topic)

        while True:
            try:
                connection = await asyncpg.connect(
                    self._url, timeout=CONNECT_S, server_settings={"application_name": "honeyguide-ear"}
                )
                try:
                    await connection.add_listener(CHANNEL, heard)
                    for topic in self._listeners:  # what was told while nobody listened
                        self._wake(topic)
                    while not connection.is_closed():
                        await asyncio.sleep(1)
                finally:
                    connection.terminate()
            except (*DOWN_ERRORS, asyncpg.PostgresError):
                await asyncio.sleep(1)

    async def close(self) -> None:
        tasks = [task for task in (self._ear, self._telling) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        try:
            await asyncio.wait_for(self._pool.close(), 5)
        except (TimeoutError, *DOWN_ERRORS):
            self._pool.terminate()


async def _notice(connection: Any, *, topic: str) -> None:
    await connection.execute("SELECT pg_notify($1, $2)", CHANNEL, topic)


async def _transact(connection: Any, tx: PostgresTx, work: Work[T], *, at_once: bool) -> T:
    """Whatever interrupts this leaves the transaction open; whoever gives the connection back rolls it back."""
    if at_once:
        await tx.open()
    result = await work(tx)
    await tx.flush()  # when nothing was begun this is the whole transaction, in one round trip
    if tx.begun:
        await tx._ask(connection.execute("COMMIT"), None)
    return result
