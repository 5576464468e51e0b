"""Whole days in a time zone: the range that an operator chooses, and the moments it starts and
ends at."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid

DEFAULT_ZONE = "UTC"
_FIRST_MS = round(datetime.min.replace(tzinfo=UTC).timestamp() * 1000)
_AREAS = (
    "Africa",
    "America",
    "Antarctica",
    "Asia",
    "Atlantic",
    "Australia",
    "Europe",
    "Indian",
    "Pacific",
)


MORNING_HOUR = 8  # digests and summaries go out at 8 AM in a time zone


@cache
def zone_names() -> tuple[str, ...]:
    """The zones to choose from: UTC, and those named after a place."""
    places = (name for name in available_timezones() if name.split("/")[0] in _AREAS)
    return (DEFAULT_ZONE, *sorted(places))


def zone_of(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def check_zone(name: str, *, param: str) -> str:
    if name not in zone_names():
        raise Invalid("{field} must be a name such as Europe/Berlin or UTC.", param=param)
    return name


def start_of(day: date, zone: ZoneInfo) -> int:
    """The moment at which a day starts. If clocks skip midnight, that is when they do. The first
    day there is starts with the first moment there is.
    """
    at = datetime(day.year, day.month, day.day, tzinfo=zone)
    start_ms = round(at.timestamp() * 1000)
    return min(start_ms, _FIRST_MS) if day == date.min else start_ms


def local_time(ms: int, zone: ZoneInfo) -> datetime:
    """Times such as 0001-01-01T00:00:00Z, which some clients send for "no time", would be in a year
    that does not exist, west of Greenwich. They stay as they are in UTC.
    """
    at = datetime.fromtimestamp(ms / 1000, UTC)
    try:
        return at.astimezone(zone)
    except OverflowError:
        return at


def day_of(ms: int, zone: ZoneInfo) -> date:
    return local_time(ms, zone).date()


def days_later(day: date, days: int) -> date:
    """So many days later, or earlier if negative, as far as there are days."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.min if days < 0 else date.max


def _end_of(day: date, zone: ZoneInfo) -> int:
    """The first moment after it."""
    if day == date.max:
        return start_of(day, zone) + DAY_MS
    return start_of(day + timedelta(days=1), zone)


class LocalDay(NamedTuple):
    """One day, and its moments: `until_ms` is not part of it."""

    day: date
    since_ms: int
    until_ms: int


class Period(NamedTuple):
    """From the first to the last day, both included."""

    first: date
    last: date
    zone: ZoneInfo

    @property
    def length(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def since_ms(self) -> int:
        return start_of(self.first, self.zone)

    @property
    def until_ms(self) -> int:
        """The first moment after it."""
        return _end_of(self.last, self.zone)

    @property
    def days(self) -> list[LocalDay]:
        days = [self.first + timedelta(days=n) for n in range(self.length)]
        starts = [*(start_of(day, self.zone) for day in days), self.until_ms]
        return [
            LocalDay(day, since_ms, until_ms)
            for day, since_ms, until_ms in zip(days, starts, starts[1:], strict=False)
        ]

    def shifted(self, days: int) -> Period:
        """As long, so many days later, or earlier if negative."""
        return self._replace(first=days_later(self.first, days), last=days_later(self.last, days))


def morning_of(day: date, zone: ZoneInfo) -> int:
    at = datetime(day.year, day.month, day.day, MORNING_HOUR, tzinfo=zone)
    return round(at.timestamp() * 1000)


def next_morning(now_ms: int, zone: ZoneInfo) -> int:
    today = day_of(now_ms, zone)
    at_ms = morning_of(today, zone)
    return at_ms if at_ms > now_ms else morning_of(today + timedelta(days=1), zone)


def next_monday_morning(now_ms: int, zone: ZoneInfo) -> int:
    monday = monday_of(now_ms, zone)
    at_ms = morning_of(monday, zone)
    return at_ms if at_ms > now_ms else morning_of(monday + timedelta(days=7), zone)


def monday_of(now_ms: int, zone: ZoneInfo) -> date:
    """The Monday of this week."""
    today = day_of(now_ms, zone)
    return today - timedelta(days=today.weekday())
