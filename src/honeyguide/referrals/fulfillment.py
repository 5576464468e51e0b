"""Earned rewards that the operator has to approve or to hand over. Items to send are shipments."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.tenant import Tenant
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class RewardToFulfill(NamedTuple):
    id: str
    subscriber_id: str
    status: str
    earned_ms: int
    name: str
    subscriber_name: str | None
    email: str | None
    """None if the subscriber was erased."""


_sql = beside(__file__)
_TO_FULFILL = _sql.query("to_fulfill", RewardToFulfill)


async def to_fulfill(tx: Tx, tenant: Tenant, *, most: int) -> list[RewardToFulfill]:
    """Those to approve first, then manual rewards to hand over; of each the oldest first."""
    return await tx.all(
        _TO_FULFILL, account_id=tenant.account_id, campaign_id=tenant.campaign_id, most=most
    )
