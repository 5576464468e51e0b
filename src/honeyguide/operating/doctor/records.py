"""What the installation's own tables say about its health, and what slow checks last found."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from honeyguide.accounts import accounts, email_proofs, second_factors
from honeyguide.events import webhooks
from honeyguide.integrations import integrations
from honeyguide.kernel.clock import system_clock
from honeyguide.mail import emails, slack_messages
from honeyguide.moving import installation_key
from honeyguide.operating.backups import records
from honeyguide.operating.backups.records import BackupRecord
from honeyguide.operating.doctor.results import CheckResult
from honeyguide.partners import held_referrals
from honeyguide.partners.held_referrals import ProgramHealth
from honeyguide.store import failing_loops, job_failures, job_runs
from honeyguide.store.failing_loops import FailingLoop
from honeyguide.store.job_failures import JobFailure
from honeyguide.store.job_runs import JobRun
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx
from honeyguide.subscribers import link_hosts
from honeyguide.subscribers.link_hosts import ListedHost

_sql = beside(__file__)
_FAILING_WEBHOOKS = _sql.value("failing_webhooks", int)


class Records(NamedTuple):
    job_runs: list[JobRun]
    job_failures: list[JobFailure]
    failing_loops: list[FailingLoop]
    unsent_email_ms: int | None  # when the oldest email that is not sent was written
    due_delivery_ms: int | None  # since when the oldest delivery is due
    failing_webhooks: int
    stored_secret: bytes | None
    encrypted: list[str]  # the keys of email platforms
    encrypted_slack_urls: list[str]
    encrypted_second_factors: list[str]
    encrypted_signing_keys: list[str]  # the one in use, if there is one yet
    proof: accounts.Proof | None
    programs: ProgramHealth
    unproven_logins: int
    link_hosts: list[ListedHost]
    backup_ms: int | None
    backup: BackupRecord | None  # the last automatic one, also if it failed


class StoredResult(msgspec.Struct):
    """What was found by a check that is not made on every view of a page."""

    at_ms: int
    result: CheckResult


async def read(tx: Tx) -> Records:
    due = await webhooks.due(tx, most=1)
    return Records(
        job_runs=await job_runs.all_jobs(tx),
        job_failures=await job_failures.list_all(tx),
        failing_loops=await failing_loops.list_all(tx.at(system_clock())),
        unsent_email_ms=(await emails.unsent(tx, most=1)).since_ms,
        due_delivery_ms=min((row.since_ms for row in due if row.since_ms), default=None),
        failing_webhooks=await tx.one(_FAILING_WEBHOOKS) or 0,
        stored_secret=await accounts.find_stored_secret(tx),
        encrypted=await integrations.all_credentials(tx),
        encrypted_slack_urls=await slack_messages.all_encrypted_urls(tx),
        encrypted_second_factors=await second_factors.encrypted_secrets(tx),
        encrypted_signing_keys=[
            key.private_key for key in await installation_key.list_all(tx) if key.is_current
        ],
        proof=await accounts.last_proof(tx),
        programs=await held_referrals.health(tx),
        unproven_logins=await email_proofs.count_missing(tx),
        link_hosts=await link_hosts.list_all(tx),
        backup_ms=await accounts.last_backup_ms(tx),
        backup=await records.last_finished(tx),
    )


async def store_results(tx: Tx, results: list[CheckResult]) -> None:
    stored = await stored_results(tx)
    stored |= {result.name: StoredResult(tx.now_ms, result) for result in results}
    await accounts.note_check_results(tx, msgspec.json.encode(stored).decode())


async def stored_results(tx: Tx) -> dict[str, StoredResult]:
    text = await accounts.last_check_results(tx)
    try:
        return msgspec.json.decode(text, type=dict[str, StoredResult]) if text else {}
    except msgspec.ValidationError:  # of another version
        return {}
