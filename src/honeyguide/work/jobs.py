"""Background jobs, one table: what runs, and how often."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from honeyguide.account_life import closing
from honeyguide.account_life.closing import ClosingAccount
from honeyguide.accounts import (
    accounts,
    attempts,
    email_changes,
    idempotency,
    invitations,
    sessions,
)
from honeyguide.events import change_log, outbox
from honeyguide.events.name_servers import TextRecords
from honeyguide.events.outbound import Outbound
from honeyguide.integrations import disconnecting, incoming
from honeyguide.kernel import actors
from honeyguide.kernel.clock import CLOCK_SET, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from honeyguide.kernel.site import Site
from honeyguide.mail import emails, sending
from honeyguide.mail.transports import Transport
from honeyguide.moving import importing
from honeyguide.operating.backups import records
from honeyguide.operating.backups.making import BackupPlan
from honeyguide.partners import (
    charges,
    network,
    payouts,
    public_figures,
    publications,
    verification,
)
from honeyguide.partners.network import ConfirmationRate
from honeyguide.partners.public_figures import DueProgram
from honeyguide.partners.publications import Publication
from honeyguide.rewards import backfill, shipments
from honeyguide.rewards.shipments import OldAddress
from honeyguide.screening import evidence
from honeyguide.signups import erasures, used_forms
from honeyguide.store import Store
from honeyguide.store.change import Change
from honeyguide.store.purging import Purge
from honeyguide.store.tx import Tx
from honeyguide.subscribers import clicks, cohorts, link_hosts, page_index, persons
from honeyguide.subscribers.cohorts import DueCampaign
from honeyguide.subscribers.link_hosts import LinkHost
from honeyguide.subscribers.persons import Rekeying
from honeyguide.work import (
    backups,
    money,
    moving,
)
from honeyguide.work.decisions import decision_jobs
from honeyguide.work.items import Items, Job, one_by_one, purged

# Programs whose rate is written together.
RATES_BATCH = 500
LINKS_BATCH = 100
# Looked up at the same time, so that a few names that nobody answers for delay no others.
HOSTS_BATCH = 10
# Found at once. One whose partners wait for the end of a holding period stays among them.
MOST_CLOSED = 100
FORGETTING = "forget accounts that were closed years ago"


async def update_page_index(store: Store, owners: Sequence[str], now_ms: int) -> bool:
    return await store.write_snapshot(page_index.apply_changes, owners)


async def grant_new_reward(site: Site, store: Store, rewards: Sequence[str], now_ms: int) -> bool:
    (reward_id,) = rewards
    return await store.write(backfill.grant_batch, site, now_ms=now_ms, only=reward_id)


async def supply_codes(site: Site, store: Store, rewards: Sequence[str], now_ms: int) -> bool:
    (reward_id,) = rewards
    return await store.write(backfill.supply_batch, site, now_ms=now_ms, only=reward_id)


async def count_cohorts(store: Store, found: Sequence[DueCampaign], now_ms: int) -> bool:
    """The counting takes as long as there are people, so it is not part of a write, and done in
    slices."""
    for due in found:
        job = await store.write(cohorts.begin_job, due)
        counts: list[cohorts.CohortCount] = []
        days = job.days
        while days:
            counts, days = await store.slow_snapshot(cohorts.count_slice, job.tenant, days, counts)
        await store.write(cohorts.save_job, job, counts, now_ms=now_ms)
    return True


async def set_rates(store: Store, rates: Sequence[ConfirmationRate], now_ms: int) -> bool:
    await store.write(network.set_rates, rates)
    return len(rates) == RATES_BATCH


async def count_public_figures(store: Store, found: Sequence[DueProgram], now_ms: int) -> bool:
    """Counting takes as long as there are referrals, so it is not part of a write."""
    for program in found:
        figures = await store.slow_snapshot(public_figures.count, program, now_ms=now_ms)
        held = await store.slow_snapshot(
            verification.count_held, program.account_id, program.id, now_ms=now_ms
        )
        await store.write(public_figures.save, program, figures, held, now_ms=now_ms)
    return True


async def add_search_texts(store: Store, found: Sequence[Publication], now_ms: int) -> bool:
    await store.write(publications.add_search_texts, found)
    return len(found) == publications.FOLD_BATCH


async def delete_disconnected(store: Store, found: Sequence[str], now_ms: int) -> bool:
    (integration_id,) = found
    return await store.write(disconnecting.delete_batch, now_ms=now_ms, only=integration_id)


async def remove_addresses(store: Store, found: Sequence[OldAddress], now_ms: int) -> bool:
    await store.write(shipments.remove_addresses, found)
    return len(found) == shipments.REMOVAL_BATCH


async def rekey(site: Site, store: Store, found: Sequence[Rekeying], now_ms: int) -> bool:
    (campaign,) = found
    await store.write(persons.rekey_batch, site, campaign)
    return True


async def close_account(
    site: Site, store: Store, found: Sequence[ClosingAccount], now_ms: int
) -> bool:
    """Step by step, each in a transaction of its own: a process that is killed loses nothing."""
    (account,) = found
    actor = actors.job(closing.CLOSING)
    while await store.write(closing.close_some, site, actor, account.id, now_ms=now_ms):
        pass
    return False


async def forget_account(store: Store, found: Sequence[str], now_ms: int) -> bool:
    (account_id,) = found
    await store.write(closing.forget, account_id, now_ms=now_ms)
    return True


async def check_hosts(
    site: Site, outbound: Outbound, store: Store, hosts: Sequence[LinkHost], now_ms: int
) -> bool:
    found = await asyncio.gather(*(outbound.resolver.texts(each.record_name) for each in hosts))
    for host, texts in zip(hosts, found, strict=True):
        await store.write(_record_check, site, host, texts, now_ms=now_ms)
    return len(hosts) == HOSTS_BATCH


async def _record_check(
    tx: Tx, site: Site, host: LinkHost, texts: TextRecords, *, now_ms: int
) -> None:
    change = Change(tx, site, host.tenant, actors.job(link_hosts.CHECKING), now_ms)
    await link_hosts.record_check(change, host.id, texts)


def _purge(name: str, every_ms: int, *purges: Purge[Any]) -> Job:
    return Job(name, every_ms, purged(*purges), always_runs=True)


COUNTS = (
    Job(
        "update the page index",
        SECOND_MS,
        (
            Items(
                page_index.owners_to_index,
                update_page_index,
                page_index.OWNERS,
                page_index.OWNERS,
            ),
        ),
    ),
    Job(
        "count who joined on each day",
        MINUTE_MS,
        (Items(cohorts.due_campaigns, count_cohorts, cohorts.MOST_DUE),),
        topic=accounts.TIME_ZONE,
    ),
)

PURGES = (
    _purge("purge old imports", HOUR_MS, importing.purge),
    _purge(
        "purge expired sessions and invitations",
        HOUR_MS,
        sessions.purge,
        invitations.purge,
        email_changes.purge,
    ),
    _purge("purge idempotency keys", 10 * MINUTE_MS, idempotency.purge),
    _purge("purge old emails", HOUR_MS, emails.purge),
    _purge("purge old events", HOUR_MS, outbox.purge),
    Job(
        "delete what was kept about disconnected platforms",
        MINUTE_MS,
        (Items(disconnecting.disconnected, delete_disconnected),),
        topic=disconnecting.TOPIC,
    ),
    _purge("purge old webhooks of email platforms", HOUR_MS, incoming.purge),
    _purge("purge old attempt counts", HOUR_MS, attempts.purge),
    _purge("purge old visitor hashes", HOUR_MS, clicks.purge),
    _purge("purge used forms", HOUR_MS, used_forms.purge),
    _purge("forget the values of old evidence", HOUR_MS, evidence.purge),
    Job(
        "remove postal addresses after sending",
        HOUR_MS,
        (
            Items(
                shipments.with_old_address,
                remove_addresses,
                shipments.REMOVAL_BATCH,
                shipments.REMOVAL_BATCH,
            ),
        ),
        always_runs=True,
    ),
    _purge("purge old records of erasures", HOUR_MS, erasures.purge),
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


def link_host_jobs(site: Site, outbound: Outbound) -> tuple[Job, ...]:
    return (
        Job(
            link_hosts.CHECKING,
            MINUTE_MS,
            (
                Items(
                    link_hosts.due, partial(check_hosts, site, outbound), HOSTS_BATCH, HOSTS_BATCH
                ),
            ),
            topic=link_hosts.CHECKS,
        ),
    )


# What the network shows of programs.
PROGRAMS = (
    Job(
        "update confirmation rates",
        10 * MINUTE_MS,
        (Items(network.changed_rates, set_rates, RATES_BATCH, RATES_BATCH),),
        always_runs=True,
    ),
    Job(
        "count the public figures of programs",
        HOUR_MS,
        (Items(public_figures.due, count_public_figures, public_figures.BATCH, 1),),
        always_runs=True,
    ),
    Job(
        "fill in search texts after an upgrade",
        HOUR_MS,
        (
            Items(
                publications.without_search_text,
                add_search_texts,
                publications.FOLD_BATCH,
                publications.FOLD_BATCH,
            ),
        ),
    ),
)


def _closing_jobs(site: Site, *, keep_years: int) -> tuple[Job, ...]:
    return (
        Job(
            closing.CLOSING,
            MINUTE_MS,
            (Items(closing.due, partial(close_account, site), MOST_CLOSED),),
            topic=CLOCK_SET,
        ),
        Job(
            FORGETTING,
            HOUR_MS,
            (Items(partial(closing.expired, keep_years=keep_years), forget_account),),
        ),
    )


def jobs_of(
    site: Site, transport: Transport, *, change_log_keep_days: int, keep_closed_years: int
) -> tuple[Job, ...]:
    """The table of jobs."""
    return (
        *COUNTS,
        *moving.jobs_of(site),
        *decision_jobs(site),
        Job(
            backfill.GRANTING,
            5 * SECOND_MS,
            (Items(backfill.new_rewards, partial(grant_new_reward, site)),),
        ),
        Job(
            backfill.SUPPLYING,
            5 * SECOND_MS,
            (Items(backfill.restocked_rewards, partial(supply_codes, site)),),
        ),
        Job(persons.REKEYING, MINUTE_MS, (Items(persons.due, partial(rekey, site)),)),
        Job(
            "send budget notifications",
            10 * SECOND_MS,
            (money.budgets_to_notify(site),),
            topic=charges.BUDGET_NOTIFICATIONS,
        ),
        Job(
            "send emails",
            30 * SECOND_MS,
            (
                Items(
                    invitations.requested_links,
                    one_by_one(site, invitations.answer_request),
                    LINKS_BATCH,
                ),
                Items(sending.due, partial(sending.send, transport), sending.BATCH, sending.BATCH),
            ),
            topic=emails.TOPIC,
        ),
        Job("close months and create payouts", MINUTE_MS, (money.MONTHS,), topic=CLOCK_SET),
        Job(
            "store the digests of closed months",
            MINUTE_MS,
            (money.DIGESTS,),
            topic=payouts.CLOSED,
        ),
        *PROGRAMS,
        *money.term_jobs(site),
        *_closing_jobs(site, keep_years=keep_closed_years),
        Job("check the ledger", DAY_MS, money.verify_ledger, always_runs=True),
        *PURGES,
        _purge("purge the old change log", DAY_MS, change_log.purge(change_log_keep_days)),
    )
