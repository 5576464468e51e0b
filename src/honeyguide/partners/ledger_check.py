"""Proves the ledger, what is kept about subscribers, and whose each row is: each check counts rows
that must not exist. `honeyguide verify` and a daily job run it.

Every check looks at the same money from another side, so that a wrong row makes two that should
agree differ. Each is right in a snapshot of its own, and so is each slice of one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple

from honeyguide.partners import account_check, month_digests
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import subscriber_check
from honeyguide.subscribers.subscriber_check import Checked, CheckGroup, check_slice, checks_of


class Sums(NamedTuple):
    transfers: int
    charged_cents: int
    paid_out_cents: int


class Finding(NamedTuple):
    promise: str
    broken: int


_PROMISES = {
    "entries_off": (
        "Entries sum to zero: each transfer debits one account and credits another, as its "
        "kind requires."
    ),
    "charges_without_transfer": (
        "Every charge and every reversal has a transfer in the ledger with the same amount, month "
        "and parties."
    ),
    "transfers_without_charge": (
        "Every charge or reversal in the ledger belongs to one that is recorded."
    ),
    "reversals_off": (
        "Every reversal takes one whole charge back, once and in the month of that charge."
    ),
    "budgets_off": (
        "What each program spent in a month equals the sum of its charges and reversals."
    ),
    "budgets_not_reached": (
        "Every budget of an open month that is fully spent, or is below what is spent, is reached."
    ),
    "partner_spends_off": (
        "What each partner earned from a program in a month equals the sum of their charges and "
        "reversals."
    ),
    "budget_steps_off": (
        "Every charge raised its program's spending by exactly one fee, within the budget at "
        "that time, and every reversal lowered it by one; none is missing between them."
    ),
    "partner_steps_off": (
        "Every charge raised its partner's earnings by exactly one fee, within the cap at "
        "that time, and every reversal lowered them by one; none is missing between them."
    ),
    "charges_below_arrival": (
        "No charge was made under a lower limit than the one that held when its referral came."
    ),
    "charges_without_referral": (
        "Every charge belongs to one verified referral, with that referral's fee and subscriber."
    ),
    "charges_unconfirmed": (
        "No program paid for a subscriber who still has to confirm their email address, unless "
        "the referral was verified by hand."
    ),
    "referrals_off": (
        "Every verified partner referral was charged once or has a reason why not; no other "
        "referral is charged, and those that were reversed have their reversal."
    ),
    "people_twice": (
        "No program pays twice for the same subscriber unless it took the first charge back, and "
        "no account earned from its own program."
    ),
    "payouts_off": (
        "Every payout equals its month's earnings in the ledger, and no earning of a paid-out "
        "month is left out."
    ),
    "payouts_open": "Payouts exist only for closed months.",
    "payout_transfers_off": (
        "Every payout has a transfer in the ledger, and every payout transfer has a payout."
    ),
    "paid_off": (
        "Every payout marked as paid has a transfer to cash; any other such transfer was reversed."
    ),
}

_sql = beside(__file__)
# The checks of each kind of slice. The others read few rows.
_SLICED = {
    "transfer_slice": ("entries_off", "transfers_without_charge"),
    "charge_slice": (
        "charges_without_transfer",
        "reversals_off",
        "charges_below_arrival",
        "charges_without_referral",
        "charges_unconfirmed",
    ),
    "program_slice": (
        "budgets_off",
        "partner_spends_off",
        "budget_steps_off",
        "partner_steps_off",
        "people_twice",
    ),
    "referral_slice": ("referrals_off",),
    "month_slice": ("payouts_off",),
}
_WHOLE = ("budgets_not_reached", "payouts_open", "payout_transfers_off", "paid_off")
_GROUPS = (
    *(
        CheckGroup(_sql.value(slice_end, str), checks_of(_sql, *names))
        for slice_end, names in _SLICED.items()
    ),
    *(CheckGroup(None, checks_of(_sql, name)) for name in _WHOLE),
    CheckGroup(None, (("referrals_off", _sql.value("referrals_charged", int)),)),
    *subscriber_check.GROUPS,
    *account_check.GROUPS,
    month_digests.GROUP,
)
GROUPS = len(_GROUPS)
_ALL_PROMISES = (
    _PROMISES | subscriber_check.PROMISES | account_check.PROMISES | month_digests.PROMISES
)
_SUMS = _sql.query("sums", Sums)


async def run_checks(
    run: Callable[[CheckGroup, str], Awaitable[Checked]], done: Callable[[], None] = lambda: None
) -> list[Finding]:
    """Every promise with how often it is broken; all must be zero. `run` checks one slice, and
    `done` is called after each of the `GROUPS`."""
    broken: Counter[str] = Counter()
    for group in _GROUPS:
        after: str | None = ""
        while after is not None:
            found, after = await run(group, after)
            broken += found
        done()
    return [Finding(promise, broken[name]) for name, promise in _ALL_PROMISES.items()]


async def verify(tx: Tx, done: Callable[[], None] = lambda: None) -> tuple[list[Finding], Sums]:
    """All checks in one snapshot, and the sums of the ledger."""
    findings = await run_checks(partial(check_slice, tx), done)
    return findings, await tx.one(_SUMS) or Sums(0, 0, 0)
