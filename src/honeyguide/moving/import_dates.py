"""Dates as other tools write them. 03/04/2023 is two different days; which one is found from the
other lines of the file, and asked if no line tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum

from honeyguide.kernel.clock import AHEAD_MS, SECOND_MS, parse
from honeyguide.kernel.errors import Invalid
from honeyguide.moving.import_files import ImportLine

_PARAM = "created_at"
_TIME = r"(?:[ T]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(?: ?([AaPp])\.?[Mm]\.?)?)?"
_UTC = r"(?: ?(?:UTC|GMT|Z|\+00:?00))?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})[-/.](\d{{1,2}})[-/.](\d{{1,2}}){_TIME}{_UTC}", re.ASCII)
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}){_TIME}{_UTC}", re.ASCII)
_SECONDS = re.compile(r"\d{9,10}", re.ASCII)
_MILLISECONDS = re.compile(r"\d{12,13}", re.ASCII)
_MOST_MONTHS = 12
_HALF_DAY_H = 12


class DateOrder(StrEnum):
    DAY_FIRST = "day_first"
    MONTH_FIRST = "month_first"
    ISO = "iso"
    """No date begins with the day or the month, so there is nothing to ask."""
    UNCLEAR = "unclear"
    """Each date could be read both ways."""
    MIXED = "mixed"
    """Some dates can only begin with the day, others only with the month."""

    @property
    def is_open(self) -> bool:
        """Whether the operator has to say it."""
        return self in {DateOrder.UNCLEAR, DateOrder.MIXED}


def date_order(lines: Iterable[ImportLine], place: int | None) -> DateOrder:
    """In which order the dates in this column are written. Looks at every line: the one that tells
    may be the last."""
    has_day_first = has_month_first = has_either = False
    for line in lines:
        if place is None or place >= len(line.cells):
            continue
        match = _YEAR_LAST.fullmatch(line.cells[place])
        if match is None:
            continue
        first, second = int(match[1]), int(match[3])
        if first > _MOST_MONTHS and second > _MOST_MONTHS:
            continue  # no date at all, whichever way it is read
        has_day_first = has_day_first or first > _MOST_MONTHS
        has_month_first = has_month_first or second > _MOST_MONTHS
        has_either = True
    if has_day_first and has_month_first:
        return DateOrder.MIXED
    if has_day_first:
        return DateOrder.DAY_FIRST
    if has_month_first:
        return DateOrder.MONTH_FIRST
    return DateOrder.UNCLEAR if has_either else DateOrder.ISO


def moment(text: str, order: DateOrder, now_ms: int) -> int:
    """Parse a past time; without a time zone, it is UTC. Up to 5 minutes ahead is clamped to now;
    later is an error."""
    ms = _milliseconds(text.strip(), order)
    if ms > now_ms + AHEAD_MS:
        raise Invalid("{field} is in the future.", param=_PARAM)
    return min(ms, now_ms)


def _milliseconds(text: str, order: DateOrder) -> int:
    if _SECONDS.fullmatch(text):
        return int(text) * SECOND_MS
    if _MILLISECONDS.fullmatch(text):
        return int(text)
    match = _YEAR_FIRST.fullmatch(text)
    if match is not None:
        return _timestamp(text, (match[1], match[2], match[3]), match.groups()[3:])
    match = _YEAR_LAST.fullmatch(text)
    if match is None:
        return parse(text, param=_PARAM)
    if order is DateOrder.DAY_FIRST:
        return _timestamp(text, (match[4], match[3], match[1]), match.groups()[4:])
    if order is DateOrder.MONTH_FIRST:
        return _timestamp(text, (match[4], match[1], match[3]), match.groups()[4:])
    raise Invalid(
        "{field} “{text}” could be day/month or month/day. Choose which of them the file uses.",
        param=_PARAM,
        text=text,
    )


def _timestamp(text: str, date: tuple[str, str, str], time: tuple[str | None, ...]) -> int:
    year, month, day = map(int, date)
    hour, minute, second = (int(part or 0) for part in time[:3])
    fraction, half = time[3:5]
    is_wrong_hour = half is not None and not 1 <= hour <= _HALF_DAY_H
    if half is not None:
        hour = hour % _HALF_DAY_H + (_HALF_DAY_H if half in "Pp" else 0)
    try:
        if is_wrong_hour:
            raise ValueError
        at = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        raise Invalid(
            "{field} “{text}” is not a date that exists.", param=_PARAM, text=text
        ) from None
    return round(at.timestamp()) * SECOND_MS + int((fraction or "0").ljust(3, "0")[:3])
