"""The jobs about money: verify referrals, send budget notifications, close months, create payouts,
store digests, check the ledger, and begin the terms of programs that wait for their day.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial

from honeyguide.accounts import accounts
from honeyguide.events import change_log
from honeyguide.kernel import actors
from honeyguide.kernel.errors import Fault
from honeyguide.kernel.isolation import do_all
from honeyguide.kernel.site import Site
from honeyguide.partners import (
    budget_notifications,
    ledger_check,
    month_digests,
    payouts,
    rules,
    term_notifications,
)
from honeyguide.partners.announcements import TermChange
from honeyguide.partners.payouts import Earned
from honeyguide.screening import moves
from honeyguide.screening.moves import DueReferral
from honeyguide.signups import signups
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx, timed
from honeyguide.subscribers.subscriber_check import Checked, CheckGroup, check_slice
from honeyguide.subscribers.subscribers import Subscriber
from honeyguide.work.items import Items

log = logging.getLogger("honeyguide.work")

# The job.
VERIFYING = "verify referrals after their holding period"
# Referrals looked up in one read. Each is verified in a transaction of its own, those of a few
# accounts at a time.
VERIFY_BATCH = 100
VERIFY_TOGETHER = 8
# The pause after each slice of the ledger check, as a part of what the slice took.
CHECK_PAUSE = 0.5
TERMS_BATCH = 20


class PayoutsSkipped(Fault):
    """Some payouts of a month could not be created. All others were."""

    code = "payouts_skipped"


async def _verify(tx: Tx, site: Site, due: DueReferral, now_ms: int) -> Subscriber | None:
    change = Change(tx, site, due.tenant, actors.job(VERIFYING), now_ms)
    return await signups.verify_due(change, due.id)


async def verify_referrals(
    site: Site, store: Store, found: Sequence[DueReferral], now_ms: int
) -> bool:
    """Those of one account one after the other, as they fell due: where a budget ends, the first
    to come is charged."""

    async def in_order(of_account: list[DueReferral]) -> bool:
        verified = [await store.write(_verify, site, due, now_ms) for due in of_account]
        return any(each is not None for each in verified)

    by_account: dict[str, list[DueReferral]] = {}
    for due in found:
        by_account.setdefault(due.tenant.account_id, []).append(due)
    outcomes = await asyncio.gather(*map(in_order, by_account.values()), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return any(outcomes)


def referrals_to_verify(site: Site) -> Items:
    return Items(moves.due, partial(verify_referrals, site), VERIFY_BATCH, VERIFY_TOGETHER)


async def notify_about_budget(
    site: Site, store: Store, programs: Sequence[str], now_ms: int
) -> bool:
    (program_id,) = programs
    await store.write(timed(budget_notifications.notify_due, now_ms), site, only=program_id)
    return True


def budgets_to_notify(site: Site) -> Items:
    return Items(budget_notifications.due_programs, partial(notify_about_budget, site))


async def close_or_pay_out(store: Store, months: Sequence[str], now_ms: int) -> bool:
    (month,) = months
    if month == payouts.CLOSE:
        for closed in await store.write(timed(payouts.close_months, now_ms)):
            log.info("Closed the month %s", closed)
    else:
        await pay_out(store, month, now_ms)
    return True


MONTHS = Items(payouts.due_months, close_or_pay_out)


async def pay_out(
    store: Store, month: str, now_ms: int, made: Callable[[int], None] = lambda payouts: None
) -> None:
    """Create the payouts of a closed month, batch by batch. One that cannot be created stops no
    other; the month then stays open for it, and this raises `PayoutsSkipped`.

    `made` is called with the number of payouts of each batch.
    """

    async def make(some: Sequence[Earned]) -> None:
        made(await store.write(timed(payouts.make_payouts, now_ms), month, some))

    after, failed = "", 0
    while earned := await store.read(payouts.earned_by, month, after):
        for partner, error in await do_all(earned, make):
            failed += 1
            log.error("Could not create the payout of %s", partner.credit, exc_info=error)
        after = earned[-1].credit
    if failed:
        raise PayoutsSkipped(
            "{n} payouts of {month} could not be created. The log has the details.",
            n=failed,
            month=month,
        )
    await store.write(timed(payouts.set_paid_out, now_ms), month)


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
    await store.write(timed(accounts.note_proof, now_ms), broken=broken)
    return False


async def make_digests(store: Store, accounts: Sequence[str], now_ms: int) -> bool:
    for account_id in accounts:
        if account_id == month_digests.FINISH:
            await store.write(timed(month_digests.finish, now_ms))
            return False
        for month in await store.read(month_digests.months_without, account_id):
            await _make_digest(store, account_id, month, now_ms)
    return True


async def _make_digest(store: Store, account_id: str, month: str, now_ms: int) -> None:
    """Reading takes as long as the month has rows, so it is not part of a write."""
    since_ms, until_ms = rules.month_bounds(month)
    bounds = {"since_ms": since_ms, "until_ms": until_ms}
    while await store.read(change_log.has_unsalted, account_id, **bounds):
        await store.write(change_log.salt_batch, account_id, **bounds)
    ledger = await store.slow_snapshot(month_digests.ledger_of, account_id, month)
    log = await store.slow_snapshot(month_digests.log_of, account_id, month)
    await store.write(timed(month_digests.save, now_ms), account_id, month, ledger, log)


DIGESTS = Items(month_digests.due, make_digests, month_digests.ACCOUNTS_BATCH)


async def tell_of_terms(site: Site, store: Store, found: Sequence[TermChange], now_ms: int) -> bool:
    (change,) = found
    while await store.write(timed(term_notifications.tell, now_ms), site, change):
        pass
    return True
