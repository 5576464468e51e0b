"""Why an owner takes a charge back. Both sides see it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, Self

from honeyguide.kernel import checks
from honeyguide.kernel.errors import Required

NOTE_LIMIT = 500


class ReversalReason(StrEnum):
    label: str
    sentence: str

    def __new__(cls, code: str, *texts: str) -> Self:
        reason = str.__new__(cls, code)
        reason._value_ = code
        reason.label, reason.sentence = texts
        return reason

    ROBOT = "robot", "A robot", "The owner says that a robot signed up."
    NOT_A_READER = (
        "not_a_reader",
        "Not a reader",
        "The owner says that the subscriber does not read the newsletter.",
    )
    DUPLICATE = (
        "duplicate",
        "A duplicate",
        "The owner says that the subscriber was there already, under another address.",
    )
    RETURNED = (
        "returned",
        "Bounced or complained",
        "The owner says that emails came back, or were reported as spam.",
    )
    AGREED = "agreed", "Agreed with the partner", "The owner says that you agreed on it."
    OTHER = "other", "Something else", "The owner says:"


class Reversal(NamedTuple):
    reason: ReversalReason
    note: str | None
    """What the owner adds. It is deleted when the subscriber is erased."""


def parse(reason: str, note: str | None) -> Reversal:
    """What a caller gives. Something else needs to be said."""
    checks.one_of(reason, tuple(ReversalReason), param="reason")
    note = (note or "").strip() or None
    if note is not None:
        checks.text(note, param="text", limit=NOTE_LIMIT)
    if reason == ReversalReason.OTHER and note is None:
        raise Required("text")
    return Reversal(ReversalReason(reason), note)


def without_text(described: str | None) -> str | None:
    """What may be kept about somebody who was erased: the reason, as `describe` begins it."""
    labels = (each.label for each in ReversalReason)
    return next((each for each in labels if (described or "").startswith(each)), None)


def describe(reason: str | None, note: str | None) -> str:
    """`A robot`, or what the owner wrote, for both sides; nothing without a reversal."""
    if reason is None:
        return ""
    label = ReversalReason(reason).label
    return f"{label}: {note}" if note else label
