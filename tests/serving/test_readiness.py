"""`/readyz` says in one sentence why a server cannot serve, each time with a real cause."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.postgres import shared_server
from tests.support.process import Serving, migrated, new_account
from tests.support.service import ENGINES
from tests.support.stores import OpenStore

NEWEST = "0109_arrival_limits"


def assert_waits(server: Serving, code: str, *phrases: str) -> None:
    answer = server.caller()("GET", "/readyz")
    body = answer.json()
    assert (answer.status, body["status"], body["code"]) == (503, "waiting", code)
    assert body.keys() == {"status", "error", "code", "request_id"}
    assert all(word in body["error"] for word in phrases), body["error"]
    assert "postgres" not in body["error"] and "/" not in body["error"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_schema_that_does_not_fit(engine: str) -> None:
    with Serving(migrated(engine), "--no-work") as server:
        server.wait_for("/readyz")
        with OpenStore(engine, server.database_url) as opened:
            # As if an old backup was restored.
            kept = opened.ask(f"SELECT checksum FROM schema_migration WHERE name = '{NEWEST}'")
            opened.do(f"DELETE FROM schema_migration WHERE name = '{NEWEST}'")
            assert_waits(server, "wrong_schema", NEWEST, "honeyguide migrate")
            insert = "INSERT INTO schema_migration (name, checksum, works_with) VALUES "
            opened.do(f"{insert} ('{NEWEST}', :sum, '0093')", sum=kept[0][0])
            assert server.caller()("GET", "/readyz").json() == {"status": "ready"}
            # As if a newer version was installed beside it.
            opened.do(f"{insert} ('9999_newer', 'x', '9998')")
            assert_waits(server, "wrong_schema", "newer version", "Upgrade this one")
            opened.do("DELETE FROM schema_migration WHERE name = '9999_newer'")
            assert server.caller()("GET", "/readyz").json() == {"status": "ready"}
            if engine == "postgres":  # the tables are gone, as in an empty database
                name = server.database_url.rpartition("/")[2]
                shared_server().execute("ALTER TABLE schema_migration RENAME TO elsewhere", name)
                assert_waits(server, "unavailable")


def test_postgres_that_takes_no_writes() -> None:
    """As after a failover to a replica, or when its disk is full."""
    url = migrated("postgres")
    alice = new_account(url)
    name = url.rpartition("/")[2]
    subscriber = {"email": "ana@example.org"}

    def set_read_only(value: str) -> None:
        """For all connections: those that are open are closed."""
        shared_server().execute(
            f'ALTER DATABASE "{name}" SET default_transaction_read_only = {value};'
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        )

    with Serving(url, "--no-work") as server:
        call = server.caller(alice.key)
        assert call("GET", "/readyz").status == 200
        set_read_only("on")
        refused = call("POST", f"{alice.v1}/subscribers", subscriber)
        assert (refused.status, refused.json()["code"]) == (500, "unavailable")
        assert_waits(server, "cannot_write", "cannot be written to")
        set_read_only("off")
        server.wait_for("/readyz", seconds=30)
        assert call("POST", f"{alice.v1}/subscribers", subscriber).status == 201


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, check=False).returncode:
        pytest.skip("only root can make a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_and_one_with_room_again(small_disk: Path) -> None:
    with Serving(f"sqlite:///{small_disk}/honeyguide.db", "--no-work") as server:
        server.wait_for("/readyz")
        filler = small_disk / "filler"
        with filler.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(small_disk).free)
        assert_waits(server, "disk_full", "disk", "full")
        filler.unlink()
        assert server.caller()("GET", "/readyz").json() == {"status": "ready"}
