"""What a verified partner referral costs, or why nothing, and which month it counts in. Pure: no
clock, no store.

Every amount is integer cents. A month is the text YYYY-MM of the UTC calendar, so that months sort
as text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS, MONTHS
from honeyguide.kernel.errors import Invalid
from honeyguide.screening.rules import Decision
from honeyguide.subscribers.reasons import Reason
from honeyguide.subscribers.referral_states import Status

_EPOCH_DAY = date(1970, 1, 1).toordinal()
_GRACE_MS = 3_600_000
# As the highest budget at which a month was reached.
NEVER_REACHED = -1
MONTH_PATTERN = "(19[7-9]|2[0-9]{2})[0-9]-(0[1-9]|1[0-2])"
_MONTH = re.compile(MONTH_PATTERN)


class Uncharged(StrEnum):
    """Why a verified referral cost nothing."""

    OWN_PROGRAM = "own_program"
    ALREADY_CHARGED = "already_charged"
    FREE = "free"
    BUDGET_SPENT = "budget_spent"
    PARTNER_CAP = "partner_cap"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    Uncharged.OWN_PROGRAM: "Partners are not paid for referrals to their own program.",
    Uncharged.ALREADY_CHARGED: (
        "The program has already paid for this subscriber, and pays only once per subscriber."
    ),
    Uncharged.FREE: "The program paid no fee when this subscriber joined.",
    Uncharged.BUDGET_SPENT: "The program had reached its monthly budget.",
    Uncharged.PARTNER_CAP: "The fee would have exceeded the partner's monthly cap.",
}


ACTIVE, LEFT, REMOVED, BLOCKED = PARTNER_STATUSES = ("active", "left", "removed", "blocked")


def partner_status(blocked_ms: int | None, removed_ms: int | None, left_ms: int | None) -> str:
    """Of a partner in a program, for its owner."""
    if blocked_ms is not None:
        return BLOCKED
    if removed_ms is not None:
        return REMOVED
    return ACTIVE if left_ms is None else LEFT


def find_stop(
    *,
    is_archived: bool,
    is_deleted: bool,
    is_removed: bool,
    has_left: bool,
    is_on: bool,
) -> Reason | None:
    """Why no signup of a partner counts at this moment, whoever signs up."""
    if is_archived:
        return Reason.PUBLICATION_ARCHIVED
    if is_deleted:
        return Reason.PROGRAM_DISABLED
    if is_removed:
        return Reason.PARTNER_REMOVED
    if has_left:
        return Reason.PARTNER_LEFT
    if not is_on:
        return Reason.PROGRAM_PAUSED
    return None


def decide_signup(
    *, must_confirm: bool, hold_days: int, screened: Decision, now_ms: int
) -> Decision:
    """What a partner's signup becomes in a program without verification settings.

    `screened` is what screening says about the person. It decides unless the program's own holding
    period is longer. The holding period and the confirmation, if they must confirm, run side by
    side, and both must be over.
    """
    if screened.status == Status.REJECTED:
        return screened
    due_ms = screened.due_ms
    if hold_days:
        due_ms = max(now_ms + hold_days * DAY_MS, due_ms or 0)
    if must_confirm:
        return Decision(
            Status.PENDING, Reason.AWAITING_CONFIRMATION, due_ms, behind=screened.reason
        )
    if due_ms is None:
        return screened
    return Decision(Status.PENDING, screened.reason or Reason.HOLDING_PERIOD, due_ms)


@dataclass(frozen=True, slots=True)
class Charge:
    fee_cents: int
    reaches_budget: bool
    """The fee fills the budget exactly: it is paid, and it is the last of the month."""


class Reached(NamedTuple):
    """At which budgets a month was reached. There it stays reached, also for smaller fees: partners
    were notified."""

    full_cents: int = NEVER_REACHED
    """The highest that was spent, or that the owner lowered to what was spent."""
    overrun_cents: int = NEVER_REACHED
    """The highest that had no room for a fee."""
    overrun_ms: int = 0
    """When the referral with that fee had come. Those who came before it go on: the owner may have
    raised the fee since."""

    @property
    def highest_cents(self) -> int:
        return max(self.full_cents, self.overrun_cents)

    def stops(self, budget_cents: int, arrived_ms: int) -> bool:
        """A referral with this budget."""
        is_overrun = budget_cents <= self.overrun_cents and arrived_ms >= self.overrun_ms
        return is_overrun or budget_cents <= self.full_cents

    def known(self, *, is_reached: bool, today_cents: int) -> Reached:
        """The version before, which may run beside this one, only writes that today's budget is."""
        if is_reached and self.highest_cents < today_cents:
            return self.filled(today_cents)
        return self

    def filled(self, budget_cents: int) -> Reached:
        return self._replace(full_cents=max(self.full_cents, budget_cents))

    def overran(self, budget_cents: int, arrived_ms: int) -> Reached:
        if budget_cents < self.overrun_cents:
            return self
        if budget_cents == self.overrun_cents:
            arrived_ms = min(arrived_ms, self.overrun_ms)
        return self._replace(overrun_cents=budget_cents, overrun_ms=arrived_ms)


