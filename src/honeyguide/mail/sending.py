"""Sends queued emails: claims them under a lease, sends them outside any transaction, records the
result.

At least once: if a process dies between sending and recording, the lease expires and the email is
sent again with the same Message-ID. Nothing is lost, and a result that comes with an expired lease
is ignored.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from typing import Any

from honeyguide.kernel import log_context
from honeyguide.kernel.clock import HOUR_MS, MINUTE_MS
from honeyguide.kernel.ids import new_id
from honeyguide.mail import email_kinds
from honeyguide.mail.transports import Bounced, Down, MailRefused, NotNow, OutgoingEmail, Transport
from honeyguide.store import Store
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx, timed

log = logging.getLogger("honeyguide.mail")

BATCH = 20
SENDERS = 4
# A server that answers each step just in time must not block a sender for ever.
SEND_LIMIT_S = 30.0
# Twice what a batch takes when every email takes its limit.
LEASE_MS = 5 * MINUTE_MS
# After each attempt that failed: nearly three days in all, then the email has failed.
DELAYS_MS = (MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, *(6 * HOUR_MS,) * 11)
MOST_ATTEMPTS = len(DELAYS_MS) + 1
# "Never" from a mail server (5xx) is often a policy that passes; by the third time it is believed.
MOST_REFUSALS = 3
ERROR_LIMIT = 500

_sql = beside(__file__)
_DUE = _sql.value("due", str)
_CLAIM = _sql.query("claim", OutgoingEmail)
_CANCEL_UNWANTED = _sql.command("cancel_unwanted")
_CANCEL_BOUNCED = _sql.command("cancel_bounced")
_IS_OURS = _sql.value("is_ours", int)
_RECORD_SENT = _sql.command("record_sent")
_RECORD_DEFERRED = _sql.command("record_deferred")
_RECORD_FAILED = _sql.command("record_failed")
_RELEASE = _sql.command("release")


class EmailSender:
    def __init__(self, store: Store, transport: Transport) -> None:
        self._store = store
        self._transport = transport

    async def round(self, ids: Sequence[str], now_ms: int) -> bool:
        """Sends these emails and returns whether more may be waiting. A mail server that is down
        ends the round."""
        token = new_id()
        claimed = await self._store.write(lambda tx: self._claim(tx, ids, token, now_ms))
        waiting = deque(claimed)
        more = False
        try:
            down = asyncio.Event()
            senders = [
                self._bring(waiting, down, token, now_ms) for _ in range(min(SENDERS, len(waiting)))
            ]
            for trouble in await asyncio.gather(*senders, return_exceptions=True):
                if trouble is not None:
                    raise trouble
            more = len(ids) == BATCH and not waiting
        finally:
            # Also when we are told to stop: what was not tried is free at once, not when its lease
            # expires.
            if waiting:
                await self._store.write(lambda tx: self._release(tx, waiting, token))
            if not more:
                await self._transport.rest()
        return more

    async def _claim(
        self, tx: Tx, ids: Sequence[str], token: str, now_ms: int
    ) -> list[OutgoingEmail]:
        claimed = await tx.all(
            _CLAIM, ids=ids, token=token, now_ms=now_ms, until_ms=now_ms + LEASE_MS
        )
        for email in claimed:
            email_key: dict[str, Any] = {
                "account_id": email.account_id,
                "id": email.id,
                "token": token,
            }
            if email.unsubscribe_url is not None:
                await tx.run(_CANCEL_UNWANTED, **email_key)
            if email_kinds.is_for_subscribers(email.kind):
                await tx.run(_CANCEL_BOUNCED, **email_key)
        return claimed

    async def _release(self, tx: Tx, emails: deque[OutgoingEmail], token: str) -> None:
        for email in emails:
            await tx.put(_RELEASE, account_id=email.account_id, id=email.id, token=token)

    async def _bring(
        self, waiting: deque[OutgoingEmail], down: asyncio.Event, token: str, now_ms: int
    ) -> None:
        """Sends one email after the other, until none is left or the server is down."""
        while waiting and not down.is_set():
            email = waiting.popleft()
            log_context.set_account(email.account_id)
            if not await self._store.read(lambda tx, email=email: self._is_ours(tx, email, token)):  # type: ignore[misc]
                continue
            trouble = await self._attempt(email)
            await self._record(email, trouble, token, now_ms)
            if isinstance(trouble, Down) and not down.is_set():
                down.set()
                log.warning("Emails are waiting for the mail server: %s", trouble)

    async def _is_ours(self, tx: Tx, email: OutgoingEmail, token: str) -> bool:
        """Whether the claim still holds. It does not if the subscriber was erased meanwhile
        wants no more of these emails or has no such mailbox."""
        return (
            await tx.one(_IS_OURS, account_id=email.account_id, id=email.id, token=token)
            is not None
        )

    async def _attempt(self, email: OutgoingEmail) -> MailRefused | NotNow | None:
        if email.attempts > MOST_ATTEMPTS:
            return MailRefused(
                "Gave up: every attempt was interrupted before its result was known."
            )
        try:
            async with asyncio.timeout(SEND_LIMIT_S):
                await self._transport.send(email)
        except (MailRefused, NotNow) as trouble:
            return trouble
        except TimeoutError:
            return NotNow(f"The mail server took longer than {SEND_LIMIT_S:.0f} seconds.")
        except Exception:  # a bug that one email runs into must not stop the others
            log.exception("Email %s could not be sent", email.id)
            return NotNow("An unexpected error occurred while sending. The log has the details.")
        return None

    async def _record(
        self, email: OutgoingEmail, trouble: MailRefused | NotNow | None, token: str, now_ms: int
    ) -> None:
        final = email.attempts >= (
            MOST_REFUSALS if isinstance(trouble, MailRefused) else MOST_ATTEMPTS
        )
        forget = int(email_kinds.is_forgotten(email.kind))
        error = str(trouble)[:ERROR_LIMIT]

        async def work(tx: Tx) -> int:
            email_key: dict[str, Any] = {
                "account_id": email.account_id,
                "id": email.id,
                "token": token,
            }
            if trouble is None:
                return await tx.run(_RECORD_SENT, **email_key, now_ms=now_ms, forget=forget)
            if final:
                return await tx.run(
                    _RECORD_FAILED,
                    **email_key,
                    now_ms=now_ms,
                    error=error,
                    bounced=int(isinstance(trouble, Bounced)),
                    forget=forget,
                )
            due_ms = now_ms + DELAYS_MS[email.attempts - 1]
            return await tx.run(_RECORD_DEFERRED, **email_key, due_ms=due_ms, error=error)

        recorded = await self._store.write(work)
        if trouble is not None and final and recorded:
            log.warning(
                "Email %s (%s) failed after %d attempts", email.id, email.kind, email.attempts
            )


async def due(tx: Tx, *, most: int) -> list[str]:
    to_subscribers = email_kinds.TO_SUBSCRIBERS
    return await tx.all(_DUE, most=most, to_subscribers=to_subscribers)


async def send(transport: Transport, store: Store, ids: Sequence[str], now_ms: int) -> bool:
    """One bounded batch, shaped for the table of jobs."""
    return await EmailSender(store, transport).round(ids, now_ms)


async def send_due(store: Store, transport: Transport, now_ms: int) -> bool:
    """The next batch."""
    ids = await store.read(timed(due, now_ms), most=BATCH)
    return bool(ids) and await send(transport, store, ids, now_ms)
