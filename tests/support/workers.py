"""`honeyguide work` as real processes: with leases short enough that a test sees them run out, or
with none at all.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .process import environment
from .starter import Command

LEASE_S = 3.0
SHORT_LEASES = f"""
from honeyguide.events import dispatcher
dispatcher.LEASE_MS, dispatcher.BEGIN_WITHIN_S = {int(LEASE_S * 1000)}, {LEASE_S / 3}
"""
# Every process does the job, whichever runs it already, and as often as it can.
ALL_AT_ONCE = """
from honeyguide.store import job_runs
from honeyguide.work import jobs

async def yes(*_, **__):
    return True

job_runs.claim = job_runs.renew = yes
jobs.SECOND_MS = 20
"""


class Worker:
    """Everything of the real command but the length of its leases."""

    def __init__(self, database_url: str, **settings: object) -> None:
        self._out = tempfile.NamedTemporaryFile(prefix="hgwork")  # noqa: SIM115 - as long as the worker
        self.process = Command(
            ["work"],
            before=SHORT_LEASES,
            stdout=self._out,
            stderr=self._out,
            env=environment(
                database_url=database_url,
                base_url="http://127.0.0.1:8000",
                log="off",
                **settings,
            ),
        )

    @property
    def output(self) -> str:
        return Path(self._out.name).read_text()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(30)

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(30)


@contextmanager
def eager_worker(database_url: str) -> Iterator[None]:
    """Does what others do at the same time, and is killed in the end."""
    with tempfile.TemporaryFile() as out:
        env = environment(database_url=database_url, base_url="http://127.0.0.1:8000", log="off")
        process = Command(["work"], before=ALL_AT_ONCE, stdout=out, stderr=out, env=env)
        try:
            yield
        finally:
            process.kill()
            process.wait(30)
