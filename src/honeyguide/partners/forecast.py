"""Where the money stands: for a program's owner and for a partner, this month or any other. Pending, confirmed and uncharged
are kept apart, and what is pending says when it ripens.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.partners import rules
from honeyguide.partners.programs import Program
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class Budget(NamedTuple):
    spent_cents: int
    cap_cents: int
    reached_ms: int | None


class Pending(NamedTuple):
    partner_campaign_id: str
    n: int
    cents: int
    first_due_ms: int | None


class PartnerRow(NamedTuple):
    partner_campaign_id: str
    name: str
    spent_cents: int


class ProgramRow(NamedTuple):
    partner_campaign_id: str
    program_id: str
    publication_name: str
    max_payout_cents: int
    spent_cents: int


class Outcomes(NamedTuple):
    rejected: int
    uncharged: int


class Maturity(NamedTuple):
    """What ripens on one UTC day (days since 1970)."""

    day: int
    n: int
    cents: int


class Spend(NamedTuple):
    month: str
    total_budget_cents: int
    spent_cents: int
    pending_cents: int
    left_cents: int
    reached: bool
    uncharged_referrals: int
    partners: list[tuple[PartnerRow, int]]  # each with its pending cents


class Earnings(NamedTuple):
    month: str
    confirmed_cents: int
    pending_cents: int
    rejected_referrals: int
    uncharged_referrals: int
    programs: list[tuple[ProgramRow, int]]  # each with its pending cents


_sql = beside(__file__)
_BUDGET = _sql.query("budget", Budget)
_PENDING_OF_PROGRAM = _sql.query("pending_of_program", Pending)
_UNCHARGED_OF_PROGRAM = _sql.value("uncharged_of_program", int)
_PARTNERS_OF_PROGRAM = _sql.query("partners_of_program", PartnerRow)
_PENDING_OF_PARTNER = _sql.query("pending_of_partner", Pending)
_OUTCOMES_OF_PARTNER = _sql.query("outcomes_of_partner", Outcomes)
_PROGRAMS_OF_PARTNER = _sql.query("programs_of_partner", ProgramRow)
_MATURITIES_OF_PROGRAM = _sql.query("maturities_of_program", Maturity)
_MATURITIES_OF_PARTNER = _sql.query("maturities_of_partner", Maturity)


def _pending_until(month: str, now_ms: int) -> int:
    """Pending money belongs to the month it ripens in: for the present month all that is due by its end, overdue included."""
    return rules.month_bounds(month)[1] if month >= rules.month_of(now_ms) else 0


async def spend(tx: Tx, program: Program, month: str, *, now_ms: int) -> Spend:
    mine = {"account_id": program.account_id, "program_id": program.id}
    budget = await tx.one(_BUDGET, **mine, month=month)
    cap_cents = program.total_budget_cents
    pending = {
        row.partner_campaign_id: row.cents
        for row in await tx.all(_PENDING_OF_PROGRAM, **mine, due_before_ms=_pending_until(month, now_ms))
    }
    spent_cents = budget.spent_cents if budget else 0
    return Spend(
        month, cap_cents, spent_cents, sum(pending.values()), rules.left_cents(spent_cents=spent_cents, cap_cents=cap_cents),
        bool(budget and budget.reached_ms is not None), await tx.one(_UNCHARGED_OF_PROGRAM, **mine, month=month) or 0,
        [(row, pending.get(row.partner_campaign_id, 0)) for row in await tx.all(_PARTNERS_OF_PROGRAM, **mine, month=month)],
    )  # fmt: skip


async def earnings(tx: Tx, account_id: str, month: str, *, now_ms: int) -> Earnings:
    pending = {
        row.partner_campaign_id: row.cents
        for row in await tx.all(_PENDING_OF_PARTNER, account_id=account_id, due_before_ms=_pending_until(month, now_ms))
    }
    from_ms, to_ms = rules.month_bounds(month)
    outcomes = await tx.one(_OUTCOMES_OF_PARTNER, account_id=account_id, from_ms=from_ms, to_ms=to_ms) or Outcomes(0, 0)
    rows = await tx.all(_PROGRAMS_OF_PARTNER, account_id=account_id, month=month)
    return Earnings(
        month, sum(row.spent_cents for row in rows), sum(pending.values()), outcomes.rejected, outcomes.uncharged,
        [(row, pending.get(row.partner_campaign_id, 0)) for row in rows],
    )  # fmt: skip


async def ripening_of_program(tx: Tx, program: Program) -> list[Maturity]:
    return await tx.all(_MATURITIES_OF_PROGRAM, account_id=program.account_id, program_id=program.id)


async def ripening_of_partner(tx: Tx, account_id: str) -> list[Maturity]:
    return await tx.all(_MATURITIES_OF_PARTNER, account_id=account_id)
