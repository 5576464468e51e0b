"""What happened in a campaign in a period: who joined, how, and through whom.

People belong to the day they joined, cut in the account's time zone. Imported people are counted
apart and are in no other number. Erased people are in none. A referral counts with the status it
has now, so only numbers without a status may be compared between periods of different age.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.periods import Period
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class PeriodTotals(NamedTuple):
    new: int
    by_subscribers: int
    by_partners: int
    verified: int
    pending: int
    rejected: int
    imported: int
    clicks: int

    @property
    def referred(self) -> int:
        """By subscribers and partners, whatever the referral's status."""
        return self.by_subscribers + self.by_partners

    @property
    def not_referred(self) -> int:
        return self.new - self.referred


class PeriodAdvocate(NamedTuple):
    """A subscriber and those of their referrals who joined in the period."""

    id: str
    email: str
    name: str | None
    verified: int
    pending: int
    rejected: int


_sql = beside(__file__)
_TOTALS = _sql.query("totals", PeriodTotals)
_TOP_ADVOCATES = _sql.query("top_advocates", PeriodAdvocate)


async def period_totals(tx: Tx, tenant: Tenant, period: Period) -> PeriodTotals:
    found = await tx.one(
        _TOTALS,
        account_id=tenant.account_id,
        campaign_id=tenant.campaign_id,
        since_ms=period.since_ms,
        until_ms=period.until_ms,
    )
    assert found is not None
    return found


async def top_advocates(
    tx: Tx, tenant: Tenant, period: Period, *, most: int
) -> list[PeriodAdvocate]:
    """Those with most verified referrals in the period, then with most pending ones."""
    return await tx.all(
        _TOP_ADVOCATES,
        account_id=tenant.account_id,
        campaign_id=tenant.campaign_id,
        since_ms=period.since_ms,
        until_ms=period.until_ms,
        most=most,
    )
