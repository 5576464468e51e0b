"""CPU time per request, from the kernel's accounts of the service's processes and PostgreSQL's."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from bench import processes

# The service is quiet when it takes this share of a core more than when it is idle.
SETTLE_S, QUIET_SHARE = 0.5, 0.06
IDLE_S = 5.0


@dataclass(frozen=True)
class Cost:
    """Of one request; CPU time in microseconds."""

    service: float
    postgres: float
    preemptions: float  # how often the kernel took the core away from a process of the service

    @property
    def total(self) -> float:
        return self.service + self.postgres


class Meter:
    """The CPU time of running services and of PostgreSQL behind them."""

    def __init__(self, service_pids: list[int], postgres_pid: int | None) -> None:
        self._service_pids, self._postgres_pid = service_pids, postgres_pid
        self._wait_until_quiet(QUIET_SHARE)  # jobs that run at the start
        before, began = self._spent(), time.monotonic()
        time.sleep(IDLE_S)
        self.idle = _per(before, self._spent(), time.monotonic() - began)

    def measure(self, work: Callable[[], int]) -> Cost:
        """What the service does later because of these requests is part of their cost: the page
        index, the clicks. So wait until it is idle again. What it does when idle is not."""
        self._wait_until_quiet()
        before, began = self._spent(), time.monotonic()
        done = work()
        self._wait_until_quiet()
        cost = _per(before, self._spent(), done)
        seconds = (time.monotonic() - began) / done
        return Cost(
            cost.service - self.idle.service * seconds,
            cost.postgres - self.idle.postgres * seconds,
            cost.preemptions - self.idle.preemptions * seconds,
        )

    def _spent(self) -> Cost:
        services, postgres = self._service_pids, self._postgres_pid
        return Cost(
            sum(map(processes.cpu_us, services)),
            processes.cpu_us(postgres) if postgres else 0,
            sum(map(processes.preemptions, services)),
        )

    def _wait_until_quiet(self, share: float | None = None, limit_s: float = 60.0) -> None:
        if share is None:
            share = QUIET_SHARE + self.idle.total / 1_000_000
        deadline, before = time.monotonic() + limit_s, self._spent().total
        while time.monotonic() < deadline:
            time.sleep(SETTLE_S)
            now = self._spent().total
            if now - before < SETTLE_S * 1_000_000 * share:
                return
            before = now


def _per(before: Cost, after: Cost, count: float) -> Cost:
    return Cost(
        (after.service - before.service) / count,
        (after.postgres - before.postgres) / count,
        (after.preemptions - before.preemptions) / count,
    )


def median(costs: list[Cost]) -> Cost:
    return Cost(
        statistics.median(cost.service for cost in costs),
        statistics.median(cost.postgres for cost in costs),
        statistics.median(cost.preemptions for cost in costs),
    )
