"""What the Comb is made of: what goes into the picture, and what the template draws."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import NamedTuple

VERIFIED, PENDING, REJECTED, ALONE = "v", "p", "x", "n"
STATUS_LABELS = {VERIFIED: "verified", PENDING: "pending", REJECTED: "rejected"}
NOBODY = "nobody"


class Joined(NamedTuple):
    """One person who joined, or several of the same source and status."""

    column: int
    source: str
    status: str
    waits: bool = False
    """For a decision of the operator."""
    id: str = ""
    joined_ms: int = 0
    n: int = 1
    is_new: bool = False


class CombSource(NamedTuple):
    key: str
    name: str
    kind: str
    """subscriber, partner, several (people without a name of their own here) or nobody"""
    path: str = ""
    parent: str = ""
    """The source through which this one came, if it is a subscriber."""
    logo: str = ""
    """Of a partner."""


class CombColumn(NamedTuple):
    first: date
    before: int | None = None
    """How many joined in the same column of the earlier range."""
    imported: int = 0


class Cell(NamedTuple):
    status: str
    x: float
    y: float
    is_new: bool
    waits: bool


class CellGroup(NamedTuple):
    """The cells of one source, and within it the groups of those who came through it."""

    slot: str
    path: str
    text: str
    label: str
    """The same, with the whole name."""
    cells: list[Cell]
    halo: str
    threads: str
    initials: str
    is_stop: bool
    inner: list[CellGroup]


class CombLabel(NamedTuple):
    text: str
    x: float
    y: float
    anchor: str
    lead: str


class SourceLine(NamedTuple):
    """A row of the list beside the picture."""

    slot: str
    kind: str
    name: str
    path: str
    logo: str
    n: int
    counts: Counter[str]
    share: float


class Mark(NamedTuple):
    """A short text at a place."""

    text: str
    x: float
    y: float
    anchor: str = "middle"


class Comb(NamedTuple):
    height: float
    base: float
    hexagon: str
    slash: str
    hint: str
    ghost: str
    axis: list[Mark]
    totals: list[Mark]
    flags: list[float]
    groups: list[CellGroup]
    labels: list[CombLabel]
    lines: list[SourceLine]
    people: int
