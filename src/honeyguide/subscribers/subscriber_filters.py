"""Which subscribers an operator wants to see. One URL query is one filter: it is read here and
nowhere else. Pure: no store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any
from urllib.parse import urlencode

import msgspec

from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.ids import is_id
from honeyguide.kernel.periods import DEFAULT_ZONE, days_later, start_of, zone_of
from honeyguide.subscribers.origins import Origin

SUBSCRIBER_STATUSES = ("active", "confirmed", "unsubscribed")
REFERRALS = ("verified", "pending", "rejected")
REFERRED_BY = ("anyone", "subscriber", "partner", "nobody", "unknown")
SORTS = ("newest", "oldest", "best")
# Everybody who joined by themselves: Home counts imported people apart.
NOT_IMPORTED = "not-imported"
# Longer than any part of a name or address that somebody types to find it.
LONGEST_SEARCH = 100
MOST_REFERRALS = 1_000_000_000

# What the lists were called when each had a name. `show=` stays in URLs and on the command line.
SHOWS: dict[str, dict[str, str]] = {
    "all": {},
    "referrals": {"referred_by": "anyone"},
    "advocates": {"min_referrals": "1"},
    "pending": {"referral": "pending"},
    "rejected": {"referral": "rejected"},
    "unsubscribed": {"status": "unsubscribed"},
}


class SubscriberFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Empty texts and None stand for everybody. Days are YYYY-MM-DD, both included."""

    q: str = ""
    status: str = ""
    referral: str = ""
    referred_by: str = ""
    origin: str = ""
    utm_source: str = ""
    utm_campaign: str = ""
    joined_from: str = ""
    joined_to: str = ""
    reward: str = ""
    min_referrals: int | None = None
    max_referrals: int | None = None
    tag: str = ""
    sort: str = "newest"
    zone: str = DEFAULT_ZONE
    """The account's time zone, in which days begin. Not part of the URL."""

    @property
    def fields(self) -> dict[str, str]:
        """What differs from the default, as a URL has it."""
        defaults = SubscriberFilter()
        return {
            name: str(getattr(self, name))
            for name in _READERS
            if getattr(self, name) != getattr(defaults, name)
        }

    @property
    def query(self) -> str:
        return urlencode(self.fields)

    @property
    def is_everybody(self) -> bool:
        return not self.fields.keys() - {"sort"}

    @property
    def from_ms(self) -> int:
        return _start_ms(self.joined_from, self.zone) if self.joined_from else -(2**62)

    @property
    def to_ms(self) -> int:
        """When the last day is over."""
        return _start_ms(self.joined_to, self.zone, days=1) if self.joined_to else 2**62


def _start_ms(day: str, zone: str, *, days: int = 0) -> int:
    return start_of(days_later(date.fromisoformat(day), days), zone_of(zone))


def _text(value: str, param: str) -> str:
    return checks.text(value, param=param, limit=checks.STRING_LIMIT)


def _search(value: str, param: str) -> str:
    return checks.text(value, param=param, limit=LONGEST_SEARCH)


def _tag(value: str, param: str) -> str:
    return " ".join(_text(value, param).split()).lower()


def _one_of(*allowed: str) -> Callable[[str, str], str]:
    return lambda value, param: checks.one_of(value, allowed, param=param)


def _sort(value: str, param: str) -> str:
    """Old links may have an order that is gone."""
    return value if value in SORTS else "newest"


def _day(value: str, param: str) -> str:
    try:
        found = date.fromisoformat(value)
    except ValueError:
        found = None
    if found is None or len(value) != 10 or not 1970 <= found.year < 9999:
        raise Invalid("{field} must be a date such as 2026-11-15.", param=param)
    return value


def _number(value: str, param: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= 10):
        raise Invalid("{field} must be a whole number.", param=param)
    if int(value) > MOST_REFERRALS:
        raise Invalid("{field} must be at most {most:,}.", param=param, most=MOST_REFERRALS)
    return int(value)


def _id(value: str, param: str) -> str:
    if not is_id(value):
        raise Invalid("{field} must be one of your rewards.", param=param)
    return value


_READERS: dict[str, Callable[[str, str], Any]] = {
    "q": _search,
    "status": _one_of(*SUBSCRIBER_STATUSES),
    "referral": _one_of(*REFERRALS),
    "referred_by": _one_of(*REFERRED_BY),
    "origin": _one_of(*Origin, NOT_IMPORTED),
    "utm_source": _text,
    "utm_campaign": _text,
    "joined_from": _day,
    "joined_to": _day,
    "reward": _id,
    "min_referrals": _number,
    "max_referrals": _number,
    "tag": _tag,
    "sort": _sort,
}


def of_show(show: str) -> SubscriberFilter:
    return read_filter({"show": show})[0]


def read_filter(
    query: Mapping[str, str], zone: str = DEFAULT_ZONE
) -> tuple[SubscriberFilter, list[Invalid]]:
    """The filter of a URL query, and what is wrong with it. A wrong value is left out."""
    given = {**SHOWS.get(query.get("show", ""), {}), **query}
    found: dict[str, Any] = {}
    faults: list[Invalid] = []
    for name, read in _READERS.items():
        value = given.get(name, "").strip()
        if value:
            try:
                found[name] = read(value, name)
            except Invalid as fault:
                faults.append(fault)
    filters = SubscriberFilter(**found, zone=zone)
    if filters.from_ms >= filters.to_ms:
        faults.append(Invalid("{field} must not be before the first day.", param="joined_to"))
    if filters.max_referrals is not None and filters.max_referrals < (filters.min_referrals or 0):
        faults.append(Invalid("{field} must not be less than the minimum.", param="max_referrals"))
    if filters.sort == "best" and not filters.min_referrals:
        # The list of most referrals is a list of advocates.
        filters = msgspec.structs.replace(filters, min_referrals=1)
    return filters, faults
