"""What is pending in an account and owed by or to it, for whoever is about to close it."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import outlook
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# More of a kind are not counted.
MOST_COUNTED = 1_000


class _PendingCounts(NamedTuple):
    rewards: int
    shipments: int
    referrals: int
    paid_referrals: int
    unpaid_payouts: int
    unpaid_cents: int


class PendingThings(NamedTuple):
    rewards: int
    """Earned, and neither claimed nor given yet."""
    shipments: int
    """Claimed, and not sent yet."""
    referrals: int
    """In their holding period, brought by subscribers."""
    paid_referrals: int
    """The same, brought by partners."""
    unpaid_payouts: int
    unpaid_cents: int
    """Of closed months, to this account."""
    fees_cents: int
    """That this account owes partners for open months, so far."""
    earned_cents: int
    """That partner programs owe this account for open months, so far."""

    @property
    def is_nothing(self) -> bool:
        return not any(self)


_sql = beside(__file__)
_COUNTS = _sql.query("counts", _PendingCounts)


async def by_and_to(tx: Tx, tenant: Tenant, *, now_ms: int) -> PendingThings:
    account_id, campaign_id = tenant
    counts = await tx.one(
        _COUNTS, account_id=account_id, campaign_id=campaign_id, most=MOST_COUNTED
    )
    assert counts is not None
    own = await outlook.of_owner(tx, account_id, now_ms=now_ms)
    joined = await outlook.of_partner(tx, account_id, now_ms=now_ms)
    return PendingThings(
        *counts,
        fees_cents=sum(month.spent_cents for program in own for month in program.months),
        earned_cents=sum(month.spent_cents for month in joined),
    )
