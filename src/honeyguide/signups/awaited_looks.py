"""First looks as partners read them: what waits for one, and how many a program gave."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS
from honeyguide.store.reading import AccountReading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx


class AwaitedLook(NamedTuple):
    """For one of the partners whom a look is about: their own referrals."""

    asked_ms: int
    paused_ms: int | None
    waiting: int
    waiting_cents: int
    first_day_ms: int | None
    last_day_ms: int | None


class LookFigures(NamedTuple):
    """Of a program, for partners."""

    answered: int
    unanswered: int


_sql = beside(__file__)
_AWAITED = _sql.query("awaited", AwaitedLook)
_FIGURES = _sql.query("figures", LookFigures)


async def find_awaited(at: AccountReading, partner_campaign_id: str) -> AwaitedLook | None:
    """What a partner reads of a look that is awaited: the sums and dates, never what differs. The
    reading is the owner's."""
    return await at.one(_AWAITED, id=partner_campaign_id)


async def figures(tx: Tx, program_id: str) -> LookFigures:
    """How many cards of the program were answered, and how many nobody answered in 30 days."""
    found = await tx.one(_FIGURES, program_id=program_id, late_ms=tx.now_ms - 30 * DAY_MS)
    assert found is not None  # it only counts
    return found
