"""Who is notified about a budget, how often, and in how many steps, on both engines."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Awaitable
from typing import Any

import pytest

from honeyguide.partners import budget_notifications, charges, programs
from honeyguide.store import Store
from honeyguide.store.tx import timed
from tests.support.changes import changing
from tests.support.trade import DAY_MS, NOON_MS, SITE, Trade, on

HELD = {"referral_pending_duration_enabled": True}
# The last day of November 2026, noon UTC.
LAST_DAY_MS = NOON_MS + 15 * DAY_MS


async def notified(trade: Trade, now_ms: int = NOON_MS) -> dict[str, int]:
    """How many notifications about budgets there are of each kind once the job has run; every one
    has its email.
    """
    await trade.tell(now_ms)
    counted = "SELECT kind, COUNT(*) FROM {} WHERE kind LIKE 'budget%' GROUP BY kind ORDER BY kind"
    found = await trade.rows(counted.format("notice"))
    assert found == await trade.rows(counted.format("letter"))
    return dict(found)  # type: ignore[arg-type]


async def heard(trade: Trade, partner: int) -> list[str]:
    """What one partner was told, oldest first."""
    account_id = trade.partners[partner].account_id
    sql = (
        "SELECT kind FROM notice WHERE account_id = :id AND kind LIKE 'budget%' "
        "ORDER BY created_ms, id"
    )
    return [row[0] for row in await trade.rows(sql, id=account_id)]


OWNER = {"budget_80": 1, "budget_100": 1}


async def test_a_budget_lowered_to_or_below_what_is_spent_is_reached_and_partners_are_notified(
    store: Store,
) -> None:
    for lowered in (299, 300):
        trade = await Trade.begin(store, partners=2, cpa=300, total_budget=30_000)
        await trade.arrive()
        await trade.tell()
        await trade.offer(total_budget=301)  # above what is spent
        await trade.tell()
        assert not await trade.reached() and await heard(trade, 0) == []
        await trade.offer(total_budget=lowered)
        await trade.tell()
        assert await trade.reached()
        assert [await heard(trade, n) for n in (0, 1)] == [["budget_reached"]] * 2
        assert (await trade.outcome((await trade.arrive()).id))[3] == "budget_spent"
        await trade.offer(
            total_budget=10
        )  # lowered further: reached already, so nothing new to say
        await trade.tell(NOON_MS + DAY_MS)
        assert await heard(trade, 0) == ["budget_reached"]
        await trade.offer(total_budget=600)
        await trade.tell(NOON_MS + DAY_MS)
        assert [await heard(trade, n) for n in (0, 1)] == [
            ["budget_reached", "budget_reopened"]
        ] * 2
        assert (await trade.outcome((await trade.arrive()).id))[1] == 300


async def test_a_budget_lowered_to_nothing_is_reached_though_nothing_is_spent(store: Store) -> None:
    trade = await Trade.begin(store, total_budget=0)
    assert await notified(trade) == {} and not await trade.reached(), (
        "creating a program notifies nobody"
    )
    await trade.offer(total_budget=900)
    assert await notified(trade) == {}
    await trade.offer(total_budget=0)
    assert await notified(trade) == {"budget_100": 1, "budget_reached": 1} and await trade.reached()


def test_the_job_is_woken_when_there_is_something_to_say_and_only_then() -> None:
    async def scenario(store: Store) -> None:
        woken: list[bool] = []
        store.listen(charges.BUDGET_NOTIFICATIONS, lambda: woken.append(True))
        trade = await Trade.begin(store, cpa=300, total_budget=2_000)

        async def wakes(work: Awaitable[object]) -> int:
            woken.clear()
            await work
            return len(woken)

        assert await wakes(trade.arrive()) == 0
        assert await wakes(trade.offer(total_budget=1_100)) == 0
        assert [await wakes(trade.arrive()) for _ in range(2)] == [0, 1], "82 % are spent"
        assert await wakes(trade.offer(total_budget=1_000)) == 1, "90 % are spent"
        assert await wakes(trade.offer(total_budget=900)) == 1, "it is reached"
        assert await wakes(trade.offer(total_budget=9_000)) == 1, "it is open again"
        assert await wakes(trade.offer(total_budget=8_000)) == 0
        unspent = await Trade.begin(store, total_budget=900)
        assert await wakes(unspent.offer(total_budget=0)) == 1, "it is reached"

    on("sqlite", scenario)


async def test_partners_hear_of_a_reach_at_most_once_a_day_and_of_a_reopening_only_after_one(
    store: Store,
) -> None:
    trade = await Trade.begin(store, partners=3, cpa=300, total_budget=300)
    await trade.arrive()
    assert await notified(trade) == {**OWNER, "budget_reached": 3}
    await trade.offer(total_budget=600)
    assert await notified(trade) == {**OWNER, "budget_reached": 3, "budget_reopened": 3}
    await trade.arrive()
    assert await trade.reached()
    assert await notified(trade) == {**OWNER, "budget_reached": 3, "budget_reopened": 3}, (
        "told today already"
    )
    await trade.offer(total_budget=900)
    after = NOON_MS + DAY_MS
    assert await notified(trade, after) == {
        **OWNER,
        "budget_reached": 3,
        "budget_reopened": 3,
    }, "they never heard of it"
    await trade.arrive(now_ms=NOON_MS)
    midnight = NOON_MS + DAY_MS // 2
    assert await notified(trade, midnight - 1) == {
        **OWNER,
        "budget_reached": 3,
        "budget_reopened": 3,
    }
    assert await notified(trade, midnight) == {
        **OWNER,
        "budget_reached": 6,
        "budget_reopened": 3,
    }, "still reached"
    assert await notified(trade, midnight + DAY_MS) == {
        **OWNER,
        "budget_reached": 6,
        "budget_reopened": 3,
    }
    await trade.offer(total_budget=1_200)
    assert await notified(trade, after) == {**OWNER, "budget_reached": 6, "budget_reopened": 6}


async def test_a_reopening_nobody_heard_of_is_told_once_the_budget_is_open_again(
    store: Store,
) -> None:
    """Raised, reached and raised again before the job ran: partners still believe what they heard
    first.
    """
    trade = await Trade.begin(store, cpa=300, total_budget=300)
    await trade.arrive()
    await trade.tell()
    await trade.offer(total_budget=600)
    await trade.arrive()
    await trade.tell()
    assert await heard(trade, 0) == ["budget_reached"], "it is reached, and they know"
    await trade.offer(total_budget=900)
    await trade.tell()
    assert await heard(trade, 0) == ["budget_reached", "budget_reopened"]


async def test_a_month_that_is_over_is_told_to_its_owner_and_not_to_partners(store: Store) -> None:
    trade = await Trade.begin(store, cpa=300, total_budget=300)
    await trade.arrive(now_ms=LAST_DAY_MS)
    assert await notified(trade, LAST_DAY_MS + DAY_MS) == OWNER
    other = await Trade.begin(store, cpa=300, total_budget=300)
    await other.arrive(now_ms=LAST_DAY_MS)
    await other.tell(LAST_DAY_MS)
    await other.offer(
        total_budget=900, now_ms=LAST_DAY_MS + DAY_MS
    )  # opens November too, which is not closed yet
    await other.tell(LAST_DAY_MS + DAY_MS)
    assert not await other.reached() and await heard(other, 0) == ["budget_reached"]


async def test_partners_of_a_deleted_program_are_not_notified(store: Store) -> None:
    trade = await Trade.begin(store, partners=2, cpa=300, total_budget=300, **HELD)
    reader = await trade.arrive()
    delete = changing(programs.delete, trade.site, trade.owner, NOON_MS)
    await store.write(delete, trade.program.id)
    await trade.verify_due(NOON_MS + 14 * DAY_MS)
    assert (await trade.outcome(reader.id))[1] == 300
    assert await notified(trade, NOON_MS + 14 * DAY_MS) == OWNER


async def notify_a_batch(store: Store, now_ms: int) -> bool:
    return await store.write(timed(budget_notifications.notify_due, now_ms), SITE)


def test_many_partners_are_notified_in_bounded_steps(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget_notifications, "PARTNERS", 4)

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store, partners=9, cpa=300, total_budget=300)
        kinds = (
            "SELECT kind, COUNT(*), COUNT(DISTINCT account_id) FROM notice WHERE kind LIKE "
            "'budget_re%' GROUP BY kind"
        )
        await trade.arrive()
        assert await notify_a_batch(store, NOON_MS)
        assert await trade.rows(kinds) == [("budget_reached", 4, 4)]
        await trade.tell(NOON_MS + DAY_MS)
        assert await trade.rows(kinds) == [("budget_reached", 9, 9)]
        await trade.offer(total_budget=600)
        assert await notify_a_batch(store, NOON_MS + DAY_MS)
        assert sorted(await trade.rows(kinds)) == [
            ("budget_reached", 9, 9),
            ("budget_reopened", 4, 4),
        ]
        await trade.tell(NOON_MS + DAY_MS)
        assert sorted(await trade.rows(kinds)) == [
            ("budget_reached", 9, 9),
            ("budget_reopened", 9, 9),
        ]

    on(engine, scenario)


def test_only_partners_who_heard_of_a_reach_hear_of_its_reopening(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The budget is raised when the first four of nine have been notified."""
    monkeypatch.setattr(budget_notifications, "PARTNERS", 4)

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store, partners=9, cpa=300, total_budget=300)
        await trade.arrive()
        await notify_a_batch(store, NOON_MS)
        await trade.offer(total_budget=600)
        await trade.tell()
        each = [await heard(trade, n) for n in range(9)]
        assert (each.count(["budget_reached", "budget_reopened"]), each.count([])) == (4, 5)
        await trade.arrive()
        await trade.tell(NOON_MS + DAY_MS)
        assert [(await heard(trade, n))[-1] for n in range(9)] == ["budget_reached"] * 9

    on(engine, scenario)


