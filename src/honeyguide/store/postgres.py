"""PostgreSQL through asyncpg: connections, transactions that are tried again, and notifications."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Concatenate

from honeyguide.kernel.background import LoopHealth, keep_running
from honeyguide.kernel.clock import Clock
from honeyguide.kernel.errors import Unavailable
from honeyguide.store import batches
from honeyguide.store.batches import Batches
from honeyguide.store.coalescer import Coalescer
from honeyguide.store.connections import DOWN, DOWN_ERRORS, Servers
from honeyguide.store.listener import CHANNEL, Listener
from honeyguide.store.pool import SLOW_COMMAND_S, SLOW_SETTINGS, ConnectionPool, PooledConnection
from honeyguide.store.postgres_tx import PostgresTx
from honeyguide.store.replica import Replica
from honeyguide.store.tx import Again, P, T, Unit, Work, bind
from honeyguide.store.watch import PoolState, StoreWatch

ATTEMPTS = 5
# A repeated request waits this long for the first one; every other lock is held for milliseconds.
LOCK_MS = 10_000
# All that PgBouncer passes on. The others are then set for the role, and `honeyguide doctor`
# checks them.
SENT_TO_PGBOUNCER = {"timezone": "UTC", "application_name": "honeyguide"}
SETTINGS = SENT_TO_PGBOUNCER | {
    "lock_timeout": str(LOCK_MS),
    "statement_timeout": str(LOCK_MS + 5_000),
    "idle_in_transaction_session_timeout": "30000",
    # Compiling a plan costs more than our short statements do.
    "jit": "off",
    # Statements are written for their indexes. Otherwise a plan made while a table was small would
    # scan it, and would be kept while the table grows: decision 13.
    "enable_seqscan": "off",
}


async def open_postgres(
    url: str, size: int, direct_url: str, replica_url: str, clock: Clock
) -> PostgresStore:
    """With a `direct_url`, `url` leads to PgBouncer, where a session is lent for a transaction."""
    watch, servers = StoreWatch(), Servers(url)
    settings = batch_settings = SENT_TO_PGBOUNCER
    if not direct_url:
        settings, batch_settings = SETTINGS, SETTINGS | {"lock_timeout": str(batches.LOCK_MS)}
    pool = ConnectionPool("main", servers, size, settings, watch)
    batch_pool = ConnectionPool("batches", servers, batches.CONNECTIONS, batch_settings, watch)
    await pool.open()
    await batch_pool.open()
    await pool.try_to_connect()
    replica = None
    if replica_url:
        standby = Servers(replica_url, needs="standby")
        replica = Replica(ConnectionPool("replica", standby, size, SETTINGS, watch))
        await replica.pool.open()
    return PostgresStore(
        watch=watch,
        pool=pool,
        batch_pool=batch_pool,
        direct=Servers(direct_url) if direct_url else servers,
        replica=replica,
        batches_need_limit=bool(direct_url),
        clock=clock,
    )


class PostgresStore:
    """Any number of processes on any number of machines share one database."""

    engine = "postgres"
    engine_name = "PostgreSQL"
    is_shared = True
    path = None

    def __init__(
        self,
        *,
        watch: StoreWatch,
        pool: ConnectionPool,
        batch_pool: ConnectionPool,
        direct: Servers,
        replica: Replica | None,
        batches_need_limit: bool,
        clock: Clock,
    ) -> None:
        self._clock = clock
        self.watch = watch
        self._replica = replica
        self._batches_need_limit = batches_need_limit
        self._pool = pool
        self._batch_pool = batch_pool
        self._batches = Batches(self._in_batch, watch)
        self._listeners: dict[str, list[Callable[[], None]]] = {}
        self._listener = Listener(direct, self._listeners, self._drop_connections)
        self._notices: Coalescer[str, None] = Coalescer(self._notify, largest=1_000)
        self._listening: asyncio.Task[None] | None = None

    async def _with(
        self,
        pool: ConnectionPool,
        use: Callable[Concatenate[PooledConnection, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `use(pooled, *args, **kwargs)` with a connection of the pool."""
        pooled, is_usable = PooledConnection(pool), True
        try:
            return await use(pooled, *args, **kwargs)
        except DOWN_ERRORS as error:
            if isinstance(error, ValueError):
                raise  # a value that the driver cannot send is a bug, not a problem of the server
            is_usable, self.watch.is_suspect = False, True
            raise Unavailable(DOWN) from error
        except asyncio.CancelledError:
            is_usable = False  # a query may still be running on it
            raise
        finally:
            await pooled.give_back(is_usable=is_usable)

    async def _in_batch(self, use: Callable[[Any], Awaitable[T]]) -> T:
        run = _with_lock_limit if self._batches_need_limit else _with_connection
        return await self._with(self._batch_pool, run, use)

    async def _retry(
        self,
        use: Callable[Concatenate[PooledConnection, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        for attempt in range(ATTEMPTS):
            try:
                return await self._with(self._pool, use, *args, **kwargs)
            except Again:
                await asyncio.sleep(random.uniform(0, 0.01 * 2**attempt))
        raise Unavailable("The change conflicted with other changes; try again in a moment.")

    async def read(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._retry(self._read, bind(unit, args, kwargs))

    async def _read(self, pooled: PooledConnection, work: Work[T]) -> T:
        return await work(PostgresTx(pooled, self._batches, None, self._clock()))

    async def snapshot(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._retry(self._read_snapshot, bind(unit, args, kwargs), slow=False)

    async def slow_snapshot(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._retry(self._read_snapshot, bind(unit, args, kwargs), slow=True)

    async def replica_snapshot(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        work, replica = bind(unit, args, kwargs), self._replica
        if replica is not None and await replica.has_caught_up(self._with, self._pool):
            try:
                return await self._with(replica.pool, self._read_snapshot, work, slow=True)
            except (Again, Unavailable):
                replica.avoid()
        return await self._retry(self._read_snapshot, work, slow=True)

    async def _read_snapshot(self, pooled: PooledConnection, work: Work[T], *, slow: bool) -> T:
        connection = await pooled.get()
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            if slow:
                pooled.timeout_s = SLOW_COMMAND_S
                await connection.execute(SLOW_SETTINGS)
            pooled.has_begun = True
            return await work(PostgresTx(pooled, self._batches, None, self._clock()))

    async def write(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._write_and_tell(bind(unit, args, kwargs), snapshot=False)

    async def write_snapshot(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._write_and_tell(bind(unit, args, kwargs), snapshot=True)

    async def _write_and_tell(self, work: Work[T], *, snapshot: bool) -> T:
        result, topics = await self._retry(self._write, work, snapshot=snapshot)
        self._tell(topics)
        return result

    async def _write(
        self, pooled: PooledConnection, work: Work[T], *, snapshot: bool
    ) -> tuple[T, set[str]]:
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ" if snapshot else "BEGIN"
        tx = PostgresTx(pooled, self._batches, begin, self._clock())
        if snapshot:
            await tx.open()
        result = await work(tx)
        await tx.commit()
        return result, tx.topics

    # Our own listeners are called at once, other processes by one NOTIFY for many commits.
    def _tell(self, topics: set[str]) -> None:
        if not topics:
            return
        for topic in topics:
            self._listener.wake(topic)
            self._notices.put(topic)

    async def _notify(self, topics: list[str]) -> list[None]:
        with suppress(Unavailable):  # listeners also poll now and then
            for topic in dict.fromkeys(topics):
                await self._with(self._pool, _notify, topic)
        await asyncio.sleep(0.02)
        return [None for _ in topics]

    def listen(self, topic: str, callback: Callable[[], None]) -> None:
        self._listeners.setdefault(topic, []).append(callback)
        if self._listening is None:
            health = LoopHealth(self._listener.name)
            self.watch.loops.append(health)
            self._listening = asyncio.get_running_loop().create_task(
                keep_running(self._listener, health)
            )

    def _drop_connections(self) -> None:
        for pool in (self._pool, self._batch_pool):
            pool.drop()

    def pools(self) -> list[PoolState]:
        return [pool.state() for pool in self._all_pools()]

    def _all_pools(self) -> list[ConnectionPool]:
        replica = [] if self._replica is None else [self._replica.pool]
        return [self._pool, self._batch_pool, *replica]

    async def close(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                await self._notices.flush()
        await self._batches.close()
        for pool in self._all_pools():
            await pool.close()


async def _with_connection(pooled: PooledConnection, use: Callable[[Any], Awaitable[T]]) -> T:
    return await use(await pooled.get())


async def _with_lock_limit(pooled: PooledConnection, use: Callable[[Any], Awaitable[T]]) -> T:
    """The limit of batches for connections that do not have it as a setting of their own."""
    connection = await pooled.get()
    await connection.execute(f"BEGIN; SET LOCAL lock_timeout = {batches.LOCK_MS}")
    found = await use(connection)
    await connection.execute("COMMIT")
    return found


async def _notify(pooled: PooledConnection, topic: str) -> None:
    await (await pooled.get()).execute("SELECT pg_notify($1, $2)", CHANNEL, topic)
