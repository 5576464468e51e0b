"""What the months ahead can still cost a program's owner and bring a partner, if everything that is
pending is verified. One forecast for each program, which its owner and its partners both read.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.partners import expected_fees, rules
from honeyguide.partners.expected_fees import ExpectedFees, PendingFees, StoredBudget
from honeyguide.partners.statements import MonthTotal
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import Statement, beside
from honeyguide.subscribers.reasons import Reason

# In a program with more than this, the referrals of one day are taken together: at most the
# partners at whom the budget ends change places.
MOST_ONE_BY_ONE = 2_000
# Decided on their date, unless somebody does it before.
UNDATED = [each for each in Reason if each.facts.ends_as or each is Reason.ENDED_BY_TEAM]


class MonthOutlook(NamedTuple):
    """One month of a program, or of everything that a partner joined."""

    month: str
    spent_cents: int
    fees: ExpectedFees
    by_partner: dict[str, ExpectedFees]
    """By the id of the partner campaign; only those with something pending."""
    left_cents: int = 0
    """What the budget still holds, before anything falls due. Only of a program."""
    full_ms: int | None = None
    """When the budget will be reached. Only of a program."""

    @property
    def most_cents(self) -> int:
        """What the month can come to."""
        return self.spent_cents + self.fees.expected_cents

    def of(self, partner_campaign_id: str) -> ExpectedFees:
        return self.by_partner.get(partner_campaign_id, ExpectedFees())


class ProgramOutlook(NamedTuple):
    program_id: str
    publication_name: str
    cpa_cents: int
    budget_cents: int
    is_deleted: bool
    is_running: bool
    months: list[MonthOutlook]
    """This month and the next, and later ones in which something falls due."""

    @property
    def is_paid(self) -> bool:
        """It pays for new referrals, or has cost something this month, or still may."""
        pays = self.is_running and self.cpa_cents > 0 and self.budget_cents > 0
        return pays or any(each.spent_cents or each.fees.referrals for each in self.months)


class _FeeRow(PendingFees, frozen=True):
    program_id: str = ""
    partner_account_id: str = ""


class _Budget(StoredBudget, frozen=True):
    program_id: str
    publication_name: str
    cpa_cents: int
    month: str | None
    deleted_ms: int | None
    is_on: bool
    partner_campaign_id: str | None
    """A partner for whom something was spent in the month; a row for each."""
    partner_spent_cents: int


class _Side(NamedTuple):
    """Whose programs: an owner's, or those that a partner joined. Which programs are read by days
    does not depend on it, so that both sides see the same."""

    fees: Statement[_FeeRow]
    budgets: Statement[_Budget]


_sql = beside(__file__)
_OWNER, _PARTNER = (
    _Side(_sql.query(f"fees_of_{name}", _FeeRow), _sql.query(f"budgets_of_{name}", _Budget))
    for name in ("owner", "partner")
)


async def of_program(at: AccountReading, program_id: str) -> list[MonthOutlook]:
    """For the owner: every partner's cap, and the budget over all of them."""
    (found,) = await _programs(at, _OWNER, await _fees(at, _OWNER, program_id), program_id)
    return found.months


async def of_owner(at: AccountReading) -> list[ProgramOutlook]:
    """Each of the account's programs, oldest first. A deleted one is among them while its pending
    referrals finish, and to the end of the month in which it was last charged."""
    return await _programs(at, _OWNER, await _fees(at, _OWNER))


async def of_partner(at: AccountReading, earned: list[MonthTotal]) -> list[MonthOutlook]:
    """Over all programs that the account joined: what of the pending fees each program can still
    pay after those of its other partners that fall due earlier. `earned` has what is sure."""
    fees = await _fees(at, _PARTNER)
    own = {each.partner_campaign_id for each in fees if each.partner_account_id == at.account_id}
    spent = {each.month: each.cents for each in earned}
    by_month: dict[str, dict[str, ExpectedFees]] = {
        month: {} for month in _this_and_next(at.now_ms)
    }
    for program in await _programs(at, _PARTNER, fees):
        for each in program.months:
            own_fees = {place: fees for place, fees in each.by_partner.items() if place in own}
            by_month.setdefault(each.month, {}).update(own_fees)
    return [
        MonthOutlook(month, spent.get(month, 0), expected_fees.total(fees.values()), fees)
        for month, fees in sorted(by_month.items())
    ]


async def _fees(at: AccountReading, side: _Side, program_id: str = "") -> list[_FeeRow]:
    return await at.all(
        side.fees,
        program_id=program_id,
        month=rules.month_of(at.now_ms),
        undated=UNDATED,
        most=MOST_ONE_BY_ONE,
    )


async def _programs(
    at: AccountReading, side: _Side, fees: list[_FeeRow], program_id: str = ""
) -> list[ProgramOutlook]:
    shares: dict[str, dict[str, int]] = {}
    budgets: dict[str, list[_Budget]] = {}
    month = rules.month_of(at.now_ms)
    for row in await at.all(side.budgets, program_id=program_id, month=month):
        budgets.setdefault(row.program_id, []).append(row)
        if row.month is not None and row.partner_campaign_id is not None:
            in_month = shares.setdefault(row.month, {})
            in_month[row.partner_campaign_id] = row.partner_spent_cents
    pending: dict[str, list[_FeeRow]] = {}
    for each in fees:
        pending.setdefault(each.program_id, []).append(each)
    return [
        _of_program(rows, pending.get(program_id, []), shares, now_ms=at.now_ms)
        for program_id, rows in budgets.items()
    ]


def _of_program(
    rows: list[_Budget],
    pending: list[_FeeRow],
    shares: dict[str, dict[str, int]],
    *,
    now_ms: int,
) -> ProgramOutlook:
    program = rows[0]
    budgets = {row.month: row for row in rows}
    due: dict[str, list[_FeeRow]] = {month: [] for month in _this_and_next(now_ms)}
    for fees in pending:
        due.setdefault(rules.month_of(fees.due_ms), []).append(fees)
    months = []
    for month, in_month in sorted(due.items()):
        budget = budgets.get(month) or program.unspent()
        state = budget.open_month(shares.get(month, {}))
        expected = expected_fees.expect(state, in_month)
        months.append(
            MonthOutlook(
                month=month,
                spent_cents=state.spent_cents,
                fees=expected_fees.total(expected.by_partner.values()),
                by_partner=expected.by_partner,
                left_cents=state.left_cents,
                full_ms=expected.full_ms,
            )
        )
    return ProgramOutlook(
        program_id=program.program_id,
        publication_name=program.publication_name,
        cpa_cents=program.cpa_cents,
        budget_cents=program.total_budget_cents,
        is_deleted=program.deleted_ms is not None,
        is_running=program.deleted_ms is None and program.is_on,
        months=months,
    )


def _this_and_next(now_ms: int) -> tuple[str, str]:
    present = rules.month_of(now_ms)
    return present, rules.next_month(present)
