"""Many callers, few round trips: what is added while one batch runs makes up the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Coalescer(Generic[T, R]):
    """`run_batch(items)` returns a result for each item, in order. If it raises, every caller of
    that batch gets the error. A caller that is cancelled before its batch begins is left out.
    """

    def __init__(
        self,
        run_batch: Callable[[list[T]], Awaitable[Sequence[R]]],
        *,
        largest: int,
        gather_s: float = 0.0,
    ) -> None:
        self._run_batch = run_batch
        self._largest = largest
        self._gather_s = gather_s
        self._waiting: list[tuple[T, asyncio.Future[R] | None]] = []
        self._running: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """How many wait for their batch to begin."""
        return len(self._waiting)

    async def add(self, item: T) -> R:
        """The item's result, once its batch is done."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        self._start()
        return await future

    def put(self, item: T) -> None:
        """Adds an item whose result nobody waits for."""
        self._waiting.append((item, None))
        self._start()

    async def flush(self) -> None:
        """Waits until everything that was added is done."""
        if self._running is not None:
            await asyncio.shield(self._running)

    def _start(self) -> None:
        if self._running is None or self._running.done():
            self._running = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        while self._waiting:
            if self._gather_s:
                await asyncio.sleep(self._gather_s)
            some, self._waiting = self._waiting[: self._largest], self._waiting[self._largest :]
            batch = [one for one in some if one[1] is None or not one[1].done()]
            if batch:
                await self._run_one(batch)

    async def _run_one(self, batch: list[tuple[T, asyncio.Future[R] | None]]) -> None:
        results: Sequence[Any]
        try:
            results = await self._run_batch([item for item, _ in batch])
            assert len(results) == len(batch), "a result for each item"
        except Exception as error:
            for _, future in batch:
                if future is not None and not future.done():
                    future.set_exception(error)
            return
        for (_, future), result in zip(batch, results, strict=True):
            if future is not None and not future.done():
                future.set_result(result)
