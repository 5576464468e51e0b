"""A transaction on PostgreSQL, with few round trips: it begins at its first write that returns
something, and other writes are sent together as one statement, or in a batch with those of other
callers. Transactions are READ COMMITTED, so reads before the first write need no transaction.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar

import asyncpg

from honeyguide.store.batches import Batches
from honeyguide.store.facts import TableWrites
from honeyguide.store.pool import PooledConnection
from honeyguide.store.statements import Statement, together
from honeyguide.store.tx import Again, LockWait, Refusals, Strength, T, refusal

R = TypeVar("R")

# Writes sent as one statement. Each combination is prepared once per connection, and a statement
# has at most 32,767 parameters, so this is bounded; the rest follows in the next round trip.
TOGETHER = 8

Put = tuple[Statement[Any], tuple[Any, ...], Refusals | None]

# Errors that a second run does not hit: a deadlock, a row changed under a snapshot, a statement
# prepared before a migration.
_COLLIDED = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.exceptions.InvalidCachedStatementError,
)


class PostgresTx:
    engine = "postgres"

    def __init__(
        self, pooled: PooledConnection, batches: Batches, begin: str | None, now_ms: int
    ) -> None:
        self._pooled = pooled
        self._batches = batches
        self._begin = begin  # None: reads only
        self._puts: list[Put] = []
        self.topics: set[str] = set()
        self.written = TableWrites()
        self.now_ms = now_ms

    def at(self, now_ms: int) -> PostgresTx:
        if now_ms == self.now_ms:
            return self
        same = PostgresTx.__new__(
            PostgresTx
        )  # each request makes one: `copy` takes five times as long
        same.__dict__.update(self.__dict__, now_ms=now_ms)
        return same

    async def _ask(self, call: Awaitable[T], taken: Refusals | None) -> T:
        try:
            return await call
        except asyncpg.UniqueViolationError as error:
            raise refusal(error.constraint_name or "", taken) from None
        except _COLLIDED as error:
            raise Again() from error
        except asyncpg.LockNotAvailableError as error:
            raise LockWait(
                "Another change kept the same row locked for too long; try again in a moment."
            ) from error

    async def open(self) -> None:
        if not self._pooled.has_begun and self._begin is not None:
            await (await self._pooled.get()).execute(self._begin)
            self._pooled.has_begun = True

    def _values(self, statement: Statement[Any], params: dict[str, Any]) -> tuple[Any, ...]:
        params.setdefault("now_ms", self.now_ms)
        return statement.postgres_values(params)

    async def _ready(self, statement: Statement[Any]) -> Any:
        if self._puts:
            await self.flush()
        if not statement.reads:
            await self.open()
        return await self._pooled.get()

    async def _rows(
        self, statement: Statement[Any], taken: Refusals | None, params: dict[str, Any]
    ) -> Sequence[Sequence[Any]]:
        self.written.note(statement)
        values = self._values(statement, params)
        if (
            statement.reads
            and statement.batch_place is not None
            and not self._pooled.has_begun
            and not self._puts
        ):
            rows = await self._batches.join(statement, values)
            if rows is not None:
                return rows
        connection, sql = await self._ready(statement), statement.postgres
        asked = connection.fetch(sql, *values, timeout=self._pooled.timeout_s)
        found: list[Any] = await self._ask(asked, taken)
        return found

    async def one(
        self, statement: Statement[R], /, taken: Refusals | None = None, **params: Any
    ) -> R | None:
        rows = await self._rows(statement, taken, params)
        return statement.rows.one(*rows[0]) if rows else None

    async def all(
        self, statement: Statement[R], /, taken: Refusals | None = None, **params: Any
    ) -> list[R]:
        return statement.rows.all(await self._rows(statement, taken, params))

    async def lock(
        self, statement: Statement[R], strength: Strength = "no key update", /, **params: Any
    ) -> list[R]:
        assert self._begin is not None, "rows are locked in a write only"
        await self.flush()
        await self.open()
        sql = f"{statement.postgres} FOR {strength.upper()}"
        values = self._values(statement, params)
        found = await self._ask((await self._pooled.get()).fetch(sql, *values), None)
        return statement.rows.all(found)

    async def run(
        self, statement: Statement[Any], /, taken: Refusals | None = None, **params: Any
    ) -> int:
        self.written.note(statement)
        connection = await self._ready(statement)
        tag: str = await self._ask(
            connection.execute(statement.postgres, *self._values(statement, params)), taken
        )
        return int(tag.rsplit(" ", 1)[-1])

    async def put(
        self, statement: Statement[Any], /, taken: Refusals | None = None, **params: Any
    ) -> None:
        assert statement.leaves, f"{statement.name} has no `-- touches:`"
        self.written.note(statement)
        if len(self._puts) == TOGETHER or any(
            statement.must_wait_for(earlier[0]) for earlier in self._puts
        ):
            await self.flush()
        self._puts.append((statement, self._values(statement, params), taken))

    async def flush(self) -> None:
        if self._puts:
            await self.open()
            await self._send_puts()

    async def _send_puts(self) -> None:
        """Send the pending writes. If no transaction is open, they are all of it: one round trip,
        or part of a batch.
        """
        puts = self._puts.copy()
        self._puts.clear()
        if not puts:
            return
        statement, values, _ = puts[0]
        may_join = (
            len(puts) == 1 and not self._pooled.has_begun and statement.batch_place is not None
        )
        if may_join and await self._batches.join(statement, values) is not None:
            return
        sql = together(tuple([put[0] for put in puts]))
        taken = {name: meaning for put in puts for name, meaning in (put[2] or {}).items()}
        connection = await self._pooled.get()
        await self._ask(
            connection.execute(sql, *[value for put in puts for value in put[1]]), taken
        )

    async def commit(self) -> None:
        """If interrupted, the transaction stays open until `give_back` rolls it back."""
        await self._send_puts()
        if self._pooled.has_begun:
            await self._ask((await self._pooled.get()).execute("COMMIT"), None)

    def scrub(self) -> None:
        """Nothing to do: PostgreSQL's vacuum and log recycling remove the data."""

    def wake(self, topic: str) -> None:
        self.topics.add(topic)
