"""Charts as numbers: where each bar begins and ends. The template draws them."""

from __future__ import annotations

from dataclasses import dataclass

from honeyguide.kernel.clock import DAY_MS
from honeyguide.pages.dashboard import formats
from honeyguide.referrals.daily_counts import Day

HEIGHT = 100.0
STACK = ("verified", "pending", "rejected", "direct")
LEAST_LINES, MOST_LINES = 3, 5
LABELS = 6


@dataclass(frozen=True)
class Range:
    """A choice of the range picker: how many days, and how many of them make one bar."""

    key: str
    name: str
    days: int
    step: int
    before: str


RANGES = {
    "7d": Range("7d", "7 days", 7, 1, "previous 7 days"),
    "30d": Range("30d", "30 days", 30, 1, "previous 30 days"),
    "year": Range("year", "Year", 364, 7, "previous year"),
}


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
    day: Day
    parts: list[ChartPart]
    clicks_y: float
    clicks_height: float


@dataclass(frozen=True)
class Chart:
    bars: list[Bar]
    top: int
    clicks_top: int
    levels: list[tuple[float, int]]
    labels: list[str]
    is_empty: bool


def first_day(chosen: Range, now_ms: int) -> int:
    """The first day shown, so that today is the last."""
    return now_ms - now_ms % DAY_MS - (chosen.days - 1) * DAY_MS


def total(days: list[Day]) -> Day:
    return Day(0, *(sum(day[place] for day in days) for place in range(1, 6)))


def _steps(days: list[Day], chosen: Range, since_ms: int) -> list[Day]:
    by_day = {day.day_ms: day for day in days}
    found = []
    for start in range(0, chosen.days, chosen.step):
        span = [
            by_day[ms]
            for n in range(chosen.step)
            if (ms := since_ms + (start + n) * DAY_MS) in by_day
        ]
        found.append(total(span)._replace(day_ms=since_ms + start * DAY_MS))
    return found


def _scale(most: int) -> tuple[int, int]:
    """The top of the scale, and the number of lines: three to five, in steps of 1, 2 or 5."""
    unit = 1
    while True:
        for factor in (1, 2, 5):
            lines = max(LEAST_LINES, -(-most // (factor * unit)))
            if lines <= MOST_LINES:
                return lines * factor * unit, lines
        unit *= 10


def signups(days: list[Day], chosen: Range, since_ms: int) -> Chart:
    """Signups per day or week, by what their referral is; clicks on a scale of their own below."""
    steps = _steps(days, chosen, since_ms)
    top, lines = _scale(max(day.signups for day in steps))
    clicks_top = max(1, *(day.clicks for day in steps))
    slot = 1000 / len(steps)
    prefix = "" if chosen.step == 1 else "Week of "
    bars = []
    for place, day in enumerate(steps):
        parts, at = [], HEIGHT
        for kind in STACK:
            height = HEIGHT * getattr(day, kind) / top
            if height > 0:
                at -= height
                parts.append(ChartPart(kind, round(at, 2), round(height, 2)))
        tall = round(HEIGHT * day.clicks / clicks_top, 2)
        bars.append(
            Bar(
                x=round(slot * (place + 0.16), 2),
                width=round(slot * 0.68, 2),
                name=f"{prefix}{formats.day(day.day_ms)}",
                day=day,
                parts=parts,
                clicks_y=HEIGHT - tall,
                clicks_height=tall,
            )
        )
    label_count = min(LABELS, len(steps))
    places = [round(n * (len(steps) - 1) / (label_count - 1)) for n in range(label_count)]
    levels = [(round(HEIGHT - HEIGHT * n / lines, 2), top * n // lines) for n in range(lines + 1)]
    labels = [formats.short_day(steps[place].day_ms) for place in places]
    is_empty = not any(day.signups or day.clicks for day in steps)
    return Chart(bars, top, clicks_top, levels, labels, is_empty)
