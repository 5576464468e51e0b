"""When digests and summaries go out: at 8 AM in a time zone."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from honeyguide.kernel.periods import day_of

HOUR = 8


def morning_of(day: date, zone: ZoneInfo) -> int:
    at = datetime(day.year, day.month, day.day, HOUR, tzinfo=zone)
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
