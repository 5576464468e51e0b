"""Checks over all accounts, one slice of the rows at a time: no statement reads a whole large
table, and none takes more memory because a table is large.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from honeyguide.store.statements import Statement, Statements
from honeyguide.store.tx import Tx

# A slice ends after about this many rows; the lists of a campaign are not divided. Slices are short
# because SQLite cannot shorten its log while one is read.
SLICE_ROWS = 5_000
# Sorts after every key.
LAST_KEY = "zzzz"


class Checked(NamedTuple):
    """How many rows of a slice break each promise, and after which key the next slice begins; None
    at the end."""

    broken: Counter[str]
    after: str | None


class CheckGroup(NamedTuple):
    """Checks with the same slices. Each counts the rows that break a promise: among those :after
    one key and up to another, which `slice_end` finds, or among all of them.
    """

    slice_end: Statement[str] | None
    checks: tuple[tuple[str, Statement[int]], ...]  # with the name of the promise
    compute: Callable[[Tx, str], Awaitable[Checked]] | None = None
    """Instead of statements: checks one slice, the one after a key."""


def checks_of(sql: Statements, *names: str) -> tuple[tuple[str, Statement[int]], ...]:
    """Those whose statement has the name of the promise."""
    return tuple((name, sql.value(name, int)) for name in names)


async def check_slice(tx: Tx, group: CheckGroup, after: str) -> Checked:
    if group.compute is not None:
        return await group.compute(tx, after)
    until = None
    keys: dict[str, Any] = {}
    if group.slice_end is not None:
        until = await tx.one(group.slice_end, after=after, rows=SLICE_ROWS)
        keys = {"after": after, "until": until or LAST_KEY}
    broken: Counter[str] = Counter()
    for promise, errors in group.checks:
        broken[promise] += await tx.one(errors, **keys) or 0
    return Checked(broken, until)
