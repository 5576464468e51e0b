"""Several server processes on one socket. The parent replaces a worker that dies, or whose event
loop is blocked. Why not uvicorn's own: `docs/decisions/0012-our-own-supervisor.md`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import select
import signal
import threading
import time
from array import array
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

log = logging.getLogger("honeyguide.serve")

# A worker whose event loop has not run for this long is replaced.
BLOCKED_S = 30.0
_STOPS = (signal.SIGTERM, signal.SIGINT)


@dataclass
class Worker:
    number: int
    started_s: float
    # None until it serves. Starting can take long, because it may have to wait for migrations.
    beat_s: float | None = None


class Supervisor:
    """`serve` runs in each worker. It is given the worker's number, which its replacement gets too,
    and what to call once the worker serves. It returns the exit code.
    """

    def __init__(
        self,
        serve: Callable[[int, Callable[[], None]], int],
        on_answering: Callable[[], None],
        on_stopping: Callable[[], None] = lambda: None,
        *,
        blocked_s: float,
    ) -> None:
        self._serve = serve
        self._on_answering = on_answering
        self._on_stopping = on_stopping
        self._blocked_s = blocked_s
        self._workers: dict[int, Worker] = {}
        self._has_answered = False
        self._is_stopping = False
        # Only the parent has the writing end. When it dies, even by SIGKILL, every worker reads the
        # end of the file.
        self._parent_alive, self._parent_end = os.pipe()
        # Each worker writes its process ID here from its event loop.
        self._beats, self._beats_end = os.pipe()
        # Signals wake the parent.
        self._signals, self._signals_end = os.pipe()
        for end in (self._beats, self._beats_end, self._signals, self._signals_end):
            os.set_blocking(end, False)

    def run(self, count: int) -> int:
        """Returns the exit code: 1 if the first worker cannot start, and so none can."""
        for stop in _STOPS:
            signal.signal(stop, self._stop)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        signal.set_wakeup_fd(self._signals_end, warn_on_full_buffer=False)
        for number in range(count):
            self._start(number)
        code, was_signaled = 0, False
        while self._workers:
            self._wait()
            self._read_beats()
            for worker, exit_code in self._reap():
                if self._is_stopping:
                    continue
                if not self._has_answered:
                    code, self._is_stopping = 1, True
                    continue
                log.warning("A server process exited with code %d. Starting a new one.", exit_code)
                if time.monotonic() - worker.started_s < 1:
                    time.sleep(1)
                self._start(worker.number)
            if self._is_stopping and not was_signaled:
                was_signaled = True
                if code == 0:
                    self._on_stopping()
                for pid in self._workers:
                    os.kill(pid, signal.SIGTERM)
            self._kill_blocked()
        return code

    def _stop(self, _number: int, _frame: object) -> None:
        self._is_stopping = True

    def _wait(self) -> None:
        """Until a signal or a heartbeat comes, or it is time to look for blocked workers."""
        select.select([self._beats, self._signals], [], [], self._blocked_s / 10)
        with suppress(BlockingIOError):
            os.read(self._signals, 4096)

    def _read_beats(self) -> None:
        with suppress(BlockingIOError):
            for pid in array("q", os.read(self._beats, 8 * 4096)):
                if pid in self._workers:
                    self._workers[pid].beat_s = time.monotonic()
                if not self._has_answered:
                    self._has_answered = True
                    self._on_answering()

    def _reap(self) -> list[tuple[Worker, int]]:
        """Each worker that ended, with its exit code."""
        ended = []
        while self._workers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if worker := self._workers.pop(pid, None):
                ended.append((worker, os.waitstatus_to_exitcode(status)))
        return ended

    def _kill_blocked(self) -> None:
        now_s = time.monotonic()
        for pid, worker in self._workers.items():
            if worker.beat_s is not None and now_s - worker.beat_s > self._blocked_s:
                log.error(
                    "Server process %d has been blocked for %g seconds. Killing it.",
                    pid,
                    self._blocked_s,
                )
                worker.beat_s = None
                os.kill(pid, signal.SIGKILL)

    def _start(self, number: int) -> None:
        # The worker must not get a signal before it has its own handlers.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                code = self._work(number)
            except Exception:
                log.exception("A server process failed")
            finally:
                os._exit(code)
        self._workers[pid] = Worker(number, time.monotonic())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)

    # In the worker.

    def _work(self, number: int) -> int:
        signal.set_wakeup_fd(-1)
        for ours in (*_STOPS, signal.SIGCHLD):
            signal.signal(ours, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
        os.close(self._parent_end)
        threading.Thread(target=self._end_with_parent, daemon=True).start()
        return self._serve(number, self._beat)

    def _beat(self) -> None:
        """On the event loop, so that a blocked one is silent."""
        with suppress(OSError):  # the parent is gone, or has not read for hours
            os.write(self._beats_end, array("q", [os.getpid()]).tobytes())
        asyncio.get_running_loop().call_later(self._blocked_s / 10, self._beat)

    def _end_with_parent(self) -> None:
        os.read(self._parent_alive, 1)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(self._blocked_s)
        os._exit(1)  # its event loop is blocked
