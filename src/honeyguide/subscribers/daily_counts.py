"""Counts of a campaign that the database keeps: all signups ever, the best advocates. The
numbers of a period: `statistics`."""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside


class EverJoined(NamedTuple):
    """All signups, imported ones too, and what became of their referrals."""

    signups: int
    verified: int
    pending: int
    rejected: int

    @property
    def referred(self) -> int:
        return self.verified + self.pending + self.rejected


class Advocate(NamedTuple):
    id: str
    email: str
    name: str | None
    referrals_verified: int
    referrals_pending: int


_sql = beside(__file__)
_TOP = _sql.query("top", Advocate)
_EVER = _sql.query("ever", EverJoined)


async def ever(at: Reading) -> EverJoined:
    found = await at.one(_EVER)
    return found or EverJoined(0, 0, 0, 0)


async def top_advocates(at: Reading, *, most: int) -> list[Advocate]:
    """Of all time."""
    return await at.all(_TOP, most=most)
