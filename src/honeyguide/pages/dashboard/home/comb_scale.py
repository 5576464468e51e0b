"""How large the hexagons of the Comb are: as large as the busiest column allows. Where even the
smallest would not do, one hexagon stands for several people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

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
