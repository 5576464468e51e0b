"""The jobs about money: verify referrals, send budget notifications, close months, create payouts
and check the ledger.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from honeyguide.accounts import accounts
from honeyguide.kernel.errors import Unavailable
from honeyguide.kernel.site import Site
from honeyguide.partners import budget_notifications, ledger_check, payouts
from honeyguide.referrals import lifecycle
from honeyguide.referrals.check_slices import Checked, CheckGroup, check_slice
from honeyguide.signups import signups
from honeyguide.store import Store

log = logging.getLogger("honeyguide.work")

# Referrals looked up in one read. Each is verified in a transaction of its own, a few at a time.
VERIFY_BATCH = 100
VERIFY_TOGETHER = 8
# The pause after each slice of the ledger check, as a part of what the slice took.
CHECK_PAUSE = 0.5


async def verify_due_referrals(site: Site, store: Store, now_ms: int) -> bool:
    found = await store.read(lifecycle.due, now_ms=now_ms, batch=VERIFY_BATCH)
    settled = 0
    for start in range(0, len(found), VERIFY_TOGETHER):
        some = found[start : start + VERIFY_TOGETHER]
        outcomes = await asyncio.gather(
            *(
                store.write(signups.verify_due, site, tenant, subscriber_id, now_ms=now_ms)
                for tenant, subscriber_id in some
            ),
            return_exceptions=True,
        )
        for (_, subscriber_id), outcome in zip(some, outcomes, strict=True):
            if not isinstance(outcome, BaseException):
                settled += 1
            elif isinstance(outcome, Unavailable) or not isinstance(outcome, Exception):
                raise outcome
            else:  # one failure must not block the others forever
                log.error(
                    "Could not verify the referral of subscriber %s",
                    subscriber_id,
                    exc_info=outcome,
                )
    return len(found) == VERIFY_BATCH and settled > 0


async def notify_about_budgets(site: Site, store: Store, now_ms: int) -> bool:
    return await store.write(budget_notifications.notify_due, site, now_ms=now_ms)


async def close_months(store: Store, now_ms: int) -> bool:
    """Close finished months, then create the payouts of one closed month, batch by batch."""
    for month in await store.write(payouts.close_months, now_ms=now_ms):
        log.info("Closed the month %s", month)
    return await pay_out(store, now_ms) is not None


async def pay_out(
    store: Store, now_ms: int, made: Callable[[int], None] = lambda payouts: None
) -> str | None:
    """Create the payouts of the oldest closed month that has none, and return that month.

    `made` is called with the number of payouts of each batch.
    """
    month = await store.read(payouts.month_to_pay_out)
    after: str | None = ""
    while month is not None and after is not None:
        batch = await store.write(payouts.make_payouts, month, after, now_ms=now_ms)
        after = batch.after
        made(batch.payouts)
    return month


async def verify_ledger(store: Store, now_ms: int) -> bool:
    """A slice at a time, each in a snapshot of its own, so that none takes long."""

    async def run(group: CheckGroup, after: str) -> Checked:
        began = time.perf_counter()
        checked = await store.slow_snapshot(check_slice, group, after)
        await asyncio.sleep((time.perf_counter() - began) * CHECK_PAUSE)
        return checked

    findings = await ledger_check.run_checks(run)
    for finding in findings:
        if finding.broken:
            log.error("Ledger check failed, %d rows wrong: %s", finding.broken, finding.promise)
    broken = sum(finding.broken for finding in findings)
    await store.write(accounts.note_proof, broken=broken, now_ms=now_ms)
    return False
