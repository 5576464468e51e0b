"""Statements of many callers in one batch: each gets its own answer, and what goes wrong for one is
nobody else's trouble.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from honeyguide.kernel.errors import Invalid, Unavailable
from honeyguide.store import Store, Tx, open_store
from honeyguide.store.batches import CONNECTIONS, MOST
from honeyguide.store.statements import Statement
from tests.support.postgres import shared_server
from tests.support.process import migrated
from tests.support.stores import INSERT, UPDATE, OpenStore, names


def batched(sql: str, touches: str = "") -> Statement[Any]:
    return Statement("test", sql, sql, lambda *columns: columns, "name", touches)


ADD = batched(INSERT.sqlite.replace("?1", ":name").replace("?2", ":value"), "adds instance")
GROW = batched("UPDATE instance SET value = value || :more WHERE name = :name", "changes instance")
FIND = batched("SELECT name, value FROM instance WHERE name = :name")
TAKEN = {"instance_pkey": Invalid("taken")}


def add(name: str, value: str = "") -> Callable[[Tx], Awaitable[None]]:
    return lambda tx: tx.put(ADD, taken=TAKEN, name=name, value=value)


def grow(name: str, more: str) -> Callable[[Tx], Awaitable[None]]:
    return lambda tx: tx.put(GROW, name=name, more=more)


def find(name: str) -> Callable[[Tx], Awaitable[Any]]:
    return lambda tx: tx.one(FIND, name=name)


async def together(store: Store, works: list[Callable[[Tx], Awaitable[Any]]]) -> list[Any]:
    return await asyncio.gather(*(store.write(work) for work in works), return_exceptions=True)


def commits(opened: OpenStore, works: list[Callable[[Tx], Awaitable[Any]]]) -> int:
    """How many transactions wrote for these, as the rows themselves tell it."""
    assert opened.run(together(opened.store, works)) == [None] * len(works)
    ((count,),) = opened.ask("SELECT COUNT(DISTINCT CAST(xmin AS TEXT)) FROM instance")
    return int(count)


def test_writers_who_come_at_once_share_few_commits(postgres):
    assert commits(postgres, [add(f"{number:03}") for number in range(3 * MOST)]) <= 4
    assert postgres.ask("SELECT COUNT(*) FROM instance") == [(3 * MOST,)]


def test_a_write_that_may_not_join_has_its_own_commit(postgres):
    alone = [
        lambda tx, number=number: tx.put(INSERT, name=f"{number}", value="") for number in range(8)
    ]
    assert commits(postgres, alone) == 8


def test_a_twin_is_refused_alone_and_its_neighbours_land(opened):
    found = opened.run(together(opened.store, [add("a"), add("b"), add("a"), add("c")]))
    assert sorted(map(str, found)) == ["None", "None", "None", "taken"]
    assert opened.run(names(opened.store)) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "bad",
    [
        {"name": b"bytes", "value": ""},
        {"name": "c", "value": b"bytes"},
        {"name": "c", "value": "\x00"},
    ],
)
def test_a_value_that_cannot_be_sent_is_one_callers_bug(postgres, bad):
    *good, failed = postgres.run(
        together(postgres.store, [add("a"), add("b"), lambda tx: tx.put(ADD, **bad)])
    )
    assert good == [None, None]
    assert isinstance(failed, Exception) and not isinstance(failed, Unavailable)
    assert postgres.run(names(postgres.store)) == ["a", "b"]


def test_each_reader_gets_its_own_answer(opened):
    async def scene() -> list[Any]:
        await together(opened.store, [add(f"{number}", f"of {number}") for number in range(20)])
        return await asyncio.gather(
            *(opened.store.read(find(f"{number}")) for number in range(19, -3, -1))
        )

    assert opened.run(scene()) == [
        (f"{number}", f"of {number}") for number in range(19, -1, -1)
    ] + [None, None]


def test_a_read_sees_what_was_put_before_it_and_what_its_transaction_wrote(opened):
    async def work(tx: Tx) -> list[Any]:
        await tx.put(ADD, name="a", value="1")
        first = await tx.one(FIND, name="a")
        await tx.put(GROW, name="a", more="2")
        return [first, await tx.one(FIND, name="a")]

    assert opened.run(opened.store.write(work)) == [("a", "1"), ("a", "12")]


def test_a_snapshot_reads_its_own_moment(opened):
    async def scene() -> list[Any]:
        await opened.store.write(add("a", "old"))

        async def work(tx: Tx) -> list[Any]:
            first = await tx.one(FIND, name="a")
            if opened.engine == "postgres":  # on SQLite nobody can come between
                await opened.store.write(grow("a", " and new"))
            return [first, await tx.one(FIND, name="a")]

        return await opened.store.snapshot(work)

    assert opened.run(scene()) == [("a", "old"), ("a", "old")]


@pytest.mark.parametrize("through_pgbouncer", [False, True])
def test_whoever_meets_a_held_row_waits_alone(through_pgbouncer):
    """The limit of a batch is a setting of its connection, or for PgBouncer of its transaction."""
    url = migrated("postgres")
    direct_url = url if through_pgbouncer else ""
    with OpenStore("postgres", url, pool_size=2, direct_url=direct_url) as opened:
        store = opened.store

        async def scene() -> None:
            holder = await open_store(opened.url, pool_size=1)
            await together(store, [add("hot", "0"), add("cold", "0")])
            holding, release = asyncio.Event(), asyncio.Event()

            async def hold(tx: Tx) -> None:
                await tx.run(UPDATE, name="hot", more="h")
                holding.set()
                await release.wait()

            held = asyncio.ensure_future(holder.write(hold))
            await holding.wait()
            waits = asyncio.ensure_future(store.write(grow("hot", "w")))
            neighbours = [store.write(work) for work in (grow("cold", "1"), grow("cold", "2"))]
            await asyncio.wait_for(asyncio.gather(*neighbours), 30)
            assert not waits.done()
            release.set()
            await asyncio.gather(held, waits)
            await holder.close()

        opened.run(scene())
        rows = dict(opened.ask("SELECT name, value FROM instance"))
        assert rows["hot"] == "0hw" and sorted(rows["cold"]) == ["0", "1", "2"]


def test_batches_of_two_processes_in_opposite_order_lose_nothing(postgres):
    async def scene() -> None:
        other = await open_store(postgres.url)
        rows = [f"{number:02}" for number in range(20)]
        await together(postgres.store, [add(row) for row in rows])
        for _ in range(10):
            works = [grow(row, "x") for row in rows]
            found = await asyncio.gather(
                together(postgres.store, works), together(other, works[::-1])
            )
            assert found == [[None] * 20] * 2
        await other.close()

    postgres.run(scene())
    assert postgres.ask("SELECT DISTINCT value FROM instance") == [("x" * 20,)]


def test_a_server_that_goes_away_is_an_outage_for_the_batch_and_the_next_one_works(postgres):
    def cut() -> None:
        shared_server().execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
            "'honeyguide' AND state = 'idle'"
        )

    postgres.run(together(postgres.store, [add("before")]))
    cut()
    found: list[Any] = []
    for number in range(CONNECTIONS + 2):
        found = postgres.run(together(postgres.store, [add(f"{number}-{one}") for one in range(5)]))
        assert all(one is None or isinstance(one, Unavailable) for one in found)
    assert found == [None] * 5


def test_a_caller_who_left_before_the_batch_began_is_not_in_it(postgres):
    async def scene() -> list[str]:
        first = asyncio.ensure_future(postgres.store.write(add("first")))
        for _ in range(5):
            await asyncio.sleep(0)
        leaves, stays = (
            asyncio.ensure_future(postgres.store.write(add(name))) for name in ("leaves", "stays")
        )
        for _ in range(3):
            await asyncio.sleep(0)
        leaves.cancel()
        await asyncio.gather(first, stays)
        assert leaves.cancelled()
        return await names(postgres.store)

    assert postgres.run(scene()) == ["first", "stays"]


@pytest.mark.parametrize("use", ["read", "write"])
def test_closing_waits_for_what_is_under_way(postgres, use):
    async def scene() -> list[Any]:
        store = await open_store(postgres.url)
        work = find("a") if use == "read" else add("a")
        asked = asyncio.ensure_future(getattr(store, use)(work))
        for _ in range(5):
            await asyncio.sleep(0)
        await store.close()
        return [await asked]

    assert postgres.run(scene()) == [None]
