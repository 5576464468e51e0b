"""Work about money that time calls for: holds that run out, budgets to tell of, months to close, payouts to make, books to
prove.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from honeyguide.accounts import accounts
from honeyguide.kernel.errors import Unavailable
from honeyguide.kernel.site import Site
from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import budget_notifications, ledger_check, payouts
from honeyguide.referrals import lifecycle
from honeyguide.signups import signups
from honeyguide.store import Store
from honeyguide.store.tx import Tx

log = logging.getLogger("honeyguide.work")

# Holds that ran out, looked for at once; each is then decided in a transaction of its own, a few side by side.
RIPE_BATCH = 100
RIPE_TOGETHER = 8


async def verify_due_referrals(site: Site, store: Store, now_ms: int) -> bool:
    async def find(tx: Tx) -> list[tuple[Tenant, str]]:
        return await lifecycle.due(tx, now_ms=now_ms, batch=RIPE_BATCH)

    async def verify_due(tx: Tx, tenant: Tenant, subscriber_id: str) -> None:
        await signups.verify_due(tx, site, tenant, subscriber_id, now_ms=now_ms)

    found = await store.read(find)
    settled = 0
    for start in range(0, len(found), RIPE_TOGETHER):
        some = found[start : start + RIPE_TOGETHER]
        outcomes = await asyncio.gather(
            *(
                store.write(partial(verify_due, tenant=tenant, subscriber_id=subscriber_id))
                for tenant, subscriber_id in some
            ),
            return_exceptions=True,
        )
        for (_, subscriber_id), outcome in zip(some, outcomes, strict=True):
            if isinstance(outcome, Unavailable) or not isinstance(outcome, Exception | None):
                raise outcome
            settled += outcome is None
            if outcome is not None:  # one that fails must not keep the others waiting for ever
                log.error(
                    "Could not verify the referral of subscriber %s",
                    subscriber_id,
                    exc_info=outcome,
                )
    return len(found) == RIPE_BATCH and settled > 0


async def tell_about_budgets(site: Site, store: Store, now_ms: int) -> bool:
    async def work(tx: Tx) -> bool:
        return await budget_notifications.notify_due(tx, site, now_ms=now_ms)

    return await store.write(work)


async def close_months(store: Store, now_ms: int) -> bool:
    """Closes what is over, then pays out what is closed, batch by batch."""

    async def close(tx: Tx) -> list[str]:
        return await payouts.close_months(tx, now_ms=now_ms)

    for month in await store.write(close):
        log.info("Closed the month %s", month)
    return await pay_out(store, now_ms) is not None


async def pay_out(
    store: Store, now_ms: int, made: Callable[[int], None] = lambda payouts: None
) -> str | None:
    """The payouts of the oldest closed month without them, if there is one; tells of each batch's."""
    month = await store.read(payouts.month_to_pay_out)
    after: str | None = ""
    while month is not None and after is not None:
        batch = await store.write(
            partial(payouts.make_payouts, month=month, after=after, now_ms=now_ms)
        )
        after = batch.after
        made(batch.payouts)
    return month


async def verify_books(store: Store, now_ms: int) -> bool:
    findings, _ = await store.slow_snapshot(ledger_check.verify)
    for finding in findings:
        if finding.broken:
            log.error("Ledger check failed, %d rows wrong: %s", finding.broken, finding.promise)
    broken = sum(finding.broken for finding in findings)
    await store.write(partial(accounts.note_proof, broken=broken, now_ms=now_ms))
    return False
