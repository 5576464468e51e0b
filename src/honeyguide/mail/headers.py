"""Headers that the email package does not write as they must be read."""

from __future__ import annotations

from email.header import Header
from email.headerregistry import Address
from email.policy import Policy


class UnfoldedHeader(str):
    """The email package would encode a URL that is longer than its lines, and mail programs do not
    find it then."""

    name: str

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {self}{policy.linesep}"


class EncodedHeader(str):
    """The email package loses the space at which it breaks a line of words beyond ASCII. In here
    each space is inside an encoded word."""

    name: str
    words: str
    """What is encoded."""
    rest: str = ""
    """What follows, in ASCII."""

    def fold(self, *, policy: Policy) -> str:
        encoded = Header(self.words, "utf-8", header_name=self.name).encode(linesep=policy.linesep)
        rest = f"{policy.linesep} {self.rest}" if self.rest else ""
        return f"{self.name}: {encoded}{rest}{policy.linesep}"


def unfolded(name: str, text: str) -> UnfoldedHeader:
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ValueError(f"{name} is not a URL")
    header = UnfoldedHeader(text)
    header.name = name
    return header


def subject(text: str) -> str:
    if text.isascii():
        return text
    header = EncodedHeader(text)
    header.name, header.words = "Subject", text
    return header


def sender(mailbox: Address) -> Address | EncodedHeader:
    if mailbox.display_name.isascii() or not mailbox.addr_spec.isascii():
        return mailbox
    header = EncodedHeader(mailbox)
    header.name, header.words, header.rest = "From", mailbox.display_name, f"<{mailbox.addr_spec}>"
    return header
