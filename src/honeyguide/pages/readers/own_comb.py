"""A reader's own comb: "You" in the middle and a cell for each friend, from the inside out.

Only the places are worked out here; `readers/own_comb.html` draws them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from math import cos, hypot, sin, tau
from typing import NamedTuple

# Three full rings. Of more friends, so many are drawn and the page says how many more there are.
MOST_FRIENDS = 36
# Those who count are most of the picture, however many are pending.
MOST_PENDING = 12
# Four full rings. A reward that is farther away is not in the picture.
MOST_CELLS = 60
# Free places after the next reward: it goes on from there.
ROOM_AFTER = 2

# Flat hexagons that nearly touch: half of the height of a place, and how far apart columns are.
_HALF, _COLUMN = 21.65, 37.5
_MARGIN_X, _MARGIN_Y, _MARGIN_OF_BURST = 28.5, 25.65, 50.0
# What a reward throws out: small cells on two circles, each with its distance and size.
_THROWN = ((33, 3.0), (42, 3.8), (34, 6.2), (43, 3.0), (36, 4.6), (41, 2.4))
_SHOTS = 24
_CLEAR_OF_OTHERS = 30
# In pixels for one unit of the picture, and the widest that it gets.
_SCALE, _WIDEST = 1.35, 340


class CombPlace(NamedTuple):
    """The middle of a cell."""

    x: float
    y: float

    @property
    def hexagon(self) -> str:
        """The data of a path around it."""
        return f"M{self.x - 23.5:g} {self.y:g}l11.8-20.4h23.5l11.8 20.4-11.8 20.4h-23.5z"


MIDDLE = CombPlace(0, 0)


class OwnComb(NamedTuple):
    view_box: str
    width: int
    height: int
    verified: str
    """All cells of one kind, as the data of one path."""
    pending: str
    room: str
    goal: CombPlace | None
    """Of the friend who earns the next reward, if that is near enough to draw."""
    is_goal_pending: bool
    newest: CombPlace | None
    """Of the friend who just earned a reward."""
    burst: str
    more: int
    """Friends who are not drawn."""
    middle: CombPlace = MIDDLE


def draw(friends: int, pending: int, left: int | None, *, is_joy: bool = False) -> OwnComb:
    """`left` is how many friends the next reward still takes, None if there is none."""
    friends = max(0, friends)
    soft = min(pending, max(MOST_FRIENDS - friends, MOST_PENDING))
    solid = min(friends, MOST_FRIENDS - soft)
    taken = solid + soft
    goal = solid + left - 1 if left and solid + left <= MOST_CELLS else None
    # The first ring is always there, and without a goal the last one is closed: it looks whole.
    size = _ring_end(max(1, taken))
    if goal is not None:
        size = max(_ring_end(1), max(taken, goal + 1) + ROOM_AFTER)
    places = list(islice(_spiral(), min(size, MOST_CELLS)))
    newest = places[solid - 1] if is_joy and solid else None
    marked = places[goal] if goal is not None else None
    others = [MIDDLE, *places[: solid - 1], *places[solid:taken], *([marked] if marked else [])]
    x, y, width, height = _box(places, newest)
    scale = min(_SCALE, _WIDEST / width)
    return OwnComb(
        view_box=f"{x:g} {y:g} {width:g} {height:g}",
        width=round(width * scale),
        height=round(height * scale),
        verified=_path(places[: solid - 1 if newest else solid]),
        pending=_path([places[number] for number in range(solid, taken) if number != goal]),
        room=_path([places[number] for number in range(taken, len(places)) if number != goal]),
        goal=marked,
        is_goal_pending=goal is not None and goal < taken,
        newest=newest,
        burst=_burst(newest, others) if newest else "",
        more=friends + pending - taken,
    )


def _path(places: Sequence[CombPlace]) -> str:
    return "".join(place.hexagon for place in places)


def _spiral() -> Iterator[CombPlace]:
    """Ring by ring, clockwise from the top."""
    ring = 1
    while True:
        column, row = 0, -2 * ring  # rows count half heights
        for column_step, row_step in ((1, 1), (0, 2), (-1, 1), (-1, -1), (0, -2), (1, -1)):
            for _ in range(ring):
                yield CombPlace(column * _COLUMN, round(row * _HALF, 1))
                column, row = column + column_step, row + row_step
        ring += 1


def _ring_end(count: int) -> int:
    """How many places the rings have that are needed for so many."""
    ring = size = 0
    while size < count:
        ring += 1
        size += 6 * ring
    return size


def _burst(newest: CombPlace, others: Sequence[CombPlace]) -> str:
    """Around the newest friend, where nobody else is."""
    parts = []
    for number in range(_SHOTS):
        far, size = _THROWN[number % len(_THROWN)]
        angle = tau * number / _SHOTS
        x, y = newest.x + far * cos(angle), newest.y + far * sin(angle)
        if any(hypot(x - other.x, y - other.y) < _CLEAR_OF_OTHERS for other in others):
            continue
        half, rise = size / 2, size * 0.87
        parts.append(
            f"M{x - size:.1f} {y:.1f}l{half:.1f}-{rise:.1f}h{size:.1f}l{half:.1f} {rise:.1f}"
            f"-{half:.1f} {rise:.1f}h-{size:.1f}z"
        )
    return "".join(parts)


def _box(
    places: Sequence[CombPlace], newest: CombPlace | None
) -> tuple[float, float, float, float]:
    margins = [(place, _MARGIN_X, _MARGIN_Y) for place in (MIDDLE, *places)]
    if newest is not None:
        margins.append((newest, _MARGIN_OF_BURST, _MARGIN_OF_BURST))
    left = min(place.x - margin for place, margin, _ in margins)
    right = max(place.x + margin for place, margin, _ in margins)
    top = min(place.y - margin for place, _, margin in margins)
    bottom = max(place.y + margin for place, _, margin in margins)
    return round(left, 1), round(top, 1), round(right - left, 1), round(bottom - top, 1)
