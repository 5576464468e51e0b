"""What the Comb says about a source, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.home.comb_parts import STATUS_LABELS, Joined

LONGEST_NAME = 28


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
