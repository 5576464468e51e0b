"""No 2xx before it is on disk; after kill -9 under load every acknowledged subscriber is there once
and counts are exact.
"""

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from honeyguide.kernel.errors import Invalid, Unavailable
from honeyguide.store.sqlite import SqliteStore
from honeyguide.store.tx import Tx
from tests.support.disks import Disk, durable_commits, watched_disk
from tests.support.postgres import PostgresServer
from tests.support.process import Caller, Credentials, Serving, migrated, new_account
from tests.support.service import ENGINES
from tests.support.stores import OpenStore, statement

CLIENTS = 8


@dataclass
class Load:
    """Clients that sign people up with referral codes and delete some again, and remember what was
    acknowledged.
    """

    server: Serving
    alice: Credentials
    created: dict[str, str] = field(default_factory=dict)  # uuid to email
    deleted: set[str] = field(default_factory=set)
    unsure_of: set[str] = field(default_factory=set)  # asked to delete, and never answered
    statuses: Counter[int | str] = field(default_factory=Counter)
    stop: threading.Event = field(default_factory=threading.Event)
    enough: threading.Event = field(default_factory=threading.Event)
    numbers: Iterator[int] = field(default_factory=lambda: iter(range(10**9)))
    target: int = 0

    def run(self, acknowledged: int, then: Callable[[], None]) -> None:
        """Loads the server until so many more were acknowledged, does `then` under load, and waits
        for the clients to end.
        """
        self.stop.clear()
        self.enough.clear()
        self.target = len(self.created) + acknowledged
        clients = [
            threading.Thread(target=self._client, args=(random.random(),)) for _ in range(CLIENTS)
        ]
        for client in clients:
            client.start()
        try:
            assert self.enough.wait(60), f"too slow: {self.statuses}"
            then()
        finally:
            self.stop.set()
            for client in clients:
                client.join(60)

    def _client(self, seed: float) -> None:
        dice = random.Random(seed)
        call = Caller(self.server.port, self.alice.key, timeout=15)
        own: list[str] = []
        while not self.stop.is_set():
            try:
                if own and dice.random() < 0.15:
                    self._delete(call, own.pop(dice.randrange(len(own))))
                else:
                    own.append(self._create(call))
            except OSError:
                if self.stop.wait(0.02):
                    break

    def _create(self, call: Caller) -> str:
        email = f"reader{next(self.numbers)}@example.org"
        answer = call(
            "POST",
            f"{self.alice.v1}/subscribers",
            {"email": email, "referrer_code": random.choice(self.codes)},
        )
        self.statuses[answer.outcome] += 1
        if answer.status != 201:
            raise ConnectionError(answer.status)
        uuid: str = answer.json()["subscriber"]["uuid"]
        self.created[uuid] = email
        if len(self.created) >= self.target:
            self.enough.set()
        return uuid

    def _delete(self, call: Caller, uuid: str) -> None:
        self.unsure_of.add(uuid)
        answer = call("DELETE", f"{self.alice.v1}/subscribers/{uuid}")
        self.statuses[answer.outcome] += 1
        if answer.status == 200:
            self.deleted.add(uuid)
            self.unsure_of.discard(uuid)
        elif answer.outcome != "unavailable":  # which may be a commit whose answer got lost
            self.unsure_of.discard(uuid)

    codes: list[str] = field(default_factory=list)

    def plant(self) -> None:
        """The advocates whose codes everybody uses: hot rows, on purpose."""
        call = self.server.caller(self.alice.key)
        for number in range(3):
            answer = call(
                "POST", f"{self.alice.v1}/subscribers", {"email": f"advocate{number}@example.org"}
            )
            self.codes.append(answer.json()["subscriber"]["ref_code"])


def assert_nothing_is_lost_or_miscounted(load: Load, engine: str) -> None:
    call, v1 = load.server.caller(load.alice.key), load.alice.v1
    with OpenStore(engine, load.server.database_url) as raw:
        rows = raw.ask(
            "SELECT id, email, erased_ms IS NULL, referrer_code, referral_status, ref_code FROM "
            "subscriber"
        )
    assert len({row[0] for row in rows}) == len(rows)
    alive = {row[0]: row for row in rows if row[2]}
    assert Counter(row[1] for row in alive.values()).most_common(1)[0][1] == 1
    for uuid, email in load.created.items():
        if uuid in load.deleted:
            assert uuid not in alive, f"{email} was deleted, and is back"
        elif uuid not in load.unsure_of:
            assert uuid in alive, f"{email} was acknowledged, and is lost"
            assert alive[uuid][1] == email
    counts = {
        row[5]: sum(1 for r in alive.values() if r[3] == row[5] and r[4] == "verified")
        for row in rows
    }
    totals = {
        "all": len(alive),
        "referrals": sum(1 for row in alive.values() if row[3]),
        "advocates": sum(1 for row in alive.values() if counts[row[5]]),
    }
    for kind, total in totals.items():
        listed = [row["uuid"] for row in pages(call, f"{v1}/subscribers?type={kind}", total)]
        assert len(listed) == len(set(listed)) == total
        assert set(listed) <= set(alive)
    for code in load.codes:
        advocate = next(row[0] for row in rows if row[5] == code)
        assert (
            call("GET", f"{v1}/subscribers/{advocate}").json()["subscriber"]["referrals_count"]
            == counts[code]
        )
        brought = [
            row["uuid"]
            for row in pages(call, f"{v1}/subscribers/{advocate}/referrals", counts[code])
        ]
        assert sorted(brought) == sorted(row[0] for row in alive.values() if row[3] == code)


