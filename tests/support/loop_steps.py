"""How long the steps of a service's event loop take, and how long `/healthz` takes meanwhile."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from types import TracebackType
from typing import NamedTuple

import httpx

from tests.support.service import Service

LIMIT_S = 0.1


class SlowStep(NamedTuple):
    seconds: float
    during: str
    step: str


class LoopSteps:
    """`with LoopSteps(service) as steps:` records every step over the limit. Seconds are CPU time
    of the loop's own thread, so that a busy machine changes nothing.
    """

    def __init__(self, service: Service) -> None:
        self._thread_id = service._thread.ident
        self._url = service.url
        self.during = ""
        self.slow: list[SlowStep] = []
        self.failed: list[str] = []  # what was answered with a 5xx
        self.longest_s = 0.0
        self.answers_s: list[float] = []
        self._is_over = threading.Event()
        self._asking = threading.Thread(target=self._ask, daemon=True)

    def __enter__(self) -> LoopSteps:
        original, clock = asyncio.Handle._run, time.thread_time
        self._original = original

        def timed(handle: asyncio.Handle) -> None:
            began_s = clock()
            original(handle)
            took_s = clock() - began_s
            if took_s > self.longest_s and threading.get_ident() == self._thread_id:
                self.longest_s = took_s
            if took_s > LIMIT_S and threading.get_ident() == self._thread_id:
                self.slow.append(SlowStep(took_s, self.during, repr(handle)))

        gc.collect()
        gc.disable()  # else the loop's thread may clean up after the tests
        asyncio.Handle._run = timed  # type: ignore[method-assign]
        self._asking.start()
        return self

    def _ask(self) -> None:
        with httpx.Client(base_url=self._url, timeout=60, verify=False) as client:
            while not self._is_over.wait(0.05):
                began_s = time.perf_counter()
                client.get("/healthz")
                self.answers_s.append(time.perf_counter() - began_s)

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self._is_over.set()
        self._asking.join()
        gc.enable()
        asyncio.Handle._run = self._original  # type: ignore[method-assign]

    def report(self) -> str:
        answers = sorted(self.answers_s) or [0.0]
        return (
            f"longest step {self.longest_s * 1000:.0f} ms of CPU; /healthz answered "
            f"{len(answers)} times, median {answers[len(answers) // 2] * 1000:.0f} ms, "
            f"99th percentile {answers[len(answers) * 99 // 100] * 1000:.0f} ms, "
            f"slowest {answers[-1] * 1000:.0f} ms"
        )
