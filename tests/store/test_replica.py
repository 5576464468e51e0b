"""A real streaming replica: slow pages are read from it, but never without what was committed
before, and a failover to it needs no restart.
"""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from honeyguide.kernel.errors import Unavailable
from honeyguide.store import Store, Tx, migrate, open_store, replica
from tests.support.postgres import SCRATCH, PostgresServer, clean_environment
from tests.support.process import command
from tests.support.service import Service, until
from tests.support.stores import names, put, statement
from tests.support.web import operator


class ReplicaServer(PostgresServer):
    """`with ReplicaServer(primary) as replica: replica.promote()`"""

    def __init__(self, primary: PostgresServer, **settings: str) -> None:
        super().__init__(**settings)
        self._primary = primary

    def promote(self) -> None:
        self.execute("SELECT pg_promote()")

    def _initdb(self) -> None:
        done = subprocess.run(
            [
                *(str(self._bin / "pg_basebackup"), "--write-recovery-conf", "--checkpoint=fast"),
                *("--no-sync", "--dbname", self._primary.url()),
                *("--pgdata", str(self.home / "data")),
            ],
            cwd=self.home,
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=False,
            **self._user,
        )
        assert done.returncode == 0, done.stderr


pytestmark = pytest.mark.long

SEEN = statement("SELECT pg_is_in_recovery(), name FROM instance ORDER BY name")


@pytest.fixture(scope="module")
def primary() -> Iterator[PostgresServer]:
    with PostgresServer(**SCRATCH) as server:
        yield server


@pytest.fixture(scope="module")
def standby(primary: PostgresServer) -> Iterator[ReplicaServer]:
    with ReplicaServer(primary, **SCRATCH) as server:
        yield server


@asynccontextmanager
async def opened(
    primary: PostgresServer, standby: ReplicaServer, name: str
) -> AsyncIterator[Store]:
    primary.create_database(name)
    await migrate(primary.url(name))
    store = await open_store(primary.url(name), replica_url=standby.url(name))
    try:
        yield store
    finally:
        await store.close()


async def read(store: Store) -> tuple[bool, list[str]]:
    """Whether the replica was read, and which rows there were."""
    rows = await store.replica_snapshot(_find)
    return rows[0][0], [name for _, name in rows]


async def _find(tx: Tx) -> list[tuple[bool, str]]:
    return await tx.all(SEEN)


def test_every_change_is_seen_at_once_and_most_reads_are_the_replicas(primary, standby):
    async def scene() -> None:
        async with opened(primary, standby, "fresh") as store:
            from_replica = 0
            for number in range(100):
                await store.write(put(f"{number:03}"))
                is_replica, seen = await read(store)
                assert seen == [f"{each:03}" for each in range(number + 1)]
                from_replica += is_replica
            assert from_replica > 50
            primary_rows = await store.slow_snapshot(_find)
            assert not primary_rows[0][0]

    asyncio.run(scene())


def test_a_replica_that_is_behind_or_away_is_not_read(primary, monkeypatch):
    monkeypatch.setattr(replica, "AVOID_S", 0.1)

    async def scene(standby: ReplicaServer) -> None:
        async with opened(primary, standby, "behind") as store:
            await store.write(put("a"))
            assert await _is_read(store)
            standby.execute("SELECT pg_wal_replay_pause()")
            await store.write(put("b"))
            assert await read(store) == (False, ["a", "b"])
            standby.execute("SELECT pg_wal_replay_resume()")
            assert await _is_read(store)
            standby.stop()
            await store.write(put("c"))
            assert await read(store) == (False, ["a", "b", "c"])

    with ReplicaServer(primary, **SCRATCH) as own:
        asyncio.run(scene(own))


async def _is_read(store: Store) -> bool:
    """Soon, that is: as soon as the replica has caught up and is not avoided any more."""
    for _ in range(200):
        if (await read(store))[0]:
            return True
        await asyncio.sleep(0.1)
    return False


def test_the_doctor_tells_whether_it_is_a_replica_of_ours_that_keeps_up(primary):
    def url(server: PostgresServer, name: str) -> str:
        return server.url(name).replace("postgres@", "ordinary@")

    def examine(replica_url: str) -> dict[str, str]:
        urls = {"database_url": url(primary, "doctor"), "replica_url": replica_url}
        found = json.loads(command("doctor", "--json", **urls).stdout)["checks"]
        (check,) = [each for each in found if each["name"] == "replica"]
        return check  # type: ignore[no-any-return]

    primary.execute("CREATE ROLE ordinary LOGIN")
    for name in ("doctor", "other"):
        primary.execute(f"CREATE DATABASE {name} OWNER ordinary")
    with ReplicaServer(primary, **SCRATCH) as own:
        own_url = url(own, "doctor")
        assert examine(own_url)["level"] == "ok"
        assert "another database" in examine(url(own, "other"))["message"]
        assert "not a replica" in examine(url(primary, "doctor"))["message"]
        own.execute("SELECT pg_wal_replay_pause()")
        primary.execute("CREATE TABLE more AS SELECT generate_series(1, 1000)", "doctor")
        behind = examine(own_url)
        assert behind["level"] == "warning" and "KB behind" in behind["message"]
    away = examine(own_url)
    assert away["level"] == "problem" and "HONEYGUIDE_REPLICA_URL" in away["message"]


def test_pages_and_exports_are_read_from_the_replica(primary, standby):
    primary.create_database("pages")
    asyncio.run(migrate(primary.url("pages")))
    with Service(
        "postgres", database_url=primary.url("pages"), replica_url=standby.url("pages")
    ) as service:
        alice = operator(service, "alice")
        alice.post(f"{alice.v1}/subscribers", {"email": "ana@example.org"})
        for path in ("/subscribers?q=ana", "/subscribers/export.csv", "/overview/days.csv", "/"):
            page = alice.web.get(path)
            assert page.status_code == 200, path
            assert "ana@example.org" in page.text or "overview" in path or path == "/"
        read = "SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = 'honeyguide'"
        until(lambda: int(standby.execute(read)) > 0)


def test_a_failover_to_the_replica_needs_no_restart(tmp_path):
    with PostgresServer(**SCRATCH) as first, ReplicaServer(first, **SCRATCH) as second:
        second.execute("SELECT pg_wal_replay_pause()")
        first.create_database("failover")
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in (second, first))
        url = f"postgresql://postgres@{hosts}/failover"

        async def scene() -> None:
            await migrate(url)  # the replica does not have the database yet
            second.execute("SELECT pg_wal_replay_resume()")
            store = await open_store(url)
            heard = asyncio.Event()
            store.listen("news", heard.set)
            await asyncio.wait_for(heard.wait(), 30)
            await store.write(put("a"))
            await asyncio.to_thread(
                until, lambda: second.execute("SELECT COUNT(*) FROM instance", "failover") == "1"
            )
            heard.clear()
            first.stop()
            with pytest.raises(Unavailable):
                await store.write(put("b"))
            second.promote()
            await store.write(put("c"))
            await asyncio.wait_for(heard.wait(), 30)
            assert await names(store) == ["a", "c"]
            await store.close()

        asyncio.run(scene())
