"""Where the money stands, for a program's owner and for a partner, in any month. Pending, confirmed
and uncharged amounts are kept apart, and pending ones say when they are due.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from honeyguide.kernel import money
from honeyguide.partners import outlook, rules
from honeyguide.partners.expected_fees import OpenMonth, StoredBudget
from honeyguide.partners.outlook import PartnerOutlook
from honeyguide.partners.programs import Program
from honeyguide.store.reading import AccountReading, Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers.reasons import SUSPICIONS, Reason

_EVER_MS = 2**62
_IN_REVIEW = sorted([*SUSPICIONS, Reason.ENDED_BY_TEAM])


class BudgetForecast(NamedTuple):
    """What is spent of a month's budget, when it was reached, and when owner and partners were
    notified."""

    spent_cents: int
    reached_ms: int | None
    reached_cents: int
    """The highest budget at which it was."""
    told_nearly_ms: int | None
    told_reached_ms: int | None


_UNTOUCHED = BudgetForecast(0, None, rules.NEVER_REACHED, None, None)


class Pending(NamedTuple):
    partner_campaign_id: str
    n: int
    cents: int
    first_due_ms: int | None


class Undecided(NamedTuple):
    """The pending referrals of a program, and the most that they may cost: what budget and caps can
    still hold."""

    referrals: int
    cents: int

    @property
    def sentence(self) -> str:
        """What deleting the program leaves behind."""
        if not self.referrals:
            return "No referral is pending, so nothing more will be charged."
        if not self.cents:
            return f"{self._pending}."
        return f"{self._pending}: up to {money.show(self.cents)} may still be charged."

    @property
    def sentence_of_lowering(self) -> str:
        """What a lower budget or cap does not change; empty if there is nothing."""
        if not self.cents:
            return ""
        return (
            f"Up to {money.show(self.cents)} for {self.referrals:,} who came before can still "
            "fall due."
        )

    @property
    def sentence_to_partner(self) -> str:
        """What leaving the program leaves behind."""
        if not self.referrals:
            return "No referral is pending."
        if not self.cents:
            return f"{self._pending}."
        return f"{self._pending}: you may still earn up to {money.show(self.cents)}."

    @property
    def _pending(self) -> str:
        pending = "1 referral is" if self.referrals == 1 else f"{self.referrals:,} referrals are"
        return f"{pending} pending and will finish as planned"


class PartnerRow(NamedTuple):
    partner_campaign_id: str
    name: str
    reason_for_recommending: str | None
    spent_cents: int
    blocked_ms: int | None
    removed_ms: int | None
    left_ms: int | None
    pending_referrals: int
    pending_cents: int
    in_review_cents: int
    """Of suspicious referrals: charged only if the owner verifies them."""

    @property
    def status(self) -> str:
        return rules.partner_status(self.blocked_ms, self.removed_ms, self.left_ms)


class ProgramRow(NamedTuple):
    partner_campaign_id: str
    program_id: str
    publication_name: str
    max_payout_cents: int
    spent_cents: int
    pending_cents: int


class Outcomes(NamedTuple):
    rejected: int
    uncharged: int


class Spend(NamedTuple):
    month: str
    total_budget_cents: int
    spent_cents: int
    pending_cents: int
    left_cents: int
    reached: bool
    uncharged_referrals: int
    partners: list[PartnerRow]
    budget: BudgetForecast

    @property
    def in_review_cents(self) -> int:
        return sum(row.in_review_cents for row in self.partners)


class Earnings(NamedTuple):
    month: str
    confirmed_cents: int
    pending_cents: int
    rejected_referrals: int
    uncharged_referrals: int
    programs: list[ProgramRow]


class ProgramSpent(NamedTuple):
    program_id: str
    spent_cents: int


class _Room(StoredBudget, frozen=True):
    partner_campaign_id: str
    partner_spent_cents: int


_sql = beside(__file__)
_BUDGET = _sql.query("budget", BudgetForecast)
_PENDING_OF_PROGRAM = _sql.query("pending_of_program", Undecided)
_UNCHARGED_OF_PROGRAM = _sql.value("uncharged_of_program", int)
_PARTNERS_OF_PROGRAM = _sql.query("partners_of_program", PartnerRow)
_PENDING_OF_PARTNER = _sql.query("pending_of_partner", Pending)
_OUTCOMES_OF_PARTNER = _sql.query("outcomes_of_partner", Outcomes)
_PROGRAMS_OF_PARTNER = _sql.query("programs_of_partner", ProgramRow)
_SPENT_OF_PROGRAMS = _sql.query("spent_of_programs", ProgramSpent)
_ROOMS = _sql.query("rooms", _Room)


def _waiting(month: str, now_ms: int) -> dict[str, Any]:
    """For the current month, everything that is pending; for a later one, what is due in it; for a
    past one, nothing."""
    present = rules.month_of(now_ms)
    if month < present:
        return {"due_from_ms": 0, "due_before_ms": 0}
    if month == present:
        return {"due_from_ms": 0, "due_before_ms": _EVER_MS}
    from_ms, before_ms = rules.month_bounds(month)
    return {"due_from_ms": from_ms, "due_before_ms": before_ms}


async def spend(tx: Tx, program: Program, month: str) -> Spend:
    program_key: dict[str, Any] = {"account_id": program.account_id, "program_id": program.id}
    budget = await tx.one(_BUDGET, **program_key, month=month) or _UNTOUCHED
    waiting = _waiting(month, tx.now_ms)
    partners = await tx.all(
        _PARTNERS_OF_PROGRAM, **program_key, **waiting, month=month, reasons=_IN_REVIEW
    )
    left_cents = rules.left_cents(
        spent_cents=budget.spent_cents, cap_cents=program.total_budget_cents
    )
    return Spend(
        month=month,
        total_budget_cents=program.total_budget_cents,
        spent_cents=budget.spent_cents,
        pending_cents=sum(row.pending_cents for row in partners),
        left_cents=left_cents,
        reached=budget.reached_ms is not None,
        uncharged_referrals=await tx.one(_UNCHARGED_OF_PROGRAM, **program_key, month=month) or 0,
        partners=partners,
        budget=budget,
    )


async def spent_of_programs(at: AccountReading, month: str) -> dict[str, int]:
    """Of those that have spent something in the month."""
    return {
        row.program_id: row.spent_cents for row in await at.all(_SPENT_OF_PROGRAMS, month=month)
    }


async def undecided(at: Reading, program_id: str, spend: Spend | None = None) -> Undecided:
    """For the owner who is about to delete it. What was read of the present month has counted
    them."""
    if spend is not None and spend.month == rules.month_of(at.now_ms):
        n = sum(row.pending_referrals for row in spend.partners)
        found: Undecided | None = Undecided(n, spend.pending_cents)
    else:
        found = await at.one(_PENDING_OF_PROGRAM, program_id=program_id)
    assert found is not None  # it only counts
    pending = await at.fact(outlook.read_program, program_id)
    cents = sum(each.limit_cents for each in outlook.months(pending, now_ms=at.now_ms))
    return Undecided(found.referrals, min(cents, found.cents))


async def undecided_of_partner(
    at: AccountReading, partner_campaign_id: str, months: list[PartnerOutlook]
) -> Undecided:
    """For the partner who is about to leave: what they may still earn."""
    found = await at.all(_PENDING_OF_PARTNER, due_from_ms=0, due_before_ms=_EVER_MS)
    own = [row for row in found if row.partner_campaign_id == partner_campaign_id]
    cents = sum(each.limit_of(partner_campaign_id).cents for each in months)
    return Undecided(sum(row.n for row in own), min(cents, sum(row.cents for row in own)))


async def earnings(at: AccountReading, month: str) -> Earnings:
    from_ms, to_ms = rules.month_bounds(month)
    outcomes = await at.one(_OUTCOMES_OF_PARTNER, month=month, from_ms=from_ms, to_ms=to_ms)
    rows = await at.all(_PROGRAMS_OF_PARTNER, month=month, **_waiting(month, at.now_ms))
    return Earnings(
        month,
        sum(row.spent_cents for row in rows),
        sum(row.pending_cents for row in rows),
        *(outcomes or Outcomes(0, 0)),
        rows,
    )


async def open_months(at: AccountReading, partner_campaign_ids: list[str]) -> dict[str, OpenMonth]:
    """What the present month has held so far, for each of these partners of the owner's."""
    month = rules.month_of(at.now_ms)
    rooms = await at.all(_ROOMS, ids=partner_campaign_ids, month=month)
    return {
        room.partner_campaign_id: room.open_month(
            {room.partner_campaign_id: room.partner_spent_cents}
        )
        for room in rooms
    }
