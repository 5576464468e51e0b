"""What the Comb is made of: what goes into the picture, and what the template draws."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.pages.dashboard import formats

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


LONGEST_NAME = 28


WIDTH = 600.0
TALLEST = 300.0
LARGEST_RADIUS, SMALLEST_RADIUS = 12.3, 3.5
MOST_ACROSS = 120
# Columns keep a little distance, so that days can be told apart.
FILLED = 0.93
ROW = 3**0.5  # the height of a hexagon of radius 1 that lies on a side


class CombScale(NamedTuple):
    people: int
    """How many people one hexagon stands for."""
    across: int
    """How many hexagons lie beside each other in one column of the picture."""
    radius: float

    @property
    def row(self) -> float:
        return self.radius * ROW

    def rows(self, cells: int) -> int:
        return -(-cells // self.across)

    def height(self, cells: int) -> float:
        return self.rows(cells) * self.row


def counts_of(people: Iterable[Joined]) -> Counter[str]:
    found: Counter[str] = Counter()
    for each in people:
        found[each.status] += each.n
    return found


def in_words(counts: Counter[str]) -> str:
    """`10 verified, 3 pending`"""
    return ", ".join(
        f"{counts[key]:,} {word}" for key, word in STATUS_LABELS.items() if counts[key]
    )


def span_in_words(ms: int) -> str:
    if ms < 1.5 * MINUTE_MS:
        return "a minute"
    if ms < 1.5 * HOUR_MS:
        return formats.plural(round(ms / MINUTE_MS), "minute")
    if ms < 1.5 * DAY_MS:
        return formats.plural(round(ms / HOUR_MS), "hour")
    return formats.plural(round(ms / DAY_MS), "day")


def short_name(name: str) -> str:
    cut = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1].rstrip()}…"
    return formats.isolated(cut)


# A longer chain goes on as a group of its own: browsers do not nest elements without end.
MOST_DEPTH = 6


def parents(ranked: list[CombSource]) -> dict[str, str]:
    """For each source the one whose group it is part of; empty if it stands by itself. A loop,
    which corrected referrers can make, is cut open."""
    sources = {each.key: each for each in ranked}
    found: dict[str, str] = {}
    depth: dict[str, int] = {}
    for each in ranked:
        chain: list[CombSource] = []
        at: CombSource | None = each
        while at is not None and at.key not in depth and at not in chain:
            chain.append(at)
            at = sources.get(at.parent)
        above = at.key if at is not None and at.key in depth else ""
        for one in reversed(chain):
            is_deep = not above or depth[above] == MOST_DEPTH
            found[one.key] = "" if is_deep else above
            depth[one.key] = 0 if is_deep else depth[above] + 1
            above = one.key
    return found


def inner(ranked: list[CombSource], found: dict[str, str]) -> dict[str, list[CombSource]]:
    """The sources within each source, and under "" those that stand by themselves."""
    groups: dict[str, list[CombSource]] = defaultdict(list)
    for each in ranked:
        groups[found[each.key]].append(each)
    return groups


def order(groups: dict[str, list[CombSource]]) -> list[str]:
    """Each followed by those who came through it."""
    found: list[str] = []
    waiting = list(reversed(groups[""]))
    while waiting:
        each = waiting.pop()
        found.append(each.key)
        waiting += reversed(groups[each.key])
    return found


def fitting(columns: int, busiest: Callable[[int], int]) -> CombScale:
    """One person each while that is possible, and then the largest hexagons. `busiest` says how
    many hexagons the fullest column has if each stands for so many people."""
    for people in _steps():
        cells = busiest(people)
        largest = max(
            (_scale(people, across, columns, cells) for across in range(1, MOST_ACROSS + 1)),
            key=lambda scale: scale.radius,
        )
        if largest.radius >= SMALLEST_RADIUS:
            return largest
    raise AssertionError("the steps never end")


def _scale(people: int, across: int, columns: int, cells: int) -> CombScale:
    """The largest hexagons that fit both ways."""
    wide = FILLED * WIDTH / columns / across / 1.5
    high = TALLEST / ROW / max(1, -(-cells // across))
    return CombScale(people, across, min(LARGEST_RADIUS, wide, high))


def _steps() -> Iterator[int]:
    """1, 5, 10, 20, 50, 100, 200 …"""
    yield 1
    yield 5
    unit = 10
    while True:
        yield from (unit, 2 * unit, 5 * unit)
        unit *= 10
