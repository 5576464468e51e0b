"""Time-driven work, one table: what, and how often."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from honeyguide.accounts import attempts, idempotency, invitations, sessions
from honeyguide.events import outbox
from honeyguide.kernel.clock import CLOCK_SET, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from honeyguide.kernel.site import Site
from honeyguide.mail import emails
from honeyguide.mail.sending import send_due
from honeyguide.mail.transports import Transport
from honeyguide.partners import charges, directory
from honeyguide.referrals import backfill, clicks, page_index
from honeyguide.signups import importing
from honeyguide.store import Store
from honeyguide.store.tx import Tx
from honeyguide.work import money

log = logging.getLogger("honeyguide.work")

# A job does one bounded batch and tells whether more waits.
Batch = Callable[[Store, int], Awaitable[bool]]


@dataclass(frozen=True)
class Job:
    name: str
    every_ms: int
    batch: Batch
    # A topic whose commits call for this job at once; without one it only keeps its hours.
    topic: str | None = None


async def fold_listings(store: Store, now_ms: int) -> bool:
    return await store.write_snapshot(page_index.fold)


def sweep(*purges: Callable[..., Awaitable[bool]]) -> Batch:
    """Forgets what is old: a batch of each kind at a time."""

    async def batch(store: Store, now_ms: int) -> bool:
        async def work(tx: Tx) -> bool:
            return any([await purge(tx, now_ms=now_ms) for purge in purges])

        return await store.write(work)

    return batch


async def give_new_rewards(site: Site, store: Store, now_ms: int) -> bool:
    async def work(tx: Tx) -> bool:
        return await backfill.walk(tx, site, now_ms=now_ms)

    return await store.write(work)


async def supply_codes(site: Site, store: Store, now_ms: int) -> bool:
    async def work(tx: Tx) -> bool:
        return await backfill.supply(tx, site, now_ms=now_ms)

    return await store.write(work)


async def bring_in_files(site: Site, store: Store, now_ms: int) -> bool:
    async def work(tx: Tx) -> bool:
        return await importing.step(tx, site, now_ms=now_ms)

    return await store.write(work)


async def rate_programs(store: Store, now_ms: int) -> bool:
    async def work(tx: Tx) -> None:
        await directory.rate_all(tx, now_ms=now_ms)

    await store.write(work)
    return False


async def send_letters(transport: Transport, store: Store, now_ms: int) -> bool:
    return await send_due(store, transport, now_ms)


def jobs_of(site: Site, transport: Transport) -> tuple[Job, ...]:
    """The table. What tells people of something needs to know this installation's addresses."""
    return (
        Job("update the page index", SECOND_MS, fold_listings),
        Job("import uploaded files", SECOND_MS, partial(bring_in_files, site)),
        Job("purge old imports", HOUR_MS, sweep(importing.purge)),
        Job(
            "purge expired sessions and invitations",
            HOUR_MS,
            sweep(sessions.purge, invitations.purge),
        ),
        Job(
            "verify referrals after their holding period",
            5 * SECOND_MS,
            partial(money.verify_due_referrals, site),
            topic=CLOCK_SET,
        ),
        Job(
            "grant new rewards to advocates who already qualify",
            5 * SECOND_MS,
            partial(give_new_rewards, site),
        ),
        Job(
            "give added coupon codes to waiting advocates",
            5 * SECOND_MS,
            partial(supply_codes, site),
        ),
        Job(
            "send budget notifications",
            10 * SECOND_MS,
            partial(money.tell_about_budgets, site),
            topic=charges.NOTICES,
        ),
        Job("send emails", 30 * SECOND_MS, partial(send_letters, transport), topic=emails.TOPIC),
        Job("close months and create payouts", MINUTE_MS, money.close_months, topic=CLOCK_SET),
        Job("update confirmation rates", 10 * MINUTE_MS, rate_programs),
        Job("check the ledger", DAY_MS, money.verify_books),
        Job("purge idempotency keys", 10 * MINUTE_MS, sweep(idempotency.purge)),
        Job("purge old emails", HOUR_MS, sweep(emails.purge)),
        Job("purge old events", HOUR_MS, sweep(outbox.purge)),
        Job("purge old attempt counts", HOUR_MS, sweep(attempts.purge)),
        Job("purge old visitor hashes", HOUR_MS, sweep(clicks.purge)),
    )
