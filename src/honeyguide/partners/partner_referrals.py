"""The subscribers that a partner sent, as the partner may see them: when they joined, what became
of them and why, what they earn. Never who they are: they are the owner's subscribers.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from honeyguide.kernel.paging import Page
from honeyguide.partners import rules
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside

PENDING, CONFIRMED, REJECTED, UNCHARGED = STATES = ("pending", "confirmed", "rejected", "uncharged")


class ReferredSubscriber(NamedTuple):
    id: str
    partner_campaign_id: str
    publication_name: str
    arrived_ms: int
    decided_ms: int | None
    status: str
    reason: str | None
    due_ms: int | None
    fee_cents: int
    charged_cents: int | None
    uncharged_reason: str | None
    reversal_reason: str | None
    reversal_note: str | None

    @property
    def state(self) -> str:
        """Which of the four sums it is part of."""
        if self.decided_ms is None:
            return PENDING
        if self.charged_cents is not None:
            return CONFIRMED
        return UNCHARGED if self.uncharged_reason is not None else REJECTED


_sql = beside(__file__)
_OF_MONTH = _sql.query("of_month", ReferredSubscriber)
_COUNT_OF_PARTNER_CAMPAIGN = _sql.value("count_of_partner_campaign", int)
_OF_PARTNER_CAMPAIGN = _sql.query("of_partner_campaign", ReferredSubscriber)


async def of_month(
    at: AccountReading, states: Collection[str], month: str, *, most: int
) -> list[ReferredSubscriber]:
    """The referrals behind figures of a month's earnings, up to so many of each state. Pending
    means pending now, whatever the month."""
    from_ms, to_ms = rules.month_bounds(month)
    limits: dict[str, Any] = {f"most_{each}": most if each in states else 0 for each in STATES}
    return await at.all(_OF_MONTH, month=month, from_ms=from_ms, to_ms=to_ms, **limits)


async def of_partner_campaign(
    at: AccountReading, place_id: str, page: Page
) -> tuple[list[ReferredSubscriber], int]:
    """The referrals of one partner campaign, newest first, with any status; and how many there are,
    or one more than up to here: all are counted only for a page that does not exist."""
    rows = await at.all(
        _OF_PARTNER_CAMPAIGN, place_id=place_id, most=page.per_page + 1, skip=page.skip
    )
    if not rows:
        count = await at.one(_COUNT_OF_PARTNER_CAMPAIGN, place_id=place_id)
        return [], count or 0
    return rows[: page.per_page], page.skip + len(rows)
