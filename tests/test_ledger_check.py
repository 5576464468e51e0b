"""The database refuses to change what is booked, and where somebody changes it all the same,
`verify` sees it.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import apsw
import asyncpg
import pytest

from honeyguide.partners import ledger_check, payouts
from honeyguide.referrals import check_slices
from honeyguide.referrals.check_slices import LAST_KEY
from honeyguide.store import Store
from honeyguide.store.tx import Tx
from tests.support.service import ENGINES
from tests.support.stores import OpenStore, statement
from tests.support.trade import HOUR_MS, NOON_MS, Trade, on, verify

EDGE_MS = 1_796_083_200_000  # 2026-12-01T00:00:00Z

both_engines = pytest.mark.parametrize("engine", ENGINES)


# -- what the database itself refuses

FORBIDDEN = [
    "UPDATE transfer SET amount_cents = 1",
    "DELETE FROM transfer",
    "UPDATE charge SET fee_cents = 1",
    "DELETE FROM charge",
    "DELETE FROM charge WHERE fee_cents < 0 OR fee_cents > 0",
    "UPDATE period SET closed_ms = NULL WHERE closed_ms IS NOT NULL",
    "DELETE FROM period WHERE closed_ms IS NOT NULL",
    (
        "INSERT INTO transfer SELECT 'new', 'payout', 'new', debit, credit, 1, '2026-11', 1 FROM "
        "transfer WHERE kind = 'charge'"
    ),
    (
        "INSERT INTO transfer SELECT 'new', 'charge', 'new', debit, credit, 0, '2027-03', 1 FROM "
        "transfer WHERE kind = 'charge'"
    ),
    (
        "INSERT INTO transfer SELECT 'new', 'charge', 'new', debit, debit, 1, '2027-03', 1 FROM "
        "transfer WHERE kind = 'charge'"
    ),
    (
        "INSERT INTO transfer SELECT 'new', 'gift', 'new', debit, credit, 1, '2027-03', 1 FROM "
        "transfer WHERE kind = 'charge'"
    ),
    # the same person
    (
        "INSERT INTO charge SELECT 'new', account_id, partner_account_id, program_id, "
        "partner_campaign_id, partner_referral_id, person_key, '2027-03', 1, 1, 1, 1, 1, 1 FROM "
        "charge"
    ),
    # the same step
    (
        "INSERT INTO charge SELECT 'new', account_id, partner_account_id, program_id, "
        "partner_campaign_id, partner_referral_id, 'other', month, fee_cents, budget_spent_cents, "
        "budget_cap_cents, 999, 9999, 1 FROM charge"
    ),
    # over the cap
    (
        "INSERT INTO charge SELECT 'new', account_id, partner_account_id, program_id, "
        "partner_campaign_id, partner_referral_id, 'other', '2027-03', 2, 2, 1, 2, 2, 1 FROM "
        "charge"
    ),
    # from oneself
    (
        "INSERT INTO charge SELECT 'new', account_id, account_id, program_id, "
        "partner_campaign_id, partner_referral_id, 'other', '2027-03', 1, 1, 1, 1, 1, 1 FROM "
        "charge"
    ),
]
ONLY = {
    "sqlite": [
        "INSERT OR REPLACE INTO transfer SELECT * FROM transfer",
        "REPLACE INTO charge SELECT * FROM charge",
        "UPDATE transfer SET month = 'x' WHERE 1",
        "INSERT INTO transfer "
        "SELECT 'n', 'charge', 'n', debit, credit, 1.5, '2027-03', 1 FROM transfer",
    ],
    "postgres": ["TRUNCATE transfer", "TRUNCATE charge", "TRUNCATE transfer, charge CASCADE"],
}


@both_engines
def test_the_database_itself_refuses_to_change_what_is_booked(engine: str) -> None:
    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store)
        await trade.arrive(now_ms=NOON_MS)
        await trade.close_and_pay_out(EDGE_MS + HOUR_MS)

        async def booked() -> list[Any]:
            return [
                await trade.rows(f"SELECT * FROM {table} ORDER BY 1")
                for table in ("transfer", "charge", "period")
            ]

        before = await booked()
        for sql in [*FORBIDDEN, *ONLY[engine]]:
            with pytest.raises(Exception) as refused:
                await store.write(lambda tx, sql=sql: tx.run(statement(sql)))
            assert not isinstance(refused.value, AssertionError), sql
            assert await booked() == before, sql

    on(engine, scenario)


# -- `verify` sees every kind of damage

DAMAGES = {
    "a transfer lost": "DELETE FROM transfer WHERE id = {first transfer}",
    "a transfer too high": (
        "UPDATE transfer SET amount_cents = amount_cents + 1 WHERE id = {first transfer}"
    ),
    "a transfer to somebody else": (
        "UPDATE transfer SET credit = 'partner:x:payable' WHERE id = {first transfer}"
    ),
    "a transfer in another month": (
        "UPDATE transfer SET month = '2026-12' WHERE id = {first transfer}"
    ),
    "a transfer from nowhere": (
        "INSERT INTO transfer SELECT 'x', 'charge', 'charge:x', debit, credit, 5, '2026-12', 1 "
        "FROM transfer WHERE id = {first transfer}"
    ),
    "a transfer between the wrong accounts": (
        "UPDATE transfer SET debit = 'cash' WHERE id = {first transfer}"
    ),
    "a charge lost": "DELETE FROM charge WHERE id = {first charge}",
    "a charge too low": "UPDATE charge SET fee_cents = fee_cents - 1 WHERE id = {first charge}",
    "a charge in another month": "UPDATE charge SET month = '2026-12' WHERE id = {first charge}",
    "a charge for somebody else": "UPDATE charge SET person_key = 'x' WHERE id = {first charge}",
    "a charge of another program": "UPDATE charge SET account_id = 'x' WHERE id = {first charge}",
    "a budget that says less": "UPDATE budget SET spent_cents = spent_cents - 1",
    "a budget lost": "DELETE FROM budget",
    "a budget below what is spent that is not reached": "UPDATE program SET total_budget_cents = 1",
    "a partner's sum that says more": "UPDATE partner_spend SET spent_cents = spent_cents + 1",
    "a partner's sum lost": "DELETE FROM partner_spend",
    "a step over the cap": (
        "UPDATE charge SET budget_cap_cents = budget_spent_cents - 1 WHERE id = {first charge}"
    ),
    "a step over the partner's cap": (
        "UPDATE charge SET partner_cap_cents = 1 WHERE id = {first charge}"
    ),
    "a step left out": (
        "UPDATE charge SET budget_spent_cents = budget_spent_cents + 1 WHERE id = (SELECT MAX(id) "
        "FROM charge)"
    ),
    "a referral that says nothing": "UPDATE partner_referral SET charged_cents = NULL",
    "a referral that says both": "UPDATE partner_referral SET uncharged_reason = 'free'",
    "a referral that is not verified": (
        "UPDATE subscriber SET referral_status = 'rejected' WHERE referral_status = 'verified'"
    ),
    "a verified one nobody settled": (
        "UPDATE partner_referral SET charged_cents = NULL, charged_month = NULL"
    ),
    "a decided one that still waits": "UPDATE partner_referral SET decided_ms = NULL",
    "an account that pays itself": "UPDATE charge SET partner_account_id = account_id",
    "a payout too high": "UPDATE payout SET amount_cents = amount_cents + 1",
    "a payout lost": "DELETE FROM payout",
    "a payout of an open month": "UPDATE payout SET month = '2027-05'",
    "a payout without its transfer": "DELETE FROM transfer WHERE kind = 'payout'",
    "a mark without its transfer": (
        "UPDATE payout SET paid_ms = 1, paid_reference = 'x' WHERE paid_ms IS NULL"
    ),
    "a mark taken off without one": "UPDATE payout SET paid_ms = NULL WHERE paid_ms IS NOT NULL",
    "a payment lost": "DELETE FROM transfer WHERE kind = 'paid'",
    "a payment twice": (
        "INSERT INTO transfer SELECT 'x', kind, reference || '9', debit, credit, amount_cents, "
        "month, 1 FROM transfer WHERE kind = 'paid'"
    ),
}


def disarm(opened: OpenStore) -> None:
    """As somebody would who wants to do harm: triggers, checks and foreign keys off."""
    if opened.engine == "sqlite":
        with contextlib.closing(
            apsw.Connection(opened.url.removeprefix("sqlite:///"))
        ) as connection:
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            ).fetchall():
                connection.execute(f"DROP TRIGGER {name}")
        return

    async def off() -> None:
        connection = await asyncpg.connect(opened.url)
        for table in ("transfer", "charge", "period", "subscriber"):
            await connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        for table, name in await connection.fetch(
            "SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE contype = 'c' "
            "AND conrelid IN ('charge'::regclass, 'subscriber'::regclass)"
        ):
            await connection.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
        await connection.close()

    opened.run(off())


@both_engines
def test_verify_sees_every_kind_of_damage(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_slices, "SLICE_ROWS", 2)

    class Undone(Exception):
        pass

    async def trade_a_while(store: Store) -> None:
        trade = await Trade.begin(store, partners=2)
        for number in range(4):
            await trade.arrive(number % 2)
        await trade.close_and_pay_out(EDGE_MS + HOUR_MS)
        (payout,) = await trade.payouts_of(1)
        await store.write(
            lambda tx: payouts.mark_paid(tx, payout.id, "bank", now_ms=EDGE_MS + HOUR_MS)
        )
        await trade.arrive(
            now_ms=EDGE_MS + 40 * 24 * HOUR_MS
        )  # January, a month that is still open
        await verify(store)

    unseen = []
    with OpenStore(engine) as opened:
        opened.run(trade_a_while(opened.store))
        disarm(opened)

        def looks(damage: str) -> Callable[[Tx], Awaitable[None]]:
            async def work(tx: Tx) -> None:
                if engine == "sqlite":
                    await tx.all(statement("PRAGMA defer_foreign_keys = ON"))
                touched = await tx.run(statement(damage))
                findings, _ = await ledger_check.verify(tx)
                raise Undone(touched, sum(finding.broken for finding in findings))

            return work

        for name, damage in DAMAGES.items():
            damage = damage.replace("{first transfer}", "(SELECT MIN(id) FROM transfer)")
            damage = damage.replace("{first charge}", "(SELECT MIN(id) FROM charge)")
            if engine == "sqlite":
                found = _look_at_damaged_copy(opened, damage)
            else:
                with pytest.raises(Undone) as undone:
                    opened.run(opened.store.write(looks(damage)))
                found = undone.value.args
            touched, broken = found
            if not touched or not broken:
                unseen.append((name, touched, broken))
        assert not unseen
        opened.run(verify(opened.store))


def _look_at_damaged_copy(opened: OpenStore, damage: str) -> tuple[int, int]:
    """SQLite cannot drop a CHECK, but it can be told not to look at it."""
    with contextlib.closing(apsw.Connection(opened.url.removeprefix("sqlite:///"))) as connection:
        connection.execute(
            "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE"
        )
        connection.execute(damage).fetchall()
        touched = connection.changes()
        everything, broken = {"after": "", "until": LAST_KEY}, 0
        for _, errors in itertools.chain(*(group.checks for group in ledger_check._GROUPS)):
            given = [everything[name] for name in errors.sqlite_order]
            broken += connection.execute(errors.sqlite, given).fetchall()[0][0]
        connection.execute("ROLLBACK")
        return touched, broken
