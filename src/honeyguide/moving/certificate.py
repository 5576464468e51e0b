"""The certificate of a move: what an imported file had, what is here now, and every difference with
its reason. Pure. It has no addresses and no codes, only counts and the numbers of lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Self

import msgspec

from honeyguide.moving.findings import FindingKind

KIND = "certificate-of-move"
# Numbers of lines that are listed for each finding.
MOST_LINES = 1_000
# Of these, in a text for people.
SHOWN = 10


class CheckKind(StrEnum):
    """A difference between a line of the file and what is here."""

    is_loss: bool
    counted: str
    """After the number of lines: "2 subscribers who are missing"."""
    counted_one: str
    """After the number 1."""
    advice: str
    """What to do about it."""

    def __new__(cls, code: str, is_loss: bool, counted: str, counted_one: str, advice: str) -> Self:
        kind = str.__new__(cls, code)
        kind._value_ = code
        kind.is_loss, kind.counted, kind.counted_one = is_loss, counted, counted_one
        kind.advice = advice
        return kind

    PERSON_MISSING = (
        "person_missing",
        True,
        "subscribers who are missing",
        "subscriber who is missing",
        "Import the file again: those who are here are left alone.",
    )
    LINK_LEADS_NOWHERE = (
        "link_leads_nowhere",
        True,
        "subscribers with a link that leads nowhere",
        "subscriber with a link that leads nowhere",
        "Import the file again. If links with a parameter fail, add its name in Settings.",
    )
    LINK_LEADS_ELSEWHERE = (
        "link_leads_elsewhere",
        True,
        "subscribers with a link that leads to somebody else",
        "subscriber with a link that leads to somebody else",
        "Look at the codes of both on their pages, and give one of them a new link.",
    )
    REFERRER_DIFFERS = (
        "referrer_differs",
        True,
        "subscribers with another referrer, or none",
        "subscriber with another referrer, or none",
        "Import the file again, or set the referrer on the subscriber’s page.",
    )
    REFERRAL_STATUS_DIFFERS = (
        "referral_status_differs",
        True,
        "referrals with another status",
        "referral with another status",
        "Decide them under Review if that was not intended.",
    )
    COUNT_DIFFERS = (
        "count_differs",
        True,
        "subscribers who have fewer referrals than in the file",
        "subscriber who has fewer referrals than in the file",
        "Import the file again, or add an adjustment on the subscriber’s page.",
    )
    REWARD_LOST = (
        "reward_lost",
        True,
        "rewards that were reached and are missing",
        "reward that was reached and is missing",
        "Open the reward and save it: whoever reached it and lacks it gets it.",
    )
    REWARD_DOUBLED = (
        "reward_doubled",
        True,
        "rewards that somebody has twice",
        "reward that somebody has twice",
        "Look at their rewards before you send anything.",
    )
    COUNT_HIGHER = (
        "count_higher",
        False,
        "subscribers who have more referrals than in the file",
        "subscriber who has more referrals than in the file",
        "Usually they have referred somebody since.",
    )
    STATUS_DIFFERS = (
        "status_differs",
        False,
        "subscribers who left there and are subscribed here",
        "subscriber who left there and is subscribed here",
        "They subscribed here before the import, or again since.",
    )
    MESSAGE_SENT = (
        "message_sent",
        False,
        "subscribers with an email or event during the import",
        "subscriber with an email or event during the import",
        "Nothing to do, if you chose to give rewards or they signed up at that time.",
    )


class LineNumbers(msgspec.Struct):
    """How many lines have a finding, and the first of them."""

    count: int = 0
    lines: list[int] = msgspec.field(default_factory=list)

    def add(self, line: int) -> None:
        self.count += 1
        if len(self.lines) < MOST_LINES:
            self.lines.append(line)


class LinkCount(msgspec.Struct):
    tried: int = 0
    right: int = 0
    explained: int = 0
    """The code was somebody else's already, which the import reported."""


class BeforeAfter(msgspec.Struct):
    before: int = 0
    after: int = 0

    def add(self, before: int, after: int) -> None:
        self.before += before
        self.after += after


