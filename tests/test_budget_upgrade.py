"""Upgrade a database that the version before migration 0012 made: what its partners were told is
not told again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import programs
from honeyguide.store import Store
from honeyguide.work import money as money_work
from tests.support.changes import changing
from tests.support.items import run_items
from tests.support.old_databases import database_before
from tests.support.service import ENGINES
from tests.support.stores import OpenStore, statement
from tests.support.trade import DAY_MS, NOON_MS, SITE, terms, verify

ROWS = Path(__file__).parent / "corpus" / "budgets_before_0012.sql"


def old_database(engine: str) -> str:
    return database_before(engine, "0012", ROWS.read_text(encoding="utf-8"))


class Upgraded:
    """The upgraded database; a program goes by the name of the state its budget was in."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def rows(self, sql: str, **params: Any) -> list[tuple[Any, ...]]:
        return await self.store.read(lambda tx: tx.all(statement(sql), **params))

    async def notify(self, now_ms: int) -> dict[str, list[str]]:
        """What the job sends, by program: a word for each notification."""
        before = {row[0] for row in await self.rows("SELECT id FROM notice")}
        await run_items(self.store, money_work.budgets_to_notify(SITE), now_ms)
        names = dict(
            await self.rows(
                "SELECT p.id, b.name FROM program AS p JOIN publication AS b ON b.id = "
                "p.publication_id"
            )
        )
        sent: dict[str, list[str]] = {}
        for notice_id, kind, once_key in await self.rows(
            "SELECT id, kind, once_key FROM notice ORDER BY kind, id"
        ):
            if notice_id not in before:
                sent.setdefault(names[once_key.split(":")[1]], []).append(kind)
        emails = await self.rows("SELECT COUNT(*) FROM letter")
        assert emails == await self.rows("SELECT COUNT(*) FROM notice"), (
            "every notification has its email, once"
        )
        return sent

    async def set_budget(self, name: str, cents: int, now_ms: int) -> None:
        ((account_id, program_id),) = await self.rows(
            (
                "SELECT p.account_id, p.id FROM program AS p JOIN publication AS b ON b.id = "
                "p.publication_id WHERE b.name = :name"
            ),
            name=name,
        )
        update = changing(programs.update, SITE, Tenant(account_id, ""), now_ms)
        await self.store.write(update, program_id, terms(total_budget=cents))

    async def reached(self) -> set[str]:
        found = await self.rows(
            "SELECT b.name FROM budget AS g JOIN program AS p ON p.id = g.program_id "
            "JOIN publication AS b ON b.id = p.publication_id WHERE g.reached_ms IS NOT NULL"
        )
        return {row[0] for row in found}


def after_upgrade(engine: str, scenario: Callable[[Upgraded], Awaitable[None]]) -> None:
    with OpenStore(engine, old_database(engine)) as opened:
        opened.run(verify(opened.store))
        opened.run(scenario(Upgraded(opened.store)))  # type: ignore[arg-type]
        opened.run(verify(opened.store))


@pytest.mark.parametrize("engine", ENGINES)
def test_only_what_was_never_told_is_told_after_the_upgrade(engine: str) -> None:
    async def scenario(partner_network: Upgraded) -> None:
        assert await partner_network.reached() == {"told", "lowered", "half told", "waiting"}
        assert await partner_network.notify(NOON_MS) == {
            "half told": [
                "budget_reached"
            ],  # the third partner, whom the old version had not come to
            "waiting": ["budget_100", "budget_80", "budget_reached"],
            "lowered": [
                "budget_100",
                "budget_reached",
            ],  # below what is spent: reached by the new rule
        }
        assert await partner_network.notify(NOON_MS + DAY_MS) == {}

    after_upgrade(engine, scenario)


@pytest.mark.parametrize("engine", ENGINES)
def test_raises_after_the_upgrade_reach_those_who_were_told_before_it(engine: str) -> None:
    async def scenario(partner_network: Upgraded) -> None:
        await partner_network.notify(NOON_MS)
        for name in ("told", "raised", "lowered", "half told", "open"):
            await partner_network.set_budget(name, 1_200, NOON_MS)
        assert await partner_network.notify(NOON_MS) == {
            "told": ["budget_reopened"] * 2,
            "half told": ["budget_reopened"] * 3,
            "lowered": ["budget_reopened"],
        }
        for name in ("told", "raised"):
            await partner_network.set_budget(name, 300, NOON_MS)
        assert await partner_network.notify(NOON_MS) == {}, (
            "both heard of a reach today, before the upgrade"
        )
        assert await partner_network.notify(NOON_MS + DAY_MS) == {
            "told": ["budget_reached"] * 2,
            "raised": ["budget_reached"],
        }

    after_upgrade(engine, scenario)
