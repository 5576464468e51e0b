"""Where page N of a list begins, at a cost that does not grow with N, and how long the list is,
exactly.

Triggers note every change (`count_note`). `fold` sums the notes into totals, blocks of about a
thousand rows, and the campaign's days. A read adds the notes that are not folded yet, so its result
is exact whenever the fold last ran.
"""

from __future__ import annotations

import bisect
import operator
from collections import defaultdict
from typing import NamedTuple

from honeyguide.kernel.paging import Page
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# Rows in a block. At a million rows, a thousand blocks are summed and at most two thousand rows
# skipped.
RUN = 1_000
# Notes folded in one transaction: few enough not to be felt by requests on the same loop.
BATCH = 1_000

TOP = (2**62, "~")
BOTTOM = (-(2**62), "")

Key = tuple[int, str]


class Note(NamedTuple):
    account_id: str
    owner_id: str
    created_ms: int
    day_ms: int
    subscriber_id: str
    n_all: int
    n_referrals: int
    n_advocates: int
    n_brought: int
    verified: int
    pending: int
    rejected: int


KINDS = ("all", "referrals", "advocates", "brought")


class Anchor(NamedTuple):
    lo_ms: int
    lo_id: str
    above: int


class Run(NamedTuple):
    lo_ms: int
    lo_id: str
    n: int


class PageStart(NamedTuple):
    """Begin below this key and step over `skip` rows."""

    below_ms: int
    below_id: str
    skip: int


_sql = beside(__file__)
_TOTAL = _sql.value("total", int)
_ANCHOR = _sql.query("anchor", Anchor)
_ANY_NOTE = _sql.value("any_note", int)
_TAKE_NOTES = _sql.query("take_notes", Note)
_OPEN_NOTES = _sql.value("open_notes", int)
_RUNS = _sql.query("runs", Run)
_HAS_TOTAL = _sql.value("has_total", int)
_BROUGHT_BY = _sql.value("brought_by", int)
_KEEP_TOTAL = _sql.command("keep_total")
_KEEP_RUN = _sql.command("keep_run")
_ADD_DAY = _sql.command("add_day")
_CUTS = {kind: _sql.query(f"cuts_{kind}", lambda ms, row_id: (ms, row_id)) for kind in KINDS}


async def total(tx: Tx, owner_id: str, kind: str) -> int:
    return await tx.one(_TOTAL, list=f"{owner_id}/{kind}", owner_id=owner_id, kind=kind) or 0


async def place(tx: Tx, owner_id: str, kind: str, page: Page) -> PageStart:
    """Where the page begins; needs the same snapshot as the rows."""
    anchor = None
    if page.skip >= RUN:
        anchor = await tx.one(
            _ANCHOR, list=f"{owner_id}/{kind}", owner_id=owner_id, kind=kind, skip=page.skip
        )
    return (
        PageStart(*TOP, page.skip)
        if anchor is None
        else PageStart(anchor.lo_ms, anchor.lo_id, page.skip - anchor.above)
    )


async def has_notes(tx: Tx, *, now_ms: int) -> bool:
    return await tx.one(_ANY_NOTE) is not None


async def fold(tx: Tx) -> bool:
    """Folds one batch of notes and tells whether there may be more. Needs a snapshot, because
    blocks are cut where the rows are now."""
    notes = await tx.all(_TAKE_NOTES, batch=BATCH)
    by_list: dict[tuple[str, str, str], list[tuple[Key, int]]] = defaultdict(list)
    by_day: dict[tuple[str, int, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for note in notes:
        key = (note.created_ms, note.subscriber_id)
        if note.n_brought:
            by_list[note.account_id, note.owner_id, "brought"].append((key, note.n_brought))
        else:
            for kind, n in (
                ("all", note.n_all),
                ("referrals", note.n_referrals),
                ("advocates", note.n_advocates),
            ):
                # All three are checked even if nothing changed: one may have waited for the notes
                # of the others.
                changes = by_list[note.account_id, note.owner_id, kind]
                if n:
                    changes.append((key, n))
            counts = (note.n_all, note.verified, note.pending, note.rejected)
            if any(counts):
                day = by_day[note.owner_id, note.day_ms, note.account_id]
                day[:] = map(operator.add, day, counts)
    for (campaign_id, day_ms, account_id), (signups, verified, pending, rejected) in sorted(
        by_day.items()
    ):
        await tx.put(
            _ADD_DAY,
            campaign_id=campaign_id,
            day_ms=day_ms,
            account_id=account_id,
            signups=signups,
            verified=verified,
            pending=pending,
            rejected=rejected,
        )
    for (account_id, owner_id, kind), changes in sorted(by_list.items()):
        await _fold_list(tx, account_id, owner_id, kind, changes)
    return len(notes) == BATCH


async def _fold_list(
    tx: Tx, account_id: str, owner_id: str, kind: str, changes: list[tuple[Key, int]]
) -> None:
    name = f"{owner_id}/{kind}"
    known = await tx.one(_HAS_TOTAL, list=name)
    runs: dict[Key, int] = {(run.lo_ms, run.lo_id): run.n for run in await tx.all(_RUNS, list=name)}
    whole = not await tx.one(_OPEN_NOTES, owner_id=owner_id)
    if not changes and (known is None or not whole):
        return
    touched: set[Key] = set()
    if known is None and kind == "brought":
        # A list that has just become long enough to be cut has no notes from its beginning, so
        # count it.
        if not whole:
            return
        known = await tx.one(_BROUGHT_BY, account_id=account_id, subscriber_id=owner_id) or 0
        runs, changes, touched = {BOTTOM: known}, [], {BOTTOM}
    runs = runs or {BOTTOM: 0}
    bounds = sorted(runs)
    for key, n in changes:
        bound = bounds[bisect.bisect_right(bounds, key) - 1]
        runs[bound] += n
        touched.add(bound)
    # While notes wait, the table holds rows the runs do not count yet: cutting can wait too.
    if whole:
        for bound in [bound for bound in bounds if runs[bound] > 2 * RUN]:
            touched |= {bound, *await _cut(tx, owner_id, kind, runs, bounds, bound)}
    for bound in sorted(touched):
        await tx.run(
            _KEEP_RUN,
            list=name,
            account_id=account_id,
            lo_ms=bound[0],
            lo_id=bound[1],
            n=runs[bound],
        )
    if touched:
        await tx.run(
            _KEEP_TOTAL,
            list=name,
            account_id=account_id,
            n=(known or 0) + sum(n for _, n in changes),
        )


async def _cut(
    tx: Tx, owner_id: str, kind: str, runs: dict[Key, int], bounds: list[Key], bound: Key
) -> set[Key]:
    """Splits one long block into blocks of RUN rows, counted from its top. The rest keeps the old
    bound."""
    above = bisect.bisect_right(bounds, bound)
    hi = bounds[above] if above < len(bounds) else TOP
    cuts = await tx.all(
        _CUTS[kind],
        owner_id=owner_id,
        lo_ms=bound[0],
        lo_id=bound[1],
        hi_ms=hi[0],
        hi_id=hi[1],
        run=RUN,
    )
    fresh = {cut for cut in cuts if cut != bound}
    for cut in fresh:
        runs[cut] = RUN
    runs[bound] -= RUN * len(fresh)
    return fresh
