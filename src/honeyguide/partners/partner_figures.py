"""What came of partners' links: clicks, signups, and who of them was verified and stayed, for the
owner of a program and for a partner.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from honeyguide.kernel.clock import DAY_MS
from honeyguide.partners import rules
from honeyguide.partners.statements import MonthTotal
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import Statement, beside
from honeyguide.subscribers.reasons import SUSPICIONS

# The newest referrals that are counted.
MOST_COUNTED = 20_000
MOST_MONTHS = 12


class FigureDay(NamedTuple):
    """What became, by now, of those who arrived on one UTC day (days since 1970)."""

    partner_campaign_id: str
    day: int
    clicks: int
    signups: int
    verified: int
    pending: int
    in_review: int
    """Of the pending ones, those that look suspicious."""
    confirmed: int
    """Subscribers whose email address is confirmed."""
    subscribed: int
    """Of these, who did not unsubscribe."""
    kept: int
    """Verified subscribers who did not unsubscribe."""


class PartnerFigures(NamedTuple):
    clicks: int = 0
    signups: int = 0
    verified: int = 0
    pending: int = 0
    in_review: int = 0
    confirmed: int = 0
    subscribed: int = 0
    kept: int = 0


class ChargedDay(NamedTuple):
    """What was charged on one UTC day (days since 1970) and not taken back."""

    partner_campaign_id: str
    day: int
    n: int
    cents: int


class PartnerMonth(NamedTuple):
    partner_campaign_id: str
    charged: int
    """How many referrals were charged and not taken back."""
    is_reached: int
    """Whether the program has reached its budget."""


class FigureDays(NamedTuple):
    """Read once, and added up for any days in it."""

    days: list[FigureDay]

    def by_partner(
        self, is_in: Callable[[int], bool] = lambda day: True
    ) -> dict[str, PartnerFigures]:
        """The sum of the days that pass."""
        sums: dict[str, list[int]] = {}
        empty = [0] * len(PartnerFigures._fields)
        for each in self.days:
            if is_in(each.day):
                total = sums.setdefault(each.partner_campaign_id, [*empty])
                for place, n in enumerate(each[2:]):
                    total[place] += n
        return {key: PartnerFigures(*total) for key, total in sums.items()}

    def of(self, partner_campaign_id: str) -> list[FigureDay]:
        """The days on which somebody arrived by one partner, newest first."""
        own = [each for each in self.days if each.partner_campaign_id == partner_campaign_id]
        return sorted((each for each in own if each.signups), key=lambda each: -each.day)

    def signups_by_day(self, partner_campaign_id: str) -> dict[int, int]:
        return {each.day: each.signups for each in self.of(partner_campaign_id)}


_sql = beside(__file__)
_DAYS_OF_PROGRAM = _sql.query("days_of_program", FigureDay)
_DAYS_OF_PARTNER = _sql.query("days_of_partner", FigureDay)
_MONTHS_OF_CAMPAIGN = _sql.query("months_of_campaign", MonthTotal)
_MONTHS_OF_PARTNER = _sql.query("months_of_partner", MonthTotal)
_MONTH_OF_PARTNER = _sql.query("month_of_partner", PartnerMonth)
_CHARGED_OF_PROGRAM = _sql.query("charged_of_program", ChargedDay)
_CHARGED_OF_CAMPAIGN = _sql.query("charged_of_campaign", ChargedDay)


async def of_program(
    at: AccountReading, program_id: str, *, since_ms: int, before_ms: int
) -> FigureDays:
    return await _read(at, _DAYS_OF_PROGRAM, since_ms, before_ms, program_id=program_id)


async def of_partner(at: AccountReading, *, since_ms: int, before_ms: int) -> FigureDays:
    """Of every program that the account joined."""
    return await _read(at, _DAYS_OF_PARTNER, since_ms, before_ms)


async def _read(
    at: AccountReading, days: Statement[FigureDay], since_ms: int, before_ms: int, **key: Any
) -> FigureDays:
    between: dict[str, Any] = {"since_ms": since_ms, "before_ms": before_ms}
    found = await at.all(days, **key, **between, suspicions=list(SUSPICIONS), most=MOST_COUNTED)
    return FigureDays(found)


async def months_of_partner(at: AccountReading) -> list[MonthTotal]:
    """What the partner earned in the last twelve months and earns in later ones, those without
    earnings left out."""
    present = rules.month_of(at.now_ms)
    return await at.all(_MONTHS_OF_PARTNER, after=f"{int(present[:4]) - 1}{present[4:]}")


async def months_of_campaign(at: AccountReading, partner_campaign_id: str) -> list[MonthTotal]:
    """What one partner cost the owner, newest month first, months without charges left out."""
    return await at.all(_MONTHS_OF_CAMPAIGN, id=partner_campaign_id, most=MOST_MONTHS)


async def month_of_partner(at: AccountReading, month: str) -> list[PartnerMonth]:
    """For each of the partner's campaigns."""
    return await at.all(_MONTH_OF_PARTNER, month=month)


async def charged_of_program(at: AccountReading, program_id: str, month: str) -> list[ChargedDay]:
    return await at.all(_CHARGED_OF_PROGRAM, program_id=program_id, month=month)


async def charged_of_campaign(at: AccountReading, id: str, month: str) -> list[ChargedDay]:
    """For the partner."""
    return await at.all(_CHARGED_OF_CAMPAIGN, id=id, month=month)


def since(now_ms: int, days: int) -> int:
    """Midnight UTC, so that days are whole."""
    return (now_ms // DAY_MS - days + 1) * DAY_MS
