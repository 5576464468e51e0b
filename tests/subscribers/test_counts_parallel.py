"""Counts stay exact while many processes sign up, refer, confirm, unsubscribe and delete, readers
page, and the fold runs.
"""

import asyncio
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from honeyguide.store import Tx
from tests.support.crowd import Crowd, assert_exact
from tests.support.process import (
    Answer,
    Credentials,
    Serving,
    environment,
    migrated,
    new_account,
)
from tests.support.service import ENGINES, until
from tests.support.starter import Command
from tests.support.stores import OpenStore, statement


@contextmanager
def working(url: str, many: int) -> Iterator[None]:
    """`honeyguide work`, several times, beside the servers."""
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.NamedTemporaryFile()) for _ in range(many)]
        env = environment(database_url=url)
        workers = [Command(["work"], env=env, stdout=file, stderr=file) for file in files]
        for worker, file in zip(workers, files, strict=True):
            stack.callback(_stop, worker, Path(file.name))
        for file in files:
            output = Path(file.name)
            until(lambda output=output: b"Running background jobs" in output.read_bytes())
        yield
        assert all(worker.poll() is None for worker in workers), "a worker died"


def _stop(worker: Command, output: Path) -> None:
    worker.send_signal(signal.SIGINT)
    worker.wait(20)
    assert b"Traceback" not in output.read_bytes() and b"failed" not in output.read_bytes()


def test_four_processes_and_two_workers_on_postgres_count_exactly():
    url = migrated("postgres")
    alice = new_account(url)
    with ExitStack() as stack:
        servers = [
            Serving(url, *(() if number == 0 else ("--no-work",)), pool_size=5)
            for number in range(4)
        ]
        for server in servers:
            stack.callback(server.__exit__, None, None, None)
            server.start(wait=False)
        for server in servers:
            server.wait_for()
        stack.enter_context(working(url, 2))
        crowd = Crowd([server.port for server in servers], alice)
        crowd.run(changers=8, steps=40)
        assert_heard_no_error(crowd)
        assert_exact(servers[1].caller(alice.key), alice, "postgres", url)
        assert all("Traceback" not in server.output for server in servers)
        with OpenStore("postgres", url) as raw:  # each would have cost somebody a second
            assert raw.ask(
                "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
            ) == [(0,)]


def test_one_process_and_many_connections_on_sqlite_count_exactly():
    url = migrated("sqlite")
    alice = new_account(url)
    with Serving(url) as server:
        crowd = Crowd([server.port], alice)
        crowd.run(changers=8, steps=40)
        assert_heard_no_error(crowd)
        assert_exact(server.caller(alice.key), alice, "sqlite", url)
        assert "Traceback" not in server.output


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
def test_a_longer_crowd_counts_exactly(engine):
    url = migrated(engine)
    alice = new_account(url)
    with ExitStack() as stack:
        servers = [
            stack.enter_context(Serving(url, pool_size=5))
            for _ in range(4 if engine == "postgres" else 1)
        ]
        crowd = Crowd([server.port for server in servers], alice)
        for _ in range(3):
            crowd.run(changers=12, steps=500)
            assert_exact(servers[0].caller(alice.key), alice, engine, url)
        assert_heard_no_error(crowd)


def assert_heard_no_error(crowd: Crowd) -> None:
    assert set(crowd.statuses) <= {"POST 201", "POST 400", "PUT 200", "DELETE 200", "GET 200"}, (
        crowd.statuses,
        crowd.complaints,
    )
    assert (
        crowd.statuses["GET 200"] > 20
        and crowd.statuses["DELETE 200"] > 20
        and crowd.statuses["PUT 200"] > 20
    )


def test_erasing_somebody_whose_code_is_just_being_used_locks_nobody_out():
    """The eraser holds the row, others wait to be counted on it, and it must not have to wait for
    them in turn.
    """
    url = migrated("postgres")
    alice = new_account(url)
    with Serving(url) as server, OpenStore("postgres", url) as raw, ThreadPoolExecutor(4) as pool:
        path = f"{alice.v1}/subscribers"
        star = server.caller(alice.key)("POST", path, {"email": "star@example.org"}).json()[
            "subscriber"
        ]
        waiting = statement(
            "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = "
            "current_database()"
        )
        signups: list[Future[Answer]] = []

        async def erase(tx: Tx) -> None:
            assert not signups, "a deadlock made it run again"
            await tx.lock(statement("SELECT id FROM subscriber WHERE id = :id"), id=star["uuid"])
            for number in range(4):
                body = {"email": f"reader{number}@example.org", "referrer_code": star["ref_code"]}
                signups.append(pool.submit(server.caller(alice.key), "POST", path, body))
            while len(await raw.store.read(lambda tx: tx.all(waiting))) < 4:
                await asyncio.sleep(0.005)
            gone = (
                "UPDATE subscriber SET email = NULL, email_key = NULL, erased_ms = 1 WHERE id = :id"
            )
            await tx.run(statement(gone), id=star["uuid"])

        raw.run(raw.store.write(erase))
        assert [signup.result().status for signup in signups] == [201] * 4
        assert raw.ask(
            "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        ) == [(0,)]


def test_parallel_signups_of_one_email_make_one_subscriber():
    for engine in ENGINES:
        url = migrated(engine)
        alice = new_account(url)
        with Serving(url) as server, ThreadPoolExecutor(8) as pool:

            def sign_up(number: int, server: Serving = server, alice: Credentials = alice) -> int:
                body = {
                    "email": f"Ana{number // 8}@Example.org"
                    if number % 2
                    else f"ana{number // 8}@example.org"
                }
                return server.caller(alice.key)("POST", f"{alice.v1}/subscribers", body).status

            assert Counter(pool.map(sign_up, range(64))) == {201: 8, 400: 56}
            assert_exact(server.caller(alice.key), alice, engine, url)
