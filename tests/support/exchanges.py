"""What the service does before it answers each request: its statements, and how long it waits on
purpose. Times are not measured: a busy machine makes every answer slow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import pytest

from honeyguide.app import Application
from honeyguide.kernel import clock
from honeyguide.pages.embeds import endpoint
from honeyguide.pages.readers import forms
from honeyguide.pages.readers.page_branding import BrandingCache
from honeyguide.subscribers.links import LinkCache
from tests.support.noted_statements import Counted
from tests.support.service import Service

# The fixture `roomy_network` sets the other name of it to nothing.
ANSWER_AFTER_S = endpoint.ANSWER_AFTER_S
TRANSACTIONS = ("read", "snapshot", "slow_snapshot", "replica_snapshot", "write", "write_snapshot")
_current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


@dataclass
class Exchange:
    """A request and what was done for it until its answer began."""

    method: str
    path: str
    task: Any
    loop: asyncio.AbstractEventLoop
    began_s: float
    statements: list[str] = field(default_factory=list)
    first_statement_s: float | None = None
    waits: list[tuple[float, int]] = field(default_factory=list)
    """Until when, and how many statements had run by then."""
    route: str = ""

    def note(self, statement: str) -> None:
        if self.first_statement_s is None:
            self.first_statement_s = self.loop.time()
        self.statements.append(statement)

    @property
    def effort(self) -> list[str]:
        """What the time of the answer depends on."""
        if not self.waits:
            return self.statements
        ((until_s, statements),) = self.waits
        assert statements == len(self.statements), "the wait is the last thing"
        looked_s = self.first_statement_s or until_s
        assert self.began_s <= until_s - ANSWER_AFTER_S <= looked_s, "it counts from the request"
        return ["it waits"]


class Exchanges:
    """`exchanges.newest` is that of the answer which a test has just got."""

    def __init__(self) -> None:
        self.answered: list[Exchange] = []

    @property
    def newest(self) -> Exchange:
        return self.answered[-1]


def _here() -> Exchange | None:
    """None in tasks that a request started and does not wait for."""
    exchange = _current.get()
    return exchange if exchange and exchange.task is asyncio.current_task() else None


@contextmanager
def noted_exchanges(service: Service) -> Iterator[Exchanges]:
    """Time stands still but for what a test adds to it, and nothing is cached: how long the machine
    takes, or who else asked just before, is not what tests compare."""
    with pytest.MonkeyPatch.context() as patch:
        now_ms = clock.system_clock()
        patch.setattr(clock, "system_clock", lambda: now_ms)
        noted = Exchanges()
        _note_requests(patch, noted)
        _note_transactions(patch, service.services.store)
        _note_waits(patch)
        for cache in (BrandingCache, LinkCache):
            patch.setattr(cache, "KEPT_MS", 0)
        yield noted


def _note_requests(patch: pytest.MonkeyPatch, noted: Exchanges) -> None:
    serve = Application.__call__

    async def serve_and_note(self: Application, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await serve(self, scope, receive, send)
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        exchange = Exchange(scope["method"], scope["path"], task, loop, loop.time())
        _current.set(exchange)

        async def send_and_note(message: Any) -> None:
            if message["type"] == "http.response.start":
                exchange.route = getattr(scope.get("route"), "path", "")
                noted.answered.append(exchange)
            await send(message)

        await serve(self, scope, receive, send_and_note)

    patch.setattr(Application, "__call__", serve_and_note)


def _note_transactions(patch: pytest.MonkeyPatch, store: Any) -> None:
    def noting(begin: Any) -> Any:
        def begin_noted(unit: Any, /, *args: Any, **named: Any) -> Any:
            exchange = _here()
            if exchange is None:
                return begin(unit, *args, **named)

            async def run_noted(tx: Any) -> Any:
                return await unit(Counted(tx, exchange.note), *args, **named)

            return begin(run_noted)

        return begin_noted

    for name in TRANSACTIONS:
        patch.setattr(store, name, noting(getattr(store, name)))


def _note_waits(patch: pytest.MonkeyPatch) -> None:
    async def note_wait(until_s: float) -> None:
        exchange = _here()
        assert exchange is not None, "only requests wait"
        exchange.waits.append((until_s, len(exchange.statements)))

    patch.setattr(forms, "wait_until", note_wait)
    for module in (forms, endpoint):  # whatever other tests of this process set
        patch.setattr(module, "ANSWER_AFTER_S", ANSWER_AFTER_S)
