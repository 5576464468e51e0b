"""How a store treats its connections: few round trips, given back clean whatever happened to them,
and wake-ups that arrive.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from honeyguide.kernel.errors import Invalid, Unavailable
from honeyguide.store import Taken, Tx, open_store, pool
from honeyguide.store.postgres import PostgresStore
from honeyguide.store.postgres_tx import TOGETHER
from tests.support.disks import watched_disk
from tests.support.postgres import shared_server
from tests.support.stores import (
    COPY,
    INSERT,
    INSERT_ACCOUNT,
    INSERT_CAMPAIGN,
    INSERT_LEASE,
    NAMES,
    UPDATE,
    OpenStore,
    names,
    outcome,
    put,
    statement,
)


# PostgreSQL: few round trips.
def asked(postgres: OpenStore, work: Callable[[Tx], Awaitable[Any]]) -> list[str]:
    """The statements one unit of work sent, as the driver's own log has them."""
    sent: list[str] = []

    async def scene() -> None:
        assert isinstance(postgres.store, PostgresStore)
        pool = postgres.store._pool._pool
        async with pool.acquire() as connection:
            connection.add_query_logger(note)
        await postgres.store.write(work)  # the pool lends the last one used first
        async with pool.acquire() as connection:
            connection.remove_query_logger(note)

    def note(query: Any) -> None:
        sent.append(query.query)

    postgres.run(scene())
    return sent


def test_puts_travel_together_as_one_statement_and_one_transaction(postgres):
    async def work(tx: Tx) -> None:
        await tx.put(INSERT_ACCOUNT, id="1", email="a@example.org")
        await tx.put(INSERT_CAMPAIGN, id="1", account_id="1")
        await tx.put(INSERT, name="a", value="")

    assert len(asked(postgres, work)) == 1
    assert postgres.ask(
        "SELECT COUNT(*) FROM account JOIN campaign ON account_id = account.id, instance"
    ) == [(1,)]


def test_a_flush_sends_what_was_put_and_commits_nothing(opened):
    async def work(tx: Tx) -> None:
        await tx.put(INSERT, name="a", value="")
        await tx.flush()
        await tx.put(INSERT, name="a", value="", taken={"instance_pkey": Invalid("no")})
        await tx.flush()
        raise AssertionError("the flush should have failed")

    assert isinstance(opened.run(outcome(opened.store.write(work))), Invalid)
    assert opened.ask("SELECT name FROM instance") == []


def test_a_read_after_a_put_sees_it(opened):
    async def work(tx: Tx) -> list[Any]:
        await tx.put(INSERT, name="a", value="")
        found = await tx.all(NAMES)
        await tx.put(INSERT, name="b", value="")
        return found

    assert opened.run(opened.store.write(work)) == [("a",)]
    assert opened.run(names(opened.store)) == ["a", "b"]


def test_changes_to_one_table_keep_their_order(opened):
    async def work(tx: Tx) -> None:
        await tx.put(INSERT, name="a", value="1")
        await tx.put(UPDATE, name="a", more="2")
        await tx.put(UPDATE, name="a", more="3")
        await tx.put(INSERT_LEASE, name="job")
        await tx.put(COPY, name="a")

    opened.run(opened.store.write(work))
    assert opened.ask("SELECT name, value FROM instance ORDER BY name") == [
        ("a", "123"),
        ("copy of a", "123"),
    ]


def test_a_put_that_reads_a_table_sees_the_puts_into_it(opened):
    async def work(tx: Tx) -> None:
        await tx.put(INSERT, name="a", value="1")
        await tx.put(COPY, name="a")

    opened.run(opened.store.write(work))
    assert opened.run(names(opened.store)) == ["a", "copy of a"]


@pytest.mark.parametrize("many", [TOGETHER, TOGETHER + 1, 3_000])
def test_any_number_of_puts_lands(opened, many):
    async def work(tx: Tx) -> None:
        for number in range(many):
            await tx.put(INSERT, name=f"{number:05}", value="")

    opened.run(opened.store.write(work))
    assert opened.ask("SELECT COUNT(*) FROM instance") == [(many,)]


def test_statements_prepared_for_puts_stay_few(postgres):
    async def work(tx: Tx, many: int) -> None:
        for number in range(many):
            await tx.put(INSERT, name=f"{many}-{number}", value="")

    for many in range(1, 40):
        postgres.run(postgres.store.write(lambda tx, many=many: work(tx, many)))
    prepared = [row[0] for row in postgres.ask("SELECT statement FROM pg_prepared_statements")]
    assert 1 <= sum("INSERT INTO instance" in text for text in prepared) <= TOGETHER


