"""What an import could not take over as the file has it, though the subscriber was imported. One
row for each kind has all that is said about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple, Self


class FindingKind(StrEnum):
    sentence: str
    """Of one line. `{detail}` is a number."""
    counted: str
    """After the number of lines: "2 codes that somebody else has"."""
    counted_one: str
    """After the number 1."""

    def __new__(
        cls, code: str, sentence: str = "", counted: str = "", counted_one: str = ""
    ) -> Self:
        kind = str.__new__(cls, code)
        kind._value_ = code
        kind.sentence, kind.counted, kind.counted_one = sentence, counted, counted_one
        return kind

    def in_words(self, number: int) -> str:
        """ "1 unknown referrer", "2 unknown referrers"."""
        return f"{number:,} {self.counted_one if number == 1 else self.counted}"

    DUPLICATE_CODE = (
        "duplicate_code",
        "The code belongs to somebody else already, so links with it credit them.",
        "codes that somebody else has",
        "code that somebody else has",
    )
    CODE_INVALID = (
        "code_invalid",
        "The code has characters that links can’t have, or more than 64.",
        "codes that can’t be used",
        "code that can’t be used",
    )
    DUPLICATE_ID = (
        "duplicate_id",
        "Another line has the same ID, so referrals that name it are credited to that one.",
        "IDs of somebody else",
        "ID of somebody else",
    )
    REFERRER_UNKNOWN = (
        "referrer_unknown",
        "The referrer is neither in the file nor among your subscribers.",
        "unknown referrers",
        "unknown referrer",
    )
    REFERRER_IS_SELF = (
        "referrer_is_self",
        "The line names the subscriber as their own referrer.",
        "subscribers who are their own referrer",
        "subscriber who is their own referrer",
    )
    LOOP = (
        "loop",
        "The referrer was referred by this subscriber, directly or through others.",
        "circular referrals",
        "circular referral",
    )
    OTHER_REFERRER = (
        "other_referrer",
        "Somebody else is the referrer here, and stays that.",
        "subscribers with another referrer here",
        "subscriber with another referrer here",
    )
    REFERRAL_STATUS_UNKNOWN = (
        "referral_status_unknown",
        "The referral’s status is unknown, so the referral is pending.",
        "unknown referral statuses",
        "unknown referral status",
    )
    COUNT_UNREADABLE = (
        "count_unreadable",
        "The number of referrals is not a whole number that we can use.",
        "unreadable counts",
        "unreadable count",
    )
    COUNT_LOWER = (
        "count_lower_than_people",
        "The file counts fewer referrals than the {detail} verified ones here.",
        "counts lower than the referrals here",
        "count lower than the referrals here",
    )
    REWARD_UNKNOWN = (
        "reward_unknown",
        "None of your rewards has the name of a reward they got.",
        "unknown rewards",
        "unknown reward",
    )


class ImportFinding(NamedTuple):
    line: int
    kind: FindingKind
    detail: int | None = None

    @property
    def sentence(self) -> str:
        return self.kind.sentence.format(detail=self.detail)


def in_words(counted: Mapping[FindingKind, int]) -> list[str]:
    """How many lines have which problem, in the order of the table: "2 unknown referrers"."""
    return [kind.in_words(counted[kind]) for kind in FindingKind if counted.get(kind)]
