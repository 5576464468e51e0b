"""Whether signups came by a timer. People come at random, so the gaps between them vary at least as
much as their mean; a timer's vary less, also one with a random part.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from operator import mul

from honeyguide.screening.signals import THRESHOLDS, Signal, SignalFinding

_TRIMMED = 0.1
# Of a regular stretch, who belongs to the timer: at least so many in a row, each about one gap
# after the one before. How far off a gap may be follows from how much they vary.
_LEAST_CHAIN = 5
_LEAST_SPREAD, _SPREAD, _MOST_SPREAD = 0.02, 3.5, 0.6


def findings(arrivals: Sequence[tuple[str, int]]) -> dict[str, SignalFinding]:
    """For the ids of those who came at regular intervals. Each is an id and a time in ms, oldest
    first."""
    gaps = [after - before for (_, before), (_, after) in itertools.pairwise(arrivals)]
    found: dict[str, SignalFinding] = {}
    for start, end, limit in _windows(len(gaps)):
        window = sorted(gaps[start:end])
        typical = window[len(window) // 2]
        if not THRESHOLDS.shortest_gap_ms <= typical <= THRESHOLDS.longest_gap_ms:
            continue
        if _variation(window) <= limit:
            finding = SignalFinding(
                Signal.REGULAR_INTERVALS, f"about {_duration(typical)} apart", 3
            )
            stretch = arrivals[start : end + 1]
            found.update((id, finding) for id in _members(stretch, window, typical))
    return found


def _members(arrivals: Sequence[tuple[str, int]], gaps: Sequence[int], typical: int) -> list[str]:
    """Those who follow one another at the typical gap. People who came in between did not."""
    off = sorted(abs(gap - typical) for gap in gaps)[len(gaps) // 2] / typical
    spread = min(_MOST_SPREAD, max(_LEAST_SPREAD, _SPREAD * off))
    left, members = list(arrivals), list[str]()
    while True:
        chain = _longest_chain(left, typical, spread * typical)
        if len(chain) < _LEAST_CHAIN:
            return members
        members += [left[number][0] for number in chain]
        left = [each for number, each in enumerate(left) if number not in chain]


def _longest_chain(arrivals: Sequence[tuple[str, int]], typical: int, spread: float) -> list[int]:
    """The positions of those who came one typical gap after the other; of several chains of the
    same length, the most regular one."""
    best: list[tuple[int, float, int | None]] = []
    for number, (_, at_ms) in enumerate(arrivals):
        chosen: tuple[int, float, int | None] = (1, 0.0, None)
        for before in range(number - 1, -1, -1):
            off = at_ms - arrivals[before][1] - typical
            if off > spread:
                break
            if off >= -spread:
                length, regular, _ = best[before]
                chosen = max(chosen, (length + 1, regular - abs(off), before), key=_by_length)
        best.append(chosen)
    last = max(range(len(best)), key=lambda each: best[each][:2], default=None)
    chain = list[int]()
    while last is not None:
        chain.append(last)
        last = best[last][2]
    return chain


def _by_length(chain: tuple[int, float, int | None]) -> tuple[int, float]:
    return chain[:2]


def _windows(count: int) -> Iterator[tuple[int, int, float]]:
    """Where to look, and the most variation there. All gaps while there are few, so that hardly
    any signup waits for the next; later in stretches, so that a timer is found among others."""
    sizes = THRESHOLDS.regular_gaps
    if sizes[0][0] <= count < sizes[1][0]:
        yield 0, count, sizes[0][1]
    for size, limit in sizes[1:]:
        for end in range(count, size - 1, -max(1, size // 6)):
            yield end - size, end, limit


def _variation(ordered: Sequence[int]) -> float:
    """The coefficient of variation without the shortest and longest gaps: a few breaks, or a few
    people between the timer's, do not hide it."""
    cut = math.ceil(len(ordered) * _TRIMMED)
    middle = ordered[cut : len(ordered) - cut]
    total, count = sum(middle), len(middle)
    spread = count * sum(map(mul, middle, middle)) - total * total
    return math.sqrt(spread) / total


def _duration(ms: int) -> str:
    seconds = round(ms / 1000)
    if seconds < 120:
        return f"{seconds} seconds"
    minutes = round(seconds / 60)
    return f"{minutes} minutes" if minutes < 120 else f"{round(minutes / 60)} hours"