def pages(call: Caller, path: str, total: int) -> list[dict[str, str]]:
    """Every row that paging reaches; each page's `meta` must say this total."""
    rows: list[dict[str, str]] = []
    page, glue = 1, "&" if "?" in path else "?"
    while True:
        answer = call("GET", f"{path}{glue}per_page=200&page={page}")
        assert answer.status == 200, answer
        body = answer.json()
        assert body["meta"]["total_subscribers"] == total
        if not body["subscribers"]:
            return rows
        rows += body["subscribers"]
        page += 1


@pytest.mark.parametrize("engine", ENGINES)
def test_kill_9_of_the_server_under_load_loses_nothing(engine):
    kill_9_rounds(engine, rounds=3)


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
def test_kill_9_of_the_server_many_times(engine):
    kill_9_rounds(engine, rounds=25)


def kill_9_rounds(engine: str, rounds: int) -> None:
    url = migrated(engine)
    alice = new_account(url)
    with Serving(url) as server:
        load = Load(server, alice)
        load.plant()
        for _ in range(rounds):
            load.run(random.randint(30, 250), then=server.kill)
            server.start()
            assert_nothing_is_lost_or_miscounted(load, engine)
        assert set(load.statuses) <= {201, 200}, load.statuses


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.mark.long
@pytest.mark.parametrize("hard", [True, False])
def test_postgres_crashing_under_load_loses_nothing_and_the_service_mends_itself(
    own_postgres, hard
):
    name = f"crash_{hard}".lower()
    own_postgres.create_database(name)
    alice = new_account(own_postgres.url(name))
    with Serving(own_postgres.url(name)) as server:
        load = Load(server, alice)
        load.plant()
        for _ in range(2):
            load.run(random.randint(50, 200), then=lambda: own_postgres.restart(hard=hard))
            server.wait_for("/readyz", seconds=15)
            assert_nothing_is_lost_or_miscounted(load, "postgres")
        assert set(load.statuses) <= {201, 200, "unavailable"}, (load.statuses, server.output)


# Nothing is answered before it is synced: SQLite on a disk whose sync we hold.
@pytest.fixture
def slow_disk() -> Iterator[tuple[Disk, OpenStore]]:
    with watched_disk() as disk:
        opened = OpenStore("sqlite")
        with opened:
            yield disk, opened


INSERT = statement("INSERT INTO instance (name, value) VALUES (:id, '')")


def put(name: str) -> Callable[[Tx], object]:
    async def work(tx: Tx) -> str:
        await tx.put(INSERT, id=name, taken={"instance_pkey": Invalid("taken")})
        return name

    return work


def test_no_write_is_answered_before_its_sync_returns(slow_disk):
    disk, opened = slow_disk
    store = opened.store

    async def scene() -> None:
        with disk.held():
            syncs = disk.syncs
            waiting = [asyncio.ensure_future(store.write(put(name))) for name in ("a", "b", "a")]
            await disk.begins_to_sync(syncs)
            # The sync is under way: the loop is free, readers go on and see nothing yet, and nobody
            # was answered.
            for _ in range(50):
                await asyncio.sleep(0.001)
                assert (
                    await store.read(lambda tx: tx.all(statement("SELECT name FROM instance")))
                    == []
                )
                assert not any(future.done() for future in waiting)
        assert await asyncio.gather(*waiting[:2]) == ["a", "b"]
        # The refusal rested on its neighbour's row, so it waited as well.
        with pytest.raises(Invalid):
            await waiting[2]

    opened.run(scene())
    assert opened.ask("SELECT name FROM instance ORDER BY name") == [("a",), ("b",)]


def test_every_group_is_synced(slow_disk):
    disk, opened = slow_disk
    for number in range(5):
        before = disk.syncs
        opened.run(opened.store.write(put(str(number))))
        assert disk.syncs > before


def test_a_sync_that_fails_fails_the_whole_group_and_the_next_one_works(slow_disk):
    disk, opened = slow_disk
    store = opened.store

    async def scene() -> None:
        disk.broken = True
        outcomes = await asyncio.gather(
            *(store.write(put(name)) for name in "abc"), return_exceptions=True
        )
        assert [type(outcome) for outcome in outcomes] == [Unavailable] * 3
        disk.broken = False
        assert await store.write(put("d")) == "d"

    opened.run(scene())
    assert opened.ask("SELECT name FROM instance") == [("d",)]


def test_the_store_asks_sqlite_for_full_syncs():
    with durable_commits(), OpenStore("sqlite") as opened:
        assert isinstance(opened.store, SqliteStore)
        writer = opened.store._writer
        assert writer.execute("PRAGMA synchronous").fetchall() == [(2,)]
        assert writer.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
        assert writer.execute("PRAGMA foreign_keys").fetchall() == [(1,)]


def test_postgres_is_not_told_to_answer_before_the_sync():
    with OpenStore("postgres") as opened:
        assert opened.ask("SHOW synchronous_commit") == [("on",)]
