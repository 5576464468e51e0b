"""What the months ahead can still cost a program's owner and bring a partner: the owner's forecast,
and each partner's limit, which both sides read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from honeyguide.partners import expected_fees, month_limits, rules
from honeyguide.partners.expected_fees import ExpectedFees, OpenMonth, PendingFees, StoredBudget
from honeyguide.partners.month_limits import MonthLimit
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
    """One month of a program."""

    month: str
    spent_cents: int
    fees: ExpectedFees
    """The forecast of what falls due in it."""
    by_partner: dict[str, ExpectedFees]
    """By the id of the partner campaign; only those with something pending."""
    limits: dict[str, MonthLimit]
    limit_cents: int
    """What can still be charged in it at most, over all partners."""
    state: OpenMonth
    taken: list[tuple[PendingFees, int]]
    """What falls due, in order, with how many of each are charged by the forecast."""
    full_ms: int | None
    """When the budget will be reached, by the forecast."""

    @property
    def most_cents(self) -> int:
        """What the month comes to, by the forecast."""
        return self.spent_cents + self.fees.expected_cents

    def of(self, partner_campaign_id: str) -> ExpectedFees:
        return self.by_partner.get(partner_campaign_id, ExpectedFees())

    def limit_of(self, partner_campaign_id: str) -> MonthLimit:
        return self.limits.get(partner_campaign_id, MonthLimit())


class PartnerOutlook(NamedTuple):
    """One month of everything that a partner joined."""

    month: str
    sure_cents: int
    limits: dict[str, MonthLimit]

    @property
    def limit(self) -> MonthLimit:
        return month_limits.total(self.limits.values())

    @property
    def most_cents(self) -> int:
        return self.sure_cents + self.limit.cents

    def limit_of(self, partner_campaign_id: str) -> MonthLimit:
        return self.limits.get(partner_campaign_id, MonthLimit())


class PartnerMonths(NamedTuple):
    months: list[PartnerOutlook]
    """This month and the next, and later ones in which something stands."""
    pending: list[tuple[PendingFees, int]]
    """With how many of each fit a month in which they stand."""

    @property
    def unfitting(self) -> set[str]:
        """The ids of pending referrals whose fee fits none. Not of large programs, where those of
        one day are taken together."""
        return {each.referral_id for each, n in self.pending if n < each.n == 1}


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


class ProgramFees(NamedTuple):
    """What was read of a program."""

    budgets: list[_Budget]
    pending: list[_FeeRow]
    shares: dict[str, dict[str, int]]
    """By month and partner campaign, what is charged."""


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
    return months(await read_program(at, program_id), now_ms=at.now_ms)


async def read_program(at: AccountReading, program_id: str) -> ProgramFees:
    (found,) = await _read(at, _OWNER, program_id)
    return found


async def of_owner(at: AccountReading) -> list[ProgramOutlook]:
    """Each of the account's programs, oldest first. A deleted one is among them while its pending
    referrals finish, and to the end of the month in which it was last charged."""
    return [_of_program(each, now_ms=at.now_ms) for each in await _read(at, _OWNER)]


async def of_partner(
    at: AccountReading, earned: list[MonthTotal], asked: str = ""
) -> PartnerMonths:
    """Over all programs that the account joined, also of a month that is asked for. `earned` has
    what is sure."""
    sure = {each.month: each.cents for each in earned}
    by_month: dict[str, dict[str, MonthLimit]] = {month: {} for month in _this_and_next(at.now_ms)}
    pending: list[tuple[PendingFees, int]] = []
    for program in await _read(at, _PARTNER):
        own = [each for each in program.pending if each.partner_account_id == at.account_id]
        places = {each.partner_campaign_id for each in own}
        states: dict[str, OpenMonth] = {}
        for each in months(program, now_ms=at.now_ms, asked=asked):
            states[each.month] = each.state
            limits = {place: limit for place, limit in each.limits.items() if place in places}
            if limits:
                by_month.setdefault(each.month, {}).update(limits)
        fitting = month_limits.fitting(own, states)
        pending += [(each, fitting[each.referral_id]) for each in own]
    found = [
        PartnerOutlook(month, sure.get(month, 0), limits)
        for month, limits in sorted(by_month.items())
    ]
    return PartnerMonths(found, pending)


async def limits_of_partner(at: AccountReading, month: str) -> dict[str, MonthLimit]:
    """Of one month, by partner campaign. A month that is over has none."""
    ahead = await of_partner(at, [], month)
    return next((each.limits for each in ahead.months if each.month == month), {})


async def _read(at: AccountReading, side: _Side, program_id: str = "") -> list[ProgramFees]:
    month = rules.month_of(at.now_ms)
    asked: dict[str, Any] = {"program_id": program_id, "month": month}
    fees = await at.all(side.fees, **asked, undated=UNDATED, most=MOST_ONE_BY_ONE)
    pending: dict[str, list[_FeeRow]] = {}
    for each in fees:
        pending.setdefault(each.program_id, []).append(each)
    budgets: dict[str, list[_Budget]] = {}
    shares: dict[str, dict[str, dict[str, int]]] = {}
    for row in await at.all(side.budgets, **asked):
        budgets.setdefault(row.program_id, []).append(row)
        in_program = shares.setdefault(row.program_id, {})
        if row.month is not None and row.partner_campaign_id is not None:
            in_month = in_program.setdefault(row.month, {})
            in_month[row.partner_campaign_id] = row.partner_spent_cents
    return [
        ProgramFees(rows, pending.get(program_id, []), shares[program_id])
        for program_id, rows in budgets.items()
    ]


def months(
    program: ProgramFees, *, now_ms: int, budget_cents: int | None = None, asked: str = ""
) -> list[MonthOutlook]:
    """This month and the next, later ones in which something stands, and one that is asked for. Of
    another budget, if it is given."""
    budgets = {row.month: row for row in program.budgets}
    this_and_next = _this_and_next(now_ms)
    found = []
    for month in sorted({*month_limits.months_ahead(program.pending, this_and_next[0]), asked}):
        if month < this_and_next[0]:
            continue
        bounds = rules.month_bounds(month)
        standing = [each for each in program.pending if month_limits.stands_in(each, bounds)]
        if not standing and month not in this_and_next:
            continue
        budget: StoredBudget = budgets.get(month) or program.budgets[0].unspent()
        if budget_cents is not None:
            budget = budget.with_budget(budget_cents)
        state = budget.open_month(program.shares.get(month, {}))
        due = [each for each in standing if bounds[0] <= each.due_ms]
        expected = expected_fees.expect(state, due)
        limits, limit_cents = month_limits.limits(state, standing)
        found.append(
            MonthOutlook(
                month=month,
                spent_cents=state.spent_cents,
                fees=expected_fees.total(expected.by_partner.values()),
                by_partner=expected.by_partner,
                limits=limits,
                limit_cents=limit_cents,
                state=state,
                taken=expected.taken,
                full_ms=expected.full_ms,
            )
        )
    return found


def _of_program(program: ProgramFees, *, now_ms: int) -> ProgramOutlook:
    about = program.budgets[0]
    return ProgramOutlook(
        program_id=about.program_id,
        publication_name=about.publication_name,
        cpa_cents=about.cpa_cents,
        budget_cents=about.total_budget_cents,
        is_deleted=about.deleted_ms is not None,
        is_running=about.deleted_ms is None and about.is_on,
        months=months(program, now_ms=now_ms),
    )


def _this_and_next(now_ms: int) -> tuple[str, str]:
    present = rules.month_of(now_ms)
    return present, rules.next_month(present)
