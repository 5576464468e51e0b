"""First looks as partners read them: what waits for one, and how many a program gave."""

from __future__ import annotations

from collections.abc import Sequence
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

    program_id: str
    answered: int
    unanswered: int

    @property
    def unanswered_share(self) -> float | None:
        asked = self.answered + self.unanswered
        return round(self.unanswered / asked, 4) if asked else None


_sql = beside(__file__)
_AWAITED = _sql.query("awaited", AwaitedLook)
_FIGURES = _sql.query("figures", LookFigures)


async def find_awaited(at: AccountReading, partner_campaign_id: str) -> AwaitedLook | None:
    """What a partner reads of a look that is awaited: the sums and dates, never what differs. The
    reading is the owner's."""
    return await at.one(_AWAITED, id=partner_campaign_id)


async def figures(tx: Tx, program_ids: Sequence[str]) -> dict[str, LookFigures]:
    """How many cards of each program were answered, and how many nobody answered in 30 days."""
    found = await tx.all(_FIGURES, ids=list(program_ids), late_ms=tx.now_ms - 30 * DAY_MS)
    none = {each: LookFigures(each, 0, 0) for each in program_ids}
    return none | {each.program_id: each for each in found}
