"""What a store promises, on both engines: units of work that stand or fall alone, exact names,
snapshots.
"""

import asyncio
import errno
import os
import sys
import threading
from typing import Any

import apsw
import pytest

from honeyguide.kernel.errors import Invalid, Unavailable
from honeyguide.store import Again, Taken, Tx
from honeyguide.store.sqlite import SqliteStore
from tests.support.disks import watched_disk
from tests.support.stores import (
    INSERT,
    INSERT_ACCOUNT,
    INSERT_CAMPAIGN,
    INSERT_USER,
    NAMES,
    OpenStore,
    names,
    outcome,
    put,
    statement,
)


def test_a_unit_that_fails_takes_only_itself_back(opened):
    async def scene() -> None:
        store = opened.store
        units = [put("a"), put("b", then=Invalid("no")), put("c"), put("a"), put("d")]
        outcomes = await asyncio.gather(
            *(store.write(unit) for unit in units), return_exceptions=True
        )
        assert outcomes[0::2] == ["a", "c", "d"] or outcomes[2::2] == ["c", "d"]
        assert isinstance(outcomes[1], Invalid)
        assert [isinstance(outcome, Taken) for outcome in (outcomes[0], outcomes[3])].count(
            True
        ) == 1
        assert await names(store) == ["a", "c", "d"]

    opened.run(scene())


def test_parallel_writes_share_a_sync_on_sqlite():
    with watched_disk() as disk, OpenStore("sqlite") as opened:

        async def scene() -> None:
            await opened.store.write(put("first"))
            before = disk.syncs
            await asyncio.gather(*(opened.store.write(put(str(number))) for number in range(50)))
            assert 1 <= disk.syncs - before <= 4
            assert len(await names(opened.store)) == 51

        opened.run(scene())


def test_a_collision_is_run_again_from_nothing(opened):
    runs = []

    async def unlucky(tx: Tx) -> int:
        runs.append(1)
        await tx.run(INSERT, name=f"try {len(runs)}", value="")
        if len(runs) < 3:
            raise Again
        return len(runs)

    assert opened.run(opened.store.write(unlucky)) == 3
    assert opened.ask("SELECT name FROM instance") == [("try 3",)]


def test_a_refusal_may_mean_again(opened):
    opened.run(opened.store.write(put("taken")))
    drawn = iter(["taken", "taken", "free"])

    async def draw(tx: Tx) -> str:
        name = next(drawn)
        await tx.put(INSERT, name=name, value="", taken={"instance_pkey": Again})
        return name

    assert opened.run(opened.store.write(draw)) == "free"


def test_endless_collisions_end_as_unavailable(opened):
    async def hopeless(tx: Tx) -> None:
        await tx.run(INSERT, name="x", value="")
        raise Again

    with pytest.raises(Unavailable):
        opened.run(opened.store.write(hopeless))
    assert opened.run(names(opened.store)) == []


def test_a_collision_in_a_read_is_run_again(opened):
    runs = []

    async def read(tx: Tx) -> int:
        runs.append(1)
        if len(runs) == 1 and tx.engine == "postgres":
            raise Again
        return len(runs)

    assert opened.run(opened.store.read(read)) >= 1
    assert opened.run(opened.store.snapshot(read)) >= 1


REFUSED = [
    ("instance_pkey", INSERT, {"name": "a", "value": ""}),
    ("account_pkey", INSERT_ACCOUNT, {"id": "1", "email": "other@example.org"}),
    ("login_user_email", INSERT_USER, {"id": "2", "email": "a@example.org"}),
    ("campaign_account", INSERT_CAMPAIGN, {"id": "2", "account_id": "1"}),
    ("campaign_pkey", INSERT_CAMPAIGN, {"id": "1", "account_id": "2"}),
]


