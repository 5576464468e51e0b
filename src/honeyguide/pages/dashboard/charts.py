"""Charts as numbers: where each bar begins and ends. The template draws them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from honeyguide.pages.dashboard import formats
from honeyguide.referrals import statistics
from honeyguide.referrals.statistics import PeriodTotals

HEIGHT = 100.0
STACK = ("verified", "pending", "rejected", "not_referred")
LEAST_LINES, MOST_LINES = 3, 5
LABELS = 6
# A longer range has a bar for each week.
MOST_DAILY_BARS = 92
WEEK = 7


@dataclass(frozen=True)
class ChartPart:
    kind: str
    y: float
    height: float


@dataclass(frozen=True)
class Bar:
    x: float
    width: float
    name: str
    totals: PeriodTotals
    parts: list[ChartPart]
    clicks_y: float
    clicks_height: float

    @property
    def middle(self) -> float:
        return round(self.x + self.width / 2, 2)


@dataclass(frozen=True)
class Chart:
    step: str
    bars: list[Bar]
    top: int
    clicks_top: int
    levels: list[tuple[float, int]]
    labels: list[str]
    is_empty: bool


def _scale(most: int) -> tuple[int, int]:
    """The top of the scale, and the number of lines: three to five, in steps of 1, 2 or 5."""
    unit = 1
    while True:
        for factor in (1, 2, 5):
            lines = max(LEAST_LINES, -(-most // (factor * unit)))
            if lines <= MOST_LINES:
                return lines * factor * unit, lines
        unit *= 10


def _steps(days: dict[str, PeriodTotals]) -> tuple[int, list[tuple[date, PeriodTotals]]]:
    """Days or weeks, each with its first day."""
    length = 1 if len(days) <= MOST_DAILY_BARS else WEEK
    names, counts = list(days), list(days.values())
    return length, [
        (date.fromisoformat(names[at]), statistics.total(counts[at : at + length]))
        for at in range(0, len(days), length)
    ]


def signups(days: dict[str, PeriodTotals]) -> Chart:
    """Signups per day or week, by what their referral is; clicks on a scale of their own below."""
    length, steps = _steps(days)
    top, lines = _scale(max(counts.new for _, counts in steps))
    clicks_top = max(1, *(counts.clicks for _, counts in steps))
    slot = 1000 / len(steps)
    prefix = "" if length == 1 else "Week of "
    bars = []
    for place, (day, counts) in enumerate(steps):
        parts, at = [], HEIGHT
        for kind in STACK:
            height = HEIGHT * getattr(counts, kind) / top
            if height > 0:
                at -= height
                parts.append(ChartPart(kind, round(at, 2), round(height, 2)))
        tall = round(HEIGHT * counts.clicks / clicks_top, 2)
        bars.append(
            Bar(
                x=round(slot * (place + 0.16), 2),
                width=round(slot * 0.68, 2),
                name=f"{prefix}{formats.date_in_words(day)}",
                totals=counts,
                parts=parts,
                clicks_y=HEIGHT - tall,
                clicks_height=tall,
            )
        )
    return Chart(
        step="day" if length == 1 else "week",
        bars=bars,
        top=top,
        clicks_top=clicks_top,
        levels=[
            (round(HEIGHT - HEIGHT * n / lines, 2), top * n // lines) for n in range(lines + 1)
        ],
        labels=_labels([day for day, _ in steps]),
        is_empty=not any(counts.new or counts.clicks for _, counts in steps),
    )


def _labels(days: list[date]) -> list[str]:
    count = min(LABELS, len(days))
    places = [round(n * (len(days) - 1) / max(1, count - 1)) for n in range(count)]
    return [formats.date_in_words(days[place]).rpartition(" ")[0] for place in places]
