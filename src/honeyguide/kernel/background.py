"""Named loops that run for as long as the process lives. One that fails is logged, counted and
tried again a little later, for as long as it takes. It never ends another loop, nor the process.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from honeyguide.kernel import log_context
from honeyguide.kernel.errors import Unavailable

log = logging.getLogger("honeyguide.background")

# The wait after the first failure; it doubles with each that follows.
FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 30.0
# The same while the database is away. That counts as no failure: the database says so itself.
LONGEST_AWAY_S = 4.0
# After this many failures in a row, the process says that it is not well.
MOST_FAILURES = 10


class BackgroundLoop(Protocol):
    """`begin` once; then `step` and `rest` in turn; `end` once, when the process stops."""

    @property
    def name(self) -> str: ...

    def begin(self) -> None: ...

    async def step(self) -> None:
        """Does what there is to do now."""

    async def rest(self) -> None:
        """Waits until there may be more to do."""

    async def end(self) -> None: ...


@dataclass
class LoopHealth:
    name: str
    failures: int = 0
    failures_in_a_row: int = 0
    error: str = ""  # the type of the last one: a message can hold personal data

    @property
    def is_failing(self) -> bool:
        return self.failures_in_a_row >= MOST_FAILURES

    def note(self, error: BaseException) -> None:
        self.failures += 1
        self.failures_in_a_row += 1
        self.error = type(error).__name__


class Background:
    """The loops of one process. `others` are loops that somebody else runs, such as the store."""

    def __init__(self, others: Sequence[LoopHealth] = ()) -> None:
        self._others = others
        self._loops: list[tuple[BackgroundLoop, LoopHealth]] = []

    def add(self, *loops: BackgroundLoop) -> None:
        self._loops += [(loop, LoopHealth(loop.name)) for loop in loops]

    @property
    def health(self) -> list[LoopHealth]:
        return [*self._others, *(health for _, health in self._loops)]

    @property
    def failing(self) -> list[LoopHealth]:
        return [health for health in self.health if health.is_failing]

    async def run(self) -> None:
        """Until it is cancelled, which waits until all loops have ended."""
        async with asyncio.TaskGroup() as group:
            for loop, health in self._loops:
                group.create_task(keep_running(loop, health))


COLLECT_AFTER = (
    20_000  # objects made and not yet freed; the default of 700 is reached every few requests
)


async def keep_running(loop: BackgroundLoop, health: LoopHealth) -> None:
    log_context.start_job(loop.name)
    loop.begin()
    away = 0
    try:
        # A library can lose a cancellation that comes just when it has its result.
        while not _is_cancelled():
            try:
                await loop.step()
                health.failures_in_a_row = away = 0
                await loop.rest()
            except Unavailable as error:
                away += 1
                log.warning("Background work will be tried again: %s", error)
                await asyncio.sleep(_delay_s(away, LONGEST_AWAY_S))
            except (Exception, asyncio.CancelledError) as error:
                # If only something that the loop waited for was cancelled, it goes on.
                if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                    raise
                health.note(error)
                delay_s = _delay_s(health.failures_in_a_row, LONGEST_DELAY_S)
                log.exception("Background work failed; trying again in %g s", delay_s)
                await asyncio.sleep(delay_s)
    finally:
        try:
            await loop.end()
        except Exception:
            log.exception("Background work did not end well")


def _delay_s(times: int, longest_s: float) -> float:
    return min(FIRST_DELAY_S * 2.0 ** min(times - 1, MOST_FAILURES), longest_s)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def tune_collector() -> None:
    """Called once everything is loaded: what is there now stays, so the collector need not look at
    it again. Requests and deliveries leave almost no cycles behind."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 50)
