"""What an email says, in blocks: its plain-text part and its HTML part are made from the same."""

from __future__ import annotations

from typing import NamedTuple


class Paragraph(NamedTuple):
    text: str


class Note(NamedTuple):
    """A paragraph in small print."""

    text: str


class Button(NamedTuple):
    label: str
    url: str
    is_main: bool = True
    """An email has one main button; another one is shown as a link."""

    @property
    def text(self) -> str:
        return f"{self.label}\n{self.url}"


class Code(NamedTuple):
    text: str
    """A sentence with the code in it."""
    code: str
    label: str
    """The sentence without the code."""


class NextReward(NamedTuple):
    """How far it is to the next reward, with a bar, and the link that brings friends."""

    label: str
    left: str
    percent: int
    link_label: str
    link: str

    @property
    def text(self) -> str:
        return f"{self.label}\n{self.left}\n\n{self.link_label}\n{self.link}"


class ShipmentProgress(NamedTuple):
    """Where a physical reward is, in three steps of which two are done, and how to find it."""

    earned: str
    sent: str
    arrived: str
    heading: str
    """Carrier and town; empty if neither is known."""
    number: str

    @property
    def text(self) -> str:
        lines = (self.earned, self.sent, "", self.heading, self.number)
        return "\n".join(lines).rstrip("\n")


Block = Paragraph | Note | Button | Code | NextReward | ShipmentProgress


class EmailText(NamedTuple):
    subject: str
    blocks: tuple[Block, ...]
    reason: str = ""
    """Why a subscriber gets it, if that is not the usual reason."""

    @property
    def text(self) -> str:
        return "\n\n".join(block.text for block in self.blocks) + "\n"


def email(subject: str, *blocks: Block | str | None) -> EmailText:
    """A plain string is a paragraph; None is left out."""
    return EmailText(
        subject,
        tuple(Paragraph(block) if isinstance(block, str) else block for block in blocks if block),
    )
