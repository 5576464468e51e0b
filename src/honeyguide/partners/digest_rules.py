"""How the digest of a month is computed: which text is hashed, in which order. Pure functions;
`docs/proof.md` says the same for people who want to compute one themselves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

import msgspec

from honeyguide.events import change_log
from honeyguide.events.change_log import LoggedChange
from honeyguide.kernel.errors import Invalid
from honeyguide.partners import rules

# The first line of each hashed text. A later way of computing digests gets another number.
_LEDGER, _LOG, _DIGEST = (f"honeyguide {part} 1\n".encode() for part in ("ledger", "log", "digest"))
_LENGTH = 64
_encode = msgspec.json.Encoder().encode


class DigestPart(StrEnum):
    LEDGER = "ledger"
    LOG = "change log"
    CHAIN = "chain"
    """The digest does not follow from its parts and from the month before."""


class KeptDigest(NamedTuple):
    """A digest that somebody kept."""

    month: str
    digest: str


class PartHash:
    """The hash of a ledger or a log, line by line."""

    def __init__(self, first_line: bytes) -> None:
        self._hash = hashlib.sha256(first_line)

    def add(self, rows: Iterable[Sequence[object]]) -> None:
        for row in rows:
            self._hash.update(_encode(row) + b"\n")

    def hex(self) -> str:
        return self._hash.hexdigest()


def ledger_hash() -> PartHash:
    return PartHash(_LEDGER)


def log_hash() -> PartHash:
    return PartHash(_LOG)


def log_line(entry: LoggedChange) -> list[object]:
    """Everything but the values, and their salted hash. If the hash is not that of the values which
    are there now, the line differs from the one it was."""
    if entry.salt is not None:
        hashed = change_log.hash_values(entry.salt, entry.before, entry.after)
        is_same = hashed == entry.values_hash
    else:  # erased
        is_same = entry.before is None and entry.after is None
    return [
        entry.id,
        entry.account_id,
        entry.actor_kind,
        entry.actor_id,
        entry.action,
        entry.subject_id,
        entry.changed_ms,
        entry.values_hash if is_same else None,
    ]


def chain(account_id: str, previous: str, month: str, *, ledger: str, log: str) -> str:
    """The digest of a month."""
    lines = "".join(f"{part}\n" for part in (account_id, previous, month, ledger, log))
    return hashlib.sha256(_DIGEST + lines.encode()).hexdigest()


def grouped(digest: str) -> str:
    """Easier to read and to break into lines."""
    return " ".join(digest[start : start + 8] for start in range(0, len(digest), 8))


def parse_kept(text: str, *, param: str) -> KeptDigest:
    """Such as 2026-10=4f1c…, as a person copied it from a statement."""
    month, is_there, digest = (part.strip() for part in text.partition("="))
    digest = "".join(digest.split()).lower()
    is_digest = len(digest) == _LENGTH and all(c in "0123456789abcdef" for c in digest)
    if not is_there or not is_digest:
        raise Invalid(
            "{field} must be a month and its digest of {length} characters, such as 2026-10=4f1c….",
            param=param,
            length=_LENGTH,
        )
    return KeptDigest(rules.parse_month(month, param=param), digest)
