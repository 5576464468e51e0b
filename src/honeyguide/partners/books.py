"""The proof of the books: each check counts what must not be, in one snapshot. `honeyguide verify` and a daily job run it.

Every check looks from another side at the same money, so that whichever row is wrong, two that should agree do not. Each reads
its tables once, whatever their size.
"""

from __future__ import annotations

from collections.abc import Callable
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


_PROMISES = {
    "entries_off": "Entries sum to zero: each transfer debits one account and credits another, as its kind asks.",
    "charges_without_transfer": "Every charge has its transfer in the ledger, of the same amount, month and parties.",
    "transfers_without_charge": "Every charge in the ledger is a charge on record.",
    "budgets_off": "What each program spent in a month is the sum of its charges.",
    "budgets_not_reached": "Every budget of an open month that is spent in full, or is below what is spent, is reached.",
    "partner_spends_off": "What each partner earned from a program in a month is the sum of their charges.",
    "budget_steps_off": "Every charge took its program's spending one fee further, and never over the budget of that moment.",
    "partner_steps_off": "Every charge took its partner's earnings one fee further, and never over the cap of that moment.",
    "charges_without_referral": "Every charge is that of one verified referral, for the fee and the person it arrived with.",
    "referrals_off": "Every verified partner referral is charged once, or says why not; no other costs anything.",
    "people_twice": "No program paid twice for one person, and no account earned from itself.",
    "payouts_off": "Every payout is the sum of the ledger's earnings of its month, and every earning of a month that was paid "
    "out is in one.",
    "payouts_open": "Payouts are of closed months only.",
    "payout_transfers_off": "Every payout has its transfer in the ledger, and every such transfer its payout.",
    "paid_off": "Every payout marked as paid has its transfer to cash, every other has none that was not taken back.",
}

_sql = beside(__file__)
_CHECKS = {name: _sql.value(name, int) for name in _PROMISES}
_SUMS = _sql.query("sums", Sums)
CHECKS = len(_CHECKS)


async def verify(tx: Tx, done: Callable[[], None] = lambda: None) -> tuple[list[Finding], Sums]:
    """Every promise with how often it is broken; the books are right when all are zero. `done` is called after each check."""
    findings = []
    for name, promise in _PROMISES.items():
        findings.append(Finding(promise, await tx.one(_CHECKS[name]) or 0))
        done()
    return findings, await tx.one(_SUMS) or Sums(0, 0, 0)
