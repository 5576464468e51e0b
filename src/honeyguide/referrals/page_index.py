"""Where page N of a list begins, at a cost that does not grow with N, and how long the list is,
exactly.

Triggers record every change of a count (table `count_note`). `apply_changes` adds them to totals,
to blocks of about a thousand rows (tables `listing` and `listing_run`) and to the campaign's
days, and marks the days that `cohorts` must count again. A read adds the changes that are not
applied yet, so its result is exact at any time.
"""

from __future__ import annotations

import bisect
import operator
from collections import defaultdict
from typing import NamedTuple

from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.referrals import cohorts
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

# Rows in a block. At a million rows, a thousand blocks are summed and at most two thousand rows
# skipped.
BLOCK_ROWS = 1_000
# Changes applied in one transaction: few enough not to slow down requests on the same loop.
BATCH = 1_000

TOP = (2**62, "~")
BOTTOM = (-(2**62), "")

Key = tuple[int, str]


class CountChange(NamedTuple):
    account_id: str
    owner_id: str
    created_ms: int
    day_ms: int
    subscriber_id: str
    n_all: int
    n_referrals: int
    n_advocates: int
    n_brought: int  # those that the owner, a subscriber, referred
    verified: int
    pending: int
    rejected: int


# The lists of a campaign, and the list of whom one subscriber referred.
REFERRED_BY = "brought"
KINDS = ("all", "referrals", "advocates", REFERRED_BY)


class BlockAbove(NamedTuple):
    lo_ms: int
    lo_id: str
    above: int


class Block(NamedTuple):
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
_BLOCK_ABOVE = _sql.query("block_above", BlockAbove)
_ANY_CHANGE = _sql.value("any_change", int)
_TAKE_CHANGES = _sql.query("take_changes", CountChange)
_OPEN_CHANGES = _sql.value("open_changes", int)
_BLOCKS = _sql.query("blocks", Block)
_HAS_TOTAL = _sql.value("has_total", int)
_COUNT_REFERRED_BY = _sql.value("count_referred_by", int)
_SET_TOTAL = _sql.command("set_total")
_SET_BLOCK = _sql.command("set_block")
_ADD_DAY = _sql.command("add_day")
_SPLITS = {kind: _sql.query(f"splits_{kind}", lambda ms, row_id: (ms, row_id)) for kind in KINDS}


async def total(tx: Tx, owner_id: str, kind: str) -> int:
    return await tx.one(_TOTAL, list=f"{owner_id}/{kind}", owner_id=owner_id, kind=kind) or 0


async def find_start(tx: Tx, owner_id: str, kind: str, page: Page) -> PageStart:
    """Where the page begins; needs the same snapshot as the rows."""
    block = None
    if page.skip >= BLOCK_ROWS:
        block = await tx.one(
            _BLOCK_ABOVE, list=f"{owner_id}/{kind}", owner_id=owner_id, kind=kind, skip=page.skip
        )
    if block is None:
        return PageStart(*TOP, page.skip)
    return PageStart(block.lo_ms, block.lo_id, page.skip - block.above)


async def has_changes(tx: Tx, *, now_ms: int) -> bool:
    return await tx.one(_ANY_CHANGE) is not None


async def apply_changes(tx: Tx) -> bool:
    """Applies one batch of changes and tells whether there may be more. Needs a snapshot, because
    blocks are split where the rows are now."""
    recorded = await tx.all(_TAKE_CHANGES, batch=BATCH)
    by_list: dict[tuple[str, str, str], list[tuple[Key, int]]] = defaultdict(list)
    by_day: dict[tuple[str, int, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    changed_days: set[tuple[str, str, int]] = set()
    for change in recorded:
        key = (change.created_ms, change.subscriber_id)
        if change.n_brought:
            by_list[change.account_id, change.owner_id, REFERRED_BY].append((key, change.n_brought))
        else:
            for kind, n in (
                ("all", change.n_all),
                ("referrals", change.n_referrals),
                ("advocates", change.n_advocates),
            ):
                # All three are checked even if nothing changed: one may have waited until the
                # changes of the others were applied.
                changes = by_list[change.account_id, change.owner_id, kind]
                if n:
                    changes.append((key, n))
            counts = (change.n_all, change.verified, change.pending, change.rejected)
            if any(counts) or not change.n_advocates:
                changed_days.add((change.account_id, change.owner_id, change.day_ms))
            if any(counts):
                day = by_day[change.owner_id, change.day_ms, change.account_id]
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
    for account_id, campaign_id, day_ms in sorted(changed_days):
        await cohorts.mark(tx, Tenant(account_id, campaign_id), day_ms)
    for (account_id, owner_id, kind), changes in sorted(by_list.items()):
        await _apply_to_list(tx, account_id, owner_id, kind, changes)
    return len(recorded) == BATCH


async def _apply_to_list(
    tx: Tx, account_id: str, owner_id: str, kind: str, changes: list[tuple[Key, int]]
) -> None:
    name = f"{owner_id}/{kind}"
    old_total = await tx.one(_HAS_TOTAL, list=name)
    blocks: dict[Key, int] = {
        (block.lo_ms, block.lo_id): block.n for block in await tx.all(_BLOCKS, list=name)
    }
    is_complete = not await tx.one(_OPEN_CHANGES, owner_id=owner_id)
    if not changes and (old_total is None or not is_complete):
        return
    touched: set[Key] = set()
    if old_total is None and kind == REFERRED_BY:
        # Changes are recorded only once a list is long. So this list has none from its beginning,
        # and is counted.
        if not is_complete:
            return
        old_total = (
            await tx.one(_COUNT_REFERRED_BY, account_id=account_id, subscriber_id=owner_id) or 0
        )
        blocks, changes, touched = {BOTTOM: old_total}, [], {BOTTOM}
    blocks = blocks or {BOTTOM: 0}
    bounds = sorted(blocks)
    for key, n in changes:
        bound = bounds[bisect.bisect_right(bounds, key) - 1]
        blocks[bound] += n
        touched.add(bound)
    # While changes wait, the table has rows that the blocks do not count yet, so do not split them.
    if is_complete:
        for bound in [bound for bound in bounds if blocks[bound] > 2 * BLOCK_ROWS]:
            touched |= {bound, *await _split(tx, owner_id, kind, blocks, bounds, bound)}
    for bound in sorted(touched):
        await tx.run(
            _SET_BLOCK,
            list=name,
            account_id=account_id,
            lo_ms=bound[0],
            lo_id=bound[1],
            n=blocks[bound],
        )
    if touched:
        await tx.run(
            _SET_TOTAL,
            list=name,
            account_id=account_id,
            n=(old_total or 0) + sum(n for _, n in changes),
        )


async def _split(
    tx: Tx, owner_id: str, kind: str, blocks: dict[Key, int], bounds: list[Key], bound: Key
) -> set[Key]:
    """Splits one long block into blocks of BLOCK_ROWS, counted from its top. The rest keeps the old
    bound."""
    above = bisect.bisect_right(bounds, bound)
    hi = bounds[above] if above < len(bounds) else TOP
    splits = await tx.all(
        _SPLITS[kind],
        owner_id=owner_id,
        lo_ms=bound[0],
        lo_id=bound[1],
        hi_ms=hi[0],
        hi_id=hi[1],
        rows=BLOCK_ROWS,
    )
    new_bounds = {split for split in splits if split != bound}
    for split in new_bounds:
        blocks[split] = BLOCK_ROWS
    blocks[bound] -= BLOCK_ROWS * len(new_bounds)
    return new_bounds
