"""Who is told of a budget, how often, and in how many steps, on both engines."""

from __future__ import annotations

import pytest

from honeyguide.partners import notices, programs
from honeyguide.store import Store
from honeyguide.work import money as money_work
from tests.support.service import ENGINES
from tests.support.trade import DAY_MS, NOON_MS, SITE, Trade, on

HELD = {"referral_pending_duration_enabled": True}

both_engines = pytest.mark.parametrize("engine", ENGINES)


@both_engines
def test_partners_of_an_offer_that_ended_are_not_told_and_a_raise_tells_nobody_twice(engine: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store, partners=3, cpa=300, total_budget=300)
        await trade.arrive()
        await trade.tell()
        await trade.offer(total_budget=600)
        await trade.arrive()
        await trade.tell()
        assert await trade.reached()
        told = "SELECT kind, COUNT(*) FROM notice GROUP BY kind ORDER BY kind"
        assert await trade.rows(told) == [("budget_100", 1), ("budget_80", 1), ("budget_reached", 3)]
        letters = "SELECT kind, COUNT(*) FROM letter GROUP BY kind ORDER BY kind"
        assert await trade.rows(letters) == await trade.rows(told)
        ended = await Trade.begin(store, partners=2, cpa=300, total_budget=300, **HELD)
        reader = await ended.arrive()
        await store.write(lambda tx: programs.delete(tx, ended.owner.account_id, ended.program.id, now_ms=NOON_MS))
        await ended.ripen(NOON_MS + 14 * DAY_MS)
        assert (await ended.outcome(reader.id))[1] == 300
        await ended.tell()
        assert await trade.rows(told) == [("budget_100", 2), ("budget_80", 2), ("budget_reached", 3)]

    on(engine, scenario)


@both_engines
def test_many_partners_are_told_in_bounded_steps(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "PARTNERS", 4)

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store, partners=9, cpa=300, total_budget=300)
        await trade.arrive()
        assert await money_work.tell_about_budgets(SITE, store, NOON_MS)
        assert await trade.rows("SELECT COUNT(*) FROM notice WHERE kind = 'budget_reached'") == [(4,)]
        await trade.tell()
        assert await trade.rows("SELECT COUNT(*), COUNT(DISTINCT account_id) FROM notice WHERE kind = 'budget_reached'") == [
            (9, 9)
        ]

    on(engine, scenario)
