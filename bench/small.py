"""A small server: the service on one core, with SQLite and a million subscribers. Signups and
clicks together for ten minutes, then a restart and a bulk import while others go on reading. The
load generator has the other core. Takes about twenty minutes.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from bench import cost, dashboard, people, processes, servers
from bench.people import Campaign
from bench.plan import Bench, progress
from bench.report import Table, verdict
from bench.requests import requests_for
from bench.servers import Server
from bench.steady import Latencies, Load, Running, Stream

ABOUT = "A small server: one core, SQLite, a million subscribers"
MINUTES = 10.0
SIGNUPS, CLICKS = 500, 2_000
P99_MS, LONGEST_MS, MEMORY_MB, GROWTH = 50.0, 100.0, 250.0, 1.05
# What goes on while the service catches up.
READS, FEW_SIGNUPS = 200, 20
WATCHED_S = 60.0
SAMPLE_S = 5.0
SERVICE_CORE, LOAD_CORE = 0, 1
IMPORT_LIMIT_S = 1_800.0


@dataclass
class Memory:
    """Of the service while it is under load."""

    started: float
    halfway: float  # when its caches are full
    late: float
    most: float


class SmallServer:
    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.minutes = bench.size.minutes or MINUTES
        self.url = bench.database_url("sqlite", "small")
        kept = Path(bench.size.keep) if bench.size.keep else bench.folder / "filled"
        self.campaign = _filled(kept, bench.size.rows)
        shutil.copyfile(kept / "small.db", bench.folder / "small.db")
        self.clicks = cost.click_requests(self.url, self.campaign)
        self.number = 1

    def serve(self) -> AbstractContextManager[Server]:
        return servers.service(
            self.url,
            self.bench.folder,
            rate_limit=0,
            trusted_proxies="127.0.0.1",
            core=SERVICE_CORE,
        )

    def load(self, server: Server, seconds: float, **per_second: float) -> Running:
        """Requests of these kinds, so many a second, beside us."""
        requests = requests_for(self.campaign) | {"click": self.clicks}
        expected = {"read": 200, "create": 201, "click": 302}
        streams = [
            Stream(
                name,
                rate,
                requests[name],
                expected[name],
                None if name == "read" else self.number,
            )
            for name, rate in per_second.items()
        ]
        self.number += int(max(per_second.values()) * seconds) + 1_000
        return Running(Load(server.port, streams, seconds), LOAD_CORE)

    def under_load(self, server: Server) -> tuple[dict[str, Latencies], Memory]:
        seconds = self.minutes * 60
        samples = [_memory(server)]
        load = self.load(server, seconds, create=SIGNUPS, click=CLICKS)
        while not load.is_over:
            time.sleep(min(SAMPLE_S, seconds / 20))
            samples.append(_memory(server))
        halfway = samples[len(samples) // 2]
        return load.result(), Memory(samples[0], halfway, samples[-1], max(samples))

    def watched(self, server: Server, seconds: float) -> dict[str, Latencies]:
        return self.load(server, seconds, read=READS, create=FEW_SIGNUPS).result()

    def during_import(self, server: Server) -> tuple[dict[str, Latencies], float]:
        """Requests while a file is imported, which goes on until it is done; and how long it
        took."""
        began = time.monotonic()
        rows = (f"import{n}@example.org,Imported {n}" for n in range(self.bench.size.rows // 10))
        import_path = dashboard.upload(server, self.campaign, ["email", "name"], rows)
        watched = []
        while time.monotonic() - began < IMPORT_LIMIT_S:
            watched.append(self.watched(server, max(1.0, self._watched_s / 6)))
            if dashboard.is_imported(server, self.campaign, import_path):
                break
        else:
            raise RuntimeError("the import did not end")
        worst = max(watched, key=lambda found: max(each.longest_ms for each in found.values()))
        return worst, time.monotonic() - began

    @property
    def _watched_s(self) -> float:
        return WATCHED_S if self.bench.size.rows >= 100_000 else 3.0

    def after_restart(self, server: Server) -> dict[str, Latencies]:
        return self.watched(server, self._watched_s)


def _filled(folder: Path, rows: int) -> Campaign:
    """Fills `small.db` in this folder, or finds it there: filling takes minutes, and the bench
    measures on a copy."""
    note = folder / f"small-{rows}.json"
    if note.exists():
        return msgspec.json.decode(note.read_bytes(), type=Campaign)
    folder.mkdir(parents=True, exist_ok=True)
    for unfinished in folder.glob("small.db*"):
        unfinished.unlink()
    with progress() as bar:
        making = bar.add_task("subscribers", total=2 * rows)
        tick = partial(bar.advance, making)
        plan = people.Plan("small", rows)
        made = people.make(f"sqlite:///{folder / 'small.db'}", [plan], tick)
    note.write_bytes(msgspec.json.encode(made.campaigns["small"]))
    return made.campaigns["small"]


def _memory(server: Server) -> float:
    return sum(processes.memory_mb(server.pid))


def _rows(name: str, found: dict[str, Latencies], limit_ms: float | None) -> list[tuple[str, ...]]:
    label = {"create": "signups", "click": "clicks", "read": "reads"}
    return [
        (
            f"{name}: {label[kind]}",
            f"{each.sent:,} of {each.due:,}",
            f"{each.median_ms:.1f}",
            f"{each.p99_ms:.1f}",
            f"{each.longest_ms:.0f}",
            *(
                verdict(each.longest_ms, limit_ms, at_most=True)
                if limit_ms
                else verdict(each.p99_ms, P99_MS, at_most=True)
            ),
            f"{each.late_ms:.0f}",
        )
        for kind, each in found.items()
    ]


def run(bench: Bench) -> list[Table]:
    if (os.cpu_count() or 1) < 2:
        raise RuntimeError("the load generator needs a core of its own")
    small = SmallServer(bench)
    with small.serve() as server:
        started_s = server.started_s
        loaded, memory = small.under_load(server)
    with small.serve() as server:
        restarted_s = server.started_s
        restarted = small.after_restart(server)
        importing, import_s = small.during_import(server)
        imported = small.after_restart(server)
        last_mb = _memory(server)
    latencies = Table(
        f"{SIGNUPS} signups and {CLICKS:,} clicks a second, a restart, and an import",
        (
            "request",
            "sent",
            "median ms",
            "p99 ms",
            "longest ms",
            "target",
            "reached",
            "generator late ms",
        ),
        [
            *_rows(f"{small.minutes:g} minutes", loaded, None),
            *_rows("right after a restart", restarted, LONGEST_MS),
            *_rows(f"while {bench.size.rows // 10:,} are imported", importing, LONGEST_MS),
            *_rows("right after the import", imported, LONGEST_MS),
        ],
        "Latency counts from when a request was due. The target of the first two is for p99, of "
        "the others for the longest. The generator's own delay is part of these latencies.",
    )
    return [latencies, _server_table(memory, started_s, restarted_s, import_s, last_mb)]


def _server_table(
    memory: Memory, started_s: float, restarted_s: float, import_s: float, last_mb: float
) -> Table:
    growth = memory.late / memory.halfway
    return Table(
        "Start and memory",
        ("", "measured", "target", "reached"),
        [
            ("start", f"{started_s:.1f} s", "", ""),
            ("start after the load", f"{restarted_s:.1f} s", "", ""),
            ("import", f"{import_s:.0f} s", "", ""),
            ("memory after the start", f"{memory.started:.0f} MB", "", ""),
            (
                "most memory under load",
                f"{memory.most:.0f} MB",
                *verdict(memory.most, MEMORY_MB, at_most=True),
            ),
            (
                "growth in the second half of the time",
                f"{growth:.2f}",
                *verdict(growth, GROWTH, at_most=True),
            ),
            (
                "memory after the import",
                f"{last_mb:.0f} MB",
                *verdict(last_mb, MEMORY_MB, at_most=True),
            ),
        ],
    )
