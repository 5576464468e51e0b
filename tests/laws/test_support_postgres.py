"""The PostgreSQL launcher keeps its promises: a real server, that comes back, and that never
outlives its owner.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from tests.support import used_databases
from tests.support.postgres import PostgresServer, shared_server
from tests.support.process import migrated
from tests.support.stores import OpenStore

ROOT = Path(__file__).parents[2]

OWNER = """
import os, sys, time
from tests.support.postgres import PostgresServer
server = PostgresServer()
server.start()
if "fork" in sys.argv and os.fork() == 0:
    time.sleep(30)  # a child that keeps the pipe to the watcher open
    os._exit(0)
print(server.pid, server.home, flush=True)
time.sleep(60)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as running:
        yield running


def fetch(server: PostgresServer, query: str, database: str = "postgres") -> object:
    async def ask() -> object:
        connection = await asyncpg.connect(server.url(database))
        try:
            return await connection.fetchval(query)
        finally:
            await connection.close()

    return asyncio.run(ask())


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until_gone(pid: int, home: Path, limit_s: float = 15.0) -> bool:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if not alive(pid) and not home.exists():
            return True
        time.sleep(0.05)
    return False


def test_it_answers_as_postgresql_18_over_tcp(server: PostgresServer) -> None:
    assert str(fetch(server, "SHOW server_version")).startswith("18")


def test_it_keeps_the_promises_of_a_real_server(server: PostgresServer) -> None:
    assert fetch(server, "SHOW fsync") == "on"
    assert fetch(server, "SHOW synchronous_commit") == "on"
    assert fetch(server, "SHOW server_encoding") == "UTF8"
    assert fetch(server, "SHOW max_connections") == "200"
    assert fetch(server, "SELECT datcollate FROM pg_database WHERE datname = 'template1'") == "C"


def test_databases_are_created_cloned_and_dropped(server: PostgresServer) -> None:
    server.create_database("first")
    server.execute("CREATE TABLE bird (name text); INSERT INTO bird VALUES ('honeyguide')", "first")
    server.create_database("second", template="first")
    assert fetch(server, "SELECT name FROM bird", "second") == "honeyguide"
    for name in ("first", "second"):
        server.drop_database(name)
    assert (
        server.execute("SELECT count(*) FROM pg_database WHERE datname IN ('first', 'second')")
        == "0"
    )


@pytest.mark.parametrize("hard", [False, True])
def test_it_restarts_on_the_same_address_with_what_was_committed(
    server: PostgresServer, hard: bool
) -> None:
    server.execute("CREATE TABLE IF NOT EXISTS kept (n integer); INSERT INTO kept VALUES (1)")
    before, address = server.pid, server.url()
    written = fetch(server, "SELECT count(*) FROM kept")
    server.restart(hard=hard)
    assert server.url() == address
    assert server.pid != before
    assert fetch(server, "SELECT count(*) FROM kept") == written


def test_a_hard_restart_cuts_open_connections(server: PostgresServer) -> None:
    async def ask_across_the_crash() -> None:
        connection = await asyncpg.connect(server.url())
        await asyncio.to_thread(server.restart, hard=True)
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
            await connection.fetchval("SELECT 1")
        connection.terminate()

    asyncio.run(ask_across_the_crash())


def test_the_programs_for_benches_run(server: PostgresServer) -> None:
    for program in (server.psql, server.pgbench):
        assert (
            "18"
            in subprocess.run(
                [program, "--version"], capture_output=True, text=True, check=True
            ).stdout
        )


def test_after_stop_nothing_is_left() -> None:
    server = PostgresServer()
    server.start()
    pid, home = server.pid, server.home
    server.stop()
    assert not alive(pid)
    assert not home.exists()
    server.stop()


@pytest.mark.parametrize("case", ["plain", "fork"])
def test_it_is_gone_after_its_owner_was_killed(case: str) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, case],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert owner.stdout is not None
    pid, home = owner.stdout.readline().split()
    assert alive(int(pid))
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    try:
        assert wait_until_gone(int(pid), Path(home))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(owner.pid, signal.SIGKILL)  # the forked child
        owner.stdout.close()


def test_a_database_that_was_given_back_comes_empty_to_the_next_test() -> None:
    with OpenStore("postgres") as opened:
        opened.account_with_key()
        first, written = opened.url, tables_with_rows(opened)
    with OpenStore("postgres") as opened:
        assert opened.url == first
        assert {"account", "campaign", "change_log", "schema_migration"} <= written
        assert tables_with_rows(opened) == {"schema_migration"}
        sequences = opened.ask("SELECT last_value FROM pg_sequences")
        assert sequences and set(sequences) == {(None,)}


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE account ADD COLUMN new TEXT",
        "ALTER TABLE account DISABLE TRIGGER USER; ALTER TABLE account ENABLE TRIGGER USER",
        "DROP INDEX account_weekly",
        "DELETE FROM schema_migration",
        "ANALYZE schema_migration",
        "ALTER DATABASE {name} SET statement_timeout = '1s'",
        "INSERT INTO instance SELECT n, REPEAT('x', 1000) FROM GENERATE_SERIES(1, 100) n",
    ],
)
def test_a_database_that_was_changed_comes_to_no_other_test(sql: str) -> None:
    url = migrated("postgres")
    name = url.rpartition("/")[2]
    shared_server().execute(sql.format(name=name), name)
    used_databases.give_back(url)
    with OpenStore("postgres") as opened:
        assert opened.url != url


def test_a_database_that_somebody_still_uses_comes_to_no_other_test() -> None:
    with OpenStore("postgres") as user:
        used_databases.give_back(user.url)
        with OpenStore("postgres") as opened:
            assert opened.url != user.url


def tables_with_rows(opened: OpenStore) -> set[str]:
    names = opened.ask("SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public'")
    return {name for (name,) in names if opened.ask(f"SELECT 1 FROM {name} LIMIT 1")}
