"""The job that stores the digests of closed months."""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.events import change_log
from honeyguide.partners import month_digests, rules
from honeyguide.store import Store
from honeyguide.work.items import Items


async def make_digests(store: Store, accounts: Sequence[str], now_ms: int) -> bool:
    for account_id in accounts:
        if account_id == month_digests.FINISH:
            await store.write(month_digests.finish, now_ms=now_ms)
            return False
        for month in await store.read(month_digests.months_without, account_id):
            await _make(store, account_id, month, now_ms)
    return True


async def _make(store: Store, account_id: str, month: str, now_ms: int) -> None:
    """Reading takes as long as the month has rows, so it is not part of a write."""
    since_ms, until_ms = rules.month_bounds(month)
    bounds = {"since_ms": since_ms, "until_ms": until_ms}
    while await store.read(change_log.has_unsalted, account_id, **bounds):
        await store.write(change_log.salt_batch, account_id, **bounds)
    ledger = await store.slow_snapshot(month_digests.ledger_of, account_id, month)
    log = await store.slow_snapshot(month_digests.log_of, account_id, month)
    await store.write(month_digests.save, account_id, month, ledger, log, now_ms=now_ms)


DIGESTS = Items(month_digests.due, make_digests, month_digests.ACCOUNTS_BATCH)