def test_a_put_that_is_refused_leaves_nothing_of_its_neighbours(opened):
    opened.run(opened.store.write(put("a")))

    async def work(tx: Tx) -> None:
        await tx.put(INSERT_LEASE, name="job")
        await tx.put(INSERT, name="a", value="", taken={"instance_pkey": Invalid("taken")})
        await tx.put(INSERT_ACCOUNT, id="1", email="a@example.org")

    with pytest.raises(Invalid, match="taken"):
        opened.run(opened.store.write(work))
    assert opened.ask(
        "SELECT (SELECT COUNT(*) FROM job_lease) + (SELECT COUNT(*) FROM account) AS n"
    ) == [(0,)]


# Connections come back clean, whatever happened to them.
def test_a_failed_unit_leaves_the_only_connection_usable(postgres):
    for _ in range(3):
        with pytest.raises(Invalid):
            postgres.run(postgres.store.write(put("a", then=Invalid("no"))))
        with pytest.raises(Taken):
            postgres.run(postgres.store.write(_twice))
        assert postgres.run(postgres.store.write(_count)) == 0


async def _twice(tx: Tx) -> None:
    await tx.run(INSERT, name="a", value="")
    await tx.run(INSERT, name="a", value="")


async def _count(tx: Tx) -> int:
    return len(await tx.all(NAMES))


@pytest.mark.parametrize("use", ["read", "snapshot", "write"])
def test_a_connection_cut_under_a_unit_is_an_outage_and_the_next_unit_works(postgres, use):
    async def cut(tx: Tx) -> None:
        if use == "write":
            await tx.run(INSERT, name="a", value="")
        await tx.all(statement("SELECT pg_terminate_backend(pg_backend_pid())"))

    for _ in range(3):
        with pytest.raises(Unavailable):
            postgres.run(getattr(postgres.store, use)(cut))
        assert postgres.run(postgres.store.write(_count)) == 0


def test_only_a_slow_snapshot_waits_long_for_an_answer(monkeypatch):
    monkeypatch.setattr(pool, "COMMAND_S", 1.0)
    sleep = statement("SELECT 1 AS n FROM pg_sleep(2)")

    async def work(tx: Tx) -> Any:
        return await tx.all(sleep)

    with OpenStore("postgres") as postgres:
        assert postgres.run(postgres.store.slow_snapshot(work)) == [(1,)]
        with pytest.raises(Unavailable):
            postgres.run(postgres.store.snapshot(work))


def test_a_connection_cut_while_it_slept_is_replaced_unseen(postgres):
    postgres.run(names(postgres.store))
    shared_server().execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = "
        "'honeyguide'"
    )
    outcomes = [postgres.run(outcome(names(postgres.store))) for _ in range(5)]
    assert outcomes[-1] == [] and all(
        outcome == [] or isinstance(outcome, Unavailable) for outcome in outcomes
    )


def test_a_caller_cancelled_at_any_step_leaves_the_store_usable(opened):
    async def scene() -> None:
        store = opened.store

        async def steps(tx: Tx, name: str) -> None:
            await tx.run(INSERT, name=name, value="")
            await tx.run(UPDATE, name=name, more="x")
            await tx.put(INSERT_LEASE, name=name)

        for number in range(60):
            task = asyncio.ensure_future(
                store.write(lambda tx, number=number: steps(tx, f"{number:02}"))
            )
            for _ in range(number):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await store.write(put("after"))
        rows = await store.snapshot(
            lambda tx: tx.all(statement("SELECT name, value FROM instance WHERE name <> 'after'"))
        )
        leases = await store.snapshot(lambda tx: tx.all(statement("SELECT name FROM job_lease")))
        assert {row[0] for row in rows} == {row[0] for row in leases}  # whole or not at all
        assert all(row[1] == "x" for row in rows)

    opened.run(scene())
    if opened.engine == "postgres":
        open_transactions = (
            "SELECT COUNT(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND "
            "datname = current_database()"
        )
        assert opened.ask(open_transactions) == [(0,)]


