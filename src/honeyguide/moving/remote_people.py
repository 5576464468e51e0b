"""People as the other service's API describes them, turned into lines of an ordinary import. Pure.

Whatever is not understood is counted by name, so that nothing is dropped silently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from honeyguide.moving.import_files import ImportLine

# The columns of the import, which are fields of ours.
HEADER = [
    *("email", "name", "ref_code", "code", "referrer", "referral_status", "status", "created_at"),
    *("utm_source", "utm_campaign", "ip_address", "tags"),
    *("own_id", "referrals_count", "adjustments"),
]
MAPPING = {field: place for place, field in enumerate(HEADER)}
UUID_LIMIT = 64
NAME_LIMIT = 60
MOST_NAMES = 50
UNREADABLE = "people who could not be read"

_REFERRAL_STATUSES = frozenset({"verified", "confirmed", "pending", "rejected"})


class _ReferralCounts(msgspec.Struct):
    verified: int | None = None
    confirmed: int | None = None
    # There, and not needed: these people are in the list themselves.
    pending: int | None = None
    rejected: int | None = None


class _Membership(msgspec.Struct):
    """Somebody's figures in the campaign, with `expand=campaigns`. Another Honeyguide also says
    there who left, and which further codes, tags and adjustments they have."""

    uuid: str | None = None
    name: str | None = None
    ref_code: str | None = None
    referral_link: str | None = None
    referrals: _ReferralCounts | int | None = None
    rewards: Any = None
    status: str | None = None
    codes: list[str] = []
    tags: list[str] = []
    adjustments: int | None = None


class _Person(msgspec.Struct):
    uuid: str
    email: str
    name: str | None = None
    ref_code: str | None = None
    referrer_code: str | None = None
    referral_status: str | None = None
    status: str | None = None
    created_at: str | int | None = None
    utm_source: str | None = None
    utm_campaign: str | None = None
    ip_address: str | None = None
    referrals_count: int | None = None
    # Known, and not carried over.
    referred: bool | None = None
    origin: str | None = None
    user_agent: str | None = None
    country_code: str | None = None


_KNOWN = frozenset(_Person.__struct_fields__)
_KNOWN_OF_CAMPAIGN = frozenset(_Membership.__struct_fields__)
_EXPANSIONS = ("referral_programs", "campaigns")


class RemotePerson(NamedTuple):
    uuid: str
    cells: list[str]
    not_understood: list[str]
    says_who_left: bool


class ReadPeople(NamedTuple):
    people: list[RemotePerson]
    unreadable: int


def read_people(items: Sequence[msgspec.Raw]) -> ReadPeople:
    """The people of one page. One who cannot be read is counted and does not stop the others."""
    people = []
    for item in items:
        try:
            person = msgspec.json.decode(item, type=_Person)
            fields = msgspec.json.decode(item, type=dict[str, msgspec.Raw])
        except (ValueError, RecursionError):
            continue
        if not person.uuid or not person.email.strip():
            continue
        unknown = [name for name in fields if name not in _KNOWN and name not in _EXPANSIONS]
        del unknown[MOST_NAMES:]
        joined = _membership(fields, unknown)
        if person.referral_status and person.referral_status not in _REFERRAL_STATUSES:
            unknown.append("values of referral_status")
        says_who_left = bool(person.status or joined.status)
        people.append(
            RemotePerson(person.uuid[:UUID_LIMIT], _cells(person, joined), unknown, says_who_left)
        )
    return ReadPeople(people, len(items) - len(people))


def _membership(fields: dict[str, msgspec.Raw], unknown: list[str]) -> _Membership:
    """An account has one campaign. What has another form than ours counts as not understood."""
    for name in _EXPANSIONS:
        if name not in fields:
            continue
        try:
            found = msgspec.json.decode(fields[name], type=list[_Membership])
            raw = msgspec.json.decode(fields[name], type=list[dict[str, Any]])
        except (ValueError, RecursionError):
            unknown.append(name)
            continue
        for each in raw[:1]:
            unknown.extend(f"{name}.{key}" for key in each if key not in _KNOWN_OF_CAMPAIGN)
        if found:
            return found[0]
    return _Membership()


def _cells(person: _Person, joined: _Membership) -> list[str]:
    own = (person.ref_code or joined.ref_code or "").strip()
    others = dict.fromkeys(code for code in joined.codes if code and code != own)
    referrer = (person.referrer_code or "").strip()
    values: dict[str, object] = {
        "email": person.email,
        "name": person.name,
        "ref_code": own,
        "code": " ".join(others),
        "referrer": referrer,
        "referral_status": person.referral_status if referrer else None,
        "status": person.status or joined.status,
        "created_at": person.created_at,
        "utm_source": person.utm_source,
        "utm_campaign": person.utm_campaign,
        "ip_address": person.ip_address,
        "tags": ", ".join(joined.tags),
        "own_id": person.uuid,
        "referrals_count": _count(person, joined),
        "adjustments": joined.adjustments or None,
    }
    return [_text(values[field]) for field in HEADER]


def _count(person: _Person, joined: _Membership) -> int | None:
    """Verified referrals. 0 is left out: there is nothing to carry over."""
    counts = joined.referrals
    found = [person.referrals_count, counts if isinstance(counts, int) else None]
    if isinstance(counts, _ReferralCounts):
        found += [counts.verified, counts.confirmed]
    return max((each for each in found if each is not None and each > 0), default=None)


def _text(value: object) -> str:
    return "" if value is None else str(value).replace("\x00", "").strip()


def lines(people: Iterable[RemotePerson], first: int) -> list[ImportLine]:
    return [ImportLine(number, person.cells) for number, person in enumerate(people, first)]


def merged(before: dict[str, int], found: Counter[str]) -> dict[str, int]:
    """The counts so far. Names come from outside, so there are only so many, and no long ones."""
    counts = Counter(before)
    for name, count in found.items():
        short = name[:NAME_LIMIT]
        if short in counts or len(counts) < MOST_NAMES:
            counts[short] += count
    return dict(counts)
