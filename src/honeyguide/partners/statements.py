"""Statements: every referral behind a month's money, for the partner who earned it and the owner
who owes it.

A partner sees which program and when, never who: the person is the owner's subscriber.
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from honeyguide.kernel import money
from honeyguide.kernel.clock import iso
from honeyguide.kernel.spreadsheets import csv_text
from honeyguide.partners import reversal_reasons
from honeyguide.partners.payouts import Owed
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside

PARTNER, OWNER = "partner", "owner"
BATCH = 1_000
HEADINGS = {
    PARTNER: (
        "charged_at",
        "program",
        "referral_uuid",
        "arrived_at",
        "amount_usd",
        "reversal_reason",
        "month_digest",
    ),
    OWNER: (
        "charged_at",
        "program",
        "referral_uuid",
        "arrived_at",
        "amount_usd",
        "subscriber",
        "partner",
        "reversal_reason",
        "month_digest",
    ),
}
PAYOUT_HEADINGS = ("payout_uuid", "month", "amount_usd", "email", "name", "paid", "reference")


class StatementLine(NamedTuple):
    id: str
    created_ms: int
    publication_name: str
    partner_referral_id: str
    arrived_ms: int
    fee_cents: int
    person: str
    partner_name: str
    reversal_reason: str | None
    """Only a reversal has one; its fee is negative."""
    reversal_note: str | None

    @property
    def why_reversed(self) -> str:
        """`A robot`, or what the owner wrote; nothing for a charge."""
        return reversal_reasons.describe(self.reversal_reason, self.reversal_note)


class MonthTotal(NamedTuple):
    month: str
    cents: int


_sql = beside(__file__)
_MONTHS_OF_OWNER = _sql.query("months_of_owner", MonthTotal)
_LINES = {side: _sql.query(f"of_{side}", StatementLine) for side in (PARTNER, OWNER)}
_TOTALS = {side: _sql.value(f"total_of_{side}", int) for side in (PARTNER, OWNER)}


async def total_cents(at: AccountReading, side: str, month: str) -> int:
    return await at.one(_TOTALS[side], month=month) or 0


async def months_of_owner(at: AccountReading, *, most: int) -> list[MonthTotal]:
    """What the account's own programs cost, in the newest months with any cost."""
    return await at.all(_MONTHS_OF_OWNER, most=most)


async def lines(
    at: AccountReading, side: str, month: str, after: StatementLine | None = None
) -> list[StatementLine]:
    """The next lines after one; an empty list ends it."""
    after_ms, after_id = (after.created_ms, after.id) if after else (-(2**62), "")
    return await at.all(
        _LINES[side], month=month, after_ms=after_ms, after_id=after_id, batch=BATCH
    )


def csv_of(side: str, rows: list[StatementLine], *, with_headings: bool, digest: str = "") -> str:
    """`digest` is that of the month; empty while it is open."""
    table: list[tuple[object, ...]] = [HEADINGS[side]] if with_headings else []
    for row in rows:
        # A number: as text, the minus of a reversal would look like a formula.
        amount = Decimal(f"{money.dollars(row.fee_cents):.2f}")
        cells = (
            iso(row.created_ms),
            row.publication_name,
            row.partner_referral_id,
            iso(row.arrived_ms),
            amount,
        )
        both = () if side == PARTNER else (row.person, row.partner_name)
        table.append((*cells, *both, row.why_reversed, digest))
    return csv_text(table)


def csv_of_payouts(rows: list[Owed]) -> str:
    """For the administrator's spreadsheet. With references filled in, `payouts mark-paid --csv`
    reads it back."""
    table = [PAYOUT_HEADINGS]
    for row in rows:
        amount = f"{money.dollars(row.amount_cents):.2f}"
        paid = "yes" if row.paid_ms else "no"
        table.append(
            (row.id, row.month, amount, row.email, row.name or "", paid, row.paid_reference or "")
        )
    return csv_text(table)
