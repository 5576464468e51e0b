"""The most that a month can still bring a partner. Pure: no clock, no store.

Unlike the owner's forecast, it holds in whatever order referrals are decided and whoever leaves.
Only a higher budget or cap, new readers, a reversal or a decision by hand can exceed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from honeyguide.kernel.clock import HOUR_MS
from honeyguide.partners import rules
from honeyguide.partners.expected_fees import OpenMonth, PendingFees

NO_DEADLINE_MS = 2**53 - 1
# What is due at the end of a month may be decided a little after it.
_LATE_MS = HOUR_MS


class MonthLimit(NamedTuple):
    """Of one partner in one month: the fees that stand in it, and what the limits leave of them."""

    referrals: int = 0
    pending_cents: int = 0
    cents: int = 0
    """The least of the fees, what their cap leaves and what the budget leaves."""
    over_cap_cents: int = 0
    """What of the fees the cap alone would not hold."""
    over_budget_cents: int = 0
    shared_with: int = 0
    """Other partners who wait for the same rest of the budget, if it does not hold everybody's."""


def stands_in(fees: PendingFees, bounds: tuple[int, int]) -> bool:
    """In a month: from its due date to the last day on which it can be decided."""
    from_ms, to_ms = bounds
    return fees.due_ms < to_ms and from_ms <= max(fees.due_ms, fees.deadline_ms) + _LATE_MS


def months_ahead(pending: Iterable[PendingFees], first: str) -> list[str]:
    """From the first month to the last with a date."""
    dates = [
        each.due_ms if each.deadline_ms == NO_DEADLINE_MS else max(each.due_ms, each.deadline_ms)
        for each in pending
    ]
    last = max(rules.next_month(first), rules.month_of(max(dates, default=0) + _LATE_MS))
    months = [first]
    while months[-1] < last:
        months.append(rules.next_month(months[-1]))
    return months


def limits(month: OpenMonth, standing: Sequence[PendingFees]) -> tuple[dict[str, MonthLimit], int]:
    """By partner campaign, and of all together. `standing` has the fees of all partners that stand
    in the month."""
    by_partner: dict[str, list[PendingFees]] = {}
    for fees in standing:
        by_partner.setdefault(fees.partner_campaign_id, []).append(fees)
    found = {place: _limit(month, fees) for place, fees in by_partner.items()}
    all_cents = sum(each.cents for each in found.values())
    budget_cents = _fill((_budget_room(month, each), each) for each in standing)
    if budget_cents >= all_cents:
        return found, all_cents
    others = sum(each.cents > 0 for each in found.values()) - 1
    shared = {
        place: each._replace(shared_with=others) if each.cents else each
        for place, each in found.items()
    }
    return shared, budget_cents


def _limit(month: OpenMonth, fees: list[PendingFees]) -> MonthLimit:
    pending_cents = sum(each.fee_cents * each.n for each in fees)
    by_cap = _fill((_cap_room(month, each), each) for each in fees)
    by_budget = _fill((_budget_room(month, each), each) for each in fees)
    return MonthLimit(
        referrals=sum(each.n for each in fees),
        pending_cents=pending_cents,
        cents=_fill((room(month, each), each) for each in fees),
        over_cap_cents=pending_cents - by_cap,
        over_budget_cents=pending_cents - by_budget,
    )


def total(found: Iterable[MonthLimit]) -> MonthLimit:
    """Of several programs. With how many a budget is shared is only said of one."""
    sums = zip(MonthLimit(), *found, strict=True)
    return MonthLimit(*(sum(column) for column in sums))._replace(shared_with=0)


def fitting(fees: Iterable[PendingFees], months: Mapping[str, OpenMonth]) -> dict[str, int]:
    """How many of a partner's fees fit a month in which they stand, once those that fall due
    earlier have what is left. By the id of the first referral of each."""
    taken = dict.fromkeys(months, 0)
    bounds = {month: rules.month_bounds(month) for month in months}
    found = {}
    for each in sorted(fees, key=lambda one: (one.is_waiting, one.due_ms, one.first_id)):
        n = 0
        for month, state in months.items():
            if n < each.n and stands_in(each, bounds[month]):
                left_cents = max(0, room(state, each) - taken[month])
                more = min(each.n - n, left_cents // each.fee_cents)
                taken[month] += more * each.fee_cents
                n += more
        found[each.referral_id] = n
    return found


def room(month: OpenMonth, fees: PendingFees) -> int:
    """What the month can still hold under the limits that hold for this referral."""
    return min(_budget_room(month, fees), _cap_room(month, fees))


def _budget_room(month: OpenMonth, fees: PendingFees) -> int:
    budget_cents = max(month.budget_cents, fees.budget_cents)
    reached = month.reached.known(is_reached=month.is_reached, today_cents=month.budget_cents)
    if reached.stops(budget_cents, fees.arrived_ms):
        return 0
    return budget_cents - month.spent_cents


def _cap_room(month: OpenMonth, fees: PendingFees) -> int:
    spent_cents = month.partner_spent_cents.get(fees.partner_campaign_id, 0)
    return max(month.partner_cap_cents, fees.cap_cents) - spent_cents


def _fill(rooms: Iterable[tuple[int, PendingFees]]) -> int:
    """The most that can be charged, whoever comes first: nobody beyond the room of their own."""
    cents = 0
    for room_cents, fees in sorted(rooms, key=lambda each: each[0]):
        if fees.fee_cents <= room_cents:
            cents = min(cents + fees.fee_cents * fees.n, room_cents)
    return cents
