"""The owner's forecast: what a month's budget and each partner's cap will hold of the fees that are
pending, if everybody stays and each is decided when it falls due. Pure: no clock, no store.

No cent of a budget is expected by two partners. What partners are told is no forecast but a limit:
`month_limits`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from honeyguide.partners import rules
from honeyguide.partners.rules import Charge, Reached, Uncharged
from honeyguide.screening.review import FeeAtArrival


class PendingFees(msgspec.Struct, frozen=True):
    """Pending referrals of one partner with the same fee, which fall due together."""

    partner_campaign_id: str
    fee_cents: int
    is_waiting: bool
    """For somebody: the subscriber who has to confirm, or the owner who reviews it. Time alone does
    not verify it."""
    due_ms: int
    """The earliest moment at which it can be verified."""
    first_id: str
    n: int
    budget_cents: int = 0
    """The limits that held when they came, which hold where they are higher than today's."""
    cap_cents: int = 0
    arrived_ms: int = 0
    """When the first of them came."""
    deadline_ms: int = 0
    """Until when what it waits for can come; 0 if it only waits for time."""
    referral_id: str = ""
    """Of the first."""


class StoredBudget(msgspec.Struct, frozen=True):
    """What budget and caps of a program are, and what a month has held of the budget."""

    total_budget_cents: int
    max_payout_cents: int
    spent_cents: int
    reached_ms: int | None
    reached_cents: int
    overrun_cents: int
    overrun_ms: int

    def open_month(self, partner_spent_cents: Mapping[str, int]) -> OpenMonth:
        return OpenMonth(
            budget_cents=self.total_budget_cents,
            spent_cents=self.spent_cents,
            is_reached=self.reached_ms is not None,
            partner_cap_cents=self.max_payout_cents,
            partner_spent_cents=partner_spent_cents,
            reached=Reached(self.reached_cents, self.overrun_cents, self.overrun_ms),
        )

    def with_budget(self, cents: int) -> StoredBudget:
        """As if the owner changed the budget now."""
        reached = Reached(self.reached_cents, self.overrun_cents, self.overrun_ms).known(
            is_reached=self.reached_ms is not None, today_cents=self.total_budget_cents
        )
        is_reached = rules.reached_after_change(
            reached=reached != Reached(),
            old_cap_cents=reached.highest_cents,
            new_cap_cents=cents,
            spent_cents=self.spent_cents,
        )
        return msgspec.structs.replace(
            self,
            total_budget_cents=cents,
            reached_ms=0 if is_reached else None,
            reached_cents=reached.full_cents,
        )

    def unspent(self) -> StoredBudget:
        """The same limits, in a month that has held nothing yet."""
        return msgspec.structs.replace(
            self,
            spent_cents=0,
            reached_ms=None,
            reached_cents=rules.NEVER_REACHED,
            overrun_cents=rules.NEVER_REACHED,
            overrun_ms=0,
        )


class OpenMonth(NamedTuple):
    """The budget of one program in one month, and what its partners have earned of it."""

    budget_cents: int
    spent_cents: int
    is_reached: bool
    partner_cap_cents: int
    partner_spent_cents: Mapping[str, int]
    reached: Reached = Reached()

    @property
    def left_cents(self) -> int:
        if self.is_reached:
            return 0
        return rules.left_cents(spent_cents=self.spent_cents, cap_cents=self.budget_cents)


class ExpectedFees(NamedTuple):
    """Pending fees, by whether they fit. Those that fit are the most that can still be charged."""

    referrals: int = 0
    expected_referrals: int = 0
    expected_cents: int = 0
    over_cap_cents: int = 0
    over_budget_cents: int = 0

    @property
    def pending_cents(self) -> int:
        return self.expected_cents + self.over_cents

    @property
    def over_cents(self) -> int:
        return self.over_cap_cents + self.over_budget_cents


class ExpectedMonth(NamedTuple):
    by_partner: dict[str, ExpectedFees]
    taken: list[tuple[PendingFees, int]]
    """In the order in which they fall due, with how many of each are charged."""
    full_ms: int | None
    """When the budget will be reached if all stay. None if it will not be, or nobody knows when."""


def total(fees: Iterable[ExpectedFees]) -> ExpectedFees:
    return ExpectedFees(*(sum(column) for column in zip(ExpectedFees(), *fees, strict=True)))


