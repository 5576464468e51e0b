"""Background jobs, one table: what runs, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from honeyguide.account_life import closing
from honeyguide.accounts import (
    accounts,
    attempts,
    email_changes,
    idempotency,
    invitations,
    keys,
    sessions,
)
from honeyguide.events import change_log, outbox
from honeyguide.events.outbound import Outbound
from honeyguide.integrations import adoption, disconnecting, incoming
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.kernel.clock import CLOCK_SET, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from honeyguide.kernel.site import Site
from honeyguide.mail import digests, emails, sending, slack_messages
from honeyguide.mail.transports import Transport
from honeyguide.moving import adopting, checking, fetching, import_parts, importing
from honeyguide.operating.backups import records
from honeyguide.operating.backups.making import BackupPlan
from honeyguide.partners import (
    charges,
    network,
    payout_notifications,
    payouts,
    public_figures,
    publications,
    term_changes,
    term_notifications,
)
from honeyguide.rewards import backfill, shipment_emails, shipments
from honeyguide.screening import evidence, mail_hosts, moves, trait_groups
from honeyguide.signups import (
    account_floods,
    claims,
    confirmations,
    delayed_actions,
    erasures,
    first_looks,
    group_looks,
    refused_readers,
    used_forms,
)
from honeyguide.store.purging import Purge
from honeyguide.subscribers import clicks, cohorts, link_hosts, page_index, persons
from honeyguide.work import (
    backups,
    decisions,
    fetches,
    money,
    moving,
    notifications,
    upkeep,
    weekly_summaries,
)
from honeyguide.work.fetches import Fetcher
from honeyguide.work.items import Do, Find, Items, Job, changes_of, one_by_one, purged

LINKS_BATCH = 100
LOOKS_BATCH = 50
# Found at once. One whose partners wait for the end of a holding period stays among them.
MOST_CLOSED = 100
FORGETTING = "forget accounts that were closed years ago"


def _job(name: str, every_ms: int, find: Find, do: Do, *most: int, topic: str | None = None, always_runs: bool = False) -> Job:
    """One that goes through items: how many are found at once, and how many are done together."""
    return Job(name, every_ms, (Items(find, do, *most),), topic=topic, always_runs=always_runs)


def _purge(name: str, every_ms: int, *purges: Purge[Any]) -> Job:
    return Job(name, every_ms, purged(*purges), always_runs=True)


COUNTS = (
    _job("update the page index", SECOND_MS, page_index.owners_to_index, upkeep.update_page_index, page_index.OWNERS, page_index.OWNERS),
)

PURGES = (
    _purge("purge old imports", HOUR_MS, importing.purge),
    _purge("purge expired sessions and invitations", HOUR_MS, sessions.purge, invitations.purge, email_changes.purge),
    _purge("purge idempotency keys", 10 * MINUTE_MS, idempotency.purge),
    _purge("purge old emails", HOUR_MS, emails.purge),
    _purge("purge old events", HOUR_MS, outbox.purge),
    _job(
        "delete what was kept about disconnected platforms", MINUTE_MS, disconnecting.disconnected, upkeep.delete_disconnected,
        topic=disconnecting.TOPIC,
    ),
    _purge("purge old webhooks of email platforms", HOUR_MS, incoming.purge),
    _purge("purge old attempt counts", HOUR_MS, attempts.purge),
    _purge("purge old visitor hashes", HOUR_MS, clicks.purge),
    _purge("purge used forms", HOUR_MS, used_forms.purge),
    _purge("forget the values of old evidence", HOUR_MS, evidence.purge),
    _purge("purge old mail hosts", HOUR_MS, mail_hosts.purge),
    _job(
        "remove postal addresses after sending", HOUR_MS, shipments.with_old_address, upkeep.remove_addresses, shipments.REMOVAL_BATCH,
        shipments.REMOVAL_BATCH, always_runs=True,
    ),
    _purge("purge old records of erasures", HOUR_MS, erasures.purge),
)


def backup_jobs(plan: BackupPlan | None) -> tuple[Job, ...]:
    if plan is None:
        return ()
    return (
        Job(
            records.JOB, MINUTE_MS, partial(backups.make_backup, plan), probe=partial(records.is_due, every_ms=plan.every_ms),
            topic=records.REQUESTED,
        ),
        Job(
            "copy erasures to the backups", MINUTE_MS, partial(backups.copy_erasures, plan), probe=erasures.has_uncopied,
            topic=erasures.TOPIC,
        ),
    )


def link_host_jobs(site: Site, outbound: Outbound) -> tuple[Job, ...]:
    return (
        _job(
            link_hosts.CHECKING, MINUTE_MS, link_hosts.due, partial(upkeep.check_hosts, site, outbound), upkeep.HOSTS_BATCH,
            upkeep.HOSTS_BATCH, topic=link_hosts.CHECKS,
        ),
    )


# What the network shows of programs.
PROGRAMS = (
    _job(
        "update confirmation rates", 10 * MINUTE_MS, network.changed_rates, upkeep.set_rates, upkeep.RATES_BATCH, upkeep.RATES_BATCH,
        always_runs=True,
    ),
    _job(
        "count the public figures of programs", HOUR_MS, public_figures.due, upkeep.count_public_figures, public_figures.BATCH, 1,
        always_runs=True,
    ),
    _job(
        "fill in search texts after an upgrade", HOUR_MS, publications.without_search_text, upkeep.add_search_texts,
        publications.FOLD_BATCH, publications.FOLD_BATCH,
    ),
)


def jobs_of(site: Site, transport: Transport, *, change_log_keep_days: int, keep_closed_years: int) -> tuple[Job, ...]:
    """The table of jobs."""
    return (
        *COUNTS,
        _counting_job(site),
        _job(importing.IMPORTING, SECOND_MS, import_parts.running, partial(moving.import_file, site)),
        _job(adopting.ADOPTING, MINUTE_MS, adopting.due, partial(moving.adopt_values, site), topic=adoption.TOPIC),
        Job(money.VERIFYING, 5 * SECOND_MS, (money.referrals_to_verify(site),), topic=CLOCK_SET),
        _ending_job(site),
        _job(
            group_looks.LOOKING, 30 * SECOND_MS, evidence.codes_to_look_at, partial(decisions.look_at_code, site), decisions.BATCH,
            topic=CLOCK_SET,
        ),
        _job(
            group_looks.LOOKING_AT_PROGRAMS, MINUTE_MS, trait_groups.due, partial(decisions.look_at_program, site), decisions.PROGRAMS,
            topic=CLOCK_SET,
        ),
        _job(
            confirmations.RELEASING, 30 * SECOND_MS, confirmations.due_codes, decisions.release_or_cancel(site), decisions.BATCH,
            topic=confirmations.TOPIC,
        ),
        _job(
            account_floods.FINDING, account_floods.EVERY_MS, account_floods.changes, one_by_one(site, account_floods.save), decisions.BATCH,
            topic=CLOCK_SET,
        ),
        _job(
            delayed_actions.APPLYING, 5 * SECOND_MS, delayed_actions.due, partial(decisions.apply_or_drop, site), decisions.BATCH,
            decisions.TOGETHER, topic=CLOCK_SET,
        ),
        _job(shipment_emails.ANNOUNCING, 10 * SECOND_MS, shipment_emails.due, decisions.announce(site), decisions.BATCH, topic=CLOCK_SET),
        _job(backfill.GRANTING, 5 * SECOND_MS, backfill.new_rewards, partial(upkeep.grant_new_reward, site)),
        _job(backfill.SUPPLYING, 5 * SECOND_MS, backfill.restocked_rewards, partial(upkeep.supply_codes, site)),
        _job(persons.REKEYING, MINUTE_MS, persons.due, partial(upkeep.rekey, site)),
        Job("send budget notifications", 10 * SECOND_MS, (money.budgets_to_notify(site),), topic=charges.BUDGET_NOTIFICATIONS),
        Job(
            "send emails",
            30 * SECOND_MS,
            (
                Items(invitations.requested_links, one_by_one(site, invitations.answer_request), LINKS_BATCH),
                Items(sending.due, partial(sending.send, transport), sending.BATCH, sending.BATCH),
            ),
            topic=emails.TOPIC,
        ),
        Job("close months and create payouts", MINUTE_MS, (money.MONTHS,), topic=CLOCK_SET),
        Job("store the digests of closed months", MINUTE_MS, (money.DIGESTS,), topic=payouts.CLOSED),
        *PROGRAMS,
        _job(
            term_notifications.TELLING, MINUTE_MS, term_notifications.due, partial(money.tell_of_terms, site), money.TERMS_BATCH,
            topic=CLOCK_SET,
        ),
        _job(term_changes.BEGINNING, MINUTE_MS, term_changes.due, one_by_one(site, term_changes.begin), money.TERMS_BATCH, topic=CLOCK_SET),
        *first_look_jobs(site),
        _job(closing.CLOSING, MINUTE_MS, closing.due, partial(upkeep.close_account, site), MOST_CLOSED, topic=CLOCK_SET),
        _job(FORGETTING, HOUR_MS, partial(closing.expired, keep_years=keep_closed_years), upkeep.forget_account),
        Job("check the ledger", DAY_MS, money.verify_ledger, always_runs=True),
        *PURGES,
        _purge("purge the old change log", DAY_MS, change_log.purge(change_log_keep_days)),
    )


def _counting_job(site: Site) -> Job:
    """Counts who joined on each day."""
    count = partial(upkeep.count_cohorts, site)
    return _job(cohorts.COUNTING, MINUTE_MS, cohorts.due_campaigns, count, cohorts.MOST_DUE, topic=accounts.TIME_ZONE)


def _ending_job(site: Site) -> Job:
    """Ends what nobody confirmed in time."""
    verify = partial(money.verify_referrals, site)
    shown = Items(moves.unconfirmed, verify, money.VERIFY_BATCH, money.VERIFY_TOGETHER)
    put_aside = Items(claims.due, decisions.end_claims(site), decisions.BATCH)
    return Job(claims.ENDING, 10 * MINUTE_MS, (shown, put_aside), topic=CLOCK_SET)


def fetch_jobs(fetcher: Fetcher, keys: EncryptionKeys) -> tuple[Job, ...]:
    return (
        _job(fetches.FETCHING, SECOND_MS, fetching.due, partial(fetches.fetch_some, fetcher, keys), fetching.BATCH, topic=fetching.TOPIC),
    )


def certificate_jobs(site: Site, secret_keys: Sequence[bytes]) -> tuple[Job, ...]:
    return (_job(checking.CHECKING, SECOND_MS, checking.running, partial(moving.compare_some, site, secret_keys)),)


def mail_host_jobs(site: Site, outbound: Outbound) -> tuple[Job, ...]:
    if not site.asks_mail_hosts:
        return ()
    ask = partial(decisions.ask_mail_hosts, outbound)
    return (_job(mail_hosts.ASKING, MINUTE_MS, mail_hosts.due, ask, decisions.HOSTS, decisions.HOSTS),)


def first_look_jobs(site: Site) -> tuple[Job, ...]:
    asking = partial(changes_of, site, first_looks.ASKING)
    refuse = changes_of(site, first_looks.REFUSING, refused_readers.refuse)
    return (
        Job(
            first_looks.ASKING,
            5 * MINUTE_MS,
            (
                Items(first_looks.to_compare, asking(first_looks.compare_again), LOOKS_BATCH),
                Items(first_looks.to_ask, asking(first_looks.ask), LOOKS_BATCH),
                Items(first_looks.to_remind, asking(first_looks.remind), LOOKS_BATCH),
                Items(first_looks.to_pause, asking(first_looks.pause), LOOKS_BATCH),
                Items(group_looks.to_tell, asking(group_looks.tell), LOOKS_BATCH),
            ),
            topic=CLOCK_SET,
        ),
        _job(first_looks.REFUSING, MINUTE_MS, refused_readers.to_refuse, refuse, LOOKS_BATCH, topic=CLOCK_SET),
    )


def notification_jobs(site: Site, poster: notifications.SlackPoster) -> tuple[Job, ...]:
    warned = changes_of(site, notifications.KEYS_EXPIRE, keys.warn_of_end)
    return (
        _job("send digests of notifications", MINUTE_MS, digests.due_accounts, partial(notifications.send_digest, site), topic=CLOCK_SET),
        _job(
            "send weekly summaries", MINUTE_MS, weekly_summaries.due_accounts, partial(weekly_summaries.send_weekly_summary, site),
            weekly_summaries.BATCH, topic=CLOCK_SET,
        ),
        _job(notifications.KEYS_EXPIRE, HOUR_MS, keys.expiring, warned, notifications.BATCH, topic=CLOCK_SET),
        _job("send payout notifications", MINUTE_MS, payout_notifications.due_months, partial(notifications.notify_about_payouts, site)),
        _job(
            "post notifications to Slack", 30 * SECOND_MS, slack_messages.due_accounts, partial(notifications.post_to_slack, poster),
            slack_messages.BATCH, slack_messages.BATCH, topic=slack_messages.TOPIC,
        ),
    )
