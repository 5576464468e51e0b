"""Numbers and times as people write them: 1,204; 19 Nov 2026, 14:05 UTC; 3 minutes ago."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from honeyguide.kernel import clock
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, iso
from honeyguide.kernel.periods import day_of, local_time
from honeyguide.partners import rules

day, short_day = clock.day, clock.short_day


def number(value: int | None) -> str:
    return f"{value or 0:,}"


def up_to(most: int, *counts: int) -> str:
    """Their sum, with a plus if one of them was not counted to its end: 1,000+."""
    return f"{sum(min(count, most) for count in counts):,}{'+' if max(counts) > most else ''}"


def moment(ms: int) -> str:
    at = datetime.fromtimestamp(ms / 1000, UTC)
    return f"{day(ms)}, {at.hour:02d}:{at.minute:02d} UTC"


def date_in_words(value: date) -> str:
    """`15 Nov 2026`"""
    return f"{value.day} {clock.MONTHS[value.month - 1][:3]} {value.year}"


def day_in(ms: int, zone: ZoneInfo) -> str:
    """`15 Nov 2026`, in this zone."""
    return date_in_words(day_of(ms, zone))


def time_in(ms: int, zone: ZoneInfo) -> str:
    """`06:10`, in this zone."""
    return local_time(ms, zone).strftime("%H:%M")


_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def weekday(ms: int) -> str:
    """`Fri 13 Nov`"""
    return f"{_WEEKDAYS[datetime.fromtimestamp(ms / 1000, UTC).weekday()]} {short_day(ms)}"


def ago(ms: int, now_ms: int) -> str:
    """How long ago, within a week; the date before that."""
    past = now_ms - ms
    if past < MINUTE_MS:
        return "just now"
    if past < HOUR_MS:
        return _units(past // MINUTE_MS, "minute")
    if past < DAY_MS:
        return _units(past // HOUR_MS, "hour")
    if past < 7 * DAY_MS:
        return _units(past // DAY_MS, "day")
    return day(ms)


def interval(ms: int) -> str:
    """How often something runs: second, 30 seconds, 10 minutes, day."""
    for unit_ms, unit in ((DAY_MS, "day"), (HOUR_MS, "hour"), (MINUTE_MS, "minute")):
        if ms >= unit_ms:
            return unit if ms == unit_ms else plural(ms // unit_ms, unit)
    return "second" if ms == SECOND_MS else plural(ms // SECOND_MS, "second")


def _units(count: int, unit: str) -> str:
    return f"{count} {unit}{'' if count == 1 else 's'} ago"


def initials(name: str) -> str:
    """`DS` for Dana Sato or for dana.sato@example.com."""
    local = name.partition("@")[0]
    parts = local.replace(".", " ").replace("_", " ").split()
    ends = parts[:1] + parts[1:][-1:]
    return "".join(part[0] for part in ends).upper() or "?"


def plural(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def signed(amount: int) -> str:
    """As in `+2` or `−2`."""
    return f"{amount:+,}".replace("-", "−")


def share(part: int, whole: int) -> str:
    """A percentage, or a dash where there is nothing to divide by. 100% is all of them."""
    if not whole:
        return "–"
    value = 100 * part / whole
    if part < whole:
        value = min(value, 99)
    return f"{value:.0f}%" if value >= 10 or value == int(value) else f"{value:.1f}%"


_BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS", "Mac"),
    ("Linux", "Linux"),
)


def browser(user_agent: str | None) -> str:
    """Enough of a browser's name to recognize your own."""
    text = user_agent or ""
    name = next(
        (name for mark, name in _BROWSERS if mark in text), "A program" if text else "Unknown"
    )
    system = next((name for mark, name in _SYSTEMS if mark in text), "")
    return f"{name} on {system}" if system else name


_EMAIL_STATES = {
    "sent": "Sent",
    "waiting": "Waiting to be sent",
    "held": "Waits for your decision about the referral link",
    "failed": "Could not be delivered",
    "cancelled": "Canceled",
}


def email_state(status: str, *, bounced: int = 0) -> str:
    return "Returned: there is no such mailbox" if bounced else _EMAIL_STATES[status]


def isolated(name: str) -> str:
    """The name for a sentence in plain text. Without the marks around it (U+2068 and U+2069), a
    right-to-left name would reorder the words and numbers beside it.
    """
    is_right_to_left = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in name)
    return f"\u2068{name}\u2069" if is_right_to_left else name


# What a publication's words are called here; the API has them as specified.
_LABELS = {
    "almost_all_male": "Almost all men",
    "mainly_male": "Mainly men",
    "mixed": "Mixed",
    "mainly_female": "Mainly women",
    "almost_all_female": "Almost all women",
    "web3.0": "Web3",
    "TV & movie": "TV & movies",
}


def label(word: str) -> str:
    """Such as "Tech" for "tech" and "18–24" for "18 - 24"."""
    return _LABELS.get(word) or (word[:1].upper() + word[1:]).replace(" - ", "–")


FILTERS: dict[str, Callable[..., str]] = {
    "interval": interval,
    "isolated": isolated,
    "label": label,
    "number": number,
    "day": day,
    "day_in": day_in,
    "time_in": time_in,
    "short_day": short_day,
    "weekday": weekday,
    "moment": moment,
    "ago": ago,
    "plural": plural,
    "initials": initials,
    "share": share,
    "signed": signed,
    "iso": iso,
    "browser": browser,
    "month_name": rules.month_name,
    "email_state": email_state,
}
