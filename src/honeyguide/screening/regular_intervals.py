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
            found.update((id, finding) for id, _ in arrivals[start : end + 1])
    return found


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
