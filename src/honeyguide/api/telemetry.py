"""What operators see of a request: one JSON log line and a few counters. Both name the route's
template, so no path, email address or key ever reaches the log.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from typing import BinaryIO, NamedTuple

import msgspec
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from honeyguide import logs
from honeyguide.kernel.clock import iso

# Requests are counted and logged in batches, this often. One by one, it takes three times as long.
_FLUSH_S = 0.02


class Answered(NamedTuple):
    """A request that was answered, as far as the log may know it."""

    method: str
    route: str
    status: int
    seconds: float
    now_ms: int
    request_id: str
    account_id: str | None


class LogLine(msgspec.Struct, frozen=True):
    """The fields of every log line, and those of a request."""

    time: str
    level: str
    logger: str
    message: str
    event: str
    method: str
    route: str
    status: int
    ms: float
    request_id: str
    account: str | None
    job: None = None


class Telemetry:
    def __init__(
        self, *, log: bool, out: BinaryIO | None = None, registry: CollectorRegistry | None = None
    ) -> None:
        self.registry = registry or CollectorRegistry()
        self._requests = Counter(
            "honeyguide_requests_total",
            "API requests answered",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "honeyguide_request_seconds", "Time to answer", ("route",), registry=self.registry
        )
        self._bound: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self._log = log
        self._out = out or sys.stdout.buffer
        self._is_terminal = self._out.isatty()
        self._answered: list[Answered] = []
        self._encode = msgspec.json.Encoder().encode

    def answered(self, request: Answered) -> None:
        self._answered.append(request)
        if len(self._answered) == 1:
            try:
                asyncio.get_running_loop().call_later(_FLUSH_S, self.flush)
            except RuntimeError:
                self.flush()

    def flush(self) -> None:
        answered, self._answered = self._answered, []
        for request in answered:
            requests, seconds = self._bound_to(request.method, request.route, request.status)
            requests.inc()
            seconds.observe(request.seconds)
        if self._log and answered:
            with suppress(OSError, ValueError):  # nobody reads the log any more; requests go on
                self._out.write(b"".join([self._line(request) + b"\n" for request in answered]))
                self._out.flush()

    def _bound_to(self, method: str, route: str, status: int) -> tuple[Counter, Histogram]:
        bound = self._bound.get((method, route, status))
        if bound is None:
            bound = self._requests.labels(method, route, str(status)), self._seconds.labels(route)
            self._bound[method, route, status] = bound
        return bound

    def _line(self, request: Answered) -> bytes:
        line = _line(request)
        if self._is_terminal:
            return logs.as_text(msgspec.structs.asdict(line)).encode()
        return self._encode(line)

    def exposition(self) -> bytes:
        """The metrics for Prometheus, summed over all workers."""
        self.flush()
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self.registry)
        everyone = CollectorRegistry()
        MultiProcessCollector(everyone)  # type: ignore[no-untyped-call]
        return generate_latest(everyone)


def _line(request: Answered) -> LogLine:
    return LogLine(
        time=iso(request.now_ms),
        level="info",
        logger="honeyguide.access",
        message=f"{request.method} {request.route} {request.status}",
        event="request",
        method=request.method,
        route=request.route,
        status=request.status,
        ms=round(request.seconds * 1000, 2),
        request_id=request.request_id,
        account=request.account_id,
    )
