"""A partner's referrals by the day on which they joined: one mark for each subscriber, and each
sentence about them once. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from honeyguide.kernel.clock import DAY_MS
from honeyguide.partners import partner_referrals
from honeyguide.partners.partner_referrals import ReferredSubscriber

# The class of a cell, and its word.
CELLS = {
    partner_referrals.CONFIRMED: ("v", "confirmed"),
    partner_referrals.PENDING: ("p", "pending"),
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
    """The fees of pending ones, whether or not the budget and the cap can still hold them."""
    sentences: list[tuple[int, str]]
    """How many, and what happened to them or will happen."""


def by_day(
    rows: Sequence[ReferredSubscriber], why: Callable[[ReferredSubscriber], str]
) -> list[ReferralDay]:
    """Newest day first; each program has a row of its own."""
    groups: dict[tuple[int, str], list[ReferredSubscriber]] = {}
    for row in rows:
        key = row.arrived_ms // DAY_MS, row.partner_campaign_id
        groups.setdefault(key, []).append(row)
    newest_first = sorted(groups.items(), key=lambda each: (-each[0][0], each[0][1]))
    return [_day(found, why) for _, found in newest_first]


def _day(rows: list[ReferredSubscriber], why: Callable[[ReferredSubscriber], str]) -> ReferralDay:
    counts = {state: sum(row.state == state for row in rows) for state in CELLS}
    cells = [CELLS[state][0] for state, n in counts.items() for _ in range(n)]
    sentences: dict[str, int] = {}
    for row in sorted(rows, key=lambda each: list(CELLS).index(each.state)):
        sentence = why(row)
        sentences[sentence] = sentences.get(sentence, 0) + 1
    return ReferralDay(
        arrived_ms=rows[0].arrived_ms,
        partner_campaign_id=rows[0].partner_campaign_id,
        publication_name=rows[0].publication_name,
        cells=cells[:MOST_CELLS],
        more=max(0, len(cells) - MOST_CELLS),
        label=", ".join(f"{n:,} {CELLS[state][1]}" for state, n in counts.items() if n),
        charged_cents=sum(row.charged_cents or 0 for row in rows),
        pending_cents=sum(row.fee_cents for row in rows if row.state == partner_referrals.PENDING),
        sentences=[(n, sentence) for sentence, n in sentences.items()],
    )
