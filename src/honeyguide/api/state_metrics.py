"""Metrics of the whole installation, read from the database: what waits, the jobs, the ledger,
backups, disks. All queries take the same time whatever the size of the tables, and are run at most
once in a few seconds, however often Prometheus asks.
"""

from __future__ import annotations

import asyncio
import logging
import platform
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from honeyguide import __version__
from honeyguide.accounts import accounts
from honeyguide.accounts.accounts import Proof
from honeyguide.events import webhooks
from honeyguide.events.webhooks import DueDeliveries
from honeyguide.kernel.clock import Clock, system_clock
from honeyguide.kernel.errors import Unavailable
from honeyguide.mail import emails
from honeyguide.mail.emails import Backlog
from honeyguide.operating.backups import records
from honeyguide.operating.backups.records import BackupRecord
from honeyguide.store import Store, health, job_runs
from honeyguide.store.job_runs import JobRun
from honeyguide.store.tx import Tx
from honeyguide.subscribers import subscribers

log = logging.getLogger("honeyguide.metrics")

KEPT_S = 5.0
# A database that takes longer is down, as far as metrics are concerned.
ANSWER_S = 3.0
# Counting more would take time, and nobody needs to know.
MOST_EMAILS = 1_000
MOST_DELIVERIES_PER_WEBHOOK = 100


class Installation(NamedTuple):
    """What was read from the database."""

    now_ms: int
    skew_ms: int
    size_bytes: int
    due: list[DueDeliveries]
    unsent: Backlog
    first_due_ms: int | None
    runs: list[JobRun]
    proof: Proof | None
    backup_ms: int | None
    backup: BackupRecord | None


async def _read(tx: Tx) -> Installation:
    return Installation(
        now_ms=tx.now_ms,
        skew_ms=await health.clock_skew_ms(tx),
        size_bytes=await health.size_bytes(tx),
        due=await webhooks.due(tx, most=MOST_DELIVERIES_PER_WEBHOOK),
        unsent=await emails.unsent(tx, most=MOST_EMAILS),
        first_due_ms=await subscribers.first_due_ms(tx),
        runs=await job_runs.all_runs(tx),
        proof=await accounts.last_proof(tx),
        backup_ms=await accounts.last_backup_ms(tx),
        backup=await records.last_finished(tx),
    )


