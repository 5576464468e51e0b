"""Sends what the outbox holds: any number of processes may do so at once. A claim is a lease, only its token may record the
outcome, and at most a few are in flight to one webhook, so that a dead one delays nobody but itself.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from honeyguide.events import outbox, schedule, signature
from honeyguide.events.outbound import Answer, Outbound
from honeyguide.kernel.clock import Clock
from honeyguide.kernel.errors import Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.mail import letters, words
from honeyguide.store import Store
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

log = logging.getLogger("honeyguide.delivery")

IN_FLIGHT_PER_WEBHOOK = 4
IN_FLIGHT = 400
# A quick webhook is given many at a time; one that fails only what it can have in flight.
BATCH = 40
# Longer than three attempts can take; what could not be begun in time is left for the next claim.
LEASE_MS = 60_000
BEGIN_WITHIN_MS = 40_000
# Wake-ups come with each commit; this is for what falls due and for wake-ups that were missed.
LOOK_AGAIN_S = 1.0


class Due(NamedTuple):
    id: str
    account_id: str
    url: str
    secret: str
    old_secret: str | None
    old_secret_until_ms: int | None


class Claimed(NamedTuple):
    id: str
    tries: int
    event_id: str
    body: str


class Failing(NamedTuple):
    failing_since_ms: int
    warned_ms: int | None
    disabled_ms: int | None


class Recorded(msgspec.Struct, frozen=True):
    """One attempt and what follows from it, as the recording statements read it."""

    webhook: Due
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


_sql = beside(__file__)
_DUE_WEBHOOKS = _sql.query("due_webhooks", Due)
_CURRENT = _sql.query("current", Due)
_CLAIM = _sql.value("claim", str)
_CLAIMED = _sql.query("claimed", Claimed)
_RECORD_ATTEMPTS = _sql.command("record_attempts")
_RECORD_OUTCOMES = _sql.command("record_outcomes")
_WELL_AGAIN = _sql.command("well_again")
_FAILS = _sql.query("fails", Failing)
_WARN = _sql.command("warn")
_DISABLE = _sql.command("disable")
_CANCEL_ALL = _sql.command("cancel_all")
_OWNER_EMAIL = _sql.value("owner_email", str)


class Courier:
    """The delivery loop of one process."""

    def __init__(self, store: Store, outbound: Outbound, clock: Clock, *, chance: Callable[[], float] = random.random) -> None:
        self._store = store
        self._outbound = outbound
        self._clock = clock
        self._chance = chance
        self._wake = asyncio.Event()
        self._serving: dict[str, asyncio.Task[None]] = {}
        self._troubled: set[str] = set()
        self._free = asyncio.Semaphore(IN_FLIGHT)
        self._done: list[tuple[Recorded, asyncio.Future[None]]] = []
        self._recording: asyncio.Task[None] | None = None

    async def run(self) -> None:
        self._store.listen(outbox.DELIVERIES, self._wake.set)
        try:
            while True:
                try:
                    await self.begin_due()
                except Unavailable as error:
                    log.warning("deliveries wait: %s", error)
                except Exception:
                    log.exception("deliveries failed")
                try:
                    async with asyncio.timeout(LOOK_AGAIN_S):
                        await self._wake.wait()
                except TimeoutError:
                    pass
                self._wake.clear()
        finally:
            for task in self._serving.values():
                task.cancel()
            await asyncio.gather(*self._serving.values(), return_exceptions=True)

    async def begin_due(self) -> None:
        """Starts serving every webhook that has something due and is not being served already: a round-robin by nature."""
        now_ms = self._clock()
        for webhook in await self._store.read(lambda tx: tx.all(_DUE_WEBHOOKS, now_ms=now_ms)):
            if webhook.id not in self._serving:
                task = asyncio.get_running_loop().create_task(self._serve(webhook))
                self._serving[webhook.id] = task
                task.add_done_callback(lambda _task, webhook_id=webhook.id: self._leave(webhook_id))

    def _leave(self, webhook_id: str) -> None:
        self._serving.pop(webhook_id, None)
        self._wake.set()

    async def deliver_due(self) -> None:
        """Everything that is due by the clock, to its end: for tests and for a last round before stopping."""
        while True:
            await self.begin_due()
            if not self._serving:
                return
            await asyncio.gather(*self._serving.values(), return_exceptions=True)

    async def _serve(self, webhook: Due) -> None:
        """Claims and sends until nothing is due; the batch is small while the webhook has trouble."""
        try:
            while True:
                most = IN_FLIGHT_PER_WEBHOOK if webhook.id in self._troubled else BATCH
                webhook, token, claimed = await self._claim(webhook, most)
                if not claimed:
                    return
                waiting, began_ms = iter(claimed), self._clock()
                senders = [self._send_each(webhook, token, waiting, began_ms) for _ in range(IN_FLIGHT_PER_WEBHOOK)]
                await asyncio.gather(*senders)
                if len(claimed) < most:
                    return
        except Unavailable as error:
            log.warning("deliveries to one webhook wait: %s", error)
            await asyncio.sleep(LOOK_AGAIN_S)

    async def _claim(self, webhook: Due, most: int) -> tuple[Due, str, list[Claimed]]:
        """Leases what is due, and looks at the webhook anew: its address or secret may have changed since the last batch."""
        token, now_ms = new_id(), self._clock()

        async def work(tx: Tx) -> tuple[Due, str, list[Claimed]]:
            current = await tx.one(_CURRENT, id=webhook.id)
            if current is None:
                return webhook, token, []
            ids = await tx.all(_CLAIM, webhook_id=webhook.id, token=token, now_ms=now_ms, until_ms=now_ms + LEASE_MS, most=most)
            if not ids:
                return current, token, []
            return current, token, await tx.all(_CLAIMED, ids=msgspec.json.encode(ids).decode(), token=token)

        return await self._store.write(work)

    async def _send_each(self, webhook: Due, token: str, waiting: Iterator[Claimed], began_ms: int) -> None:
        for claimed in waiting:
            if self._clock() - began_ms > BEGIN_WITHIN_MS:
                return  # the lease will be over before this one could be; it is claimed again then
            async with self._free:
                recorded = await self._attempt(webhook, token, claimed)
            await self._record(recorded)

    async def _attempt(self, webhook: Due, token: str, claimed: Claimed) -> Recorded:
        now_ms = self._clock()
        body = claimed.body.encode()
        secrets = [webhook.secret]
        if webhook.old_secret is not None and (webhook.old_secret_until_ms or 0) > now_ms:
            secrets.append(webhook.old_secret)
        timestamp_s = now_ms // 1000
        answer = await self._outbound.post(
            webhook.url, body,
            {
                "content-type": "application/json",
                "webhook-id": claimed.event_id,
                "webhook-timestamp": str(timestamp_s),
                "webhook-signature": signature.sign(secrets, claimed.event_id, timestamp_s, body),
            },
        )  # fmt: skip
        return self._judge(webhook, token, claimed, answer, now_ms)

    def _judge(self, webhook: Due, token: str, claimed: Claimed, answer: Answer, now_ms: int) -> Recorded:
        if schedule.is_success(answer):
            self._troubled.discard(webhook.id)
        else:
            self._troubled.add(webhook.id)
        status, due_ms = schedule.outcome(answer, claimed.tries + 1, now_ms, self._chance())
        return Recorded(
            webhook, new_id(), webhook.account_id, claimed.id, token, now_ms, answer.status, answer.latency_ms, answer.error,
            answer.body, status, due_ms, schedule.is_gone(answer),
        )  # fmt: skip

    async def _record(self, recorded: Recorded) -> None:
        """Outcomes that come in while a transaction runs are written together by the next one."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._done.append((recorded, written))
        if self._recording is None or self._recording.done():
            self._recording = asyncio.get_running_loop().create_task(self._write_down())
        if len(self._done) > BATCH or recorded.status != "delivered":
            await written  # failures are on record before the next is tried; successes only when we run far ahead

    async def _write_down(self) -> None:
        while self._done:
            batch, self._done = self._done, []
            try:
                await self._store.write(lambda tx, batch=batch: record(tx, [item for item, _ in batch]))
            except Exception as error:
                log.warning("outcomes could not be recorded, these will be sent again: %s", error)
            for _, written in batch:
                if not written.done():
                    written.set_result(None)


