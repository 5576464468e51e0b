"""The clock of the process, and the one format in which the API writes and reads timestamps."""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

from honeyguide.kernel.errors import Invalid

Clock = Callable[[], int]

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS

# The names that strftime gives follow the machine's locale.
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)

# The topic of a test clock that was set: what waits for a time need not wait for its turn as well.
CLOCK_SET = "clock set"

# Clocks differ: a client's "now" up to this far ahead is taken as ours.
AHEAD_MS = 5 * MINUTE_MS


def system_clock() -> int:
    return time.time_ns() // 1_000_000


def shifted_clock(path: Path) -> Clock:
    """A clock that adds the seconds in a file, read at every call, so that anyone can try out
    holding periods and month ends."""

    def now_ms() -> int:
        try:
            ahead_s = float(path.read_text().strip() or "0")
        except (OSError, ValueError):
            ahead_s = 0.0
        return system_clock() + round(ahead_s * 1000)

    return now_ms


@functools.lru_cache(maxsize=4096)
def _day(day: int) -> str:
    # strftime drops the leading zeros of early years on some platforms; isoformat never does.
    return date.fromordinal(day + _EPOCH_DAY).isoformat()


_EPOCH_DAY = date(1970, 1, 1).toordinal()
# A list of fifty writes fifty times: looking the parts up takes a quarter of formatting them.
_MINUTES = [f"T{minute // 60:02d}:{minute % 60:02d}:" for minute in range(24 * 60)]
_SECONDS = [f"{second:02d}." for second in range(60)]
_MILLIS = [f"{milli:03d}Z" for milli in range(1000)]


def iso(ms: int) -> str:
    """`2026-11-15T01:30:01.123Z`: UTC with milliseconds, as every response has it."""
    day, rest = divmod(ms, DAY_MS)
    minute, rest = divmod(rest, MINUTE_MS)
    return f"{_day(day)}{_MINUTES[minute]}{_SECONDS[rest // 1000]}{_MILLIS[rest % 1000]}"


def short_day(ms: int) -> str:
    """`15 Nov`, as people write it."""
    at = datetime.fromtimestamp(ms / 1000, UTC)
    return f"{at.day} {MONTHS[at.month - 1][:3]}"


def day(ms: int) -> str:
    """`15 Nov 2026`, as people write it."""
    return f"{short_day(ms)} {datetime.fromtimestamp(ms / 1000, UTC).year}"


_FORM = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:(Z)|([+-])(\d{2}):(\d{2}))",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FORMAT = (
    "{field} must be a timestamp such as 2026-11-15T01:30:01Z or 2026-11-15T01:30:01.123+01:00."
)


def parse(text: str, *, param: str) -> int:
    """Exactly `YYYY-MM-DDThh:mm:ss[.fraction]TZD`. `fromisoformat` would also take week dates and
    missing time zones."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise Invalid(_FORMAT, param=param)
    year, month, day, hour, minute, second = (int(match[i]) for i in range(1, 7))
    milli = int((match[7] or "0").ljust(3, "0")[:3])
    offset = timedelta(0)
    if match[8] is None:
        if int(match[10]) > 23 or int(match[11]) > 59:
            raise Invalid(_FORMAT, param=param)
        offset = timedelta(hours=int(match[10]), minutes=int(match[11])) * (
            -1 if match[9] == "-" else 1
        )
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=timezone(offset))
        return (moment.astimezone(UTC) - _EPOCH) // timedelta(milliseconds=1) + milli
    except (ValueError, OverflowError):
        raise Invalid("{field} is not a date that exists.", param=param) from None


def parse_past(text: str, *, param: str, now_ms: int) -> int:
    """Parse a past time. Up to 5 minutes ahead is clamped to now; later is an error."""
    ms = parse(text, param=param)
    if ms > now_ms + AHEAD_MS:
        raise Invalid("{field} is in the future.", param=param)
    return min(ms, now_ms)
