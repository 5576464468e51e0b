"""Single statements of many callers in one batch. A read, or a write without a result, that is not
part of an open transaction shares a connection, a round trip and a commit with others: callers
waiting on the same statement share the next batch. A batch that fails changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import asyncpg

from honeyguide.store.coalescer import Coalescer
from honeyguide.store.statements import Statement
from honeyguide.store.watch import StoreWatch

# Each statement has one batch running while its next one fills. All share these connections.
CONNECTIONS = 3
MOST = 64
# A batch does not wait long for a locked row that concerns only one of its callers. They then run
# one by one.
LOCK_MS = 100

Rows = list[tuple[Any, ...]]
Values = tuple[Any, ...]
Use = Callable[[Any], Awaitable[list[Any] | None]]


class Batches:
    """`with_connection` lends a connection and turns the server's trouble into Unavailable."""

    def __init__(
        self, with_connection: Callable[[Use], Awaitable[list[Any] | None]], watch: StoreWatch
    ) -> None:
        self._with = with_connection
        self._watch = watch
        self._callers: dict[Statement[Any], Coalescer[Values, Rows | None]] = {}

    async def join(self, statement: Statement[Any], values: Values) -> Rows | None:
        """The rows. None if the batch failed, perhaps through another caller; nothing was
        changed.
        """
        callers = self._callers.get(statement)
        if callers is None:
            callers = Coalescer(partial(self._run, statement), largest=MOST)
            self._callers[statement] = callers
        return await callers.add(values)

    async def _run(self, statement: Statement[Any], batch: list[Values]) -> list[Rows | None]:
        """The rows for each caller. None for all if the server or the driver refused any of
        them.
        """
        place = statement.batch_place
        assert place is not None
        began = time.perf_counter()
        answers: list[Rows | None] = [[] for _ in batch]
        try:
            # All batches lock rows in the same order, so that no two wait for each other.
            order = sorted(range(len(batch)), key=lambda number: batch[number][place] or "")
            if statement.reads:
                sql = _NUMBERED.format(
                    sql=statement.postgres, place=len(statement.postgres_order) + 1
                )
                numbered = [(*batch[number], number) for number in order]
                for number, *row in (
                    await self._with(lambda connection: connection.fetchmany(sql, numbered)) or ()
                ):
                    rows = answers[number]
                    assert rows is not None
                    rows.append(tuple(row))
            else:
                each = [batch[number] for number in order]
                await self._with(
                    lambda connection: connection.executemany(statement.postgres, each)
                )
        except (asyncpg.PostgresError, ValueError, TypeError):
            return [None for _ in batch]
        self._watch.on_batch(len(batch), time.perf_counter() - began)
        return answers

    async def close(self) -> None:
        for callers in self._callers.values():
            await callers.flush()


# Answers come as one list, each row with the number of who asked.
_NUMBERED = "SELECT CAST(${place} AS BIGINT) AS asked_by, answer.* FROM ({sql}) AS answer"
