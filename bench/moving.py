"""Moving in beside others: what an import of 20,000 lines and its check cost, and whether reads of
another account keep their speed meanwhile. The service has one core; the load generator has the
other one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bench import dashboard, people, processes, servers
from bench.plan import Bench
from bench.report import Table, verdict
from bench.requests import requests_for
from bench.servers import Server
from bench.small import LOAD_CORE, LONGEST_MS, SERVICE_CORE
from bench.steady import Latencies, Load, Running, Stream

ABOUT = "Moving in: an import and its check beside the reads of another account"
LINES = 20_000
# Requests of the other account in a second.
READS, LISTS = 100, 10
WINDOW_S, ALONE_S = 5.0, 20.0
LIMIT_S = 1_800.0
HEADER = ["email", "code", "referrer", "referrals_count"]
LABELS = {"read": "read one", "list": "list of 50"}
ALONE, IMPORTING, CHECKING = "alone", "during an import", "during its check"


@dataclass
class Measured:
    """Of one engine."""

    latencies: dict[str, dict[str, Latencies]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    cpu_us: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Of a line, without other requests: of the service and of PostgreSQL."""


class Moving:
    def __init__(self, bench: Bench, engine: str) -> None:
        self.bench = bench
        is_quick = bench.size.rows < 100_000
        self.lines = 200 if is_quick else LINES
        self.window_s, self.alone_s = (0.5, 0.5) if is_quick else (WINDOW_S, ALONE_S)
        self.url = bench.database_url(engine, "moving")
        plans = [people.Plan("others", bench.size.people), people.Plan("moving", 10)]
        made = people.make(self.url, plans, lambda _: None)
        self.others, self.moving = made.campaigns["others"], made.campaigns["moving"]
        self.postgres_pid = bench.postgres.pid if engine == "postgres" and bench.postgres else None

    def measure(self) -> Measured:
        found = Measured()
        with servers.service(
            self.url, self.bench.folder, rate_limit=0, core=SERVICE_CORE
        ) as server:
            found.latencies[ALONE] = self._watch(server, self.alone_s)
            began = time.monotonic()
            path = dashboard.upload(server, self.moving, HEADER, self._file("a"))
            found.latencies[IMPORTING] = self._watch_until(
                server, lambda: dashboard.is_imported(server, self.moving, path)
            )
            found.seconds[IMPORTING] = time.monotonic() - began
            began = time.monotonic()
            certificate = dashboard.check(server, self.moving, path)
            found.latencies[CHECKING] = self._watch_until(
                server, lambda: dashboard.is_checked(server, self.moving, certificate)
            )
            found.seconds[CHECKING] = time.monotonic() - began
            self._measure_cost(server, found)
        return found

    def _measure_cost(self, server: Server, found: Measured) -> None:
        """The same again with nobody else there."""
        before = self._spent(server)
        path = dashboard.upload(server, self.moving, HEADER, self._file("b"))
        _wait(lambda: dashboard.is_imported(server, self.moving, path))
        between = self._spent(server)
        certificate = dashboard.check(server, self.moving, path)
        _wait(lambda: dashboard.is_checked(server, self.moving, certificate))
        after = self._spent(server)
        for name, first, second in ((IMPORTING, before, between), (CHECKING, between, after)):
            service, postgres = (
                (end - start) / self.lines for start, end in zip(first, second, strict=True)
            )
            found.cpu_us[name] = (service, postgres)

    def _spent(self, server: Server) -> tuple[int, int]:
        postgres = processes.cpu_us(self.postgres_pid) if self.postgres_pid else 0
        return processes.cpu_us(server.pid), postgres

    def _file(self, letter: str) -> Iterator[str]:
        """A tenth of them referred the others."""
        for n in range(self.lines):
            first = n - n % 10
            referrer, count = ("", "12") if n == first else (f"{letter}-{first}", "")
            yield f"{letter}{n}@moved.example,{letter}-{n},{referrer},{count}"

    def _watch(self, server: Server, seconds: float) -> dict[str, Latencies]:
        requests = requests_for(self.others)
        streams = [
            Stream("read", READS, requests["read"], 200),
            Stream("list", LISTS, requests["list"], 200),
        ]
        return Running(Load(server.port, streams, seconds), LOAD_CORE).result()

    def _watch_until(self, server: Server, is_done: Callable[[], bool]) -> dict[str, Latencies]:
        """The worst of each kind in a few seconds."""
        watched = []
        deadline = time.monotonic() + LIMIT_S
        while not watched or not is_done():
            assert time.monotonic() < deadline, "it did not end"
            watched.append(self._watch(server, self.window_s))
        return {
            kind: max((each[kind] for each in watched), key=lambda found: found.p99_ms)
            for kind in LABELS
        }


def _wait(is_done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not is_done():
        assert time.monotonic() < deadline, "it did not end"
        time.sleep(0.5)


def run(bench: Bench) -> list[Table]:
    rows, costs = [], []
    for engine in bench.engines:
        moving = Moving(bench, engine)
        found = moving.measure()
        for when, latencies in found.latencies.items():
            for kind, each in latencies.items():
                rows.append(
                    (
                        engine,
                        f"{LABELS[kind]}, {when}",
                        f"{each.sent:,} of {each.due:,}",
                        f"{each.median_ms:.1f}",
                        f"{each.p99_ms:.1f}",
                        f"{each.longest_ms:.0f}",
                        *verdict(each.longest_ms, LONGEST_MS, at_most=True),
                        f"{each.late_ms:.0f}",
                    )
                )
        for name, (service, postgres) in found.cpu_us.items():
            costs.append(
                (
                    engine,
                    name.removeprefix("during ").removeprefix("an "),
                    f"{service:,.0f}",
                    f"{postgres:,.0f}",
                    f"{found.seconds[name]:.1f}",
                )
            )
    columns = (
        *("engine", "request", "sent", "median ms", "p99 ms", "longest ms"),
        *("target", "reached", "generator late ms"),
    )
    note = f"{READS} reads and {LISTS} lists a second of another account; the worst few seconds."
    return [
        Table(f"Reads of others while {LINES:,} lines are imported", columns, rows, note),
        Table(
            "Cost of a line",
            ("engine", "", "service µs", "PostgreSQL µs", "seconds beside the reads"),
            costs,
            "CPU time of a line with nobody else there.",
        ),
    ]
