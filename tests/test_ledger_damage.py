"""For each kind of damage to the ledger, the promises of `verify` that notice it, by name."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Awaitable, Callable

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
from tests.support.trade import HOUR_MS, Trade, verify

UNIQUE = ("charge_once", "charge_reversed", "payout_once")
EDGE_MS = 1_796_083_200_000  # 2026-12-01T00:00:00Z

# Each with the promises that it breaks.
DAMAGES: dict[str, tuple[set[str], str]] = {
    "a transfer lost": (
        {"charges_without_transfer", "payouts_off"},
        "DELETE FROM transfer WHERE id = {first transfer}",
    ),
    "a transfer of an open month lost": (
        {"charges_without_transfer"},
        "DELETE FROM transfer WHERE month = '2027-01'",
    ),
    "a transfer too high": (
        {"charges_without_transfer", "payouts_off"},
        "UPDATE transfer SET amount_cents = amount_cents + 1 WHERE id = {first transfer}",
    ),
    "a transfer to somebody else": (
        {"charges_without_transfer", "payouts_off"},
        "UPDATE transfer SET credit = 'partner:x:payable' WHERE id = {first transfer}",
    ),
    "a transfer in another month": (
        {"charges_without_transfer", "payouts_off"},
        "UPDATE transfer SET month = '2026-12' WHERE id = {first transfer}",
    ),
    "a transfer from nowhere": (
        {"transfers_without_charge"},
        "INSERT INTO transfer SELECT 'x', 'charge', 'charge:x', debit, credit, 5, "
        "'2026-12', 1 FROM transfer WHERE id = {first transfer}",
    ),
    "a transfer twice": (
        {"transfers_without_charge"},
        "INSERT INTO transfer SELECT 'x', kind, reference || 'x', debit, credit, "
        "amount_cents, '2026-12', 1 FROM transfer WHERE id = {first transfer}",
    ),
    "a transfer between the wrong accounts": (
        {"charges_without_transfer", "entries_off"},
        "UPDATE transfer SET debit = 'cash' WHERE id = {first transfer}",
    ),
    "a payout sent to the wrong account": (
        {"entries_off"},
        "UPDATE transfer SET credit = 'cash' WHERE kind = 'payout'",
    ),
    "a charge lost": (
        {
            "budget_steps_off",
            "budgets_off",
            "partner_spends_off",
            "partner_steps_off",
            "referrals_off",
            "transfers_without_charge",
        },
        "DELETE FROM charge WHERE id = {first charge}",
    ),
    "a charge too low": (
        {
            "budget_steps_off",
            "budgets_off",
            "charges_without_referral",
            "charges_without_transfer",
            "partner_spends_off",
            "partner_steps_off",
        },
        "UPDATE charge SET fee_cents = fee_cents - 1 WHERE id = {first charge}",
    ),
    "a charge in another month": (
        {
            "budget_steps_off",
            "budgets_off",
            "charges_without_referral",
            "charges_without_transfer",
            "partner_spends_off",
            "partner_steps_off",
        },
        "UPDATE charge SET month = '2026-12' WHERE id = {first charge}",
    ),
    "a charge for somebody else": (
        {"charges_without_referral"},
        "UPDATE charge SET person_key = 'x' WHERE id = {first charge}",
    ),
    "a charge without a referral": (
        {"charges_without_referral"},
        "UPDATE charge SET partner_referral_id = 'x' WHERE id = {first charge}",
    ),
    "a charge of another program": (
        {"budgets_off", "charges_without_referral"},
        "UPDATE charge SET account_id = 'x' WHERE id = {first charge}",
    ),
    "a charge for somebody who must confirm": (
        {"charges_unconfirmed"},
        "UPDATE subscriber SET must_confirm = 1 WHERE partner_campaign_id IS NOT NULL",
    ),
    "the same person charged for twice": (
        {"people_twice"},
        "UPDATE partner_referral SET person_key = 'x'; UPDATE charge SET person_key = 'x'",
    ),
    "an account that pays itself": (
        {
            "charges_without_referral",
            "charges_without_transfer",
            "partner_spends_off",
            "people_twice",
        },
        "UPDATE charge SET partner_account_id = account_id",
    ),
    "a budget that says less": (
        {"budgets_off"},
        "UPDATE budget SET spent_cents = spent_cents - 1",
    ),
    "a budget that says more": (
        {"budgets_off"},
        "UPDATE budget SET spent_cents = spent_cents + 1",
    ),
    "a budget lost": (
        {"budgets_off"},
        "DELETE FROM budget",
    ),
    "a budget below what is spent that is not reached": (
        {"budgets_not_reached"},
        "UPDATE program SET total_budget_cents = 1",
    ),
    "a partner's sum that says less": (
        {"partner_spends_off"},
        "UPDATE partner_spend SET spent_cents = spent_cents - 1",
    ),
    "a partner's sum that says more": (
        {"partner_spends_off"},
        "UPDATE partner_spend SET spent_cents = spent_cents + 1",
    ),
    "a partner's sum lost": (
        {"partner_spends_off"},
        "DELETE FROM partner_spend",
    ),
    "a step over the cap": (
        {"budget_steps_off"},
        "UPDATE charge SET budget_cap_cents = budget_spent_cents - 1 WHERE id = {first charge}",
    ),
    "a step over the partner's cap": (
        {"partner_steps_off"},
        "UPDATE charge SET partner_cap_cents = 1 WHERE id = {first charge}",
    ),
    "a step left out": (
        {"budget_steps_off"},
        "UPDATE charge SET budget_spent_cents = budget_spent_cents + 1 WHERE id = (SELECT "
        "MAX(id) FROM charge)",
    ),
    "a partner's step left out": (
        {"partner_steps_off"},
        "UPDATE charge SET partner_spent_cents = partner_spent_cents + 1 WHERE id = (SELECT "
        "MAX(id) FROM charge)",
    ),
    "a reversal lost": (
        {
            "budget_steps_off",
            "budgets_off",
            "charges_without_referral",
            "partner_spends_off",
            "referrals_off",
            "transfers_without_charge",
        },
        "DELETE FROM charge WHERE id = {last reversal}",
    ),
    "a reversal's transfer lost": (
        {"charges_without_transfer", "payouts_off"},
        "DELETE FROM transfer WHERE kind = 'reversal'",
    ),
    "a reversal's transfer twice": (
        {"transfers_without_charge"},
        "INSERT INTO transfer SELECT 'x', kind, reference || 'x', debit, credit, amount_cents, "
        "'2026-12', 1 FROM transfer WHERE reference = 'reversal:' || {last reversal}",
    ),
    "a reversal's transfer the wrong way round": (
        {"charges_without_transfer", "entries_off", "payouts_off"},
        "UPDATE transfer SET debit = credit, credit = debit WHERE kind = 'reversal'",
    ),
    "a reversal in another month": (
        {
            "budget_steps_off",
            "budgets_off",
            "charges_without_transfer",
            "partner_spends_off",
            "partner_steps_off",
            "reversals_off",
        },
        "UPDATE charge SET month = '2026-12' WHERE id = {last reversal}",
    ),
    "a reversal of another charge": (
        {"charges_without_referral", "reversals_off"},
        "UPDATE charge SET reverses_id = {first charge} WHERE id = {last reversal}",
    ),
    "a charge reversed twice": (
        {
            "budget_steps_off",
            "budgets_off",
            "charges_without_transfer",
            "partner_spends_off",
            "partner_steps_off",
            "people_twice",
            "referrals_off",
            "reversals_off",
        },
        "INSERT INTO charge (id, account_id, partner_account_id, program_id, partner_campaign_id, "
        "partner_referral_id, person_key, person_step, month, fee_cents, budget_step, "
        "budget_spent_cents, budget_cap_cents, partner_step, partner_spent_cents, "
        "partner_cap_cents, reverses_id, reversal_reason, created_ms) "
        "SELECT 'x', account_id, partner_account_id, program_id, partner_campaign_id, "
        "partner_referral_id, person_key, person_step + 2, month, fee_cents, 99, 300, "
        "budget_cap_cents, 99, 300, partner_cap_cents, reverses_id, reversal_reason, created_ms "
        "FROM charge WHERE id = {last reversal}",
    ),
    "a reversal of the charge after it": (
        {"reversals_off"},
        "UPDATE charge SET reverses_id = (SELECT id FROM charge WHERE person_step = 3) "
        "WHERE id = {first reversal}",
    ),
    "a reversal out of turn": (
        {"people_twice", "reversals_off"},
        "UPDATE charge SET person_step = 4 WHERE id = {last reversal}",
    ),
    "a referral that does not know its reversal": (
        {"referrals_off"},
        "UPDATE partner_referral SET reversal_id = NULL, reversal_note = NULL",
    ),
    "a note without a reversal": (
        {"referrals_off"},
        "UPDATE partner_referral SET reversal_note = 'x' WHERE reversal_id IS NULL",
    ),
    "a referral that says nothing": (
        {"charges_without_referral", "referrals_off"},
        "UPDATE partner_referral SET charged_cents = NULL",
    ),
    "a referral that says both": (
        {"charges_without_referral", "referrals_off"},
        "UPDATE partner_referral SET uncharged_reason = 'free'",
    ),
    "a referral that is not verified": (
        {"referrals_off"},
        "UPDATE subscriber SET referral_status = 'rejected' WHERE referral_status = 'verified'",
    ),
    "a verified one nobody settled": (
        {"charges_without_referral", "referrals_off"},
        "UPDATE partner_referral SET charged_cents = NULL, charged_month = NULL",
    ),
    "a decided one that still waits": (
        {"referrals_off"},
        "UPDATE partner_referral SET decided_ms = NULL",
    ),
    "a payout too high": (
        {"payouts_off", "payout_transfers_off"},
        "UPDATE payout SET amount_cents = amount_cents + 1 WHERE {unpaid}",
    ),
    "a payout and its transfer too high": (
        {"payouts_off"},
        "UPDATE payout SET amount_cents = amount_cents + 1 WHERE {unpaid}; UPDATE transfer "
        "SET amount_cents = amount_cents + 1 WHERE {of unpaid}",
    ),
    "a payout and its transfer too low": (
        {"payouts_off"},
        "UPDATE payout SET amount_cents = amount_cents - 1 WHERE {unpaid}; UPDATE transfer "
        "SET amount_cents = amount_cents - 1 WHERE {of unpaid}",
    ),
    "a payout lost": (
        {"payouts_off", "payout_transfers_off"},
        "DELETE FROM payout WHERE {unpaid}",
    ),
    "a payout and its transfer lost": (
        {"payouts_off"},
        "DELETE FROM transfer WHERE {of unpaid}; DELETE FROM payout WHERE {unpaid}",
    ),
    "a payout and its transfer twice": (
        {"payouts_off"},
        "INSERT INTO transfer SELECT 'x', kind, 'payout:x', debit, credit, amount_cents, "
        "month, 1 FROM transfer WHERE {of unpaid}; INSERT INTO payout (id, account_id, "
        "month, amount_cents, created_ms) SELECT 'x', account_id, month, amount_cents, 1 "
        "FROM payout WHERE {unpaid}",
    ),
    "a payout of an open month": (
        {"payouts_open", "payouts_off", "payout_transfers_off"},
        "UPDATE payout SET month = '2027-05' WHERE {unpaid}",
    ),
    "a month opened after its payouts": (
        {"payouts_open"},
        "UPDATE period SET closed_ms = NULL",
    ),
    "a payout without its transfer": (
        {"payout_transfers_off"},
        "DELETE FROM transfer WHERE {of unpaid}",
    ),
    "a payout booked in the month that it is for": (
        {"payout_transfers_off"},
        "UPDATE transfer SET month = '2026-11' WHERE kind = 'payout'",
    ),
    "a mark without its transfer": (
        {"paid_off"},
        "UPDATE payout SET paid_ms = 1, paid_reference = 'x' WHERE {unpaid}",
    ),
    "a mark taken off without one": (
        {"paid_off"},
        "UPDATE payout SET paid_ms = NULL WHERE paid_ms IS NOT NULL",
    ),
    "a payment lost": (
        {"paid_off"},
        "DELETE FROM transfer WHERE kind = 'paid'",
    ),
    "a payment too high": (
        {"paid_off"},
        "UPDATE transfer SET amount_cents = amount_cents + 1 WHERE kind = 'paid'",
    ),
    "a payment twice": (
        {"paid_off"},
        "INSERT INTO transfer SELECT 'x', kind, reference || '9', debit, credit, "
        "amount_cents, month, 1 FROM transfer WHERE kind = 'paid'",
    ),
}


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
    await store.write(lambda tx: payouts.mark_paid(tx, payout.id, "bank", now_ms=EDGE_MS + HOUR_MS))
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


@pytest.mark.parametrize("engine", ENGINES)
def test_every_kind_of_damage_is_noticed_by_the_promises_that_it_breaks(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A promise is proved by a damage that no other notices, so every promise has one."""
    monkeypatch.setattr(check_slices, "SLICE_ROWS", 2)
    noticed = {}
    with OpenStore(engine) as opened:
        opened.run(trade_a_while(opened.store))
        disarm(opened)
        look = _on_sqlite if engine == "sqlite" else _on_postgres
        for name, (_, damage) in DAMAGES.items():
            noticed[name] = look(opened, statements_of(damage)) & set(ledger_check._PROMISES)
        opened.run(verify(opened.store))
    assert noticed == {name: promises for name, (promises, _) in DAMAGES.items()}
    alone = {name for names in noticed.values() if len(names) == 1 for name in names}
    assert alone == set(ledger_check._PROMISES)


def _on_postgres(opened: OpenStore, damage: list[str]) -> set[str]:
    names = {sentence: name for name, sentence in ledger_check._ALL_PROMISES.items()}

    def look() -> Callable[[Tx], Awaitable[None]]:
        async def work(tx: Tx) -> None:
            for sql in damage:
                assert await tx.run(statement(sql)), sql
            findings, _ = await ledger_check.verify(tx)
            raise Undone({names[each.promise] for each in findings if each.broken})

        return work

    with pytest.raises(Undone) as undone:
        opened.run(opened.store.write(look()))
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
