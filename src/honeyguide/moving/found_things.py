"""What a file was found to have, and what becomes of each kind of thing: the table of a dry run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple, Self

from honeyguide.moving import findings
from honeyguide.moving.findings import FindingKind
from honeyguide.moving.imported_line import ImportedPerson


class FoundKind(StrEnum):
    label: str
    becomes: str
    problems: tuple[FindingKind, ...]
    """What may not fit."""

    def __new__(cls, code: str, label: str, becomes: str, *problems: FindingKind) -> Self:
        kind = str.__new__(cls, code)
        kind._value_ = code
        kind.label, kind.becomes, kind.problems = label, becomes, problems
        return kind

    LINKS = (
        "links",
        "Referral codes and links",
        "Kept. Old links go on working.",
        FindingKind.DUPLICATE_CODE,
        FindingKind.CODE_INVALID,
    )
    REFERRERS = (
        "referrers",
        "Who referred whom",
        "Connected to the subscriber who referred them.",
        FindingKind.REFERRER_UNKNOWN,
        FindingKind.REFERRER_IS_SELF,
        FindingKind.LOOP,
        FindingKind.OTHER_REFERRER,
        FindingKind.DUPLICATE_ID,
        FindingKind.REFERRAL_STATUS_UNKNOWN,
    )
    COUNTS = (
        "counts",
        "Referral counts",
        "Carried over. Referrals without people become an adjustment.",
        FindingKind.COUNT_UNREADABLE,
        FindingKind.COUNT_LOWER,
    )
    REWARDS = (
        "rewards",
        "Rewards given",
        "Marked as given, so nobody gets one twice.",
        FindingKind.REWARD_UNKNOWN,
    )
    DATES = "dates", "Signup dates", "Kept."
    LEFT = "left", "Unsubscribed", "Come along as unsubscribed. They get no emails."
    NOTES = "notes", "Other details", "Kept as a note about the subscriber."


class FoundRow(NamedTuple):
    label: str
    number: int
    becomes: str
    problems: list[str]
    """In words, with their numbers."""


def kinds_of(person: ImportedPerson) -> Iterator[FoundKind]:
    """What a line has."""
    if person.codes:
        yield FoundKind.LINKS
    if person.referrer:
        yield FoundKind.REFERRERS
    if person.referrals or person.adjustments:
        yield FoundKind.COUNTS
    if person.last_reward or person.earned:
        yield FoundKind.REWARDS
    if person.new.created_at:
        yield FoundKind.DATES
    if person.new.status == "unsubscribed":
        yield FoundKind.LEFT
    if person.note or person.notes:
        yield FoundKind.NOTES


def rows(found: Mapping[str, int], counted: Mapping[str, int]) -> list[FoundRow]:
    """The table, by what was found and which problems there are, in the order of the kinds."""
    table = []
    for kind in FoundKind:
        problems = {each: counted[each] for each in kind.problems if counted.get(each)}
        if found.get(kind) or problems:
            row = FoundRow(
                kind.label, found.get(kind, 0), kind.becomes, findings.in_words(problems)
            )
            table.append(row)
    return table
