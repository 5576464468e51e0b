"""Server processes and their parent, for real: nobody outlives the parent, what cannot start ends
with 1, and a worker that is blocked is replaced.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.cli.test_cli_server import children
from tests.support import starter
from tests.support.postgres import free_port
from tests.support.process import Serving, command, environment, is_alive, migrated
from tests.support.service import until

BLOCKED_S = 1.5
# The event loop of a worker blocks as code that never awaits does.
BLOCKABLE = f"""
import re, time
from honeyguide import app, supervisor
supervisor.BLOCKED_S = {BLOCKED_S}
answer = app.Application.__call__
async def answer_or_block(self, scope, receive, send):
    if scope.get("path") == "/block":
        print("now it blocks", flush=True)
        time.sleep(600)
    if scope.get("path") == "/compute":
        print("now it blocks", flush=True)
        re.match("(a+)+$", "a" * 100 + "b")  # lets no other thread run
    await answer(self, scope, receive, send)
app.Application.__call__ = answer_or_block
"""


@contextmanager
def two_workers() -> Iterator[Serving]:
    server = Serving(migrated("postgres"), "--workers", "2", pool_size=3)
    server.before = BLOCKABLE
    with server:
        until(lambda: len(children(server.process.pid)) == 2)
        until(lambda: "Honeyguide is running" in server.output)
        try:
            yield server
        finally:
            for pid in children(server.process.pid):  # a blocked one would not end by itself
                os.kill(pid, signal.SIGKILL)


def block(server: Serving, path: str = "/block") -> None:
    """Blocks one worker: this request never gets an answer."""

    def ask() -> None:
        with suppress(OSError):
            server.caller(timeout=30)("GET", path)

    threading.Thread(target=ask, daemon=True).start()
    until(lambda: "now it blocks" in server.output)


def test_a_worker_whose_event_loop_blocks_is_replaced_and_the_others_are_not() -> None:
    with two_workers() as server:
        before = set(children(server.process.pid))
        block(server)
        until(lambda: "Starting a new one" in server.output, 20)
        until(lambda: len(children(server.process.pid)) == 2)
        after = set(children(server.process.pid))
        assert len(before & after) == 1
        assert "has been blocked for 1.5 seconds" in server.output and "code -9" in server.output
        for _ in range(10):
            assert server.caller()("GET", "/healthz").status == 200
        time.sleep(2 * BLOCKED_S)  # workers that have nothing to do are not taken for blocked
        assert set(children(server.process.pid)) == after
        assert server.stop() == 0


def test_workers_end_when_the_parent_is_killed_even_a_blocked_one() -> None:
    with two_workers() as server:
        workers = children(server.process.pid)
        block(server)
        server.kill()
        until(lambda: not any(is_alive(pid) for pid in workers), 20)


def test_the_parent_stops_although_a_worker_is_blocked() -> None:
    with two_workers() as server:
        workers = children(server.process.pid)
        block(server)
        assert server.stop() == 0
        assert not any(is_alive(pid) for pid in workers)


def test_a_failed_start_exits_with_1() -> None:
    nowhere = f"postgresql://x@127.0.0.1:{free_port()}/x"
    done = command("serve", "--workers", "2", database_url=nowhere, port=free_port())
    assert done.returncode == 1 and "Cannot connect to PostgreSQL" in done.stderr


@pytest.mark.parametrize("path", ["/block", "/compute"])
def test_a_single_process_whose_event_loop_blocks_exits_and_says_where(path: str) -> None:
    server = Serving(migrated("sqlite"))
    server.before = BLOCKABLE
    with server:
        time.sleep(2 * BLOCKED_S)  # one that has nothing to do is not taken for blocked
        assert server.caller()("GET", "/healthz").status == 200
        block(server, path)
        assert server.process.wait(20) == 1
        assert "Timeout" in server.output and "in answer_or_block" in server.output


def test_a_work_process_whose_event_loop_blocks_exits(tmp_path: Path) -> None:
    before = f"""
import time
from honeyguide import supervisor
from honeyguide.integrations.worker import IntegrationWorker
supervisor.BLOCKED_S = {BLOCKED_S}
async def block(self):
    time.sleep(600)
IntegrationWorker.step = block
"""
    with open(tmp_path / "out", "wb") as out:
        env = environment(database_url=migrated("sqlite"))
        worker = starter.Command(["work"], env=env, stdout=out, stderr=out, before=before)
        try:
            assert worker.wait(60) == 1
        finally:
            worker.kill()
    assert "in block" in (tmp_path / "out").read_text()
