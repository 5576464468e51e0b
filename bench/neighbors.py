"""Why a request costs more CPU time with four processes than with one, on PostgreSQL.

Each process batches for itself, so four processes with 32 requests open should cost what one with 8
open costs. What they cost beyond that is compared with four services that share nothing but the
machine: what these cost as well does not come from the code.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass

from bench import people, servers
from bench.cost import LABELS, Measured
from bench.load import drive_all
from bench.meter import Cost, Meter, median
from bench.plan import Bench, progress
from bench.report import Table

ABOUT = "Why the cost per request grows with the number of processes"
CASES = ("read", "list", "create", "charge")
PROCESSES = 4


@dataclass(frozen=True)
class Setup:
    title: str
    services: int  # each on a database of its own
    workers: int
    open_share: int  # each service has 1/n of the bench's connections

    def open(self, bench: Bench) -> int:
        return bench.size.connections // self.open_share


SETUPS = (
    Setup("1 process, {open} open", services=1, workers=1, open_share=1),
    Setup("1 process, {open} open", services=1, workers=1, open_share=PROCESSES),
    Setup("4 unrelated services, {open} open each", PROCESSES, workers=1, open_share=PROCESSES),
    Setup("1 service of 4 processes, {open} open", services=1, workers=PROCESSES, open_share=1),
)

Costs = dict[tuple[Setup, str], list[Cost]]


def _measure(bench: Bench) -> Costs:
    costs: Costs = defaultdict(list)
    with progress() as bar:
        measuring = bar.add_task("neighbors", total=bench.size.rounds * len(SETUPS) * len(CASES))
        databases = [_database(bench, number) for number in range(PROCESSES)]
        for _ in range(bench.size.rounds):
            for setup in SETUPS:
                with ExitStack() as stack:
                    services = _Services(bench, setup, databases[: setup.services], stack)
                    for case in CASES:
                        services.measure(case)  # plans are made and kept
                        costs[setup, case].append(services.measure(case))
                        bar.advance(measuring)
    return costs


def _database(bench: Bench, number: int) -> Measured:
    name = f"neighbors{number}"
    url = bench.database_url("postgres", name)
    campaign = people.make(url, [people.Plan(name, bench.size.people)], lambda _: None)
    return Measured(bench, "postgres", url, campaign.campaigns[name])


class _Services:
    """The running services of one setup, which get the same requests at the same time."""

    def __init__(
        self, bench: Bench, setup: Setup, databases: list[Measured], stack: ExitStack
    ) -> None:
        assert bench.postgres is not None
        size = dataclasses.replace(bench.size, connections=setup.open(bench))
        self._databases = databases
        for database in databases:
            database.bench = dataclasses.replace(bench, size=size)
        self._servers = [
            stack.enter_context(
                servers.service(
                    database.url,
                    bench.folder,
                    rate_limit=0,
                    trusted_proxies="127.0.0.1",
                    workers=setup.workers,
                )
            )
            for database in databases
        ]
        self._drive("read")  # opens the connections
        self._meter = Meter([server.pid for server in self._servers], bench.postgres.pid)

    def measure(self, case: str) -> Cost:
        return self._meter.measure(lambda: self._drive(case))

    def _drive(self, case: str) -> int:
        """How many requests were sent."""
        pairs = list(zip(self._databases, self._servers, strict=True))
        all_driven = drive_all([database.job(server.port, case) for database, server in pairs])
        for database, driven in zip(self._databases, all_driven, strict=True):
            database.number += driven.sent
        return sum(driven.sent for driven in all_driven)


def run(bench: Bench) -> list[Table]:
    if "postgres" not in bench.engines:
        return []
    costs = _measure(bench)
    rows = []
    for case in CASES:
        row = [LABELS[case]]
        for setup in SETUPS:
            cost = median(costs[setup, case])
            row.append(f"{cost.service:,.0f} + {cost.postgres:,.0f} ({cost.preemptions:.1f})")
        rows.append(tuple(row))
    columns = ("request", *(setup.title.format(open=setup.open(bench)) for setup in SETUPS))
    note = (
        "Service + PostgreSQL in µs for one request; in parentheses how often the kernel took the "
        "core away from the service meanwhile. Unrelated services have databases of their own."
    )
    return [Table("PostgreSQL", columns, rows, note)]
