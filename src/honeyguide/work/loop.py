"""Runs the table of jobs for as long as the process lives. Each job runs once per interval and
installation, however many processes there are: the first to claim it runs it, and renews its lease
until it is done. A job that fails is logged and tried again at its next time.
"""

from __future__ import annotations

import asyncio
import logging

from honeyguide.kernel import log_context
from honeyguide.kernel.clock import Clock, system_clock
from honeyguide.kernel.errors import Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.store import Store, job_runs
from honeyguide.work.jobs import Job

log = logging.getLogger("honeyguide.work")

# A process that died while it ran a job is replaced after this long.
LEASE_MS = 60_000
# A job that runs more often says only at the debug level that it did.
QUIET_BELOW_MS = 30_000


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
        log_context.start_job(job.name)
        called = asyncio.Event()
        if job.topic is not None:
            self._store.listen(job.topic, called.set)
        while True:
            early, began_ms = called.is_set(), system_clock()
            called.clear()
            try:
                wait_ms = await self._run_if_due(job, early=early)
            except Unavailable as error:
                log.warning("Job will be tried again: %s", error, extra=_duration(began_ms))
                wait_ms = job.every_ms
            except Exception:
                log.exception("Job failed", extra=_duration(began_ms))
                wait_ms = job.every_ms
            try:
                async with asyncio.timeout(wait_ms / 1000):
                    await called.wait()
            except TimeoutError:
                pass

    async def _run_if_due(self, job: Job, *, early: bool) -> int:
        """Returns how long to wait until the job may be due again."""
        if not await self._has_work(job):
            return job.every_ms
        await self._run(job, early=early)
        last = await self._store.read(job_runs.find, job.name)
        if last is None:
            return job.every_ms
        next_ms = last.started_ms + job.every_ms
        if last.leased_until_ms:  # another process runs it, and may die
            next_ms = min(next_ms, last.leased_until_ms)
        return max(1, next_ms - system_clock())

    async def once(self, job: Job) -> bool:
        """Run all of a job's batches now; False if another process is running it."""
        return not await self._has_work(job) or await self._run(job, early=True)

    async def _has_work(self, job: Job) -> bool:
        """An idle installation writes nothing: a frequent job looks before it claims."""
        if job.probe is None:
            return True
        return bool(await self._store.read(job.probe, now_ms=self._clock()))

    async def _run(self, job: Job, *, early: bool) -> bool:
        token, began_ms = new_id(), system_clock()
        if not await self._store.write(
            job_runs.claim,
            job.name,
            token,
            every_ms=job.every_ms,
            lease_ms=LEASE_MS,
            now_ms=began_ms,
            early=early,
        ):
            return False
        result = "interrupted"
        try:
            await self._run_batches(job, token)
            result = job_runs.OK
            level = logging.DEBUG if job.every_ms < QUIET_BELOW_MS else logging.INFO
            log.log(level, "Job finished", extra=_duration(began_ms))
        except Exception as error:
            result = f"failed: {type(error).__name__}"
            raise
        finally:
            await self._store.write(
                job_runs.finish,
                job.name,
                token,
                duration_ms=system_clock() - began_ms,
                result=result,
            )
        return True

    async def _run_batches(self, job: Job, token: str) -> None:
        """Stops if the lease is lost, since another process may then run the job."""
        batches = asyncio.create_task(self._batches(job))
        lease = asyncio.create_task(self._renew_until_lost(job, token))
        try:
            await asyncio.wait((batches, lease), return_when=asyncio.FIRST_COMPLETED)
            if not batches.done():
                raise Unavailable("The lease of the job was lost.")
            batches.result()
        finally:
            for task in (batches, lease):
                task.cancel()
            await asyncio.gather(batches, lease, return_exceptions=True)

    async def _batches(self, job: Job) -> None:
        while await job.batch(self._store, self._clock()):
            pass

    async def _renew_until_lost(self, job: Job, token: str) -> None:
        while True:
            await asyncio.sleep(LEASE_MS / 3000)
            until_ms = system_clock() + LEASE_MS
            if not await self._store.write(job_runs.renew, job.name, token, until_ms=until_ms):
                return


def _duration(began_ms: int) -> dict[str, dict[str, str | int]]:
    return {"fields": {"event": "job", "ms": system_clock() - began_ms}}
