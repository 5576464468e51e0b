"""Requests per second of a real `honeyguide serve`, one worker, everything on, as a share of a
no-op's in the same round.
"""

from __future__ import annotations

import statistics
import urllib.request
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field

from bench import limits, people, servers
from bench.load import Job, drive, request
from bench.people import Campaign
from bench.plan import Bench, progress
from bench.report import Table, verdict

ABOUT = "Requests: the full service compared with a no-op route"
TARGETS = {
    ("read", "sqlite"): 0.50,
    ("create", "sqlite"): 0.30,
    ("list", "sqlite"): 0.12,
    ("read", "postgres"): 0.15,
    ("create", "postgres"): 0.12,
}
LABELS = {
    "read": "read one",
    "create": "create, referred",
    "list": "list of 50",
    "deep": "deep page of 50",
    "read/keys": "read one, limit 60, keys in turn",
    "create/keys": "create, referred, limit 60, keys in turn",
}
ONE_KEY, DEFAULT = 1_000_000, 60
REFERRERS = 1_000


@dataclass
class Target:
    """A running service and the requests for each case."""

    engine: str
    port: int
    url: str
    campaign: Campaign
    jobs: dict[str, list[bytes]]


@dataclass
class Figures:
    rates: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    ratios: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    p99_ms: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))


def requests_for(campaign: Campaign) -> dict[str, list[bytes]]:
    """At least a thousand of each, so that no row stays hot by accident; one key or many, taken in
    turn.
    """
    many = max(REFERRERS, len(campaign.keys))
    of_key = [campaign.keys[n % len(campaign.keys)] for n in range(many)]
    person = [n % campaign.advocates for n in range(many)]
    last = campaign.size // 50
    bodies = [
        b'{"email":"p%012d@example.org","name":"Grace Hopper","referrer_code":"'
        + campaign.code(p).encode()
        + b'",'
        b'"ip_address":"192.0.2.1","user_agent":"Mozilla/5.0 (X11; Linux x86_64)"}'
        for p in person
    ]
    path = campaign.path
    return {
        "read": [
            request("GET", f"{path}/{campaign.person_id(p)}", key)
            for p, key in zip(person, of_key, strict=True)
        ],
        "create": [
            request("POST", path, key, body) for body, key in zip(bodies, of_key, strict=True)
        ],
        "list": [request("GET", f"{path}?per_page=50", of_key[0])],
        "deep": [request("GET", f"{path}?page={last}&per_page=50", of_key[0])],
    }


def job_for(bench: Bench, port: int, case: str, requests: list[bytes], number_from: int) -> Job:
    creating = case == "create"
    return Job(
        port,
        requests,
        201 if creating else 200,
        bench.size.connections,
        bench.size.seconds,
        number_from if creating else None,
    )


def _answer(port: int, asked: bytes) -> bytes:
    """One request by the book: the body the no-op is to return."""
    head, _, body = asked.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    method, path, _ = lines[0].split(" ")
    headers = dict(
        line.split(": ", 1) for line in lines[1:] if not line.startswith("Content-Length")
    )
    sent = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", (body % 0) if body else None, headers, method=method
    )
    with urllib.request.urlopen(sent, timeout=10) as answer:
        return answer.read()  # type: ignore[no-any-return]


def _start(bench: Bench, stack: ExitStack) -> tuple[list[Target], list[Target]]:
    """Per engine one service for one busy key, and one with the default limit for many keys."""
    one_key, many_keys = [], []
    plans = {
        "one": people.Plan("one", bench.size.people),
        "many": people.Plan("many", bench.size.people, bench.size.keys),
    }
    with progress() as bar:
        making = bar.add_task(
            "people", total=2 * bench.size.people * len(plans) * len(bench.engines)
        )
        for engine in bench.engines:
            for name, plan in plans.items():
                url = bench.database_url(engine, f"requests_{name}")
                made = people.make(url, [plan], lambda n: bar.advance(making, n)).campaigns[name]
                limit = ONE_KEY if name == "one" else DEFAULT
                port = stack.enter_context(servers.honeyguide(url, bench.folder, rate_limit=limit))
                target = Target(engine, port, url, made, requests_for(made))
                (one_key if name == "one" else many_keys).append(target)
    return one_key, many_keys


def _start_noop(bench: Bench, stack: ExitStack, target: Target) -> int:
    folder = bench.folder / "noop"
    folder.mkdir()
    for case, requests in target.jobs.items():
        (folder / f"{case}.{201 if case == 'create' else 200}").write_bytes(
            _answer(target.port, requests[0])
        )
    return stack.enter_context(servers.noop(folder))


