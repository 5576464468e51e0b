"""What operators see of a request, to the API or to a page: one log line and a few counters. Both
name the route's template, so no path, email address or key ever reaches the log.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

import msgspec
from prometheus_client import CollectorRegistry, Counter, Histogram

from honeyguide import logs
from honeyguide.api.transport import App, Receive, Scope, Send
from honeyguide.kernel import log_context
from honeyguide.kernel.clock import iso, system_clock

# Requests are counted and logged in batches, this often. One by one, it takes three times as long.
_FLUSH_S = 0.02
# The library's own, and two below them: a read takes about a millisecond.
_BUCKETS_S = (0.001, 0.0025, *Histogram.DEFAULT_BUCKETS)
# Files of the pages, whose requests are counted but not logged.
_FILES = "/static/"
# The codes of all answers with a status of 500 or more.
FAULT_CODES = ("internal_error", "overloaded", "unavailable")


class Answered(NamedTuple):
    """A request that was answered, as far as the log may know it. Without a `request_id` it is
    counted, but not logged.
    """

    method: str
    route: str
    status: int
    seconds: float
    # Of an answer with a status of 500 or more.
    code: str | None = None
    now_ms: int = 0
    request_id: str | None = None
    account_id: str | None = None


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
            "Requests answered, to the API and to pages",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "honeyguide_request_seconds",
            "Time to answer",
            ("route",),
            buckets=_BUCKETS_S,
            registry=self.registry,
        )
        self._errors = Counter(
            "honeyguide_errors_total",
            "Answers with a status of 500 or more, by code: a bug, overload, or a database that "
            "is down",
            ("code",),
            registry=self.registry,
        )
        for code in FAULT_CODES:
            self._errors.labels(code)  # from the start, so that the first error is an increase
        self._bound: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self._log = log
        self._out = out or sys.stdout.buffer
        self._is_terminal = self._out.isatty()
        self._in_color = logs.wants_color(self._out)
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
        alike: dict[tuple[str, str, int], list[float]] = {}
        for request in answered:
            alike.setdefault(request[:3], []).append(request.seconds)
            if request.code is not None:
                self._errors.labels(request.code).inc()
        for kind, times in alike.items():
            requests, seconds = self._bound_to(*kind)
            requests.inc(len(times))
            for one in times:
                seconds.observe(one)
        if self._log and answered:
            lines = [self._line(request) for request in answered if request.request_id is not None]
            with suppress(OSError, ValueError):  # nobody reads the log any more; requests go on
                self._out.write(b"".join(lines))
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
            fields = msgspec.structs.asdict(line)
            return logs.as_text(fields, in_color=self._in_color).encode() + b"\n"
        return self._encode(line) + b"\n"


class PageCounter:
    """An application whose requests are counted. `links` are prefixes of paths that a router does
    not see.
    """

    def __init__(self, app: App, telemetry: Telemetry, links: tuple[str, ...]) -> None:
        self._app = app
        self._telemetry = telemetry
        self._links = links
        self.under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        status = 0

        async def send_and_note(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self.under_way += 1
        try:
            await self._app(scope, receive, send_and_note)
        finally:
            self.under_way -= 1
            if status:  # otherwise the client is gone
                code = None
                if status >= 500:
                    code = "unavailable" if status == 503 else "internal_error"
                took_s = time.perf_counter() - began
                request_id, account_id, _ = log_context.current()
                self._telemetry.answered(
                    Answered(
                        method=scope["method"],
                        route=self._route(scope),
                        status=status,
                        seconds=took_s,
                        code=code,
                        now_ms=system_clock(),
                        # A page needs a dozen files, about which a log has nothing to say.
                        request_id=None if scope["path"].startswith(_FILES) else request_id,
                        account_id=account_id,
                    )
                )

    def _route(self, scope: Scope) -> str:
        for prefix in self._links:
            if scope["path"].startswith(prefix):
                return f"{prefix}{{code}}"
        return getattr(scope.get("route"), "path", "unknown")


def _line(request: Answered) -> LogLine:
    assert request.request_id is not None
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
