"""When the members of a group came, on a line: a robot and an honest crowd look different at a
glance. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import mean, pstdev
from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS

# Fewer are told by their times.
LEAST_DRAWN = 3
# The marks of more lie on top of each other.
MOST_DRAWN = 80
# A clock, not people: from this many on, and if the gaps differ by less than this share.
LEAST_REGULAR = 5
REGULAR_SHARE = 0.2


class ArrivalLine(NamedTuple):
    places: list[float]
    """In percent of the line."""
    rhythm: str
    """`one every 1 min 54 s, give or take 3 s`, or `irregular`."""
    length: str
    """`21 minutes`"""


def line(times_ms: Sequence[int]) -> ArrivalLine | None:
    """None if they are too few for a line."""
    times = sorted(times_ms)
    if len(times) < LEAST_DRAWN or times[-1] == times[0]:
        return None
    whole = times[-1] - times[0]
    step = max(1, len(times) // MOST_DRAWN)
    drawn = [*times[::step], times[-1]] if step > 1 else times
    places = [round(2 + 96 * (each - times[0]) / whole, 1) for each in drawn]
    return ArrivalLine(places, _rhythm(times), in_words(whole))


def _rhythm(times: list[int]) -> str:
    gaps = [later - earlier for earlier, later in pairwise(times)]
    usual, apart = mean(gaps), pstdev(gaps)
    if len(times) < LEAST_REGULAR or apart > REGULAR_SHARE * usual:
        return "irregular"
    return f"one every {_exact(usual)}, give or take {_exact(apart)}"


def _exact(ms: float) -> str:
    seconds = round(ms / SECOND_MS)
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def in_words(ms: int) -> str:
    """How long, in the largest unit that says enough."""
    for unit_ms, unit in ((DAY_MS, "day"), (HOUR_MS, "hour"), (MINUTE_MS, "minute")):
        if ms >= 2 * unit_ms:
            return f"{round(ms / unit_ms):,} {unit}s"
    seconds = max(1, round(ms / SECOND_MS))
    return "1 second" if seconds == 1 else f"{seconds} seconds"
