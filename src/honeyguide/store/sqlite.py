"""SQLite with group commit: writers run one after another in savepoints of one transaction, the
disk is synced off the event loop, and then all return. Reads run on a connection of their own.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import apsw

from honeyguide.kernel.clock import Clock
from honeyguide.kernel.errors import Unavailable
from honeyguide.store.scrubber import Scrubber
from honeyguide.store.sqlite_tx import SCRUB, UNWRITABLE, SqliteTx, trouble
from honeyguide.store.tx import Again, P, T, Unit, Work, bind
from honeyguide.store.unique_indexes import unique_indexes
from honeyguide.store.watch import PoolState, StoreWatch

R = TypeVar("R")

# With when it was queued.
Waiting = tuple[Work[Any], "asyncio.Future[Any]", float]

# Older libraries can corrupt a WAL database when two connections write and checkpoint at once.
OLDEST = (3, 51, 3)
# Few enough that reads on the loop hardly wait for a group.
GROUP = 64
# How long another process, such as the command line, may lock the file before we give up.
LOCKED_S = 5.0
ATTEMPTS = 5
# Slow reads at a time: pages go on while a job checks the ledger or counts cohorts.
SLOW_READERS = 3
# Their niceness: on a busy core, requests come first.
SLOW_NICENESS = 10

# The cache, in KB, is of each connection. It holds the upper levels of the indexes of a million
# subscribers; the rest is in the system's cache, a copy away. A small server has 250 MB for all.
_PRAGMAS = """
PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -24576;
"""


def finish(work: Awaitable[T]) -> T:
    """Run a unit of work to its end without suspending. It must await only its transaction."""
    steps = work.__await__()
    try:
        next(steps)
    except StopIteration as done:
        result: T = done.value
        return result
    steps.close()  # else it could go on later, in another unit's transaction
    raise RuntimeError("A unit of work awaited something other than its transaction.")


def _is_unwritable(error: Exception | None) -> bool:
    return isinstance(error, Unavailable) and error.template == UNWRITABLE


class _Lost(Exception):
    """The whole transaction was lost, not just one unit's part of it."""


def sqlite_version() -> str:
    return apsw.sqlite_lib_version()


def connect(path: Path) -> apsw.Connection:
    if tuple(int(part) for part in sqlite_version().split(".")) < OLDEST:
        raise Unavailable(
            "The SQLite library is too old to be safe. "
            "Install the version from the lock file: run `make setup`."
        )
    connection = apsw.Connection(str(path), statementcachesize=500)
    connection.set_busy_timeout(int(LOCKED_S * 1000))
    # Otherwise a statement on a table with partial indexes is compiled again for each set of
    # parameters, at ten times its cost.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    # A pragma returns a row, and the rest of the text runs only when the rows are fetched.
    connection.execute(_PRAGMAS).fetchall()
    return connection


def _reader(path: Path) -> apsw.Connection:
    connection = connect(path)
    # A write here would bypass the queue of writers and block the loop.
    connection.execute("PRAGMA query_only = ON")
    return connection


def _slow_reader(path: Path) -> apsw.Connection:
    connection = _reader(path)
    # It reads most pages once, so that a large cache would only take memory. What it sorts may be
    # large too.
    connection.execute("PRAGMA cache_size = -16384; PRAGMA temp_store = FILE").fetchall()
    return connection


def _be_nice() -> None:
    """Lowers the priority of this thread. Elsewhere than on Linux it would be the whole process."""
    if sys.platform == "linux":
        # Where a unit of systemd or a container forbids it, reads must work all the same.
        with suppress(PermissionError):
            os.nice(SLOW_NICENESS)