def test_changes_in_parallel_with_charges_and_notifications_agree(engine: str) -> None:
    """Owner, readers and job at once, over three days. At the end what each partner heard last is
    how the budget stands.
    """

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(
            store, partners=3, cpa=300, total_budget=900, max_payout=1_000_000
        )
        chance = random.Random(11)

        async def change(now_ms: int) -> None:
            spent = await trade.spent()
            await trade.offer(
                total_budget=max(0, spent + chance.choice([-300, 0, 1, 300, 600])), now_ms=now_ms
            )

        async def repeat(times: int, work: Any) -> None:
            for _ in range(times):
                await work()
                await asyncio.sleep(chance.uniform(0, 0.005))

        for day in range(3):
            now_ms = NOON_MS + day * DAY_MS
            await asyncio.gather(
                *(repeat(8, lambda n=n, t=now_ms: trade.arrive(n, now_ms=t)) for n in range(3)),
                *(repeat(8, lambda t=now_ms: change(t)) for _ in range(2)),
                *(repeat(8, lambda t=now_ms: trade.tell(t)) for _ in range(3)),
            )
            (caps,) = await trade.rows(
                "SELECT total_budget_cents FROM program WHERE id = :id", id=trade.program.id
            )
            assert await trade.reached() or await trade.spent() < caps[0]
        day_after = NOON_MS + 3 * DAY_MS
        for budget in (0, 1_000_000, 0):
            await trade.offer(total_budget=budget, now_ms=day_after)
            uncharged = (await trade.outcome((await trade.arrive(now_ms=day_after)).id))[3]
            assert (uncharged == "budget_spent") is await trade.reached() is (budget == 0)
            day_after += DAY_MS
            await trade.tell(day_after)
            last = "budget_reached" if await trade.reached() else "budget_reopened"
            assert [(await heard(trade, n))[-1] for n in range(3)] == [last] * 3
        await assert_notified_in_turn(trade)
        if engine == "postgres":
            assert await trade.rows(
                "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
            ) == [(0,)]

    on(engine, scenario)


async def assert_notified_in_turn(trade: Trade) -> None:
    """Reached at most once a day, and reopened only after reached."""
    rows = await trade.rows(
        "SELECT account_id, kind, created_ms / 86400000 FROM notice WHERE kind IN "
        "('budget_reached', 'budget_reopened') "
        "ORDER BY created_ms, id"
    )
    a_day = Counter((who, day) for who, kind, day in rows if kind == "budget_reached")
    assert max(a_day.values()) == 1
    for partner in trade.partners:
        kinds = [kind for who, kind, _ in rows if who == partner.account_id]
        assert "budget_reopened" not in (
            kinds[0],
            *(b for a, b in itertools.pairwise(kinds) if a == b),
        ), kinds
