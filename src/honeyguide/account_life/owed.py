"""What is pending in an account and owed by or to it, for whoever is about to close it."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside

# More of a kind are not counted.
MOST_COUNTED = 1_000


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
_COUNTS = _sql.query("counts", PendingThings)


async def by_and_to(at: Reading) -> PendingThings:
    account_id, campaign_id = at.tenant
    counts = await at.tx.one(
        _COUNTS, account_id=account_id, campaign_id=campaign_id, most=MOST_COUNTED
    )
    assert counts is not None
    return counts
