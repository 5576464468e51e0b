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
from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.store.reading import Reading
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import cohorts

# Rows in a block. At a million rows, a thousand blocks are summed and at most two thousand rows
# skipped.
BLOCK_ROWS = 1_000
# Changes applied, and blocks split off, in one transaction: few enough not to slow down requests on
# the same loop.
BATCH = 1_000
SPLITS = 10
# Owners whose changes are applied together.
OWNERS = 200

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
INDEXED_LISTS = ("all", "referrals", "advocates", REFERRED_BY)


class BlockAbove(NamedTuple):
    lo_ms: int
    lo_id: str
    above: int


class Block(NamedTuple):
    lo_ms: int
    lo_id: str
    n: int


class LongList(NamedTuple):
    """A list with a block that has to be split."""

    list: str
    account_id: str


class PageStart(NamedTuple):
    """Begin below this key and step over `skip` rows."""

    below_ms: int
    below_id: str
    skip: int


_sql = beside(__file__)
_TOTAL = _sql.value("total", int)
_BLOCK_ABOVE = _sql.query("block_above", BlockAbove)
_CHANGED_OWNERS = _sql.value("changed_owners", str)
_TAKE_CHANGES = _sql.query("take_changes", CountChange)
_OPEN_CHANGES = _sql.value("open_changes", int)
_BLOCKS = _sql.query("blocks", Block)
_LONG_LISTS = _sql.query("long_lists", LongList)
_LONG_LIST_OF = _sql.query("long_list_of", LongList)
_SET_LONG = _sql.command("set_long")
_HAS_TOTAL = _sql.value("has_total", int)
_COUNT_REFERRED_BY = _sql.value("count_referred_by", int)
_SET_TOTAL = _sql.command("set_total")
_SET_BLOCK = _sql.command("set_block")
_ADD_DAY = _sql.command("add_day")
_SPLITS = {
    kind: _sql.query(f"splits_{kind}", lambda ms, row_id: (ms, row_id)) for kind in INDEXED_LISTS
}


async def total(tx: Tx, owner_id: str, kind: str) -> int:
    return await tx.one(_TOTAL, list=f"{owner_id}/{kind}", owner_id=owner_id, kind=kind) or 0


async def total_of(at: Reading, kind: str) -> int:
    """Of a list of the campaign."""
    owner_id = at.tenant.campaign_id
    return await at.one(_TOTAL, list=f"{owner_id}/{kind}", owner_id=owner_id, kind=kind) or 0


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


async def owners_to_index(tx: Tx, *, most: int) -> list[str]:
    """The campaigns and subscribers whose lists changed, or have a block to split."""
    changed = await tx.all(_CHANGED_OWNERS, most=most)
    long_lists = await tx.all(_LONG_LISTS, most=most)
    owners = [*changed, *(found.list.rpartition("/")[0] for found in long_lists)]
    return list(dict.fromkeys(owners))[:most]


async def apply_changes(tx: Tx, owners: Sequence[str] | None = None) -> bool:
    """Applies one batch of changes of some owners' lists, splits one long block, and returns
    whether there may be more to do. Needs a snapshot, because blocks are split where the rows are
    now."""
    if owners is None:
        owners = await owners_to_index(tx, most=OWNERS)
    recorded = await tx.all(_TAKE_CHANGES, owners=owners, batch=BATCH)
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
                if n:
                    by_list[change.account_id, change.owner_id, kind].append((key, n))
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
    is_split = await _split_long_block(tx, owners)
    return len(recorded) == BATCH or is_split or len(owners) == OWNERS


async def _apply_to_list(
    tx: Tx, account_id: str, owner_id: str, kind: str, changes: list[tuple[Key, int]]
) -> None:
    name = f"{owner_id}/{kind}"
    old_total = await tx.one(_HAS_TOTAL, list=name)
    blocks = await _blocks(tx, name)
    touched: set[Key] = set()
    if old_total is None and kind == REFERRED_BY:
        # Changes are recorded only once a list is long. So this list has none from its beginning,
        # and is counted when no change waits.
        if await tx.one(_OPEN_CHANGES, owner_id=owner_id):
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
    for bound in sorted(touched):
        await _set_block(tx, name, account_id, bound, blocks[bound])
    await tx.run(
        _SET_TOTAL,
        list=name,
        account_id=account_id,
        n=(old_total or 0) + sum(n for _, n in changes),
        is_long=bool(_long_bounds(blocks)),
    )


async def _blocks(tx: Tx, name: str) -> dict[Key, int]:
    return {(block.lo_ms, block.lo_id): block.n for block in await tx.all(_BLOCKS, list=name)}


async def _set_block(tx: Tx, name: str, account_id: str, bound: Key, n: int) -> None:
    lo_ms, lo_id = bound
    await tx.run(_SET_BLOCK, list=name, account_id=account_id, lo_ms=lo_ms, lo_id=lo_id, n=n)


def _long_bounds(blocks: dict[Key, int]) -> list[Key]:
    return [bound for bound, n in blocks.items() if n > 2 * BLOCK_ROWS]


async def _split_long_block(tx: Tx, owners: Sequence[str]) -> bool:
    """Splits blocks of BLOCK_ROWS off the top of a long one, which keeps the rest, and tells
    whether it did. While changes of a list wait, the table has rows that its blocks do not count
    yet, so such a list is left alone."""
    found = await tx.one(_LONG_LIST_OF, owners=owners)
    if found is None:
        return False
    owner_id, _, kind = found.list.rpartition("/")
    blocks = await _blocks(tx, found.list)
    long_bounds, new_bounds = _long_bounds(blocks), set()
    if long_bounds:
        bound = max(long_bounds)
        hi_ms, hi_id = min((other for other in blocks if other > bound), default=TOP)
        splits = await tx.all(
            _SPLITS[kind],
            owner_id=owner_id,
            lo_ms=bound[0],
            lo_id=bound[1],
            hi_ms=hi_ms,
            hi_id=hi_id,
            rows=BLOCK_ROWS,
            most=SPLITS * BLOCK_ROWS,
        )
        new_bounds = set(splits) - {bound}
        blocks |= dict.fromkeys(new_bounds, BLOCK_ROWS)
        blocks[bound] -= BLOCK_ROWS * len(new_bounds)
        for changed in sorted(new_bounds | {bound}):
            await _set_block(tx, found.list, found.account_id, changed, blocks[changed])
    if not new_bounds or not _long_bounds(blocks):
        await tx.run(_SET_LONG, list=found.list, is_long=0)
    return bool(new_bounds)