def test_a_caller_cancelled_while_it_waits_for_a_lock_frees_its_connection(postgres):
    async def scene() -> None:
        holder = await open_store(postgres.url, pool_size=1)
        await holder.write(put("hot"))
        holding, release = asyncio.Event(), asyncio.Event()

        async def hold(tx: Tx) -> None:
            await tx.run(UPDATE, name="hot", more="h")
            holding.set()
            await release.wait()

        async def want(tx: Tx) -> None:
            await tx.run(INSERT, name="mine", value="")
            await tx.run(UPDATE, name="hot", more="w")

        held = asyncio.ensure_future(holder.write(hold))
        await holding.wait()
        for _ in range(3):
            wanting = asyncio.ensure_future(postgres.store.write(want))
            while not await _somebody_waits_for_a_lock(holder_url=postgres.url):
                await asyncio.sleep(0.005)
            wanting.cancel()
            assert isinstance(
                (await asyncio.gather(wanting, return_exceptions=True))[0], asyncio.CancelledError
            )
            assert await names(postgres.store) == ["hot"]
        release.set()
        await held
        await holder.close()

    postgres.run(scene())


async def _somebody_waits_for_a_lock(holder_url: str) -> bool:
    store = await open_store(holder_url, pool_size=1)
    try:
        waiting = statement(
            "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = "
            "current_database()"
        )
        return bool(await store.read(lambda tx: tx.all(waiting)))
    finally:
        await store.close()


def test_a_caller_cancelled_during_the_sync_costs_nobody_else_anything():
    with watched_disk() as disk, OpenStore("sqlite") as opened:

        async def scene() -> None:
            store = opened.store
            with disk.held():
                before = disk.syncs
                leaves, stays = (
                    asyncio.ensure_future(store.write(put(name))) for name in ("leaves", "stays")
                )
                await disk.begins_to_sync(before)
                late = asyncio.ensure_future(store.write(put("late")))
                leaves.cancel()
                await asyncio.sleep(0)
            assert await stays == "stays"
            assert await late == "late"
            assert leaves.cancelled()
            assert await names(store) == ["late", "leaves", "stays"]

        opened.run(scene())


def test_opposite_locks_make_no_error_on_postgres():
    with OpenStore("postgres", pool_size=4) as opened:

        async def both(tx: Tx, first: str, second: str) -> None:
            await tx.run(UPDATE, name=first, more="x")
            await tx.run(UPDATE, name=second, more="x")

        async def scene() -> None:
            store = opened.store
            await store.write(put("a"))
            await store.write(put("b"))
            await asyncio.gather(
                *(
                    store.write(lambda tx, i=i: both(tx, *("ab" if i % 2 else "ba")))
                    for i in range(8)
                ),
            )
            assert [
                row[0]
                for row in await store.read(
                    lambda tx: tx.all(statement("SELECT value FROM instance"))
                )
            ] == ["x" * 8] * 2

        opened.run(scene())


# Wake-ups.
def test_a_listener_hears_after_the_commit_and_never_of_a_failure(opened):
    heard: list[list[str]] = []

    async def scene() -> None:
        store = opened.store
        called = asyncio.Event()
        store.listen("news", called.set)
        store.listen("other", lambda: heard.append(["other"]))
        if opened.engine == "postgres":
            await asyncio.wait_for(called.wait(), 30)  # a new ear wakes everybody once
            called.clear()
            heard.clear()

        async def tells(tx: Tx, name: str, then: Exception | None) -> None:
            tx.wake("news")
            await put(name, then=then)(tx)
            assert not called.is_set()

        with pytest.raises(Invalid):
            await store.write(lambda tx: tells(tx, "a", Invalid("no")))
        await store.write(put("quiet"))
        assert not called.is_set()
        await store.write(lambda tx: tells(tx, "b", None))
        await asyncio.wait_for(called.wait(), 30)

    opened.run(scene())
    assert heard == []


def test_other_processes_hear_through_postgres_also_after_their_ear_was_cut():
    # Of this database alone: other services of this test process have ears too.
    ears = (
        "FROM pg_stat_activity WHERE application_name = 'honeyguide-listener' AND datname = "
        "current_database()"
    )
    with OpenStore("postgres", pool_size=2) as opened:

        async def tells(tx: Tx) -> None:
            tx.wake("news")

        async def scene() -> None:
            other = await open_store(opened.url, pool_size=1)
            heard = asyncio.Event()
            other.listen("news", heard.set)
            await asyncio.wait_for(heard.wait(), 30)
            for _ in range(2):
                heard.clear()
                await opened.store.write(tells)
                await asyncio.wait_for(heard.wait(), 30)
            heard.clear()
            await opened.store.read(
                lambda tx: tx.all(statement(f"SELECT pg_terminate_backend(pid) {ears}"))
            )
            await asyncio.wait_for(
                heard.wait(), 10
            )  # connected again, and told to look for what it may have missed
            heard.clear()
            await opened.store.write(tells)
            await asyncio.wait_for(heard.wait(), 30)
            await other.close()

        opened.run(scene())
        assert opened.ask(f"SELECT COUNT(*) {ears}")[0][0] == 0
