"""What waits for the operator: referrals to review, rewards to hand over, unread notifications. The
menu, Home and the weekly summary count it alike."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers.reasons import facts_of

# Of each kind one more is counted, which means that there are more.
MOST = 1_000


class OpenWork(NamedTuple):
    to_review: int = 0
    """Suspicious referrals. A holding period waits for time and an address for its confirmation, so
    neither counts."""
    to_approve: int = 0
    """Earned rewards."""
    claims: int = 0
    """Of rewards that the operator hands over. Those that are sent are shipments."""
    claimed_ms: int | None = None
    """Since when the oldest of them waits."""
    to_send: int = 0
    to_send_ms: int | None = None
    ended_fees: int = 0
    """Fees to decide, because the owner's team ended the subscription."""
    unread: int = 0
    """Notifications of the account."""
    looks: int = 0
    """At partners' readers. Groups of these are no referrals to review besides."""
    asked_ms: int | None = None
    """Since when the oldest of them waits."""


class MoreWork(NamedTuple):
    """What takes longer to find, and the menu does not show."""

    without_code: int = 0
    """Rewards that wait for coupon codes."""
    due_ms: int | None = None
    """When the first referral to review is decided by itself, if one is."""
    reason: str | None = None

    @property
    def outcome(self) -> str:
        """What it becomes then."""
        return "rejected" if facts_of(self.reason).ends_as else "verified"


_sql = beside(__file__)
_COUNTS = _sql.query("counts", OpenWork)
_MORE = _sql.query("more", MoreWork)


async def counts(at: Reading) -> OpenWork:
    return await at.one(_COUNTS, most=MOST + 1) or OpenWork()


async def more(at: Reading) -> MoreWork:
    return await at.one(_MORE, most=MOST + 1) or MoreWork()
