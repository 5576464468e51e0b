"""What operators of the service see of a request: one structured line and a few counters. Route templates only: no path, no
email, no key ever reaches the log.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import BinaryIO

import msgspec
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from honeyguide.kernel.clock import iso

_FLUSH_S = 0.05


class Line(msgspec.Struct, frozen=True):
    time: str
    event: str
    method: str
    route: str
    status: int
    ms: float
    request_id: str
    account: str | None


class Telemetry:
    def __init__(self, *, log: bool, out: BinaryIO | None = None, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self._requests = Counter(
            "honeyguide_requests_total", "API requests answered", ("method", "route", "status"), registry=self.registry
        )
        self._seconds = Histogram("honeyguide_request_seconds", "Time to answer", ("route",), registry=self.registry)
        self._bound: dict[tuple[str, str, int], tuple[object, object]] = {}
        self._log = log
        self._out = out or sys.stdout.buffer
        self._lines: list[bytes] = []
        self._encode = msgspec.json.Encoder().encode

    def answered(
        self, method: str, route: str, status: int, *, seconds: float, now_ms: int, request_id: str, account_id: str | None
    ) -> None:
        bound = self._bound.get((method, route, status))
        if bound is None:
            bound = self._bound[method, route, status] = (
                self._requests.labels(method, route, str(status)), self._seconds.labels(route)
            )  # fmt: skip
        bound[0].inc()  # type: ignore[attr-defined]
        bound[1].observe(seconds)  # type: ignore[attr-defined]
        if self._log:
            self.write(Line(iso(now_ms), "request", method, route, status, round(seconds * 1000, 2), request_id, account_id))

    def exposition(self) -> bytes:
        """What Prometheus reads; with several workers the sum over all of them, whichever is asked."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self.registry)
        everyone = CollectorRegistry()
        MultiProcessCollector(everyone)  # type: ignore[no-untyped-call]
        return generate_latest(everyone)

    def write(self, fields: Line) -> None:
        """One line; lines are gathered and written together a moment later, since a system call per request would be felt."""
        if not self._lines:
            try:
                asyncio.get_running_loop().call_later(_FLUSH_S, self.flush)
            except RuntimeError:
                self._lines.append(self._encode(fields))
                self.flush()
                return
        self._lines.append(self._encode(fields))

    def flush(self) -> None:
        if self._lines:
            lines, self._lines = self._lines, []
            try:
                self._out.write(b"\n".join(lines) + b"\n")
                self._out.flush()
            except (OSError, ValueError):
                pass  # nobody reads the log any more; requests go on
