"""Proves the ledger, what is kept about subscribers, and whose each row is: each check counts rows
that must not exist. `honeyguide verify` and a daily job run it.

Every check looks at the same money from another side, so that a wrong row makes two that should
agree differ. Each is right in a snapshot of its own, and so is each slice of one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple

from honeyguide.partners import account_check
from honeyguide.referrals import subscriber_check
from honeyguide.referrals.check_slices import Check, Checked, check_slice
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


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
        "Every charge has a transfer in the ledger with the same amount, month and parties."
    ),
    "transfers_without_charge": "Every charge transfer in the ledger belongs to a recorded charge.",
    "budgets_off": "What each program spent in a month equals the sum of its charges.",
    "budgets_not_reached": (
        "Every budget of an open month that is fully spent, or is below what is spent, is reached."
    ),
    "partner_spends_off": (
        "What each partner earned from a program in a month equals the sum of their charges."
    ),
    "budget_steps_off": (
        "Every charge raised its program's spending by exactly one fee, within the budget at "
        "that time."
    ),
    "partner_steps_off": (
        "Every charge raised its partner's earnings by exactly one fee, within the cap at "
        "that time."
    ),
    "charges_without_referral": (
        "Every charge belongs to one verified referral, with that referral's fee and subscriber."
    ),
    "referrals_off": (
        "Every verified partner referral was charged once or has a reason why not; no other "
        "referral was charged."
    ),
    "people_twice": (
        "No program paid twice for the same subscriber, and no account earned from its own program."
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
# What the slices of a check are made of. Those that are not here read few rows.
_SLICES = {
    "entries_off": "transfer",
    "charges_without_transfer": "charge",
    "transfers_without_charge": "transfer",
    "budgets_off": "program",
    "partner_spends_off": "program",
    "budget_steps_off": "program",
    "partner_steps_off": "program",
    "charges_without_referral": "charge",
    "referrals_off": "referral",
    "people_twice": "program",
    "payouts_off": "month",
}


_SLICE_ENDS = {kind: _sql.value(f"{kind}_slice", str) for kind in set(_SLICES.values())}


def _check(name: str) -> Check:
    kind = _SLICES.get(name)
    return Check(name, _sql.value(name, int), _SLICE_ENDS[kind] if kind else None)


_ALL_PROMISES = _PROMISES | subscriber_check.PROMISES | account_check.PROMISES
_CHECKS = (
    *(_check(name) for name in _PROMISES),
    Check("referrals_off", _sql.value("referrals_charged", int)),
    *subscriber_check.CHECKS,
    *account_check.CHECKS,
)
_SUMS = _sql.query("sums", Sums)
CHECKS = len(_CHECKS)


async def run_checks(
    run: Callable[[Check, str], Awaitable[Checked]], done: Callable[[], None] = lambda: None
) -> list[Finding]:
    """Every promise with how often it is broken; all must be zero. `run` checks one slice, and
    `done` is called after each check."""
    broken = dict.fromkeys(_ALL_PROMISES, 0)
    for check in _CHECKS:
        after: str | None = ""
        while after is not None:
            found, after = await run(check, after)
            broken[check.promise] += found
        done()
    return [Finding(promise, broken[name]) for name, promise in _ALL_PROMISES.items()]


async def verify(tx: Tx, done: Callable[[], None] = lambda: None) -> tuple[list[Finding], Sums]:
    """All checks in one snapshot, and the sums of the ledger."""
    findings = await run_checks(partial(check_slice, tx), done)
    return findings, await tx.one(_SUMS) or Sums(0, 0, 0)
