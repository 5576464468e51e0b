"""Records the outcomes of attempts, many at once and only under their lease, and what they mean for
the webhook and its owner.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, NamedTuple

import msgspec

from honeyguide.events import schedule
from honeyguide.kernel import log_context
from honeyguide.kernel.clock import iso
from honeyguide.kernel.errors import Unavailable
from honeyguide.mail import notifications, texts
from honeyguide.mail.content import EmailText
from honeyguide.mail.notifications import Notification
from honeyguide.store import Store
from honeyguide.store.coalescer import Coalescer
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

log = logging.getLogger("honeyguide.delivery")

# How many outcomes may wait for their transaction before senders wait too.
AHEAD = 400
MOST_TOGETHER = 1_000
# A transaction for one outcome costs as much as one for fifty. What dies with the process
# is sent again.
GATHER_S = 0.02
# A store that is down may come back before the leases end. A lost outcome means that the event is
# sent again.
PATIENCE_S = 20.0
RETRY_S = 0.5
# An outcome that cannot be recorded for another reason is given up after this many tries.
MOST_FAILURES = 3


class AttemptResult(msgspec.Struct, frozen=True):
    """One attempt and what follows from it, as the recording statements read it."""

    webhook_id: str
    url: str
    attempt_id: str
    account_id: str
    delivery_id: str
    token: str
    at_ms: int
    status_code: int | None
    latency_ms: int
    error: str | None
    response: str | None
    status: str
    due_ms: int
    gone: bool


class Failing(NamedTuple):
    failing_since_ms: int
    warned_ms: int | None
    disabled_ms: int | None


_sql = beside(__file__)
_SETTLE = _sql.value("settle", str)
_INSERT_ATTEMPTS = _sql.command("insert_attempts")
_WELL_AGAIN = _sql.command("well_again")
_FAILS = _sql.query("fails", Failing)
_WARN = _sql.command("warn")
_LOCK_WEBHOOK = _sql.value("lock_webhook", str)
_DISABLE = _sql.command("disable")
_CANCEL_ALL = _sql.command("cancel_all")
_OWNER_EMAIL = _sql.value("owner_email", str)


class Recorder:
    """Outcomes that come in while a transaction runs are written together by the next one."""

    def __init__(self, store: Store, base_url: str) -> None:
        self._store = store
        self._base_url = base_url
        self._outcomes = Coalescer(self._write_all, largest=MOST_TOGETHER, gather_s=GATHER_S)

    async def add(self, outcome: AttemptResult) -> None:
        """A sender waits until a failure is recorded; after a success, only if many outcomes
        wait.
        """
        if outcome.status != "delivered" or len(self._outcomes) >= AHEAD:
            await self._outcomes.add(outcome)
        else:
            self._outcomes.put(outcome)

    async def flush(self) -> None:
        await self._outcomes.flush()

    async def _write_all(self, outcomes: list[AttemptResult]) -> list[None]:
        log_context.set_account(None)
        await self._write(outcomes)
        return [None for _ in outcomes]

    async def _write(self, outcomes: list[AttemptResult]) -> None:
        loop = asyncio.get_running_loop()
        give_up_s = loop.time() + PATIENCE_S
        failures = 0
        while True:
            try:
                await self._store.write(record, outcomes, self._base_url)
                return
            except Unavailable as error:
                if loop.time() > give_up_s:
                    log.warning(
                        "Could not record %d webhook deliveries; they will be sent again: %s",
                        len(outcomes),
                        error,
                    )
                    return
                await asyncio.sleep(RETRY_S)
            except Exception:
                if len(outcomes) > 1:
                    break
                failures += 1
                if failures == MOST_FAILURES:
                    log_context.set_account(outcomes[0].account_id)
                    log.exception("Could not record a webhook delivery; it will be sent again")
                    return
                await asyncio.sleep(RETRY_S)
        for outcome in outcomes:  # one of them is bad; record the others
            await self._write([outcome])


async def record(tx: Tx, outcomes: list[AttemptResult], base_url: str) -> None:
    """Record outcomes, attempts and what they mean for each webhook. Without the lease, record
    nothing.
    """
    settled = set(await tx.all(_SETTLE, outcomes=outcomes))
    ours = [outcome for outcome in outcomes if outcome.delivery_id in settled]
    if not ours:
        return
    await tx.put(_INSERT_ATTEMPTS, outcomes=ours)
    arrived = {outcome.webhook_id: outcome for outcome in ours if outcome.status == "delivered"}
    if arrived:
        await tx.put(_WELL_AGAIN, outcomes=list(arrived.values()))
    gone = {outcome.webhook_id: outcome for outcome in ours if outcome.gone}
    failed = {
        outcome.webhook_id: outcome for outcome in ours if outcome.webhook_id not in arrived
    } | gone
    for webhook_id, outcome in sorted(failed.items()):
        if webhook_id in gone:
            await _disable(tx, outcome, "It responded with 410 Gone.", base_url)
        else:
            await _note_failure(tx, outcome, base_url)


async def _note_failure(tx: Tx, outcome: AttemptResult, base_url: str) -> None:
    webhook, now_ms = _key(outcome), outcome.at_ms
    failing = await tx.one(
        _FAILS, **webhook, now_ms=now_ms, quiet_ms=now_ms - schedule.STREAK_ENDS_AFTER_MS
    )
    if failing is None or failing.disabled_ms is not None:
        return
    failed_for_ms = now_ms - failing.failing_since_ms
    if failed_for_ms >= schedule.DISABLE_AFTER_MS:
        await _disable(tx, outcome, "All deliveries failed for five days.", base_url)
    elif failed_for_ms >= schedule.WARN_AFTER_MS and failing.warned_ms is None:
        await tx.run(_WARN, **webhook, now_ms=now_ms)
        since, until = (
            _moment(failing.failing_since_ms),
            _moment(failing.failing_since_ms + schedule.DISABLE_AFTER_MS),
        )
        message = texts.webhook_failing(
            url=outcome.url,
            since=since,
            disables_on=until,
            page=f"{base_url}/webhooks/{outcome.webhook_id}",
        )
        await _notify_owner(tx, outcome, "webhook_failing", message, base_url)


async def _disable(tx: Tx, outcome: AttemptResult, reason: str, base_url: str) -> None:
    """Pending deliveries are canceled, but a replay can send them after the webhook is enabled."""
    webhook, now_ms = _key(outcome), outcome.at_ms
    await tx.lock(_LOCK_WEBHOOK, "update", **webhook)
    if not await tx.run(_DISABLE, **webhook, reason=reason, now_ms=now_ms):
        return
    await tx.run(_CANCEL_ALL, **webhook)
    message = texts.webhook_disabled(
        url=outcome.url, reason=reason, page=f"{base_url}/webhooks/{outcome.webhook_id}"
    )
    await _notify_owner(tx, outcome, "webhook_disabled", message, base_url)


def _key(outcome: AttemptResult) -> dict[str, Any]:
    return {"account_id": outcome.account_id, "id": outcome.webhook_id}


def _moment(ms: int) -> str:
    return f"{iso(ms)[:16].replace('T', ' ')} UTC"


async def _notify_owner(
    tx: Tx, outcome: AttemptResult, kind: str, message: EmailText, base_url: str
) -> None:
    """Notify the owner. The webhook's row says whether this was done already."""
    to = await tx.one(_OWNER_EMAIL, account_id=outcome.account_id)
    if to is not None:
        once = f"{kind}:{outcome.webhook_id}:{outcome.at_ms}"
        link = f"/webhooks/{outcome.webhook_id}"
        notification = Notification(outcome.account_id, to, kind, once, message, link)
        await notifications.notify(tx.at(outcome.at_ms), base_url, notification)
