"""A partner's referrals by the day on which they joined: one mark for each subscriber, and each
sentence about them once. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS
from honeyguide.partners import partner_referrals
from honeyguide.partners.partner_referrals import ReferredSubscriber

# The class of a cell, and its word.
OVER = "over"
NO_FEE = "Their fee does not fit what is left."
CELLS = {
    partner_referrals.CONFIRMED: ("v", "confirmed"),
    partner_referrals.PENDING: ("p", "pending"),
    OVER: ("o", "pending that does not fit"),
    partner_referrals.UNCHARGED: ("n", "not paid"),
    partner_referrals.REJECTED: ("x", "rejected"),
}
# More than this are sentence in words only.
MOST_CELLS = 60


class ReferralDay(NamedTuple):
    arrived_ms: int
    partner_campaign_id: str
    publication_name: str
    cells: list[str]
    """The classes of the first of them, confirmed ones first."""
    more: int
    """How many have no cell."""
    label: str
    """`7 confirmed, 1 rejected`"""
    charged_cents: int
    pending_cents: int
    """The fees of pending ones that the budget and the cap can still hold."""
    over_cents: int
    """Of those that they cannot."""
    sentences: list[tuple[int, str]]
    """How many, and what happened to them or will happen."""


def by_day(
    rows: Sequence[ReferredSubscriber],
    why: Callable[[ReferredSubscriber], str],
    unfitting: Set[str],
) -> list[ReferralDay]:
    """Newest day first; each program has a row of its own. `unfitting` has the ids of pending ones
    that no month can hold."""
    groups: dict[tuple[int, str], list[ReferredSubscriber]] = {}
    for row in rows:
        key = row.arrived_ms // DAY_MS, row.partner_campaign_id
        groups.setdefault(key, []).append(row)
    newest_first = sorted(groups.items(), key=lambda each: (-each[0][0], each[0][1]))
    return [_day(found, why, unfitting) for _, found in newest_first]


def _day(
    rows: list[ReferredSubscriber],
    why: Callable[[ReferredSubscriber], str],
    unfitting: Set[str],
) -> ReferralDay:
    states = [OVER if row.id in unfitting else row.state for row in rows]
    counts = {state: states.count(state) for state in CELLS}
    cells = [CELLS[state][0] for state, n in counts.items() for _ in range(n)]
    sentences: dict[str, int] = {}
    for row in sorted(rows, key=lambda each: list(CELLS).index(each.state)):
        sentence = why(row)
        if row.id in unfitting:
            sentence = f"{sentence} {NO_FEE}"
        sentences[sentence] = sentences.get(sentence, 0) + 1
    return ReferralDay(
        arrived_ms=rows[0].arrived_ms,
        partner_campaign_id=rows[0].partner_campaign_id,
        publication_name=rows[0].publication_name,
        cells=cells[:MOST_CELLS],
        more=max(0, len(cells) - MOST_CELLS),
        label=", ".join(f"{n:,} {CELLS[state][1]}" for state, n in counts.items() if n),
        charged_cents=sum(row.charged_cents or 0 for row in rows),
        pending_cents=_cents(rows, states, partner_referrals.PENDING),
        over_cents=_cents(rows, states, OVER),
        sentences=[(n, sentence) for sentence, n in sentences.items()],
    )


def _cents(rows: list[ReferredSubscriber], states: list[str], state: str) -> int:
    return sum(row.fee_cents for row, at in zip(rows, states, strict=True) if at == state)