class SqliteStore:
    """One file, one server process, one writer at a time."""

    engine = "sqlite"
    engine_name = "SQLite"
    is_shared = False

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path = path
        self._clock = clock
        self.watch = StoreWatch()
        self._writer = connect(path)
        self._reader = _reader(path)
        # Waiting would block the loop; `_begin` waits without blocking.
        self._writer.set_busy_timeout(0)
        self._unique = unique_indexes(self._writer)
        self._queue: deque[Waiting] = deque()
        self._draining: asyncio.Task[None] | None = None
        self._syncer = ThreadPoolExecutor(1, thread_name_prefix="sqlite-sync")
        self._slow = ThreadPoolExecutor(
            SLOW_READERS, thread_name_prefix="sqlite-slow", initializer=_be_nice
        )
        self._idle_readers: deque[apsw.Connection] = deque()
        self._scrubber = Scrubber(partial(connect, path))
        self._listeners: dict[str, list[Callable[[], None]]] = {SCRUB: [self._scrubber.start]}

    def _tx(self, connection: apsw.Connection) -> SqliteTx:
        return SqliteTx(connection, self._unique, self._clock())

    def read(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        return unit(self._tx(self._reader), *args, **kwargs)

    async def snapshot(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        with _moment(self._reader):
            return finish(unit(self._tx(self._reader), *args, **kwargs))

    async def slow_snapshot(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(
            self._slow, self._read_apart, bind(unit, args, kwargs)
        )

    async def replica_snapshot(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.slow_snapshot(unit, *args, **kwargs)

    def _read_apart(self, work: Work[T]) -> T:
        try:
            connection = self._idle_readers.pop()
        except IndexError:
            connection = _slow_reader(self.path)
        try:
            with _moment(connection):
                return finish(work(self._tx(connection)))
        finally:
            self._idle_readers.append(connection)

    async def write(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.append((bind(unit, args, kwargs), future, time.perf_counter()))
        if self._draining is None or self._draining.done():
            self._draining = asyncio.get_running_loop().create_task(self._drain())
        return await future

    # SQLite's writers run one after another, so each already sees a single moment.
    write_snapshot = write

    async def _drain(self) -> None:
        while self._queue:
            group = [self._queue.popleft() for _ in range(min(GROUP, len(self._queue)))]
            try:
                await self._run_group(group)
            except Exception as error:
                if isinstance(error, apsw.BusyError):
                    # Those queued behind this group would wait as long again.
                    group += self._queue
                    self._queue.clear()
                else:
                    self.watch.is_suspect = True
                for _, future, _ in group:
                    if not future.done():
                        future.set_exception(trouble(error))

    async def _run_group(self, group: list[Waiting]) -> None:
        began = time.perf_counter()
        self.watch.on_wait(began - group[0][2])
        await self._begin()
        outcomes: list[tuple[asyncio.Future[Any], Any, Exception | None]] = []
        topics: set[str] = set()
        try:
            for work, future, _ in group:
                if future.done():  # its caller was cancelled before it started
                    continue
                try:
                    outcomes.append((future, self._attempt(work, topics), None))
                except _Lost as lost:
                    raise Unavailable(UNWRITABLE) from lost
                except Exception as error:
                    outcomes.append((future, None, trouble(error)))
            await self._commit()
        except BaseException:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            raise
        self.watch.on_batch(len(group), time.perf_counter() - began)
        if any(_is_unwritable(refused) for _, _, refused in outcomes):
            self.watch.is_suspect = True
        # A refusal waits for the sync too: it may depend on what another unit in this group wrote.
        for future, result, refused in outcomes:
            if future.done():
                continue
            if refused is None:
                future.set_result(result)
            else:
                future.set_exception(refused)
        for topic in topics:
            for callback in self._listeners.get(topic, ()):
                callback()

    async def _commit(self) -> None:
        """Commit off the loop. A cancelled caller still waits: the connection is busy."""
        syncing = asyncio.get_running_loop().run_in_executor(
            self._syncer, self._writer.execute, "COMMIT"
        )
        try:
            await asyncio.shield(syncing)
        except asyncio.CancelledError:
            await asyncio.wait([syncing])
            raise

    async def _begin(self) -> None:
        loop = asyncio.get_running_loop()
        give_up = loop.time() + LOCKED_S
        while True:
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                return
            except apsw.BusyError:
                if loop.time() > give_up:
                    raise
                await asyncio.sleep(0.005)

    def _attempt(self, work: Work[T], topics: set[str]) -> T:
        for attempt in range(ATTEMPTS):
            tx = self._tx(self._writer)
            self._writer.execute("SAVEPOINT work")
            try:
                result = finish(work(tx))
                self._writer.execute("RELEASE work")
            except BaseException as error:
                self._undo(error)
                if isinstance(error, Again) and attempt < ATTEMPTS - 1:
                    continue
                if isinstance(error, Again):
                    break
                raise
            topics |= tx.topics
            return result
        raise Unavailable("The change conflicted with other changes; try again in a moment.")

    def _undo(self, error: BaseException) -> None:
        """Roll back to the savepoint. A full disk may have rolled back the whole group."""
        try:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK TO work; RELEASE work")
                return
        except apsw.Error as worse:
            raise _Lost from worse
        raise _Lost from error

    def listen(self, topic: str, callback: Callable[[], None]) -> None:
        self._listeners.setdefault(topic, []).append(callback)

    def pools(self) -> list[PoolState]:
        is_writing = self._draining is not None and not self._draining.done()
        return [
            PoolState(name="main", most=1, open=1, in_use=int(is_writing), waiting=len(self._queue))
        ]

    async def close(self) -> None:
        if self._draining is not None:
            await self._draining
        await self._scrubber.stop()
        self._syncer.shutdown()
        self._slow.shutdown()
        for connection in (*self._idle_readers, self._reader, self._writer):
            connection.close()


@contextmanager
def _moment(connection: apsw.Connection) -> Iterator[None]:
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")