class Tally(msgspec.Struct):
    """What was found so far."""

    lines: int = 0
    subscribers: int = 0
    refused: int = 0
    """Lines that were not imported, for a reason that the import reported."""
    links: dict[str, LinkCount] = msgspec.field(default_factory=dict)
    referrals: BeforeAfter = msgspec.field(default_factory=BeforeAfter)
    counts: BeforeAfter = msgspec.field(default_factory=BeforeAfter)
    rewards: BeforeAfter = msgspec.field(default_factory=BeforeAfter)
    messages: int = 0
    found: dict[str, LineNumbers] = msgspec.field(default_factory=dict)

    def note(self, kind: CheckKind, line: int) -> None:
        self.found.setdefault(kind.value, LineNumbers()).add(line)

    def link(self, form: str, *, is_right: bool, is_explained: bool) -> None:
        count = self.links.setdefault(form, LinkCount())
        count.tried += 1
        count.right += is_right
        count.explained += is_explained and not is_right

    def counted(self) -> dict[CheckKind, LineNumbers]:
        """In the order of the table."""
        return {kind: self.found[kind] for kind in CheckKind if kind in self.found}

    @property
    def is_whole(self) -> bool:
        """Whether nothing was lost."""
        return not any(kind.is_loss for kind in self.counted())

    @property
    def links_tried(self) -> int:
        return sum(each.tried for each in self.links.values())

    @property
    def links_right(self) -> int:
        return sum(each.right for each in self.links.values())


class MoveFacts(msgspec.Struct):
    """What is said about the move besides what was found."""

    newsletter: str
    source: str
    total: int
    """Lines that the file had."""
    started_at: str
    finished_at: str
    not_tried: dict[str, str]
    """Forms of links that were not tried, and why."""
    reported: dict[FindingKind, LineNumbers]
    """What the import itself reported."""


def content(tally: Tally, facts: MoveFacts) -> dict[str, Any]:
    """What the signed document says."""
    return {
        "newsletter": facts.newsletter,
        "source": facts.source,
        "import": {"started_at": facts.started_at, "finished_at": facts.finished_at},
        "nothing_lost": tally.is_whole,
        "lines": {
            "in_file": facts.total,
            "compared": tally.lines,
            "subscribers": tally.subscribers,
            "refused": tally.refused,
        },
        "links": {
            "tried": tally.links_tried,
            "right": tally.links_right,
            "by_form": {
                form: msgspec.structs.asdict(count) for form, count in sorted(tally.links.items())
            },
            "not_tried": facts.not_tried,
        },
        "referrals": msgspec.structs.asdict(tally.referrals),
        "counts": msgspec.structs.asdict(tally.counts),
        "rewards": msgspec.structs.asdict(tally.rewards),
        "emails_and_events_during_import": tally.messages,
        "differences": _listed(tally.counted()),
        "reported_by_the_import": _listed(facts.reported),
    }


def _listed(found: Mapping[Any, LineNumbers]) -> list[dict[str, Any]]:
    return [
        {
            "kind": kind.value,
            "meaning": kind.counted_one if numbers.count == 1 else kind.counted,
            "count": numbers.count,
            "lines": numbers.lines,
        }
        for kind, numbers in found.items()
    ]


def in_words(content: Mapping[str, Any]) -> list[str]:
    """What the document says, and what to do next, as lines of a table."""
    links, lines = content["links"], content["lines"]
    rows = [
        ("Lines of the file", f"{lines['compared']:,} of {lines['in_file']:,} compared"),
        ("Subscribers", f"{lines['subscribers']:,} here, {lines['refused']:,} refused"),
        ("Old links", f"{links['right']:,} of {links['tried']:,} lead to the right person"),
        *(
            (f"  {form}", f"{count['right']:,} of {count['tried']:,}")
            for form, count in links["by_form"].items()
        ),
        *((f"  {form}", f"not tried. {why}") for form, why in links["not_tried"].items()),
        *(
            (label, f"{content[name]['before']:,} before, {content[name]['after']:,} after")
            for name, label in _PAIRS.items()
        ),
        ("Emails and events", f"{content['emails_and_events_during_import']:,} during the import"),
    ]
    wide = max(len(name) for name, _ in rows)
    found = [f"{name.ljust(wide)}  {text}" for name, text in rows]
    for heading, listed in (
        ("Differences", content["differences"]),
        ("Reported by the import", content["reported_by_the_import"]),
    ):
        found += [f"{heading}:"] if listed else []
        for each in listed:
            found.append(f"  {each['count']:,} {each['meaning']}: {_line_numbers(each['lines'])}")
            if advice := advice_for(each["kind"]):
                found.append(f"    {advice}")
    return [*found, headline(content)]


def headline(content: Mapping[str, Any]) -> str:
    return "Nothing was lost." if content["nothing_lost"] else "Something was lost."


def advice_for(kind: str) -> str:
    """What to do about a difference; empty for what the import itself reported."""
    return _ADVICE.get(kind, "")


def _line_numbers(lines: list[int]) -> str:
    shown = ", ".join(map(str, lines[:SHOWN]))
    return f"line{'s' if len(lines) > 1 else ''} {shown}{' …' if len(lines) > SHOWN else ''}"


_PAIRS = {"referrals": "Referrals", "counts": "Counts", "rewards": "Rewards"}
_ADVICE = {kind.value: kind.advice for kind in CheckKind}
