"""The database refuses to change what is booked, and where somebody changes it all the same,
`verify` sees it.
"""

from __future__ import annotations

from typing import Any

import pytest

from honeyguide.store import Store
from tests.support.service import ENGINES
from tests.support.stores import statement
from tests.support.trade import HOUR_MS, NOON_MS, Trade, on

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
