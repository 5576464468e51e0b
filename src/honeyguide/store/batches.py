"""Single statements of many callers in one batch. A read, or a write without a result, that is not
part of an open transaction shares a connection, a round trip and a commit with others: callers
waiting on the same statement share the next batch. A batch that fails changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg

from honeyguide.store.statements import Statement

# Each statement has one batch running while its next one fills. All share these connections.
CONNECTIONS = 3
MOST = 64
# A batch does not wait long for a locked row that concerns only one of its callers. They then run
# one by one.
LOCK_MS = 100

Rows = list[tuple[Any, ...]]
Waiting = tuple[tuple[Any, ...], "asyncio.Future[Rows | None]"]
Use = Callable[[Any], Awaitable[list[Any] | None]]


class Batches:
    """`with_connection` lends a connection and turns the server's trouble into Unavailable."""

    def __init__(self, with_connection: Callable[[Use], Awaitable[list[Any] | None]]) -> None:
        self._with = with_connection
        self._waiting: dict[Statement[Any], list[Waiting]] = {}
        self._carriers: dict[Statement[Any], asyncio.Task[None]] = {}

    async def join(self, statement: Statement[Any], values: tuple[Any, ...]) -> Rows | None:
        """The rows. None if the batch failed, perhaps through another caller; nothing was
        changed.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Rows | None] = loop.create_future()
        self._waiting.setdefault(statement, []).append((values, future))
        if statement not in self._carriers:
            self._carriers[statement] = loop.create_task(self._carry(statement))
        return await future

    async def _carry(self, statement: Statement[Any]) -> None:
        try:
            while waiting := self._waiting.pop(statement, None):
                if len(waiting) > MOST:
                    self._waiting[statement] = waiting[MOST:]
                await self._take_over(
                    statement, [one for one in waiting[:MOST] if not one[1].done()]
                )  # the others went away
        finally:
            del self._carriers[statement]

    async def _take_over(self, statement: Statement[Any], batch: list[Waiting]) -> None:
        try:
            answers = await self._run(statement, batch)
        except Exception as error:
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for number, (_, future) in enumerate(batch):
            if not future.done():
                future.set_result(None if answers is None else answers[number])

    async def _run(self, statement: Statement[Any], batch: list[Waiting]) -> list[Rows] | None:
        """The rows for each caller. None if the server or the driver refused any of them."""
        place = statement.batch_place
        assert place is not None
        answers: list[Rows] = [[] for _ in batch]
        try:
            # All batches lock rows in the same order, so that no two wait for each other.
            batch.sort(key=lambda one: one[0][place] or "")
            if statement.reads:
                sql = _NUMBERED.format(
                    sql=statement.postgres, place=len(statement.postgres_order) + 1
                )
                numbered = [(*values, number) for number, (values, _) in enumerate(batch)]
                for number, *row in (
                    await self._with(lambda connection: connection.fetchmany(sql, numbered)) or ()
                ):
                    answers[number].append(tuple(row))
            elif batch:
                each = [values for values, _ in batch]
                await self._with(
                    lambda connection: connection.executemany(statement.postgres, each)
                )
        except (asyncpg.PostgresError, ValueError, TypeError):
            return None
        return answers

    async def close(self) -> None:
        await asyncio.gather(*self._carriers.values(), return_exceptions=True)


# Answers come as one list, each row with the number of who asked.
_NUMBERED = "SELECT CAST(${place} AS BIGINT) AS asked_by, answer.* FROM ({sql}) AS answer"