@pytest.mark.parametrize("how", ["run", "put"])
@pytest.mark.parametrize(("index", "again", "params"), REFUSED)
def test_a_refusal_names_the_same_index_on_both_engines(opened, index, again, params, how):
    async def first(tx: Tx) -> None:
        await tx.put(INSERT, name="a", value="")
        await tx.put(INSERT_ACCOUNT, id="1", email="a@example.org")
        await tx.put(INSERT_USER, id="1", email="a@example.org")
        await tx.put(INSERT_ACCOUNT, id="9", email="9@example.org")
        await tx.put(INSERT_CAMPAIGN, id="1", account_id="1")

    async def second(tx: Tx, taken: Any) -> None:
        await tx.run(INSERT, name="before", value="")
        if params.get("account_id") == "2":
            await tx.run(INSERT_ACCOUNT, id="2", email="b@example.org")
        await (tx.run if how == "run" else tx.put)(again, taken=taken, **params)

    opened.run(opened.store.write(first))
    with pytest.raises(Taken) as unnamed:
        opened.run(opened.store.write(lambda tx: second(tx, None)))
    assert unnamed.value.constraint == index
    with pytest.raises(Invalid, match="clear"):
        opened.run(
            opened.store.write(lambda tx: second(tx, {index: Invalid("clear"), "another": Again}))
        )
    assert opened.run(names(opened.store)) == ["a"]


