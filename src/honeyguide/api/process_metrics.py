"""Metrics of the server process itself: memory, CPU, requests under way, the event loop, and the
connections to the database. With `serve --workers`, they are those of all workers together.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

from honeyguide.kernel.background import Background, LoopHealth
from honeyguide.store import Store
from honeyguide.store.watch import PoolState

# Another worker may be asked for our gauges, so they are set this often.
SAMPLE_S = 1.0
_SIZES = (1, 2, 4, 8, 16, 32, 64)
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)

_All = Literal["sum", "max", "min"]


class ProcessMetrics:
    name = "measure the process"

    def __init__(
        self,
        registry: CollectorRegistry,
        store: Store,
        background: Background,
        under_way: Callable[[], int],
    ) -> None:
        self._registry = registry
        self._store = store
        self._background = background
        self._under_way = under_way
        self._failures = Counter(
            "honeyguide_loop_failures",
            "Unexpected failures of background work, after which it was started again",
            ("loop",),
            registry=registry,
        )
        self._failures_so_far: dict[str, int] = {}
        self._in_flight = self._gauge(
            "honeyguide_requests_in_flight", "Requests that are being answered now", "sum"
        )
        self._lag = self._gauge(
            "honeyguide_event_loop_lag_seconds",
            "How late the event loop ran a timer of a second; of several workers, the worst",
            "max",
        )
        self._ticked_s = time.monotonic()
        self._late_s = 0.0
        self._process = ProcessCollector(registry=None)
        self._process_gauges = {
            "process_resident_memory_bytes": self._gauge(
                "process_resident_memory_bytes", "Resident memory", "sum"
            ),
            "process_open_fds": self._gauge("process_open_fds", "Open file descriptors", "max"),
            "process_max_fds": self._gauge("process_max_fds", "Most file descriptors", "min"),
            "process_start_time_seconds": self._gauge(
                "process_start_time_seconds",
                "When the process started; of several workers, the last one",
                "max",
            ),
        }
        self._cpu = Counter(
            "process_cpu_seconds", "CPU time used, user and system", registry=registry
        )
        self._cpu_s = 0.0
        self._pools = {
            name: self._gauge(f"honeyguide_database_{name}", about, "sum", ("pool",))
            for name, about in (
                ("connections_max", "Most connections that the pool may open"),
                ("connections_open", "Connections that are open"),
                ("connections_in_use", "Connections that are in use"),
                ("waiting", "Callers that wait for a connection, or on SQLite for their turn"),
            )
        }
        self._watch_store()

    def _watch_store(self) -> None:
        self._wait = self._histogram(
            "honeyguide_database_wait_seconds",
            "How long a caller waited for a connection, or on SQLite the first of a group for its "
            "turn to write",
            _SECONDS,
        )
        self._sizes = self._histogram(
            "honeyguide_database_batch_size",
            "Callers that shared a group commit (SQLite) or a batch of statements (PostgreSQL)",
            _SIZES,
        )
        self._seconds = self._histogram(
            "honeyguide_database_batch_seconds",
            "Time that a batch took, on SQLite with the sync of the disk",
            _SECONDS,
        )
        self._store.watch.on_wait = self._wait.observe
        self._store.watch.on_batch = self._note_batch

    def _note_batch(self, size: int, seconds: float) -> None:
        self._sizes.observe(size)
        self._seconds.observe(seconds)

    def _gauge(self, name: str, about: str, of_all: _All, labels: tuple[str, ...] = ()) -> Gauge:
        return Gauge(name, about, labels, registry=self._registry, multiprocess_mode=of_all)

    def _histogram(self, name: str, about: str, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(name, about, buckets=buckets, registry=self._registry)

    @property
    def lag_s(self) -> float:
        """How late the loop was at its last tick, or is by now."""
        return max(self._late_s, time.monotonic() - self._ticked_s - SAMPLE_S)

    def begin(self) -> None:
        self._ticked_s = time.monotonic()

    async def step(self) -> None:
        self.sample()

    async def rest(self) -> None:
        self._ticked_s = time.monotonic()
        await asyncio.sleep(SAMPLE_S)
        self._late_s = max(0.0, time.monotonic() - self._ticked_s - SAMPLE_S)
        self._lag.set(self._late_s)

    async def end(self) -> None:
        pass

    def sample(self) -> None:
        for loop in self._background.health:
            self._set_failures(loop)
        self._in_flight.set(self._under_way())
        for pool in self._store.pools():
            self._set_pool(pool)
        for family in self._process.collect():
            for sample in family.samples:
                if gauge := self._process_gauges.get(sample.name):
                    gauge.set(sample.value)
        cpu_s = time.process_time()
        self._cpu.inc(cpu_s - self._cpu_s)
        self._cpu_s = cpu_s

    def _set_failures(self, loop: LoopHealth) -> None:
        so_far = self._failures_so_far.get(loop.name, 0)
        self._failures.labels(loop.name).inc(loop.failures - so_far)
        self._failures_so_far[loop.name] = loop.failures

    def _set_pool(self, pool: PoolState) -> None:
        self._pools["connections_max"].labels(pool.name).set(pool.most)
        self._pools["connections_open"].labels(pool.name).set(pool.open)
        self._pools["connections_in_use"].labels(pool.name).set(pool.in_use)
        self._pools["waiting"].labels(pool.name).set(pool.waiting)