class StateMetrics(Collector):
    """`intervals` has the interval of each job, and `always_due` the jobs that run at every
    interval. The others run only if they have work.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        folders: Mapping[str, Path],
        intervals: Mapping[str, int],
        always_due: frozenset[str],
    ) -> None:
        self._store = store
        self._clock = clock
        self._folders = folders
        self._intervals = intervals
        self._always_due = always_due
        self._started_ms = system_clock()
        self._read_s = float("-inf")
        self._state: Installation | None = None

    async def refresh(self) -> None:
        if time.monotonic() - self._read_s < KEPT_S:
            return
        try:
            async with asyncio.timeout(ANSWER_S):
                self._state = await self._store.read(_read)
        except (Unavailable, TimeoutError):
            self._state = None
        except Exception:
            log.exception("The state of the installation could not be read")
            self._state = None
        self._read_s = time.monotonic()

    def collect(self) -> Iterator[Metric]:
        yield _gauge(
            "honeyguide_build_info",
            "The version of Honeyguide, and what it runs on",
            {(__version__, platform.python_version(), self._store.engine_name): 1},
            ("version", "python", "database"),
        )
        yield _gauge(
            "honeyguide_database_up",
            "1 if the database answers; if not, what is read from it is missing here",
            int(self._state is not None),
        )
        yield from self._disks()
        if self._state is not None:
            yield from _database(self._state)
            yield from _queues(self._state)
            yield from self._jobs(self._state.runs, system_clock())
            yield from _money_and_backups(self._state)

    def _disks(self) -> Iterator[Metric]:
        usage = {}
        for name, folder in self._folders.items():
            with suppress(OSError):  # it is made when the first file is
                usage[name,] = shutil.disk_usage(folder)
        yield _gauge(
            "honeyguide_disk_free_bytes",
            "Room on the disk of a folder that Honeyguide writes to",
            {name: used.free for name, used in usage.items()},
            ("folder",),
        )
        yield _gauge(
            "honeyguide_disk_size_bytes",
            "Size of that disk",
            {name: used.total for name, used in usage.items()},
            ("folder",),
        )

    def _jobs(self, runs: list[JobRun], now_ms: int) -> Iterator[Metric]:
        known = {run.name: run for run in runs if run.name in self._intervals}

        def each(value: Callable[[JobRun], float | None]) -> dict[tuple[str, ...], float]:
            values = {(name,): value(run) for name, run in known.items()}
            return {name: value for name, value in values.items() if value is not None}

        for name, about, values in (
            (
                "last_start_timestamp_seconds",
                "When the job last started",
                each(lambda run: run.started_ms / 1000),
            ),
            (
                "last_success_timestamp_seconds",
                "When the job last succeeded",
                each(lambda run: run.succeeded_ms and run.succeeded_ms / 1000),
            ),
            (
                "last_duration_seconds",
                "How long the last run took; missing while the job runs",
                each(lambda run: None if run.duration_ms is None else run.duration_ms / 1000),
            ),
            (
                "last_failed",
                "1 if the last run failed; missing while the job runs",
                each(lambda run: None if run.result is None else int(run.result != job_runs.OK)),
            ),
            (
                "running_seconds",
                "For how long the job has been running now",
                each(
                    lambda run: (
                        (now_ms - run.started_ms) / 1000 if run.leased_until_ms > now_ms else 0
                    )
                ),
            ),
            (
                "overdue_seconds",
                "How late the next success of the job is",
                self._overdue(known, now_ms),
            ),
        ):
            yield _gauge(f"honeyguide_job_{name}", about, values, ("job_name",))

    def _overdue(self, known: Mapping[str, JobRun], now_ms: int) -> dict[tuple[str, ...], float]:
        """Only of jobs that always run. A job that never did is late since this process started."""
        overdue: dict[tuple[str, ...], float] = {}
        for name in self._always_due:
            run = known.get(name)
            since_ms = (run and run.succeeded_ms) or self._started_ms
            overdue[name,] = max(0, now_ms - since_ms - self._intervals[name]) / 1000
        return overdue


def _database(state: Installation) -> Iterator[Metric]:
    yield _gauge("honeyguide_database_size_bytes", "Size of the database", state.size_bytes)
    yield _gauge(
        "honeyguide_database_clock_skew_seconds",
        "How far the clock of this machine is ahead of the database's",
        state.skew_ms / 1000,
    )


def _queues(state: Installation) -> Iterator[Metric]:
    def age_s(since_ms: int | None) -> float:
        return 0 if since_ms is None else max(0, state.now_ms - since_ms) / 1000

    due = {receiver.is_failing: receiver for receiver in state.due}
    receivers = {
        ("failing",): due.get(True, DueDeliveries(True, 0, None)),
        ("working",): due.get(False, DueDeliveries(False, 0, None)),
    }
    yield _gauge(
        "honeyguide_webhook_deliveries_due",
        "Webhook deliveries that are due, by whether their receiver is failing; "
        f"at most {MOST_DELIVERIES_PER_WEBHOOK} are counted per webhook",
        {label: found.n for label, found in receivers.items()},
        ("receiver",),
    )
    yield _gauge(
        "honeyguide_webhook_oldest_due_seconds",
        "For how long the oldest of these has been due",
        {label: age_s(found.since_ms) for label, found in receivers.items()},
        ("receiver",),
    )
    yield _gauge(
        "honeyguide_emails_unsent",
        f"Emails that are not sent yet, at most {MOST_EMAILS}",
        state.unsent.n,
    )
    yield _gauge(
        "honeyguide_email_oldest_unsent_seconds",
        "Age of the oldest email that is not sent yet",
        age_s(state.unsent.since_ms),
    )
    yield _gauge(
        "honeyguide_referral_oldest_due_seconds",
        "For how long the oldest referral has been waiting after its holding period",
        age_s(state.first_due_ms),
    )


def _money_and_backups(state: Installation) -> Iterator[Metric]:
    proof = state.proof or Proof(0, 0)
    yield _gauge(
        "honeyguide_ledger_broken_rows",
        "Rows that the last check of the ledger found to be wrong",
        proof.broken,
    )
    yield _gauge(
        "honeyguide_ledger_last_check_timestamp_seconds",
        "When the ledger was last checked; 0 if never",
        proof.at_ms / 1000,
    )
    yield _gauge(
        "honeyguide_backup_last_success_timestamp_seconds",
        "When the last backup was made, by the job or by hand; 0 if never",
        (state.backup_ms or 0) / 1000,
    )
    last = state.backup
    yield _gauge(
        "honeyguide_backup_last_failed",
        "1 if the last automatic backup failed, or was made but is broken",
        int(last is not None and last.result in (records.FAILED, records.BROKEN)),
    )
    yield _gauge(
        "honeyguide_backup_last_size_bytes",
        "Size of the last automatic backup; 0 if there is none",
        (last and last.bytes) or 0,
    )
    yield _gauge(
        "honeyguide_backup_last_duration_seconds",
        "How long the last automatic backup took, with its check; 0 if there is none",
        ((last and last.duration_ms) or 0) / 1000,
    )


def _gauge(
    name: str,
    about: str,
    values: float | Mapping[tuple[str, ...], float],
    labels: tuple[str, ...] = (),
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, about, labels=labels)
    for label, value in values.items() if isinstance(values, Mapping) else [((), values)]:
        family.add_metric(label, value)
    return family