def test_every_unique_index_has_one_name_on_both_engines():
    with OpenStore("sqlite") as sqlite, OpenStore("postgres") as postgres:
        assert isinstance(sqlite.store, SqliteStore)
        ours = set(sqlite.store._unique.values())
        theirs = postgres.ask(
            """SELECT c.relname, t.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
            JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE i.indisunique AND n.nspname = 'public'"""
        )
        tables = {
            row[0] for row in sqlite.ask("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        assert {index for index, table in theirs if table in tables} <= ours


def test_a_unit_that_awaits_the_world_is_refused_and_changes_nothing_later(sqlite):
    went_on = []

    async def waits(tx: Tx) -> None:
        await tx.run(INSERT, name="x", value="")
        await asyncio.sleep(0)
        went_on.append(1)
        await tx.run(INSERT, name="y", value="")

    async def reads(tx: Tx) -> None:
        await tx.all(NAMES)
        await asyncio.sleep(0)

    async def scene() -> None:
        outcomes = await asyncio.gather(
            sqlite.store.write(put("before")),
            sqlite.store.write(waits),
            sqlite.store.write(put("after")),
            return_exceptions=True,
        )
        assert outcomes[0] == "before" and outcomes[2] == "after"
        assert isinstance(outcomes[1], RuntimeError)
        with pytest.raises(RuntimeError):
            await sqlite.store.snapshot(reads)
        await asyncio.sleep(0.01)
        assert await names(sqlite.store) == ["after", "before"]

    sqlite.run(scene())
    assert not went_on


@pytest.mark.parametrize("kind", ["snapshot", "slow_snapshot"])
def test_a_snapshot_cannot_write(opened, kind):
    assert opened.run(names(opened.store)) == []
    assert isinstance(opened.run(outcome(getattr(opened.store, kind)(put("x")))), Exception)
    assert opened.run(names(opened.store)) == []


def test_readers_see_only_what_is_committed(opened):
    async def scene() -> None:
        store = opened.store
        seen: list[list[str]] = []

        async def work(tx: Tx) -> None:
            await tx.run(INSERT, name="x", value="")
            seen.append([row[0] for row in await tx.all(NAMES)])
            seen.append(
                await names(store)
            )  # a reader of its own: on SQLite this never suspends either

        await store.write(work)
        assert seen == [["x"], []]
        assert await names(store) == ["x"]

    opened.run(scene())


@pytest.mark.parametrize("kind", ["snapshot", "slow_snapshot"])
def test_a_snapshot_sees_one_moment_and_a_read_the_newest(opened, kind):
    store = opened.store

    async def elsewhere(name: str) -> None:
        if isinstance(store, SqliteStore):
            other = apsw.Connection(str(store.path))
            other.execute("INSERT INTO instance VALUES (?, '')", (name,))
            other.close()
        else:
            await store.write(put(name))

    async def twice(tx: Tx, name: str) -> tuple[int, int]:
        first = len(await tx.all(NAMES))
        await elsewhere(name)
        return first, len(await tx.all(NAMES))

    assert opened.run(getattr(store, kind)(twice, "a")) == (0, 0)
    assert opened.run(store.read(lambda tx: twice(tx, "b"))) == (1, 2)


def test_a_slow_snapshot_is_read_beside_the_loop_on_sqlite(sqlite):
    async def where(tx: Tx) -> str:
        await tx.all(NAMES)
        return threading.current_thread().name

    assert sqlite.run(sqlite.store.snapshot(where)) == threading.current_thread().name
    assert sqlite.run(sqlite.store.slow_snapshot(where)) != threading.current_thread().name


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a priority per thread")
def test_slow_snapshots_leave_a_busy_core_to_requests_on_sqlite(sqlite):
    async def niceness(tx: Tx) -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    ours = sqlite.run(sqlite.store.read(niceness))
    assert sqlite.run(sqlite.store.slow_snapshot(niceness)) == min(19, ours + 10)
    assert sqlite.run(sqlite.store.read(niceness)) == ours


def test_slow_snapshots_work_where_no_priority_may_be_changed_on_sqlite(sqlite, monkeypatch):
    """As under a filter for system calls: the kernel refuses."""

    def refuse(_: int) -> int:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    async def names(tx: Tx) -> int:
        return len(await tx.all(NAMES))

    monkeypatch.setattr(os, "nice", refuse)
    assert sqlite.run(sqlite.store.slow_snapshot(names)) == 0


def test_slow_snapshots_do_not_wait_for_each_other_on_sqlite(sqlite):
    together = threading.Barrier(2, timeout=60)

    async def meet(tx: Tx) -> int:
        await tx.all(NAMES)
        return together.wait()

    async def both() -> list[int]:
        return await asyncio.gather(
            sqlite.store.slow_snapshot(meet), sqlite.store.slow_snapshot(meet)
        )

    assert sorted(sqlite.run(both())) == [0, 1]


def test_a_value_no_database_can_hold_is_a_bug_and_no_outage(opened):
    for make in (opened.store.read, opened.store.write):
        with pytest.raises(Exception) as error:
            opened.run(
                make(lambda tx: tx.one(statement("SELECT CAST(:x AS BIGINT) AS x"), x=2**80))
            )
        assert not isinstance(error.value, Unavailable)


def test_a_list_is_read_as_a_table(opened):
    values = "SELECT i.value FROM {list :ids AS i} ORDER BY i.value"
    assert opened.ask(values, ids=["b", "a"]) == [("a",), ("b",)]
    assert opened.ask(values, ids=[]) == []
    assert opened.ask("SELECT 1 WHERE 'a' {in :ids}", ids=["b", "a"]) == [(1,)]
    assert opened.ask("SELECT 1 WHERE 'a' {in :ids}", ids=[]) == []
    rows = "SELECT c.id, c.cents FROM {rows :coupons AS c (id TEXT, cents BIGINT)} ORDER BY c.id"
    coupons = [{"id": "b", "cents": None}, {"id": "a", "cents": 5, "other": "x"}]
    assert opened.ask(rows, coupons=coupons) == [("a", 5), ("b", None)]


def test_a_locked_row_is_locked_until_the_transaction_ends():
    with OpenStore("postgres", pool_size=2) as opened:

        async def scene() -> None:
            store = opened.store
            await store.write(put("a"))
            holding, release = asyncio.Event(), asyncio.Event()

            async def hold(tx: Tx) -> None:
                assert await tx.lock(NAMES) == [("a",)]
                holding.set()
                await release.wait()

            async def read(tx: Tx) -> list[Any]:
                return await tx.lock(NAMES, "update skip locked")

            held = asyncio.ensure_future(store.write(hold))
            await holding.wait()
            assert await store.write(read) == []
            release.set()
            await held
            assert await store.write(read) == [("a",)]
            with pytest.raises(AssertionError, match="in a write only"):
                await store.read(read)

        opened.run(scene())
