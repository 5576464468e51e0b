"""A month with a million charges, made by SQL: what closing it and paying it out is measured on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import apsw
import asyncpg

from honeyguide.partners import rules
from honeyguide.store import sqlite_path

PER_PARTNER = 100
_MADE = """
INSERT INTO account (id, email, name, created_ms)
    SELECT {partner}, 'p' || n || '@bench.example', 'P' || n, 1 FROM
    {partners};
INSERT INTO partner_campaign (id, account_id, owner_account_id, program_id, ref_code, created_ms)
    SELECT {place}, {partner}, '{owner}', {program}, 'p' || {pad}, 1 FROM {partners};
INSERT INTO subscriber (id, account_id, campaign_id, email, email_key, person_key, ref_code,
    referrer_code, partner_campaign_id, referral_status, origin, created_ms, received_ms)
    SELECT {reader}, '{owner}', '{campaign}', 'r' || n, 'r' || n, 'r' || n, 'z' || {pad}, 'x',
    {place_of}, 'verified', 'api', {now} - n, {now} FROM {charges};
INSERT INTO partner_referral (id, account_id, partner_account_id, program_id, partner_campaign_id,
    subscriber_id, person_key, fee_cents, arrived_ms, decided_ms, charged_cents, charged_month)
    SELECT {referral}, '{owner}', {partner_of}, {program_of}, {place_of}, {reader}, 'r' || n, 300,
    {now}, {now}, 300, '{month}' FROM {charges};
INSERT INTO charge (id, account_id, partner_account_id, program_id, partner_campaign_id,
    partner_referral_id, person_key, person_step, month, fee_cents, budget_step,
    budget_spent_cents, budget_cap_cents, partner_step, partner_spent_cents, partner_cap_cents,
    created_ms)
    SELECT {charge}, '{owner}', {partner_of}, {program_of}, {place_of}, {referral}, 'r' || n, 1,
    '{month}', 300, {budget_step}, {budget_step} * 300, 1000000000000, {partner_step},
    {partner_step} * 300, 1000000000, {now} FROM {charges};
INSERT INTO transfer (id, kind, reference, debit, credit, amount_cents, month, created_ms)
    SELECT {charge}, 'charge', 'charge:' || {charge}, 'program:' || {program_of} || ':receivable',
    'partner:' || {partner_of} || ':payable', 300, '{month}', {now} FROM {charges};
INSERT INTO budget (program_id, month, account_id, spent_cents)
    SELECT program_id, month, account_id, SUM(fee_cents) FROM charge GROUP BY program_id, month,
    account_id;
INSERT INTO partner_spend (partner_campaign_id, month, program_id, account_id, partner_account_id,
    spent_cents)
    SELECT partner_campaign_id, month, program_id, account_id, partner_account_id, SUM(fee_cents)
    FROM charge GROUP BY partner_campaign_id, month, program_id, account_id, partner_account_id;
INSERT INTO period (month) VALUES ('{month}');
"""


@dataclass(frozen=True)
class Month:
    """How many charges to create, in which programs of one owner."""

    engine: str
    url: str
    name: str
    charges: int
    account_id: str
    campaign_id: str
    programs: list[str]


def _statements(month: Month) -> Iterator[str]:
    """One text for both engines, with each one's way to count and to pad. Charge n belongs to the
    partner n / 100.
    """
    on_sqlite = month.engine == "sqlite"

    def pad(number: str) -> str:
        return f"printf('%012d', {number})" if on_sqlite else f"lpad(({number})::text, 12, '0')"

    def named(prefix: str, number: str = "n") -> str:
        return f"'0000000{prefix}-0000-7000-8000-' || {pad(number)}"

    def series(count: int) -> str:
        if not on_sqlite:
            return f"generate_series(0, {count - 1}) AS s(n)"
        numbers = f"SELECT 0 UNION ALL SELECT n + 1 FROM s LIMIT {count}"
        return f"(WITH RECURSIVE s(n) AS ({numbers}) SELECT n FROM s)"

    def program(number: str) -> str:
        cases = " ".join(f"WHEN {place} THEN '{name}'" for place, name in enumerate(month.programs))
        return f"CASE {number} % {len(month.programs)} {cases} END"

    partner = f"n / {PER_PARTNER}"
    text = _MADE.format(
        owner=month.account_id,
        campaign=month.campaign_id,
        month=month.name,
        budget_step=f"({partner} / {len(month.programs)} * {PER_PARTNER} + n % {PER_PARTNER} + 1)",
        partner_step=f"(n % {PER_PARTNER} + 1)",
        now=rules.month_bounds(month.name)[0] + 1_000_000,
        partners=series(max(1, month.charges // PER_PARTNER)),
        charges=series(month.charges),
        partner=named("1"),
        partner_of=named("1", partner),
        place=named("2"),
        place_of=named("2", partner),
        program=program("n"),
        program_of=program(f"({partner})"),
        reader=named("3"),
        referral=named("4"),
        charge=named("5"),
        pad=pad("n"),
    )
    yield from (part.strip() for part in text.split(";\n") if part.strip())


def fill(month: Month) -> None:
    path = sqlite_path(month.url)
    if path is None:
        asyncio.run(_fill_postgres(month))
        return
    connection = apsw.Connection(str(path))
    connection.execute(
        "PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; PRAGMA foreign_keys = OFF"
    )
    for sql in _statements(month):
        connection.execute(f"BEGIN; {sql}; COMMIT")
    connection.close()


async def _fill_postgres(month: Month) -> None:
    server = await asyncpg.connect(month.url, server_settings={"synchronous_commit": "off"})
    for sql in _statements(month):
        await server.execute(sql)
    await server.execute("VACUUM ANALYZE")
    await server.close()
