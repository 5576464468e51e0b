"""Runs the table of jobs for as long as the process lives. Each job runs once per interval and
installation, however many processes there are: the first to claim it runs it, and renews its lease
until it is done. A job that fails is logged and tried again at its next time.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from honeyguide.kernel.background import Background
from honeyguide.kernel.clock import MINUTE_MS, Clock, system_clock
from honeyguide.kernel.errors import Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.store import Store, failing_loops, job_failures, job_runs
from honeyguide.store.tx import timed
from honeyguide.work.items import Job, has_any, run_all

log = logging.getLogger("honeyguide.work")

# A process that died while it ran a job is replaced after this long.
LEASE_MS = 60_000
# A job that runs more often says only at the debug level that it did, as do those that had nothing
# to do.
QUIET_BELOW_MS = 30_000


class JobFailed(Exception):
    """The job itself failed, and this is recorded. The loop that runs it did not."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class JobLoop:
    """Runs one job whenever it is due."""

    def __init__(self, loop: Loop, job: Job) -> None:
        self.name = job.name
        self._loop = loop
        self._job = job
        self._called = asyncio.Event()
        self._wait_ms = 0

    def begin(self) -> None:
        if self._job.topic is not None:
            self._loop.store.listen(self._job.topic, self._called.set)

    async def step(self) -> None:
        early, began_ms = self._called.is_set(), system_clock()
        self._called.clear()
        self._wait_ms = self._job.every_ms
        try:
            self._wait_ms = await self._loop.run_if_due(self._job, early=early)
        except JobFailed as failed:
            if isinstance(failed.error, Unavailable):
                log.warning("Job will be tried again: %s", failed, extra=_duration(began_ms))
            else:
                log.error("Job failed", exc_info=failed.error, extra=_duration(began_ms))

    async def rest(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._wait_ms / 1000):
                await self._called.wait()

    async def end(self) -> None:
        pass


class Loop:
    def __init__(self, store: Store, clock: Clock, jobs: tuple[Job, ...]) -> None:
        self.store = store
        self._clock = clock
        self.jobs = jobs
        # When this process last looked whether each job has work.
        self.looked: dict[str, int] = {}

    def loops(self) -> list[JobLoop]:
        return [JobLoop(self, job) for job in self.jobs]

    async def run_if_due(self, job: Job, *, early: bool) -> int:
        """Returns how long to wait until the job may be due again."""
        has_work = await self._has_work(job)
        self.looked[job.name] = system_clock()
        if not has_work:
            return job.every_ms
        await self._run(job, early=early)
        last = await self.store.read(job_runs.find, job.name)
        if last is None:
            return job.every_ms
        next_ms = last.started_ms + job.every_ms
        if last.leased_until_ms:  # another process runs it, and may die
            next_ms = min(next_ms, last.leased_until_ms)
        return max(1, next_ms - system_clock())

    async def once(self, job: Job) -> bool:
        """Run all of a job's batches now; False if another process is running it."""
        try:
            return not await self._has_work(job) or await self._run(job, early=True)
        except JobFailed as failed:
            raise failed.error from None

    async def _has_work(self, job: Job) -> bool:
        """An idle installation writes nothing: a frequent job looks before it claims."""
        if job.always_runs:
            return True
        if isinstance(job.work, tuple):
            return await has_any(self.store, job.name, job.work, self._clock())
        return job.probe is None or bool(await self.store.read(timed(job.probe, self._clock())))

    async def _run(self, job: Job, *, early: bool) -> bool:
        token, began_ms = new_id(), system_clock()
        if not await self.store.write(
            timed(job_runs.claim, began_ms),
            job.name,
            token,
            every_ms=job.every_ms,
            lease_ms=LEASE_MS,
            early=early,
        ):
            return False
        result = "interrupted"
        try:
            had_work = await self._run_batches(job, token)
            result = job_runs.OK
            is_quiet = not had_work or job.every_ms < QUIET_BELOW_MS
            level = logging.DEBUG if is_quiet else logging.INFO
            log.log(level, "Job finished", extra=_duration(began_ms))
        except Exception as error:
            result = f"failed: {type(error).__name__}"
            raise JobFailed(error) from error
        finally:
            await self.store.write(
                job_runs.finish,
                job.name,
                token,
                duration_ms=system_clock() - began_ms,
                result=result,
            )
        return True

    async def _run_batches(self, job: Job, token: str) -> bool:
        """Stops if the lease is lost, since another process may then run the job. Returns whether
        there was anything to do.
        """
        batches = asyncio.create_task(self._batches(job))
        lease = asyncio.create_task(self._renew_until_lost(job, token))
        try:
            await asyncio.wait((batches, lease), return_when=asyncio.FIRST_COMPLETED)
            if not batches.done():
                raise Unavailable("The lease of the job was lost.")
            return batches.result()
        finally:
            for task in (batches, lease):
                task.cancel()
            await asyncio.gather(batches, lease, return_exceptions=True)

    async def _batches(self, job: Job) -> bool:
        if isinstance(job.work, tuple):
            return await run_all(self.store, job.name, job.work, self._clock)
        while await job.work(self.store, self._clock()):
            pass
        # One that always runs, such as the check of the ledger, logs what it finds by itself.
        return not job.always_runs

    async def _renew_until_lost(self, job: Job, token: str) -> None:
        while True:
            await asyncio.sleep(LEASE_MS / 3000)
            until_ms = system_clock() + LEASE_MS
            if not await self.store.write(job_runs.renew, job.name, token, until_ms=until_ms):
                return


def _duration(began_ms: int) -> dict[str, dict[str, str | int]]:
    return {"fields": {"event": "job", "ms": system_clock() - began_ms}}


NOTES_EVERY_S = 5.0


class HealthNotes:
    """Writes down for other processes, such as `honeyguide doctor`, how background work does: what
    keeps failing, and when each job was last looked at. An idle installation writes once a minute.
    """

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
            if await self._store.read(timed(job_failures.has_old, now_ms)):
                await self._store.write(timed(job_failures.forget_old, now_ms))

    async def rest(self) -> None:
        await asyncio.sleep(NOTES_EVERY_S)

    async def end(self) -> None:
        pass

    async def _note_failing(self, now_ms: int) -> None:
        failing = {loop.name: loop.failures for loop in self._background.failing}
        if failing == self._failing:
            return
        recovered = [name for name in self._failing if name not in failing]
        await self._store.write(
            timed(failing_loops.save, now_ms), self._background.failing, recovered
        )
        self._failing = failing
