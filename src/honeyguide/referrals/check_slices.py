"""Checks over all accounts, one slice of the rows at a time: no statement reads a whole large
table, and none takes more memory because a table is large.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.store.statements import Statement
from honeyguide.store.tx import Tx

# A slice ends after about this many rows. A campaign or a list is never divided.
SLICE_ROWS = 50_000
# Sorts after every key.
LAST_KEY = "zzzz"


class Check(NamedTuple):
    """Counts the rows that break a promise: among those :after one key and up to another, which
    `slice_end` finds, or among all of them.
    """

    promise: str
    errors: Statement[int]
    slice_end: Statement[str] | None = None


class Checked(NamedTuple):
    """How many rows of a slice are wrong, and after which key the next begins; None at the end."""

    broken: int
    after: str | None


async def check_slice(tx: Tx, check: Check, after: str) -> Checked:
    if check.slice_end is None:
        return Checked(await tx.one(check.errors) or 0, None)
    until = await tx.one(check.slice_end, after=after, rows=SLICE_ROWS)
    broken = await tx.one(check.errors, after=after, until=until or LAST_KEY)
    return Checked(broken or 0, until)
