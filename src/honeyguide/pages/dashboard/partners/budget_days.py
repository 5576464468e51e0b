"""A month's budget as a strip of days, and the dates on which pending fees fall due. Pure: the
templates draw it. A partner sees the same strip, with their own share only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from honeyguide.kernel import money
from honeyguide.kernel.clock import DAY_MS
from honeyguide.pages.dashboard import formats
from honeyguide.partners import rules
from honeyguide.partners.expected_fees import PendingFees
from honeyguide.partners.partner_figures import ChargedDay

# Of a day, in pixels.
HEIGHT = 64
LEAST_HEIGHT = 3
LABELS = (1, 8, 15, 22, 29)


class DueDay(NamedTuple):
    """What falls due on one UTC day (days since 1970)."""

    day: int
    n: int
    fits_cents: int
    over_cents: int

    @property
    def cents(self) -> int:
        return self.fits_cents + self.over_cents


class StripPart(NamedTuple):
    kind: str
    height: int


class StripDay(NamedTuple):
    number: int
    label: str
    """Its number on some days; on most nothing."""
    parts: list[StripPart]
    """From the top."""
    is_today: bool
    is_last: bool
    """The day on which the money ends."""


class Strip(NamedTuple):
    days: list[StripDay]
    label: str
    """What it shows, for who does not see it."""

    @property
    def has_amounts(self) -> bool:
        return any(each.parts for each in self.days)


def due_days(pending: Iterable[tuple[PendingFees, int]]) -> list[DueDay]:
    """`pending` has how many of each fit. What waits for somebody has no date."""
    days: dict[int, DueDay] = {}
    for each, fitting in pending:
        if each.is_waiting:
            continue
        day = each.due_ms // DAY_MS
        _, n, fits_cents, over_cents = days.get(day, DueDay(day, 0, 0, 0))
        days[day] = DueDay(
            day,
            n + each.n,
            fits_cents + each.fee_cents * fitting,
            over_cents + each.fee_cents * (each.n - fitting),
        )
    return [days[day] for day in sorted(days)]


def strip(
    month: str,
    charged: Iterable[ChargedDay],
    due: Iterable[DueDay],
    *,
    now_ms: int,
    full_ms: int | None = None,
) -> Strip:
    from_ms, to_ms = rules.month_bounds(month)
    first, end = from_ms // DAY_MS, to_ms // DAY_MS
    amounts: dict[int, list[int]] = {day: [0, 0, 0] for day in range(first, end)}
    for each in charged:
        # What is verified around the end of a month may count in the next.
        amounts[min(max(each.day, first), end - 1)][2] += each.cents
    for one in due:
        if one.day in amounts:
            amounts[one.day][0] += one.over_cents
            amounts[one.day][1] += one.fits_cents
    tallest = max(1, *(sum(each) for each in amounts.values()))
    today, last = now_ms // DAY_MS, -1 if full_ms is None else full_ms // DAY_MS
    days = [
        StripDay(
            number=day - first + 1,
            label=_label(day - first + 1, today - first + 1),
            parts=[
                StripPart(kind, max(LEAST_HEIGHT, HEIGHT * cents // tallest))
                for kind, cents in zip(("over", "may", "sure"), each, strict=True)
                if cents
            ],
            is_today=day == today,
            is_last=day == last,
        )
        for day, each in amounts.items()
    ]
    return Strip(days, _sentence(amounts))


def _label(number: int, today: int) -> str:
    is_shown = number == today or (number in LABELS and abs(number - today) > 1)
    return str(number) if is_shown else ""


def _sentence(amounts: dict[int, list[int]]) -> str:
    words = ("does not fit", "is due", "charged")
    sentences = [
        f"{formats.short_day(day * DAY_MS)}: "
        + ", ".join(
            f"{money.show(cents)} {word}"
            for cents, word in reversed(list(zip(each, words, strict=True)))
            if cents
        )
        for day, each in amounts.items()
        if any(each)
    ]
    return "; ".join(sentences)
