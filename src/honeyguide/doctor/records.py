"""What the installation's own tables say about its health, and what the slow checks last found."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from honeyguide.accounts import accounts
from honeyguide.doctor.results import CheckResult
from honeyguide.events import webhooks
from honeyguide.mail.emails import Backlog
from honeyguide.store import job_runs
from honeyguide.store.job_runs import JobRun
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

_sql = beside(__file__)
_FAILING_WEBHOOKS = _sql.value("failing_webhooks", int)
_OLDEST_UNSENT_EMAIL = _sql.value("oldest_unsent_email", int)


class Records(NamedTuple):
    job_runs: list[JobRun]
    unsent_email_ms: int | None  # when the oldest email that is not sent was written
    deliveries: Backlog
    failing_webhooks: int
    stored_secret: bytes | None
    proof: accounts.Proof | None
    backup_ms: int | None


class SlowChecks(msgspec.Struct):
    """What was found by the checks that are not made on every view of a page."""

    at_ms: int
    results: list[CheckResult]


async def read(tx: Tx, *, now_ms: int) -> Records:
    return Records(
        job_runs=await job_runs.all_runs(tx),
        unsent_email_ms=await tx.one(_OLDEST_UNSENT_EMAIL),
        deliveries=await webhooks.backlog(tx, now_ms=now_ms),
        failing_webhooks=await tx.one(_FAILING_WEBHOOKS) or 0,
        stored_secret=await accounts.find_stored_secret(tx),
        proof=await accounts.last_proof(tx),
        backup_ms=await accounts.last_backup_ms(tx),
    )


async def keep_slow_checks(tx: Tx, results: list[CheckResult], *, now_ms: int) -> None:
    text = msgspec.json.encode(SlowChecks(now_ms, results)).decode()
    await accounts.note_slow_checks(tx, text)


async def last_slow_checks(tx: Tx) -> SlowChecks | None:
    text = await accounts.last_slow_checks(tx)
    try:
        return msgspec.json.decode(text, type=SlowChecks) if text else None
    except msgspec.ValidationError:  # of another version
        return None
