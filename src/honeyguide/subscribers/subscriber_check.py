"""Proves what is kept about subscribers: counts, states, the page index, and references that are no
foreign keys because a signup would pay for them. The ledger check runs these checks with its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from honeyguide.store.statements import Statement, Statements, beside
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


PROMISES = {
    "subscribers_astray": (
        "Every subscriber belongs to a campaign of its account, and its referrer and partner exist."
    ),
    "states_off": "Every subscriber's status and referral state are valid.",
    "counts_off": "Every subscriber's referral counts equal the referrals there are.",
    "adjustments_off": "What is kept as every subscriber's adjustments is what they add up to.",
    "advocates_off": "Every advocate is listed as one, with their verified referrals.",
    "totals_off": "The total of every list equals the subscribers on it.",
    "blocks_off": "Every block of the page index holds as many subscribers as it says.",
    "days_off": "Every day's totals equal the signups and referrals of that day.",
}

_sql = beside(__file__)
GROUPS = (
    CheckGroup(
        _sql.value("subscriber_slice", str),
        checks_of(
            _sql,
            "subscribers_astray",
            "states_off",
            "counts_off",
            "adjustments_off",
            "advocates_off",
        ),
    ),
    CheckGroup(
        _sql.value("campaign_slice", str),
        (
            ("totals_off", _sql.value("totals_off", int)),
            ("days_off", _sql.value("day_sums_off", int)),
        ),
    ),
    CheckGroup(_sql.value("day_slice", str), checks_of(_sql, "days_off")),
    CheckGroup(
        _sql.value("list_slice", str),
        (
            ("totals_off", _sql.value("star_totals_off", int)),
            ("blocks_off", _sql.value("block_sums_off", int)),
            ("blocks_off", _sql.value("all_blocks_off", int)),
            ("blocks_off", _sql.value("referral_blocks_off", int)),
            ("blocks_off", _sql.value("advocate_blocks_off", int)),
            ("blocks_off", _sql.value("star_blocks_off", int)),
        ),
    ),
)
