"""Background jobs, one table: what runs, and how often."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from honeyguide.accounts import accounts, attempts, idempotency, invitations, sessions
from honeyguide.backups import records
from honeyguide.backups.making import BackupPlan
from honeyguide.events import outbox
from honeyguide.integrations import disconnecting, incoming
from honeyguide.kernel.clock import CLOCK_SET, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from honeyguide.kernel.site import Site
from honeyguide.mail import digests, emails, sending, slack_messages
from honeyguide.mail.transports import Transport
from honeyguide.partners import (
    budget_notifications,
    charges,
    network,
    payout_notifications,
    payouts,
    publications,
)
from honeyguide.referrals import backfill, clicks, cohorts, lifecycle, page_index, shipments
from honeyguide.signups import erasures, importing
from honeyguide.store import Store
from honeyguide.store.tx import Tx
from honeyguide.work import backups, money, notifications, weekly_summaries
from honeyguide.work.notifications import SlackPoster

log = logging.getLogger("honeyguide.work")

# A job does one bounded batch and returns whether there is more to do.
Batch = Callable[[Store, int], Awaitable[bool]]
Probe = Callable[..., Awaitable[bool]]


@dataclass(frozen=True)
class Job:
    name: str
    every_ms: int
    batch: Batch
    # Whether there is anything to do. Frequent jobs have one, so that idle ones write nothing.
    probe: Probe | None = None
    # A commit that wakes this topic also starts the job.
    topic: str | None = None


async def update_page_index(store: Store, now_ms: int) -> bool:
    return await store.write_snapshot(page_index.apply_changes)


async def _purge(tx: Tx, purges: Sequence[Callable[..., Awaitable[bool]]], now_ms: int) -> bool:
    return any([await purge(tx, now_ms=now_ms) for purge in purges])


def sweep(*purges: Callable[..., Awaitable[bool]]) -> Batch:
    """A job that deletes old rows, one batch of each kind at a time."""
    return lambda store, now_ms: store.write(_purge, purges, now_ms)


async def grant_new_rewards(site: Site, store: Store, now_ms: int) -> bool:
    return await store.write(backfill.grant_batch, site, now_ms=now_ms)


async def supply_codes(site: Site, store: Store, now_ms: int) -> bool:
    return await store.write(backfill.supply_batch, site, now_ms=now_ms)


async def import_files(site: Site, store: Store, now_ms: int) -> bool:
    return await store.write(importing.step, site, now_ms=now_ms)


async def count_cohorts(store: Store, now_ms: int) -> bool:
    """The counting takes as long as there are people, so it is not part of a write, and done in
    slices."""
    found = await store.read(cohorts.due_campaigns, now_ms=now_ms)
    for due in found:
        job = await store.write(cohorts.begin_job, due)
        counts: list[cohorts.CohortCount] = []
        days = job.days
        while days:
            counts, days = await store.slow_snapshot(cohorts.count_slice, job.tenant, days, counts)
        await store.write(cohorts.save_job, job, counts, now_ms=now_ms)
    return bool(found)


async def rate_programs(store: Store, now_ms: int) -> bool:
    await store.write(network.update_confirmation_rates, now_ms=now_ms)
    return False


async def add_search_texts(store: Store, now_ms: int) -> bool:
    return await store.write(publications.add_search_texts, now_ms=now_ms)


async def send_emails(transport: Transport, store: Store, now_ms: int) -> bool:
    return await sending.send_due(store, transport, now_ms)


COUNTS = (
    Job("update the page index", SECOND_MS, update_page_index, probe=page_index.has_changes),
    Job(
        "count who joined on each day",
        MINUTE_MS,
        count_cohorts,
        probe=cohorts.has_work,
        topic=accounts.TIME_ZONE,
    ),
)

PURGES = (
    Job("purge old imports", HOUR_MS, sweep(importing.purge)),
    Job(
        "purge expired sessions and invitations",
        HOUR_MS,
        sweep(sessions.purge, invitations.purge),
    ),
    Job("purge idempotency keys", 10 * MINUTE_MS, sweep(idempotency.purge)),
    Job("purge old emails", HOUR_MS, sweep(emails.purge)),
    Job("purge old events", HOUR_MS, sweep(outbox.purge)),
    Job(
        "delete what was kept about disconnected platforms",
        MINUTE_MS,
        sweep(disconnecting.delete_batch),
        probe=disconnecting.has_work,
        topic=disconnecting.TOPIC,
    ),
    Job("purge old webhooks of email platforms", HOUR_MS, sweep(incoming.purge)),
    Job("purge old attempt counts", HOUR_MS, sweep(attempts.purge)),
    Job("purge old visitor hashes", HOUR_MS, sweep(clicks.purge)),
    Job("remove postal addresses after sending", HOUR_MS, sweep(shipments.remove_old_addresses)),
    Job("purge old records of erasures", HOUR_MS, sweep(erasures.purge)),
)


def backup_jobs(plan: BackupPlan | None) -> tuple[Job, ...]:
    if plan is None:
        return ()
    return (
        Job(
            records.JOB,
            MINUTE_MS,
            partial(backups.make_backup, plan),
            probe=partial(records.is_due, every_ms=plan.every_ms),
            topic=records.REQUESTED,
        ),
        Job(
            "copy erasures to the backups",
            MINUTE_MS,
            partial(backups.copy_erasures, plan),
            probe=erasures.has_uncopied,
            topic=erasures.TOPIC,
        ),
    )


def notification_jobs(site: Site, poster: SlackPoster) -> tuple[Job, ...]:
    return (
        Job(
            "send digests of notifications",
            MINUTE_MS,
            partial(notifications.send_digests, site),
            probe=digests.has_due,
            topic=CLOCK_SET,
        ),
        Job(
            "send weekly summaries",
            MINUTE_MS,
            partial(weekly_summaries.send_weekly_summaries, site),
            probe=weekly_summaries.has_due,
            topic=CLOCK_SET,
        ),
        Job(
            "send payout notifications",
            MINUTE_MS,
            partial(notifications.notify_about_payouts, site),
            probe=payout_notifications.has_due,
        ),
        Job(
            "post notifications to Slack",
            30 * SECOND_MS,
            partial(notifications.post_to_slack, poster),
            probe=slack_messages.has_due,
            topic=slack_messages.TOPIC,
        ),
    )


def jobs_of(site: Site, transport: Transport) -> tuple[Job, ...]:
    """The table of jobs."""
    return (
        *COUNTS,
        Job(
            "import uploaded files",
            SECOND_MS,
            partial(import_files, site),
            probe=importing.is_running,
        ),
        Job(
            "verify referrals after their holding period",
            5 * SECOND_MS,
            partial(money.verify_due_referrals, site),
            probe=lifecycle.has_due,
            topic=CLOCK_SET,
        ),
        Job(
            "grant new rewards to advocates who already qualify",
            5 * SECOND_MS,
            partial(grant_new_rewards, site),
            probe=backfill.has_new_rewards,
        ),
        Job(
            "give added coupon codes to waiting advocates",
            5 * SECOND_MS,
            partial(supply_codes, site),
            probe=backfill.has_new_codes,
        ),
        Job(
            "send budget notifications",
            10 * SECOND_MS,
            partial(money.notify_about_budgets, site),
            probe=budget_notifications.has_due,
            topic=charges.BUDGET_NOTIFICATIONS,
        ),
        Job(
            "send emails",
            30 * SECOND_MS,
            partial(send_emails, transport),
            probe=sending.has_due,
            topic=emails.TOPIC,
        ),
        Job(
            "close months and create payouts",
            MINUTE_MS,
            money.close_months,
            probe=payouts.has_work,
            topic=CLOCK_SET,
        ),
        Job("update confirmation rates", 10 * MINUTE_MS, rate_programs),
        Job(
            "fill in search texts after an upgrade",
            HOUR_MS,
            add_search_texts,
            probe=publications.has_missing_search_text,
        ),
        Job("check the ledger", DAY_MS, money.verify_ledger),
        *PURGES,
    )
