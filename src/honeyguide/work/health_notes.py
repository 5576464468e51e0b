"""Writes down for other processes, such as `honeyguide doctor`, how background work does: what
keeps failing, and when each job was last looked at. An idle installation writes once a minute.
"""

from __future__ import annotations

import asyncio

from honeyguide.kernel.background import Background
from honeyguide.kernel.clock import MINUTE_MS, system_clock
from honeyguide.store import Store, failing_loops, job_failures, job_runs
from honeyguide.work.loop import Loop

EVERY_S = 5.0


class HealthNotes:
    name = "record the health of background work"

    def __init__(self, store: Store, background: Background, loop: Loop) -> None:
        self._store = store
        self._background = background
        self._loop = loop
        self._noted_ms = 0
        self._failing: dict[str, int] = {}  # how often each that is noted had failed by then

    def begin(self) -> None:
        pass

    async def step(self) -> None:
        now_ms = system_clock()
        await self._note_failing(now_ms)
        if self._loop.looked and self._noted_ms <= now_ms - MINUTE_MS:
            self._noted_ms = now_ms
            intervals = {job.name: job.every_ms for job in self._loop.jobs}
            await self._store.write(job_runs.note_looked, intervals, self._loop.looked)
            if await self._store.read(job_failures.has_old, now_ms=now_ms):
                await self._store.write(job_failures.forget_old, now_ms=now_ms)

    async def rest(self) -> None:
        await asyncio.sleep(EVERY_S)

    async def end(self) -> None:
        pass

    async def _note_failing(self, now_ms: int) -> None:
        failing = {loop.name: loop.failures for loop in self._background.failing}
        if failing == self._failing:
            return
        recovered = [name for name in self._failing if name not in failing]
        await self._store.write(
            failing_loops.save, self._background.failing, recovered, now_ms=now_ms
        )
        self._failing = failing
