"""A header that stays on one line."""

from __future__ import annotations

from email.policy import Policy


class UnfoldedHeader(str):
    """The email package would encode a URL that is longer than its lines, and mail programs do not
    find it then."""

    name: str

    def fold(self, *, policy: Policy) -> str:
        return f"{self.name}: {self}{policy.linesep}"


def unfolded(name: str, text: str) -> UnfoldedHeader:
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ValueError(f"{name} is not a URL")
    header = UnfoldedHeader(text)
    header.name = name
    return header
