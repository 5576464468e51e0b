"""What became of a program's referrals in the last 90 days, for partners who think of joining it.
A job counts it once a day. Referrals by the owner's own account are left out: those could be made
up to look better.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from honeyguide.kernel.clock import DAY_MS
from honeyguide.partners.held_referrals import HELD_DAYS, HeldShare
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers.reasons import BY_READERS

DAYS = 90
# A share of fewer says nothing.
LEAST_DECIDED = 20
BATCH = 20


class PublicFigures(NamedTuple):
    program_id: str
    verified: int
    rejected: int
    """Not counting the next two."""
    reversed: int
    unreviewed: int
    ended_by_team: int
    """Of those, after a member of the owner's team had unsubscribed, blocked or erased them."""
    ended_by_readers: int
    """Of the rejected, those who left, bounced or complained."""
    median_ms: int

    @property
    def decided(self) -> int:
        return self.verified + self.rejected + self.reversed + self.unreviewed

    def share(self, count: int) -> float:
        return round(count / self.decided, 4)

    @property
    def median_days(self) -> float:
        """From the signup to the decision."""
        return round(self.median_ms / DAY_MS, 1)


class DueProgram(NamedTuple):
    id: str
    account_id: str


class _Counted(NamedTuple):
    verified: int
    rejected: int
    reversed: int
    unreviewed: int
    ended_by_team: int
    ended_by_readers: int

    @property
    def decided(self) -> int:
        return self.verified + self.rejected + self.reversed + self.unreviewed


_sql = beside(__file__)
_OF = _sql.query("of", PublicFigures)
_DUE = _sql.query("due", DueProgram)
_COUNT = _sql.query("count", _Counted)
_MEDIAN = _sql.value("median", int)
_SAVE = _sql.command("save")


async def of(tx: Tx, program_ids: Sequence[str]) -> dict[str, PublicFigures]:
    """Of those programs that have decided enough."""
    found = await tx.all(_OF, ids=list(program_ids))
    return {each.program_id: each for each in found if each.decided >= LEAST_DECIDED}


async def due(tx: Tx, *, most: int) -> list[DueProgram]:
    """Programs that were not counted today, and have figures, or referrals of late."""
    today = tx.now_ms // DAY_MS
    return await tx.all(
        _DUE,
        today=today,
        since_day=today - DAYS,
        held_since_ms=tx.now_ms - HELD_DAYS * DAY_MS,
        most=most,
    )


async def count(tx: Tx, program: DueProgram) -> PublicFigures:
    since_ms = (tx.now_ms // DAY_MS - DAYS) * DAY_MS
    of_program: dict[str, Any] = {"program_id": program.id, "since_ms": since_ms}
    counted = await tx.one(_COUNT, **of_program, by_readers=BY_READERS)
    assert counted is not None  # it only counts
    half = max(0, counted.decided - 1) // 2
    median_ms = await tx.one(_MEDIAN, **of_program, half=half)
    return PublicFigures(program.id, *counted, median_ms or 0)


async def save(tx: Tx, program: DueProgram, figures: PublicFigures, held: HeldShare) -> None:
    """With what the program's level held, which only checks of the installation read."""
    await tx.run(
        _SAVE,
        account_id=program.account_id,
        day=tx.now_ms // DAY_MS,
        **figures._asdict(),
        arrived_30d=held.arrived,
        held_30d=held.held,
    )