def cost_at_once(
    months: Mapping[str, OpenMonth], fees: Mapping[str, Iterable[FeeAtArrival]]
) -> int:
    """What of the fees of a program's partners is charged if their referrals are all verified now:
    each has a cap, and all have one budget."""
    spent = {
        key: cents for each in months.values() for key, cents in each.partner_spent_cents.items()
    }
    month = next(iter(months.values()))._replace(partner_spent_cents=spent)
    pending = [
        PendingFees(
            partner_campaign_id=partner_campaign_id,
            is_waiting=False,
            due_ms=0,
            first_id=f"{number:06}",
            n=1,
            **fee._asdict(),
        )
        for partner_campaign_id, theirs in fees.items()
        for number, fee in enumerate(theirs)
    ]
    return total(expect(month, pending).by_partner.values()).expected_cents


def expect(month: OpenMonth, pending: Iterable[PendingFees]) -> ExpectedMonth:
    """Charges everything that is pending in the order in which it falls due, as `decide_charge`
    will. What waits for somebody comes last, because nobody knows when that will be."""
    state = _MonthToFill(month)
    for fees in sorted(pending, key=lambda each: (each.is_waiting, each.due_ms, each.first_id)):
        state.take(fees)
    return ExpectedMonth(state.by_partner, state.taken, state.full_ms)


class _MonthToFill:
    def __init__(self, month: OpenMonth) -> None:
        self.month = month
        self.spent_cents = month.spent_cents
        self.reached = month.reached.known(
            is_reached=month.is_reached, today_cents=month.budget_cents
        )
        self.partner_spent = dict(month.partner_spent_cents)
        self.by_partner: dict[str, ExpectedFees] = {}
        self.taken: list[tuple[PendingFees, int]] = []
        self.full_ms: int | None = None

    def take(self, fees: PendingFees) -> None:
        place, fee = fees.partner_campaign_id, fees.fee_cents
        charged, over_cap, over_budget = 0, 0, 0
        while charged < fees.n:
            decision = self._decide(fees)
            if not isinstance(decision, Charge):
                # The same for all the others: no state changes but that a budget is reached.
                rest = fee * (fees.n - charged)
                if decision is Uncharged.BUDGET_SPENT:
                    over_budget = rest
                    at_cents = self._budget_of(fees)
                    self._reach(fees, self.reached.overran(at_cents, fees.arrived_ms))
                elif decision is Uncharged.PARTNER_CAP:
                    over_cap = rest
                break
            charged += self._charge(fees, fees.n - charged)
        self.taken.append((fees, charged))
        before = self.by_partner.get(place, ExpectedFees())
        now = ExpectedFees(fees.n, charged, fee * charged, over_cap, over_budget)
        self.by_partner[place] = total((before, now))

    def _budget_of(self, fees: PendingFees) -> int:
        return max(self.month.budget_cents, fees.budget_cents)

    def _cap_of(self, fees: PendingFees) -> int:
        return max(self.month.partner_cap_cents, fees.cap_cents)

    def _decide(self, fees: PendingFees) -> Charge | Uncharged:
        budget_cents = self._budget_of(fees)
        return rules.decide_charge(
            fee_cents=fees.fee_cents,
            budget_cap_cents=budget_cents,
            budget_spent_cents=self.spent_cents,
            budget_reached=self.reached.stops(budget_cents, fees.arrived_ms),
            partner_cap_cents=self._cap_of(fees),
            partner_spent_cents=self.partner_spent.get(fees.partner_campaign_id, 0),
        )

    def _charge(self, fees: PendingFees, most: int) -> int:
        """As many at once as fit: there may be thousands alike. Gives how many."""
        place, fee = fees.partner_campaign_id, fees.fee_cents
        budget_cents = self._budget_of(fees)
        budget_left = budget_cents - self.spent_cents
        cap_left = self._cap_of(fees) - self.partner_spent.get(place, 0)
        n = min(most, budget_left // fee, cap_left // fee)
        assert n > 0  # the first was just found to fit
        self.spent_cents += n * fee
        self.partner_spent[place] = self.partner_spent.get(place, 0) + n * fee
        assert self.spent_cents <= budget_cents
        full_cents = budget_cents if n * fee == budget_left else self.month.budget_cents
        if self.spent_cents >= full_cents:
            self._reach(fees, self.reached.filled(full_cents))
        return n

    def _reach(self, fees: PendingFees, reached: Reached) -> None:
        """At today's budget or a higher one."""
        if self.reached.highest_cents < self.month.budget_cents:
            self.full_ms = None if fees.is_waiting else fees.due_ms
        self.reached = reached
