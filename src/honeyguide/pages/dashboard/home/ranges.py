"""The range of days that an operator chooses on Home, and what it is compared with. It is
part of the page's URL: `?range=30d`, or `?from=2026-10-17&to=2026-11-15`, and `&compare=year`."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import NamedTuple
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.periods import Period, day_of, start_of
from honeyguide.pages.dashboard import formats

PRESETS = {"7d": ("7 days", 7), "30d": ("30 days", 30), "90d": ("90 days", 90)}
PRESETS["year"] = ("Year", 365)
DEFAULT = "30d"
COMPARISONS = {
    "previous": "vs. the days before",
    "year": "vs. a year earlier",
    "none": "No comparison",
}
# Weekdays differ more than years do, so that a year earlier means 52 weeks.
YEAR_DAYS = 364
MOST_DAYS = 1_830
OLDEST_YEAR = 2000
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII).fullmatch


class ChosenRange(NamedTuple):
    key: str
    """A preset, or "" for dates of one's own."""
    period: Period
    compare: str
    comparison: Period | None
    comparison_until_ms: int | None
    """Today is not over yet: the day it is compared with ends at the same time of day."""
    error: str

    @property
    def query(self) -> str:
        """What to add to a link so that it keeps the range."""
        dates = {"from": self.period.first.isoformat(), "to": self.period.last.isoformat()}
        chosen = {"range": self.key} if self.key else dates
        return urlencode({**chosen, "compare": self.compare})

    @property
    def text(self) -> str:
        return days_in_words(self.period)

    @property
    def comparison_text(self) -> str:
        return days_in_words(self.comparison) if self.comparison else ""


def earlier_in_words(chosen: ChosenRange) -> str:
    """What it is compared with: "the 30 days before". Empty if with nothing."""
    if chosen.comparison is None:
        return ""
    is_day = chosen.period.length == 1
    if chosen.compare == "year":
        return f"the same {'day' if is_day else 'days'} a year earlier"
    return "the day before" if is_day else f"the {chosen.period.length} days before"


def during(earlier: str) -> str:
    """The same with what comes before it in a sentence: "in the 30 days before", but just "the day
    before"."""
    return earlier if earlier == "the day before" else f"in {earlier}"


def days_in_words(period: Period) -> str:
    """17 Oct – 15 Nov 2026"""
    first, last = formats.date_in_words(period.first), formats.date_in_words(period.last)
    if period.first.year == period.last.year:
        first = first.rpartition(" ")[0]
    return formats.date_in_words(period.last) if period.length == 1 else f"{first} – {last}"


def chosen_range(query: dict[str, str], zone: ZoneInfo, *, now_ms: int) -> ChosenRange:
    """The range that the URL asks for. If it asks for one that cannot be, it is the usual one and
    says why."""
    today = day_of(now_ms, zone)
    key, error = query.get("range", ""), ""
    if key not in PRESETS:
        key = "" if query.get("from") or query.get("to") else DEFAULT
    period = _preset(key or DEFAULT, today, zone)
    if not key:
        try:
            period = _own_dates(query, today, zone)
        except Invalid as fault:
            key, error = DEFAULT, fault.message
    compare = query.get("compare", "")
    if compare not in COMPARISONS:
        compare = "previous"
    comparison, until_ms = None, None
    if compare != "none":
        days = YEAR_DAYS if compare == "year" else period.length
        comparison = period.shifted(-max(days, period.length))
        if period.last == today:
            until_ms = start_of(comparison.last, zone) + now_ms - start_of(today, zone)
    return ChosenRange(key, period, compare, comparison, until_ms, error)


def _preset(key: str, today: date, zone: ZoneInfo) -> Period:
    return Period(today - timedelta(days=PRESETS[key][1] - 1), today, zone)


def _own_dates(query: dict[str, str], today: date, zone: ZoneInfo) -> Period:
    last = _date(query["to"], "To") if query.get("to") else today
    first = _date(query["from"], "From") if query.get("from") else last - timedelta(days=29)
    last = min(last, today)
    if first > today:
        raise Invalid("From must not be in the future.")
    if first > last:
        raise Invalid("From must not be after To.")
    if (last - first).days >= MOST_DAYS:
        raise Invalid("Choose a range of at most 5 years.")
    return Period(first, last, zone)


def _date(text: str, name: str) -> date:
    try:
        if not _DATE(text):
            raise ValueError
        found = date.fromisoformat(text)
    except ValueError:
        raise Invalid("{name} must be a date such as 2026-11-15.", name=name) from None
    if found.year < OLDEST_YEAR:
        raise Invalid("{name} must be in {year} or later.", name=name, year=OLDEST_YEAR)
    return found