async def record(tx: Tx, outcomes: list[Recorded]) -> None:
    """Attempts, outcomes and what they mean for each webhook, in one transaction, fenced by the lease."""
    rows = msgspec.json.encode(
        [{name: getattr(item, name) for name in item.__struct_fields__ if name not in ("webhook", "gone")} for item in outcomes]
    ).decode()
    await tx.run(_RECORD_ATTEMPTS, outcomes=rows)
    await tx.run(_RECORD_OUTCOMES, outcomes=rows)
    latest = {item.webhook.id: item for item in outcomes}
    for item in sorted(latest.values(), key=lambda item: item.webhook.id):
        its_own = [other for other in outcomes if other.webhook.id == item.webhook.id]
        if any(other.gone for other in its_own):
            await _disable(tx, item.webhook, "It answered 410 Gone.", item.at_ms)
        elif any(other.status == "delivered" for other in its_own):
            await tx.run(_WELL_AGAIN, account_id=item.account_id, id=item.webhook.id)
        else:
            await _note_failure(tx, item.webhook, item.at_ms)


async def _note_failure(tx: Tx, webhook: Due, now_ms: int) -> None:
    failing = await tx.one(_FAILS, account_id=webhook.account_id, id=webhook.id, now_ms=now_ms)
    if failing is None or failing.disabled_ms is not None:
        return
    failed_for_ms = now_ms - failing.failing_since_ms
    if failed_for_ms >= schedule.DISABLE_AFTER_MS:
        await _disable(tx, webhook, "Every delivery failed for five days.", now_ms)
    elif failed_for_ms >= schedule.WARN_AFTER_MS and failing.warned_ms is None:
        await tx.run(_WARN, account_id=webhook.account_id, id=webhook.id, now_ms=now_ms)
        await _write_to_owner(tx, webhook, "webhook_failing", *words.webhook_failing(webhook.url), now_ms=now_ms)


async def _disable(tx: Tx, webhook: Due, reason: str, now_ms: int) -> None:
    if not await tx.run(_DISABLE, account_id=webhook.account_id, id=webhook.id, reason=reason, now_ms=now_ms):
        return
    await tx.run(_CANCEL_ALL, account_id=webhook.account_id, id=webhook.id)
    await _write_to_owner(tx, webhook, "webhook_disabled", *words.webhook_disabled(webhook.url, reason), now_ms=now_ms)


async def _write_to_owner(tx: Tx, webhook: Due, kind: str, subject: str, text: str, *, now_ms: int) -> None:
    to = await tx.one(_OWNER_EMAIL, account_id=webhook.account_id)
    if to is not None:
        await letters.post(tx, account_id=webhook.account_id, to=to, kind=kind, subject=subject, text=text, now_ms=now_ms)
