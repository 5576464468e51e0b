"""The tree of the Comb: which of its sources came through which."""

from __future__ import annotations

from collections import defaultdict

from honeyguide.pages.dashboard.home.comb_parts import CombSource

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