def decide_charge(
    *,
    fee_cents: int,
    budget_cap_cents: int,
    budget_spent_cents: int,
    budget_reached: bool,
    partner_cap_cents: int,
    partner_spent_cents: int,
) -> Charge | Uncharged:
    """Charge the whole fee or nothing. `BUDGET_SPENT` also means that the budget is reached from
    now on.

    The budget comes first: a fee that fits neither cap is refused for the budget. The caller has
    already settled that the program is not the partner's own and that the person was not charged
    before, and knows whether the month was reached for this referral.
    """
    if fee_cents == 0:
        return Uncharged.FREE
    budget_left_cents = budget_cap_cents - budget_spent_cents
    # Once reached it stays reached, or a smaller fee could slip through after partners were
    # notified.
    if budget_reached or fee_cents > budget_left_cents:
        return Uncharged.BUDGET_SPENT
    if fee_cents > partner_cap_cents - partner_spent_cents:
        return Uncharged.PARTNER_CAP
    return Charge(fee_cents, reaches_budget=fee_cents == budget_left_cents)


def reached_after_change(
    *, reached: bool, old_cap_cents: int, new_cap_cents: int, spent_cents: int
) -> bool:
    """Whether a budget is reached once its owner has changed it.

    A budget at or below what is spent is reached. One above it is reopened by a raise above
    `old_cap_cents`, the highest at which it was reached; until then it stays as it was.
    """
    if new_cap_cents <= spent_cents:
        return True
    return reached and new_cap_cents <= old_cap_cents


def nearly_spent(*, spent_cents: int, cap_cents: int) -> bool:
    """Whether the owner is to be told that 80 % of the budget is spent."""
    return spent_cents > 0 and spent_cents * 100 >= cap_cents * 80


def left_cents(*, spent_cents: int, cap_cents: int) -> int:
    """What a cap still holds; a cap lowered under what is spent holds nothing, never less."""
    return max(0, cap_cents - spent_cents)


class Estimate(NamedTuple):
    """What a month could cost a program's owner, with both caps."""

    subscribers: int
    partners: int
    uncapped_cents: int
    """Fee times volume, as if there were no caps."""
    cost_cents: int
    paid_subscribers: int
    over_partner_cap: int
    """Subscribers for whom their partner can earn nothing more that month."""
    over_budget: int
    """Subscribers who come once the budget is reached."""


def estimate_month(
    *, fee_cents: int, partner_cap_cents: int, budget_cents: int, subscribers: int, partners: int
) -> Estimate:
    """Assumes that every partner refers as many, give or take one. Only whole fees are charged, as
    `decide_charge` does."""
    partners = max(partners, 1)
    within_caps = paid = subscribers
    if fee_cents > 0:
        each, one_more = divmod(subscribers, partners)
        most = partner_cap_cents // fee_cents
        within_caps = min(each + 1, most) * one_more + min(each, most) * (partners - one_more)
        paid = min(within_caps, budget_cents // fee_cents)
    return Estimate(
        subscribers=subscribers,
        partners=partners,
        uncapped_cents=subscribers * fee_cents,
        cost_cents=paid * fee_cents,
        paid_subscribers=paid,
        over_partner_cap=subscribers - within_caps,
        over_budget=within_caps - paid,
    )


def month_of(moment_ms: int) -> str:
    """The UTC month of a moment, by counting days: the machine's time zone and locale play no
    part."""
    return date.fromordinal(_EPOCH_DAY + moment_ms // DAY_MS).isoformat()[:7]


def month_bounds(month: str) -> tuple[int, int]:
    """The first millisecond of the month and the first after it."""
    return _start_ms(month), _start_ms(next_month(month))


def next_month(month: str) -> str:
    year, number = _parts(month)
    return f"{year:04d}-{number + 1:02d}" if number < 12 else f"{year + 1:04d}-01"


def previous_month(month: str) -> str:
    year, number = _parts(month)
    return f"{year:04d}-{number - 1:02d}" if number > 1 else f"{year - 1:04d}-12"


def month_name(month: str) -> str:
    """As people say it: November 2026."""
    year, number = _parts(month)
    return f"{MONTHS[number - 1]} {year}"


def closes_at(month: str) -> int:
    """When the month may be closed: an hour after its end, so that what is in flight lands
    first."""
    return month_bounds(month)[1] + _GRACE_MS


def month_to_charge(now_ms: int, *, last_closed: str | None) -> str:
    """The month a charge counts in: the month of now or, if that is closed already, the first open
    one."""
    current = month_of(now_ms)
    return current if last_closed is None else max(current, next_month(last_closed))


def parse_month(value: str, *, param: str) -> str:
    """A month as a caller writes it."""
    if not _MONTH.fullmatch(value):
        raise Invalid("{field} must be a month such as 2026-11.", param=param)
    return value


def _start_ms(month: str) -> int:
    year, number = _parts(month)
    return (date(year, number, 1).toordinal() - _EPOCH_DAY) * DAY_MS


def _parts(month: str) -> tuple[int, int]:
    return int(month[:4]), int(month[5:])
