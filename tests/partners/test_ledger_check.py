"""The database refuses to change what is booked, and where somebody changes it all the same,
`verify` sees it.
"""

from typing import Any

import pytest

from honeyguide.store import Store
from honeyguide.store.tx import Tx
from tests.support.stores import statement
from tests.support.trade import HOUR_MS, NOON_MS, Trade, on

EDGE_MS = 1_796_083_200_000  # 2026-12-01T00:00:00Z


# -- what the database itself refuses

# A charge that would be accepted; the statements below differ in one thing.
COPIED = {
    **{"id": "'new'", "account_id": "account_id", "partner_account_id": "partner_account_id"},
    **{"program_id": "program_id", "partner_campaign_id": "partner_campaign_id"},
    **{"partner_referral_id": "partner_referral_id", "person_key": "'other'", "person_step": "1"},
    **{"month": "'2027-03'", "fee_cents": "300", "budget_step": "7", "budget_spent_cents": "300"},
    **{"budget_cap_cents": "300", "partner_step": "7", "partner_spent_cents": "300"},
    **{"partner_cap_cents": "300", "created_ms": "1"},
}
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
    *(
        f"INSERT INTO charge ({', '.join(COPIED | different)}) "
        f"SELECT {', '.join((COPIED | different).values())} FROM charge"
        for different in (
            {"person_key": "person_key"},  # the same person
            {"budget_step": "budget_step", "month": "month"},  # the same step
            {"partner_step": "partner_step", "month": "month"},
            {"budget_spent_cents": "1000", "budget_cap_cents": "999"},  # over the cap
            {"partner_spent_cents": "1000", "partner_cap_cents": "999"},
            {"partner_account_id": "account_id"},  # from oneself
            {"fee_cents": "-300", "person_step": "2"},  # a reversal of nothing
            {"person_step": "2"},  # paid a second time, and nothing taken back between
            {
                **{"fee_cents": "-300", "person_step": "1", "person_key": "person_key"},
                **{"reverses_id": "id", "reversal_reason": "'robot'"},
            },
        )
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


def test_a_charge_that_differs_in_nothing_is_accepted(engine: str) -> None:
    """Otherwise the statements above could be refused for another reason."""

    class Undone(Exception):
        pass

    async def scenario(store: Store) -> None:
        trade = await Trade.begin(store)
        await trade.arrive(now_ms=NOON_MS)

        async def insert(tx: Tx) -> None:
            sql = (
                f"INSERT INTO charge ({', '.join(COPIED)}) "
                f"SELECT {', '.join(COPIED.values())} FROM charge"
            )
            assert await tx.run(statement(sql)) == 1
            raise Undone

        with pytest.raises(Undone):
            await store.write(insert)

    on(engine, scenario)
