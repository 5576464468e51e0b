"""Runs the table of jobs for as long as the process lives. A job that fails is logged and tried
again at its next time.
"""

from __future__ import annotations

import asyncio
import logging

from honeyguide.kernel.clock import Clock, system_clock
from honeyguide.kernel.errors import Unavailable
from honeyguide.store import Store
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.work.jobs import Job

log = logging.getLogger("honeyguide.work")

# A process that died holding a job gives it up after this long.
LEASE_MS = 60_000

_sql = beside(__file__)
_CLAIM = _sql.command("claim")
_RELEASE = _sql.command("release")


class Loop:
    def __init__(self, store: Store, clock: Clock, jobs: tuple[Job, ...]) -> None:
        self._store = store
        self._clock = clock
        self.jobs = jobs

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for job in self.jobs:
                group.create_task(self._repeat(job))

    async def _repeat(self, job: Job) -> None:
        called = asyncio.Event()
        if job.topic is not None:
            self._store.listen(job.topic, called.set)
        while True:
            called.clear()
            try:
                await self.once(job)
            except Unavailable as error:
                log.warning('Job "%s" will be tried again: %s', job.name, error)
            except Exception:
                log.exception('Job "%s" failed', job.name)
            try:
                async with asyncio.timeout(job.every_ms / 1000):
                    await called.wait()
            except TimeoutError:
                pass

    async def once(self, job: Job) -> bool:
        """Run all of a job's batches; False if another process is running it."""
        more = True
        while more:
            if not self._store.is_shared:
                more = await job.batch(self._store, self._clock())
                continue
            until_ms = system_clock() + LEASE_MS
            if not await self._store.write(_claim, job.name, until_ms):
                return False
            try:
                more = await job.batch(self._store, self._clock())
            finally:
                await self._store.write(_release, job.name, until_ms)
        return True


async def _claim(tx: Tx, name: str, until_ms: int) -> int:
    return await tx.run(_CLAIM, name=name, until_ms=until_ms, now_ms=system_clock())


async def _release(tx: Tx, name: str, until_ms: int) -> None:
    await tx.put(_RELEASE, name=name, until_ms=until_ms)
