"""Counts of a campaign that the database keeps: all signups ever, referrals to review, the best
advocates. The numbers of a period: `statistics`."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.subscribers.reasons import facts_of


class EverJoined(NamedTuple):
    """All signups, imported ones too, and what became of their referrals."""

    signups: int
    verified: int
    pending: int
    rejected: int


class Advocate(NamedTuple):
    id: str
    email: str
    name: str | None
    referrals_verified: int
    referrals_pending: int


class FirstDue(NamedTuple):
    due_ms: int
    reason: str

    @property
    def outcome(self) -> str:
        """What it becomes then."""
        return "rejected" if facts_of(self.reason).ends_as else "verified"


_sql = beside(__file__)
_TOP = _sql.query("top", Advocate)
_EVER = _sql.query("ever", EverJoined)
_SUSPECTED = _sql.value("suspected", int)
_FIRST_SUSPECTED = _sql.query("first_suspected", FirstDue)


async def ever(at: Reading) -> EverJoined:
    found = await at.one(_EVER)
    return found or EverJoined(0, 0, 0, 0)


async def suspected(at: Reading, *, most: int) -> int:
    """How many referrals wait for a person to review them, counted up to `most`. A holding period
    waits for time and an address for its confirmation, so neither counts."""
    return await at.one(_SUSPECTED, most=most) or 0


async def first_suspected(at: Reading) -> FirstDue | None:
    """The one that is decided by itself first, of those that wait for a review."""
    return await at.one(_FIRST_SUSPECTED)


async def top_advocates(at: Reading, *, most: int) -> list[Advocate]:
    """Of all time."""
    return await at.all(_TOP, most=most)
