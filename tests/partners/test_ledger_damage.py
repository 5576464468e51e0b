"""For each kind of damage to the ledger, the promises of `verify` that notice it, by name."""

import contextlib
import itertools
from collections.abc import Awaitable, Callable

import apsw
import asyncpg
import pytest

from honeyguide.partners import ledger_check, payouts
from honeyguide.store import Store
from honeyguide.store.tx import Tx
from honeyguide.subscribers import subscriber_check
from honeyguide.subscribers.subscriber_check import LAST_KEY
from tests.support.ledger_damages import DAMAGES
from tests.support.stores import OpenStore, statement
from tests.support.trade import HOUR_MS, Trade, verify

UNIQUE = ("charge_once", "charge_reversed", "payout_once")
EDGE_MS = 1_796_083_200_000  # 2026-12-01T00:00:00Z


def disarm(opened: OpenStore) -> None:
    """As somebody would who wants to do harm: triggers, checks, keys and unique indexes off."""
    if opened.engine == "sqlite":
        with contextlib.closing(
            apsw.Connection(opened.url.removeprefix("sqlite:///"))
        ) as connection:
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            ).fetchall():
                connection.execute(f"DROP TRIGGER {name}")
            for name in UNIQUE:
                connection.execute(f"DROP INDEX {name}")
        return

    async def off() -> None:
        connection = await asyncpg.connect(opened.url)
        for table in ("transfer", "charge", "period", "subscriber"):
            await connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        for name in UNIQUE:
            await connection.execute(f"DROP INDEX {name}")
        for table, name in await connection.fetch(
            "SELECT conrelid::regclass::text, conname FROM pg_constraint "
            "WHERE contype IN ('c', 'f') "
            "AND conrelid IN ('charge'::regclass, 'subscriber'::regclass)"
        ):
            await connection.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
        await connection.close()

    opened.run(off())


class Undone(Exception):
    """Carries out what was found, and undoes the damage."""


async def trade_a_while(store: Store) -> None:
    trade = await Trade.begin(store, partners=2)
    for number in range(4):
        await trade.arrive(number % 2)
    # One is reversed and verified again, another only reversed.
    again, gone = [await trade.arrive(), await trade.arrive(1)]
    assert await trade.reverse(again.id, gone.id, note="Why") == [None, None]
    await trade.confirm(again.id)
    await trade.close_and_pay_out(EDGE_MS + HOUR_MS)
    (payout,) = await trade.payouts_of(1)
    await store.write(lambda tx: payouts.mark_paid(tx.at(EDGE_MS + HOUR_MS), payout.id, "bank"))
    # January, a month that is still open.
    await trade.arrive(now_ms=EDGE_MS + 40 * 24 * HOUR_MS)
    await verify(store)


def statements_of(damage: str) -> list[str]:
    for name, sql in {
        "{first transfer}": "(SELECT MIN(id) FROM transfer)",
        "{first charge}": "(SELECT MIN(id) FROM charge)",
        "{first reversal}": "(SELECT MIN(id) FROM charge WHERE fee_cents < 0)",
        "{last reversal}": "(SELECT MAX(id) FROM charge WHERE fee_cents < 0)",
        "{unpaid}": "paid_ms IS NULL",
        "{of unpaid}": "reference IN (SELECT 'payout:' || id FROM payout WHERE paid_ms IS NULL)",
    }.items():
        damage = damage.replace(name, sql)
    return damage.split("; ")


def test_every_kind_of_damage_is_noticed_by_the_promises_that_it_breaks(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A promise is proved by a damage that no other notices, so every promise has one."""
    monkeypatch.setattr(subscriber_check, "SLICE_ROWS", 2)
    noticed = {}
    with OpenStore(engine) as opened:
        opened.run(trade_a_while(opened.store))
        disarm(opened)
        check = _on_sqlite if engine == "sqlite" else _on_postgres
        for name, (_, damage) in DAMAGES.items():
            noticed[name] = check(opened, statements_of(damage)) & set(ledger_check._PROMISES)
        opened.run(verify(opened.store))
    assert noticed == {name: promises for name, (promises, _) in DAMAGES.items()}
    alone = {name for names in noticed.values() if len(names) == 1 for name in names}
    assert alone == set(ledger_check._PROMISES)


def _on_postgres(opened: OpenStore, damage: list[str]) -> set[str]:
    names = {sentence: name for name, sentence in ledger_check._ALL_PROMISES.items()}

    def damage_and_verify() -> Callable[[Tx], Awaitable[None]]:
        async def work(tx: Tx) -> None:
            for sql in damage:
                assert await tx.run(statement(sql)), sql
            findings, _ = await ledger_check.verify(tx)
            raise Undone({names[each.promise] for each in findings if each.broken})

        return work

    with pytest.raises(Undone) as undone:
        opened.run(opened.store.write(damage_and_verify()))
    found: set[str] = undone.value.args[0]
    return found


def _on_sqlite(opened: OpenStore, damage: list[str]) -> set[str]:
    """SQLite cannot drop a CHECK, but it can be told not to look at it."""
    with contextlib.closing(apsw.Connection(opened.url.removeprefix("sqlite:///"))) as connection:
        connection.execute(
            "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE"
        )
        for sql in damage:
            connection.execute(sql).fetchall()
            assert connection.changes(), sql
        everything, broken = {"after": "", "until": LAST_KEY}, set()
        for name, errors in itertools.chain(*(group.checks for group in ledger_check._GROUPS)):
            given = [everything[key] for key in errors.sqlite_order]
            if connection.execute(errors.sqlite, given).fetchall()[0][0]:
                broken.add(name)
        connection.execute("ROLLBACK")
        return broken
