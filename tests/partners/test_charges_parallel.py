"""Money under pressure: processes and requests that confirm at the same moment spend a budget to
its last cent and not one more, each person once, and everybody is told once. Whoever is killed in
between leaves nothing half done.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import pytest

from honeyguide.partners import charges, programs
from honeyguide.signups import signups
from honeyguide.store import Store
from tests.support.changes import changing
from tests.support.confirmers import Orders, Process
from tests.support.races import overlapping
from tests.support.service import ENGINES
from tests.support.stores import OpenStore, statement
from tests.support.trade import HOUR_MS, NOON_MS, Trade, on, terms, verify

PROCESSES, EACH = 12, 20
FEE, BUDGET, CAP = 300, 30_000, 9_000
DECEMBER_MS = 1_796_083_200_000  # 2026-12-01T00:00:00Z


@pytest.fixture(params=ENGINES)
def opened(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    with OpenStore(request.param, pool_size=5) as store:
        yield store


def orders_for(opened: OpenStore, trade: Trade, number: int, each: int, **given: Any) -> Orders:
    """The first partner brings half of everybody, so that the cap is met well before the budget."""
    codes = [trade.partners[n].ref_code for n in (0, 0, 0, 1, 2, 3)]
    readers = [(f"r{number}-{n}@example.org", codes[n % len(codes)]) for n in range(each)]
    known = {
        "arrive": readers,
        "confirm": [],
        "times": 2,
        "seed": number,
        "now_ms": NOON_MS,
        "direct_url": opened.direct_url,
        **given,
    }
    return Orders(opened.url, trade.owner.account_id, trade.owner.campaign_id, **known)


def begin(opened: OpenStore, **fields: Any) -> Trade:
    given = {
        "cpa": FEE,
        "total_budget": BUDGET,
        "max_payout": CAP,
        "referral_pending_duration_enabled": True,
        **fields,
    }
    return opened.run(Trade.begin(opened.store, partners=4, **given))


def check_the_budget(opened: OpenStore, trade: Trade, people: int) -> None:
    earned = [opened.run(trade.earned(n)) for n in range(4)]
    outcomes = Counter(opened.ask("SELECT uncharged_reason, charged_cents FROM partner_referral"))
    assert opened.run(trade.spent()) == sum(earned) == BUDGET
    assert earned[0] == CAP == max(earned)
    assert outcomes.pop((None, FEE)) == BUDGET // FEE
    assert set(outcomes) <= {("budget_spent", None), ("partner_cap", None)}
    assert sum(outcomes.values()) == people - BUDGET // FEE
    assert opened.ask("SELECT COUNT(*) FROM subscriber WHERE referral_status <> 'verified'") == [
        (0,)
    ]
    assert opened.run(trade.reached())
    assert opened.run(verify(opened.store)).charged_cents == BUDGET


def test_twelve_processes_spend_a_budget_to_the_cent(opened: OpenStore) -> None:
    spend_together(opened, EACH)


@pytest.mark.long
def test_twelve_processes_with_many_referrals_spend_a_budget_to_the_cent(opened: OpenStore) -> None:
    spend_together(opened, 20 * EACH)


def spend_together(opened: OpenStore, each: int) -> None:
    trade = begin(opened)
    crowd = [Process(orders_for(opened, trade, number, each)) for number in range(PROCESSES)]
    for process in crowd:
        process.wait_until_ready()
    assert opened.ask("SELECT COUNT(*) FROM subscriber WHERE referral_status = 'pending'") == [
        (PROCESSES * each,)
    ]
    assert opened.ask("SELECT COUNT(*) FROM charge") == [(0,)], "a hold costs nothing"
    for process in crowd:
        process.go()
    for process in crowd:
        process.wait()
    check_the_budget(opened, trade, PROCESSES * each)


def test_processes_killed_in_the_middle_of_charging_leave_nothing_half_done(
    opened: OpenStore,
) -> None:
    trade, chance = begin(opened), random.Random(7)
    readers = [opened.run(trade.arrive((0, 0, 0, 1, 2, 3)[n % 6])).id for n in range(240)]
    killed = 0
    for round_number in range(4):
        orders = [
            orders_for(
                opened,
                trade,
                round_number,
                0,
                confirm=readers[part::3],
                seed=chance.randrange(10**9),
            )
            for part in range(3)
        ]
        crowd = [Process(order) for order in orders]
        for process in crowd:
            process.wait_until_ready()
        for process in crowd:
            process.go()
        if round_number == 3:
            for process in crowd:
                process.wait()
            break
        until = time.monotonic() + 5
        while (
            opened.ask("SELECT COUNT(*) FROM charge")[0][0] < 12 * (round_number + 1)
            and time.monotonic() < until
        ):
            time.sleep(0.002)
        killed += sum(process.kill() for process in crowd)
        opened.run(verify(opened.store))
    assert killed >= 3, "nobody was at work any more; the test proves nothing"
    check_the_budget(opened, trade, len(readers))


# -- over HTTP, on a running service


# -- everything at once


def test_confirmations_ripening_cap_changes_and_a_close_do_not_stand_in_each_others_way(
    engine: str,
) -> None:
    """Nobody waits for a lock in a circle: on PostgreSQL not one deadlock was there to be
    undone.
    """

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(
            store, partners=3, referral_pending_duration_enabled=True, referral_pending_duration=1
        )
        edge_ms = 1_796_083_200_000  # 1 December 2026
        readers = [(await trade.arrive(n % 3, now_ms=edge_ms - 30 * HOUR_MS)).id for n in range(90)]
        chance = random.Random(3)

        async def now_and_then(work: Callable[[int], Awaitable[Any]], times: int) -> None:
            for number in range(times):
                await work(number)
                await asyncio.sleep(chance.uniform(0, 0.01))

        async def caps(number: int) -> None:
            budget, cap = chance.choice([0, 6_000, 9_000, 30_000]), chance.choice([0, 3_000, 9_000])
            await trade.offer(total_budget=budget, max_payout=cap, now_ms=edge_ms + number)

        async def confirm(number: int) -> None:
            await trade.confirm(readers[number], now_ms=edge_ms + chance.choice([-2_000, 0, 2_000]))

        async def arrive(number: int) -> None:
            await trade.arrive(number % 3, now_ms=edge_ms)

        await asyncio.gather(
            *(now_and_then(confirm, 60) for _ in range(4)),
            *(now_and_then(arrive, 20) for _ in range(2)),
            now_and_then(caps, 40),
            now_and_then(lambda _: trade.verify_due(edge_ms), 10),
            now_and_then(lambda _: trade.tell(edge_ms), 10),
            now_and_then(lambda _: trade.close_and_pay_out(edge_ms + 2 * HOUR_MS), 10),
        )
        if engine == "postgres":
            assert await trade.rows(
                "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
            ) == [(0,)]

    on(engine, scenario)


def test_a_budget_raised_while_its_first_fee_of_the_month_does_not_fit_is_open_again(
    engine: str,
) -> None:
    """The month has no row yet that the raise could wait for: it makes one."""

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(
            store, cpa=300, total_budget=200, referral_pending_duration_enabled=True
        )
        first, second = await trade.arrive(), await trade.arrive()
        confirming = partial(
            changing(signups.decide, trade.site, trade.owner, NOON_MS),
            id_or_email=first.id,
            new_status="verified",
        )
        raising = partial(
            changing(programs.update, trade.site, trade.owner, NOON_MS),
            program_id=trade.program.id,
            given=terms(total_budget=9_000),
        )
        await overlapping(store, confirming, raising)
        assert (await trade.outcome(first.id))[3] == "budget_spent"
        assert not await trade.reached()
        await trade.confirm(second.id)
        assert await trade.outcome(second.id) == ("verified", 300, "2026-11", None)

    on(engine, scenario)


@pytest.mark.parametrize("lowered", [599, 600, 601])
@pytest.mark.parametrize("charge_first", [True, False])
def test_a_budget_lowered_after_midnight_waits_for_the_last_fee_of_the_month_before(
    engine: str, charge_first: bool, lowered: int
) -> None:
    """November stays open for an hour; a fee of its last second is on its way."""
    last_ms, after_ms = DECEMBER_MS - 1_000, DECEMBER_MS + 60_000

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(
            store, cpa=300, total_budget=9_000, referral_pending_duration_enabled=True
        )
        first, second = [await trade.arrive() for _ in range(2)]
        await trade.confirm(first.id)
        confirming = partial(
            changing(signups.decide, trade.site, trade.owner, last_ms),
            id_or_email=second.id,
            new_status="verified",
        )
        lowering = partial(
            changing(programs.update, trade.site, trade.owner, after_ms),
            program_id=trade.program.id,
            given=terms(total_budget=lowered),
        )
        await overlapping(
            store, *((confirming, lowering) if charge_first else (lowering, confirming))
        )
        assert await trade.spent("2026-11") == 600, "they came under the budget before"
        assert await trade.reached("2026-11") is (lowered <= 600)

    on(engine, scenario)


@pytest.mark.parametrize("lowered", [300, 599, 600, 601])
@pytest.mark.parametrize("charge_first", [True, False])
def test_a_budget_lowered_while_a_fee_is_charged_knows_what_is_spent(
    engine: str, charge_first: bool, lowered: int
) -> None:
    """Whoever comes second waits for the first: the state, the ledger and the notifications say the
    same.
    """

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(
            store, cpa=300, total_budget=9_000, referral_pending_duration_enabled=True
        )
        first, second, third = [await trade.arrive() for _ in range(3)]
        await trade.confirm(first.id)
        confirming = partial(
            changing(signups.decide, trade.site, trade.owner, NOON_MS),
            id_or_email=second.id,
            new_status="verified",
        )
        lowering = partial(
            changing(programs.update, trade.site, trade.owner, NOON_MS),
            program_id=trade.program.id,
            given=terms(total_budget=lowered),
        )
        await overlapping(
            store, *((confirming, lowering) if charge_first else (lowering, confirming))
        )
        # They came under the budget before.
        assert await trade.outcome(second.id) == ("verified", 300, "2026-11", None)
        assert await trade.reached() is (lowered <= 600)
        await trade.tell()
        rows = await trade.rows(
            "SELECT kind FROM notice WHERE account_id = :id", id=trade.partners[0].account_id
        )
        assert rows == [("budget_reached",)] * (lowered <= 600)
        await trade.offer(total_budget=9_000)
        await trade.confirm(third.id)
        assert (await trade.outcome(third.id))[1] == 300

    on(engine, scenario)


def test_the_same_person_at_one_moment_in_two_months_is_one_charge(engine: str) -> None:
    """Two machines, two clocks, two addresses of one person: different budgets are no lock between
    them.
    """

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store, referral_pending_duration_enabled=True)
        edge_ms = 1_796_083_200_000
        for number in range(20):
            first = await trade.arrive(email=f"p{number}@gmail.com", now_ms=edge_ms - HOUR_MS)
            await trade.erase(first.id, now_ms=edge_ms - HOUR_MS)
        for number in range(20):
            one = await trade.arrive(email=f"q{number}@gmail.com", now_ms=edge_ms - HOUR_MS)
            other = await trade.arrive(email=f"q.{number}+x@gmail.com", now_ms=edge_ms - HOUR_MS)
            await asyncio.gather(
                trade.confirm(one.id, now_ms=edge_ms - 1),
                trade.confirm(other.id, now_ms=edge_ms + 1),
            )
            outcomes = [await trade.outcome(each.id) for each in (one, other)]
            assert sorted(str(outcome[3]) for outcome in outcomes) == ["None", "already_charged"]
        assert await trade.spent("2026-11") + await trade.spent("2026-12") == 20 * 300

    on(engine, scenario)


def test_a_charge_that_breaks_at_any_step_changes_nothing(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault inside the transaction, after each of its statements in turn."""

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store, referral_pending_duration_enabled=True)
        reader = await trade.arrive()
        steps = [
            "_LOCK_BUDGET",
            "_LOCK_PARTNER_SPEND",
            "_SPEND_BUDGET",
            "_SPEND_PARTNER",
            "_INSERT_CHARGE",
            "_MARK_CHARGED",
        ]
        for step in steps:
            with monkeypatch.context() as patch:
                patch.setattr(charges, step, statement("SELECT * FROM no_such_table"))
                with pytest.raises(Exception, match="no_such_table"):
                    await trade.confirm(reader.id)
            assert (await trade.outcome(reader.id))[:2] == ("pending", None)
            assert (
                await trade.rows("SELECT COUNT(*) FROM charge")
                == await trade.rows("SELECT COUNT(*) FROM transfer")
                == [(0,)]
            )
            await verify(store)
        await trade.confirm(reader.id)
        assert await trade.outcome(reader.id) == ("verified", 300, "2026-11", None)

    on(engine, scenario)