def _noop_requests(target: Target, case: str) -> list[bytes]:
    """The same requests, headers and bodies, to the no-op's short paths."""
    return [
        one.replace(one.split(b" ", 2)[1], b"/" + case.encode(), 1) for one in target.jobs[case]
    ]


def _measure(
    bench: Bench, one_key: list[Target], many_keys: list[Target], noop_port: int
) -> Figures:
    figures, numbers = Figures(), 1
    cases = [(case, case, one_key) for case in ("read", "list", "deep", "create")]
    cases += [("read", "read/keys", many_keys), ("create", "create/keys", many_keys)]
    with progress() as bar:
        measuring = bar.add_task(
            "load", total=bench.size.rounds * len(cases) * (len(bench.engines) + 1)
        )
        for _ in range(bench.size.rounds):
            for case, label, targets in cases:
                base = drive(
                    job_for(bench, noop_port, case, _noop_requests(targets[0], case), numbers)
                ).rate
                figures.rates[label, "noop"].append(base)
                bar.advance(measuring)
                for target in targets:
                    # With a limit of a million the ring on PostgreSQL passes over the last minute's
                    # thousands one by one, once.
                    _answer(target.port, target.jobs["read"][0])
                    driven = drive(job_for(bench, target.port, case, target.jobs[case], numbers))
                    numbers += driven.sent
                    figures.rates[label, target.engine].append(driven.rate)
                    figures.ratios[label, target.engine].append(driven.rate / base)
                    figures.p99_ms[label, target.engine].append(driven.p99_ms)
                    bar.advance(measuring)
    return figures


def _measure_limits(bench: Bench, one_key: list[Target], figures: Figures) -> None:
    """After the services have stopped: the drivers alone, on the same databases, with no notes
    waiting to be folded.
    """
    for target in one_key:
        people.fold(target.url)
    with progress() as bar:
        measuring = bar.add_task(
            "drivers alone", total=bench.size.rounds * len(limits.CASES) * len(bench.engines)
        )
        for _ in range(bench.size.rounds):
            for case in limits.CASES:
                for target in one_key:
                    run = limits.sqlite if target.engine == "sqlite" else limits.postgres
                    figures.rates[case, f"{target.engine} driver"].append(
                        run(target.url, target.campaign, case, bench.size.seconds)
                    )
                    if target.engine == "postgres":
                        tps = limits.pgbench(
                            bench, target.url, target.campaign, case, bench.size.seconds
                        )
                        figures.rates[case, "pgbench"].append(tps)
                    bar.advance(measuring)


def _median(values: dict[tuple[str, str], list[float]], case: str, name: str) -> float:
    return statistics.median(values[case, name]) if (case, name) in values else 0.0


def _tables(bench: Bench, figures: Figures) -> list[Table]:
    tables = []
    for engine in bench.engines:
        title = {"sqlite": "SQLite", "postgres": "PostgreSQL"}[engine]
        columns = [
            "request",
            "of no-op",
            "target",
            "reached",
            "per second",
            "no-op per second",
            "p99 ms",
            "driver alone per second",
        ]
        rows = []
        for case, label in LABELS.items():
            ratio = _median(figures.ratios, case, engine)
            driver = _median(figures.rates, case, f"{engine} driver")
            row = [
                label,
                f"{ratio:.2f}",
                *verdict(ratio, TARGETS.get((case.split("/")[0], engine))),
                f"{_median(figures.rates, case, engine):,.0f}",
                f"{_median(figures.rates, case, 'noop'):,.0f}",
                f"{_median(figures.p99_ms, case, engine):.1f}",
                f"{driver:,.0f}" if driver else "",
            ]
            if engine == "postgres":
                tps = _median(figures.rates, case, "pgbench")
                row.append(f"{tps:,.0f}" if tps else "")
            rows.append(tuple(row))
        if engine == "postgres":
            columns.append("pgbench per second")
        note = (
            f"{bench.size.connections} connections, {bench.size.rounds} interleaved rounds of "
            f"{bench.size.seconds} s, medians."
        )
        tables.append(Table(title, tuple(columns), rows, note))
    return tables


def run(bench: Bench) -> list[Table]:
    with ExitStack() as stack:
        one_key, many_keys = _start(bench, stack)
        figures = _measure(bench, one_key, many_keys, _start_noop(bench, stack, one_key[0]))
    _measure_limits(bench, one_key, figures)
    return _tables(bench, figures)
