"""The commands that keep running, as real processes: `serve` and `work`."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from honeyguide import supervisor
from tests.cli.test_cli import assert_refused
from tests.support.postgres import free_port
from tests.support.process import (
    COMMAND,
    Caller,
    Serving,
    command,
    environment,
    fresh,
    is_alive,
    new_account,
)
from tests.support.service import until


# Serving.
def test_sqlite_serves_one_process_and_says_so():
    url = fresh("sqlite")
    assert_refused(
        command("serve", "--workers", "2", database_url=url, port=free_port()),
        "SQLite supports only one",
        "postgresql://",
    )
    with Serving(url) as first:
        assert_refused(
            command("serve", database_url=url, port=free_port()),
            "Another Honeyguide server",
            "PostgreSQL",
        )
        first.wait_for()
        # The command line may write beside it.
        assert new_account(url, "late@example.org").key
        first.kill()
        first.start()  # a lock does not outlive its holder


def test_a_port_that_is_taken_is_named_with_what_to_do():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert_refused(
            command("serve", database_url=fresh("sqlite"), port=port), str(port), "HONEYGUIDE_PORT"
        )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_when_told_to_and_finishes_what_is_under_way(number):
    url = fresh("sqlite")
    alice = new_account(url)
    with Serving(url) as server:
        assert f"Honeyguide is running at http://127.0.0.1:{server.port}" in server.output
        assert (
            server.caller(alice.key)(
                "POST", f"{alice.v1}/subscribers", {"email": "ana@example.org"}
            ).status
            == 201
        )
        began = time.monotonic()
        code = server.stop(number)
        assert time.monotonic() - began < 12 and "Traceback" not in server.output
        assert '"message":"Stopped"' in server.output
        # Ctrl-C is a way to stop it, not an error; SIGTERM ends it as the signal would.
        assert code == (0 if number == signal.SIGINT else -signal.SIGTERM)


def test_workers_share_a_port_are_replaced_when_killed_and_never_outlive_their_parent():
    url = fresh("postgres")
    alice = new_account(url)
    with Serving(url, "--workers", "3", pool_size=3) as server:
        until(lambda: len(children(server.process.pid)) == 3)
        until(lambda: "Honeyguide is running" in server.output)
        for _ in range(30):  # a connection each, so that all of them get some
            assert server.caller(alice.key)("GET", alice.v1).status == 200
        until(
            lambda: _counted(server.caller()) == 30
        )  # a request is counted just after it is answered
        assert [_counted(server.caller()) for _ in range(6)] == [
            30.0
        ] * 6  # whichever of them is asked
        victim = children(server.process.pid)[0]
        os.kill(victim, signal.SIGKILL)
        until(
            lambda: (
                victim not in children(server.process.pid)
                and len(children(server.process.pid)) == 3
            )
        )
        until(lambda: server.caller(alice.key)("GET", alice.v1).status == 200)
        until(lambda: _counted(server.caller()) > 30)
        crew = children(server.process.pid)
        server.kill()
        # One that does not stop by itself ends after `BLOCKED_S`.
        until(
            lambda: not any(is_alive(pid) for pid in crew),
            supervisor.BLOCKED_S + 10,
        )
        server.start()  # the port is free again
        until(lambda: len(children(server.process.pid)) == 3)
        crew = children(server.process.pid)
        server.stop()
        assert not any(is_alive(pid) for pid in crew)
        assert server.output.count('"message":"Stopped"') == 1


def children(pid: int) -> list[int]:
    try:
        return [
            int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ]
    except FileNotFoundError:
        return []


def _counted(call: Caller) -> float:
    found = [
        line
        for line in call("GET", "/metrics").body.decode().splitlines()
        if line.startswith("honeyguide_requests_total{")
    ]
    return sum(float(line.rsplit(" ", 1)[1]) for line in found if 'status="200"' in line)


@pytest.mark.parametrize(
    ("workers", "address"),
    [
        ("1", "postgresql://x@127.0.0.1:{port}/x"),
        ("2", "postgresql://x@127.0.0.1:{port}/x"),
        ("1", "sqlite:////dev/null"),
    ],
)
def test_what_cannot_start_ends_with_the_reason(workers, address):
    done = command(
        "serve",
        "--workers",
        workers,
        database_url=address.format(port=free_port()),
        port=free_port(),
    )
    assert done.returncode not in (0, None) and "Traceback" not in done.stderr
    assert (
        "Cannot connect to PostgreSQL" in done.stderr or "/dev/null cannot be opened" in done.stderr
    )


def test_work_runs_until_it_is_told_to_stop():
    url = fresh("postgres")
    for number in (signal.SIGINT, signal.SIGTERM):
        worker = subprocess.Popen(
            [*COMMAND, "work"],
            env=environment(database_url=url),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert worker.stderr is not None
        if number == signal.SIGINT:
            assert '"message":"Ran ' in worker.stderr.readline()
        assert "Running background" in worker.stderr.readline()
        worker.send_signal(number)
        _, output = worker.communicate(timeout=20)
        assert "Traceback" not in output, output
