"""How long the steps of a service's event loop take, and how long `/healthz` takes meanwhile."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple

import httpx

from tests.support.effort import TRIES, calibration_s
from tests.support.service import Service

# About 100 ms on a server of 2026.
MOST_EFFORT = 20


class SlowStep(NamedTuple):
    seconds: float
    during: str
    step: str


class LoopSteps:
    """`with LoopSteps(service) as steps:` records every step over the limit. Seconds are CPU time
    of the loop's own thread, and the limit is a multiple of a calibration.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._thread_id = service._thread.ident
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
        self._limit_s = MOST_EFFORT * calibration_s()

        def timed(handle: asyncio.Handle) -> None:
            began_s = clock()
            original(handle)
            took_s = clock() - began_s
            if took_s > self.longest_s and threading.get_ident() == self._thread_id:
                self.longest_s = took_s
            if took_s > self._limit_s and threading.get_ident() == self._thread_id:
                self.slow.append(SlowStep(took_s, self.during, repr(handle)))

        gc.collect()
        gc.disable()  # else the loop's thread may clean up after the tests
        asyncio.Handle._run = timed  # type: ignore[method-assign]
        self._asking.start()
        return self

    def judge(self, during: str, work: Callable[[], object]) -> None:
        """Does the work, and again while a step of it is slow: what counts is slow three times.

        Work that ends otherwise when it is repeated (deleting, say) cannot be judged by that. Then
        its slow steps count if they are slow by a calibration made right after them, too.
        """
        self.during, known = during, len(self.slow)
        outcome = self._done(work)
        for _ in range(TRIES - 1):
            slow, self.slow[known:] = self.slow[known:], []
            self._limit_s = MOST_EFFORT * calibration_s()
            slow = [step for step in slow if step.seconds > self._limit_s]
            if not slow:
                return
            if self._done(work) != outcome:
                self.slow[known:] = slow
                return

    def _done(self, work: Callable[[], object]) -> object:
        """Its outcome, once the loop is through with the steps that were due at its end."""
        outcome = work()
        self._service.run(asyncio.sleep(0))
        return outcome

    def _ask(self) -> None:
        url = self._service.url
        with httpx.Client(base_url=url, timeout=60, verify=False) as client:
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
