"""The proof of the books: each check counts what must not be, in one snapshot. `honeyguide verify` and a daily job run it."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class Sums(NamedTuple):
    transfers: int
    charged_cents: int
    paid_out_cents: int


class Finding(NamedTuple):
    promise: str
    broken: int


# That entries sum to zero needs no check: a transfer debits and credits the same amount by its very shape.
_PROMISES = {
    "charges_without_transfer": "Every charge has its transfer in the ledger, of the same amount, month and parties.",
    "transfers_without_charge": "Every charge in the ledger is a charge on record.",
    "budgets_off": "What each program spent in a month is the sum of its charges.",
    "partner_spends_off": "What each partner earned from a program in a month is the sum of their charges.",
    "charges_without_counter": "Every charge is counted against its budget and its partner's cap.",
    "caps_broken": "No budget and no partner's cap was overspent.",
    "referrals_off": "Every verified partner referral is charged once, or says why not.",
    "own_charges": "No account earned from itself.",
    "payouts_off": "Every payout is the sum of the ledger's entries of its month.",
    "payouts_without_transfer": "Every payout has its transfer in the ledger.",
    "earnings_without_payout": "Every earning of a month that was paid out is in a payout.",
    "paid_off": "Every payout marked as paid has its transfer to cash, and no other.",
}

_sql = beside(__file__)
_CHECKS = {name: _sql.value(name, int) for name in _PROMISES}
_SUMS = _sql.query("sums", Sums)


async def verify(tx: Tx) -> tuple[list[Finding], Sums]:
    """Every promise with how often it is broken; the books are right when all are zero."""
    findings = [Finding(promise, await tx.one(_CHECKS[name]) or 0) for name, promise in _PROMISES.items()]
    return findings, await tx.one(_SUMS) or Sums(0, 0, 0)
