"""Migration 0060 numbers every charge and allows reversals: sums stay, and it is quick."""

from __future__ import annotations

import time

import pytest

from tests.support.old_databases import database_before
from tests.support.postgres import shared_server
from tests.support.process import command
from tests.support.service import ENGINES
from tests.upgrades import connect_sqlite

MILLION = 1_000_000
PROGRAMS = 500
# Nobody but this migration reads these rows, so they need no program and no referral.
NUMBERS = {
    "sqlite": "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {last}) ",
    "postgres": "WITH n AS (SELECT generate_series(0, {last}) AS i) ",
}
UNCHECKED = {
    "sqlite": "PRAGMA foreign_keys = OFF; ",
    "postgres": "SET session_replication_role = replica; ",
}
CHARGES = """
INSERT INTO charge (id, account_id, partner_account_id, program_id, partner_campaign_id,
    partner_referral_id, person_key, month, fee_cents, budget_spent_cents, budget_cap_cents,
    partner_spent_cents, partner_cap_cents, created_ms)
{numbers} SELECT 'c' || i, 'a' || (i % {programs}), 'b', 'p' || (i % {programs}),
    'j' || (i % {programs}), 'r' || i, 'person' || i, '2026-11', 300,
    (i / {programs} + 1) * 300, 900000000, (i / {programs} + 1) * 300, 900000000, i FROM n;
INSERT INTO transfer (id, kind, reference, debit, credit, amount_cents, month, created_ms)
{numbers} SELECT 't' || i, 'charge', 'charge:c' || i,
    'program:p' || (i % {programs}) || ':receivable', 'partner:b:payable', 300, '2026-11', i FROM n;
"""
SUMS = (
    "SELECT SUM(fee_cents) FROM charge UNION ALL SELECT COUNT(*) FROM charge "
    "UNION ALL SELECT SUM(amount_cents) FROM transfer UNION ALL SELECT COUNT(*) FROM transfer"
)
STEPS = (
    "SELECT COUNT(*) FROM charge WHERE person_step <> 1 OR budget_step * 300 <> budget_spent_cents "
    "OR partner_step * 300 <> partner_spent_cents OR reverses_id IS NOT NULL"
)
SECONDS = {"sqlite": 60.0, "postgres": 120.0}


def ask(engine: str, url: str, sql: str) -> list[int]:
    if engine == "postgres":
        return [
            int(line) for line in shared_server().execute(sql, url.rpartition("/")[2]).splitlines()
        ]
    with connect_sqlite(url) as connection:
        return [row[0] for row in connection.execute(sql)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("charges", [1_000, pytest.param(MILLION, marks=pytest.mark.long)])
def test_the_ledger_of_an_earlier_version_keeps_its_sums(engine: str, charges: int) -> None:
    numbers = NUMBERS[engine].format(last=charges - 1)
    rows = UNCHECKED[engine] + CHARGES.format(numbers=numbers, programs=PROGRAMS)
    url = database_before(engine, "0060", rows)
    before = ask(engine, url, SUMS)
    assert before == [charges * 300, charges, charges * 300, charges]
    started = time.monotonic()
    done = command("migrate", database_url=url)
    took_s = time.monotonic() - started
    assert done.returncode == 0, done.stderr
    assert ask(engine, url, SUMS) == before
    assert ask(engine, url, STEPS) == [0]
    print(f"{engine}: {charges:,} transfers upgraded in {took_s:.1f} s")
    assert took_s < SECONDS[engine]
