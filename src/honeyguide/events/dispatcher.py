"""Sends what the outbox holds: any number of processes may do so at once. A claim is a lease, only its token may record the
outcome, and at most a few are in flight to one webhook, so that a dead one delays nobody but itself.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from honeyguide.events import outbox, schedule, signature
from honeyguide.events.outbound import Answer, Outbound
from honeyguide.events.recording import AttemptResult, Recorder
from honeyguide.kernel.clock import Clock, system_clock
from honeyguide.kernel.errors import Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.store import Store
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

log = logging.getLogger("honeyguide.delivery")

IN_FLIGHT_PER_WEBHOOK = 4
# Webhooks served at once, so at most a thousand posts are under way. Those that fail or stall have part of the queues only.
MOST_WEBHOOKS = 250
MOST_TROUBLED_WEBHOOKS = 100
# What may be claimed and not begun yet, shared by the queues. A quick webhook is given many at a time, and more when half of
# them are gone; one that fails only what it can have in flight.
MOST_LEASED = 1024
MOST_PER_WEBHOOK = 512
# Real time, not the test clock. A lease must outlast the attempts of a batch, each of which may take 15 s. What
# could not be begun in time is given back.
LEASE_MS = 60_000
BEGIN_WITHIN_S = 40.0
# Nothing is sent that was last looked at before a recall (a person was erased, a webhook changed or is gone), nor longer ago
# than this, since a recall by another process may be missed. All that are leased are looked at together, and in good time, so
# that senders seldom wait for it.
CHECK_AGAIN_S = 1.0
# A queue in which nothing moved for this long is given nothing more.
STALLED_S = 0.5
# Wake-ups come with each commit; this is for what falls due and for wake-ups that were missed.
POLL_S = 1.0
# Rounds that follow each other faster would find a handful each.
ROUND_S = 0.01
# How long those in flight may take to finish when the process is asked to stop; the others are sent again after their lease.
STOP_WITHIN_S = 5.0


class DueDelivery(NamedTuple):
    id: str
    failing_since_ms: int | None


class ClaimedDelivery(NamedTuple):
    """Everything that one attempt needs to know; in order, the longest due comes first. With an empty body it can never be
    sent: its person was erased meanwhile, or its webhook disabled."""

    due_ms: int
    id: str
    token: str
    tries: int
    event_id: str
    body: str
    webhook_id: str
    account_id: str
    url: str
    secret: str
    old_secrets: str


class LeasedDelivery:
    """A delivery that is claimed and not begun yet; None when it was canceled, or another process holds the lease now."""

    __slots__ = ("delivery", "id", "seen_s", "since_s", "token")

    def __init__(self, delivery: ClaimedDelivery, now_s: float) -> None:
        self.id, self.token = delivery.id, delivery.token
        self.delivery: ClaimedDelivery | None = delivery
        self.since_s = self.seen_s = now_s


class WebhookQueue:
    """What this process holds for one webhook, and how many of it are in flight."""

    __slots__ = ("more", "most", "moved_s", "senders", "troubled", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[LeasedDelivery] = deque()
        self.senders = 0
        self.moved_s = 0.0
        self.troubled = False
        self.more = False  # the last claim gave all that was asked for: there may be more
        self.most = IN_FLIGHT_PER_WEBHOOK

    def stalls(self, now_s: float) -> bool:
        return self.senders > 0 and now_s - self.moved_s > STALLED_S

    def wants_more(self, now_s: float) -> bool:
        if self.troubled:
            return not self.waiting and self.senders < IN_FLIGHT_PER_WEBHOOK
        return len(self.waiting) < self.most and (
            self.senders < IN_FLIGHT_PER_WEBHOOK or not self.stalls(now_s)
        )


_sql = beside(__file__)
_DUE_WEBHOOKS = _sql.query("due_webhooks", DueDelivery)
_CLAIM = _sql.query("claim", ClaimedDelivery)
_CLAIMED = _sql.query("claimed", ClaimedDelivery)
_CANCEL_UNSENDABLE = _sql.command("cancel_unsendable")
_GIVE_BACK = _sql.command("give_back")


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


class Dispatcher:
    """The delivery loop of one process. `page` is where the owner of a webhook can look after it."""

    def __init__(
        self,
        store: Store,
        outbound: Outbound,
        clock: Clock,
        *,
        page: str = "",
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._store = store
        self._outbound = outbound
        self._clock = clock
        self._chance = chance
        self._recorder = Recorder(store, page)
        self._wake = asyncio.Event()
        self._turn = asyncio.Lock()
        self._looking = asyncio.Lock()
        self._next_check: asyncio.Task[None] | None = None
        self._queues: dict[str, WebhookQueue] = {}
        self._leased: dict[str, LeasedDelivery] = {}
        self._senders: set[asyncio.Task[None]] = set()
        self._recalled_s = 0.0
        self._last_begun = ""
        self._stopping = False

    async def run(self) -> None:
        self._store.listen(outbox.DELIVERIES, self._wake.set)
        self._store.listen(outbox.RECALLS, self._recall)
        loop = asyncio.get_running_loop()
        try:
            while True:
                began_s = loop.time()
                try:
                    await self._begin_due()
                except Unavailable as error:
                    log.warning("Webhook deliveries are paused: %s", error)
                    await asyncio.sleep(POLL_S)
                except Exception:
                    log.exception("Webhook deliveries failed; trying again")
                    await asyncio.sleep(POLL_S)
                try:
                    async with asyncio.timeout(POLL_S):
                        await self._wake.wait()
                except TimeoutError:
                    pass
                await asyncio.sleep(max(0.0, began_s + ROUND_S - loop.time()))
                self._wake.clear()
        finally:
            await self._stop()

    def _recall(self) -> None:
        """Whatever was seen before this moment is looked at again before it is sent."""
        self._recalled_s = asyncio.get_running_loop().time()

    async def deliver_due(self) -> None:
        """Everything that is due by the clock, to its end and on record."""
        while await self._begin_due() or self._senders:
            if self._senders:
                await asyncio.wait(self._senders)
            await self._recorder.flush()
        await self._recorder.flush()

    async def _stop(self) -> None:
        """What is in flight may finish for a moment, what was not begun is given back, and all outcomes are written."""
        self._stopping = True
        unsent = [leased for queue in self._queues.values() for leased in queue.waiting]
        for queue in self._queues.values():
            queue.waiting.clear()
        if self._senders:
            _, late = await asyncio.wait(self._senders, timeout=STOP_WITHIN_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        if self._next_check is not None:
            self._next_check.cancel()
        await self._recorder.flush()
        try:
            await self._give_back(unsent)
        except Unavailable as error:
            log.warning(
                "Could not release unsent webhook deliveries; they wait until their lease expires: %s",
                error,
            )

    # One round: who has something due, a claim for all of them together, and senders for what came.

    async def _begin_due(self) -> int:
        async with self._turn:
            if self._stopping:
                return 0
            now_ms, today_ms = self._clock(), system_clock()
            due = await self._store.read(
                lambda tx: tx.all(_DUE_WEBHOOKS, now_ms=now_ms, today_ms=today_ms)
            )
            well, troubled = self._choose(due) if due else ([], [])
            if not well and not troubled:
                return 0
            most = max(
                IN_FLIGHT_PER_WEBHOOK, min(MOST_PER_WEBHOOK, MOST_LEASED // len(self._queues))
            )
            counts: Counter[str] = Counter()
            try:
                claimed = await self._store.write(
                    lambda tx: claim(tx, well, troubled, most=most, now_ms=now_ms)
                )
                now_s = asyncio.get_running_loop().time()
                for delivery in claimed:
                    leased = self._leased[delivery.id] = LeasedDelivery(delivery, now_s)
                    self._queue(delivery.webhook_id).waiting.append(leased)
                    counts[delivery.webhook_id] += 1
                return len(claimed)
            finally:
                for webhook_id in (*well, *troubled):
                    self._start_senders(webhook_id, more=counts[webhook_id] >= most, most=most)

    def _choose(self, due: list[DueDelivery]) -> tuple[list[str], list[str]]:
        """Round-robin where there are more than queues: it goes on after the webhook begun last, and while anyone waits for a
        queue nobody is given more, so that every queue runs out and is free for the next."""
        now_s = asyncio.get_running_loop().time()
        places = MOST_WEBHOOKS - len(self._queues)
        bad_places = MOST_TROUBLED_WEBHOOKS - sum(
            queue.troubled or queue.stalls(now_s) for queue in self._queues.values()
        )
        again: list[DueDelivery] = []
        new: list[DueDelivery] = []
        all_found_place = True
        for webhook in sorted(
            due, key=lambda webhook: (webhook.id <= self._last_begun, webhook.id)
        ):
            bad = webhook.failing_since_ms is not None
            queue = self._queues.get(webhook.id)
            if queue is not None:
                queue.troubled = bad
                if queue.wants_more(now_s):
                    again.append(webhook)
            elif places > 0 and (not bad or bad_places > 0):
                places -= 1
                bad_places -= bad
                self._queue(webhook.id).troubled = bad
                self._last_begun = webhook.id
                new.append(webhook)
            else:
                all_found_place &= places > 0
        chosen = [*new, *again] if all_found_place else new
        return (
            [webhook.id for webhook in chosen if webhook.failing_since_ms is None],
            [webhook.id for webhook in chosen if webhook.failing_since_ms is not None],
        )

    def _queue(self, webhook_id: str) -> WebhookQueue:
        queue = self._queues.get(webhook_id)
        if queue is None:
            queue = self._queues[webhook_id] = WebhookQueue()
        return queue

    def _start_senders(self, webhook_id: str, *, more: bool, most: int) -> None:
        """As many senders as there is work for; a queue without either is closed."""
        queue = self._queue(webhook_id)
        queue.more, queue.most = more, most
        loop = asyncio.get_running_loop()
        for _ in range(min(len(queue.waiting), IN_FLIGHT_PER_WEBHOOK - queue.senders)):
            if not queue.senders:
                queue.moved_s = loop.time()
            queue.senders += 1
            task = loop.create_task(self._send_each(webhook_id, queue))
            self._senders.add(task)
            task.add_done_callback(self._senders.discard)
        if not queue.senders:
            del self._queues[webhook_id]

    async def _send_each(self, webhook_id: str, queue: WebhookQueue) -> None:
        try:
            while queue.waiting:
                leased = queue.waiting.popleft()
                if queue.more and len(queue.waiting) <= queue.most // 2:
                    queue.more = False
                    self._wake.set()
                try:
                    delivery = await self._checked(leased)
                except Unavailable as error:
                    log.warning(
                        "Could not check a webhook delivery; it waits until its lease expires: %s",
                        error,
                    )
                    continue
                finally:
                    self._leased.pop(leased.id, None)
                if delivery is not None:
                    await self._attempt(delivery, queue)
        finally:
            queue.senders -= 1
            if not queue.senders:
                del self._queues[webhook_id]
            self._wake.set()

    async def _checked(self, leased: LeasedDelivery) -> ClaimedDelivery | None:
        """The delivery, if it may still be sent."""
        loop = asyncio.get_running_loop()
        ago_s = loop.time() - leased.seen_s
        if ago_s > CHECK_AGAIN_S or leased.seen_s <= self._recalled_s:
            await self._check_again(leased)
        elif ago_s > CHECK_AGAIN_S / 4 and (self._next_check is None or self._next_check.done()):
            self._next_check = loop.create_task(self._look_ahead(leased))
        if leased.delivery is not None and loop.time() - leased.since_s > BEGIN_WITHIN_S:
            await self._give_back([leased])
            return None
        return leased.delivery

    async def _attempt(self, delivery: ClaimedDelivery, queue: WebhookQueue) -> None:
        now_ms = self._clock()
        answer = await self._post(delivery, now_ms)
        queue.moved_s = asyncio.get_running_loop().time()
        status, due_ms = schedule.outcome(answer, delivery.tries + 1, now_ms, self._chance())
        await self._recorder.add(
            AttemptResult(
                webhook_id=delivery.webhook_id,
                url=delivery.url,
                attempt_id=new_id(),
                account_id=delivery.account_id,
                delivery_id=delivery.id,
                token=delivery.token,
                at_ms=now_ms,
                status_code=answer.status,
                latency_ms=answer.latency_ms,
                error=answer.error,
                response=answer.body,
                status=status,
                due_ms=due_ms,
                gone=schedule.is_gone(answer),
            )
        )

    async def _look_ahead(self, leased: LeasedDelivery) -> None:
        try:
            await self._check_again(leased)
        except Unavailable as error:
            log.warning("Could not check claimed webhook deliveries: %s", error)

    async def _check_again(self, wanted: LeasedDelivery) -> None:
        """At all that are leased: whoever waited for this meanwhile finds theirs seen as well."""
        asked_s = asyncio.get_running_loop().time()
        async with self._looking:
            if wanted.seen_s >= asked_s:
                return
            looked_s, all_leased = asyncio.get_running_loop().time(), list(self._leased.values())
            ids, tokens = (
                _json([leased.id for leased in all_leased]),
                _json(list({leased.token for leased in all_leased})),
            )
            found = await self._store.read(lambda tx: tx.all(_CLAIMED, ids=ids, tokens=tokens))
            by_id = {(delivery.id, delivery.token): delivery for delivery in found}
            for leased in all_leased:
                leased.delivery, leased.seen_s = by_id.get((leased.id, leased.token)), looked_s

    async def _post(self, delivery: ClaimedDelivery, now_ms: int) -> Answer:
        body = delivery.body.encode()
        timestamp_s = now_ms // 1000
        secrets = signature.valid_secrets(delivery.secret, delivery.old_secrets, now_ms)
        headers = {
            "content-type": "application/json",
            "webhook-id": delivery.event_id,
            "webhook-timestamp": str(timestamp_s),
            "webhook-signature": signature.sign(secrets, delivery.event_id, timestamp_s, body),
        }
        try:
            return await self._outbound.post(delivery.url, body, headers)
        except (
            Exception
        ):  # a bug of ours must use up an attempt, or this delivery would be tried for ever
            log.exception("A webhook delivery failed because of a bug")
            return Answer(None, "Internal error in Honeyguide; nothing was sent.", "protocol", 0)

    async def _give_back(self, unsent: Iterable[LeasedDelivery]) -> None:
        by_token: dict[str, list[str]] = defaultdict(list)
        for leased in unsent:
            by_token[leased.token].append(leased.id)

        async def work(tx: Tx) -> None:
            for token, ids in by_token.items():
                await tx.run(_GIVE_BACK, ids=_json(ids), token=token)

        if by_token:
            await self._store.write(work)


async def claim(
    tx: Tx, well: list[str], troubled: list[str], *, most: int, now_ms: int
) -> list[ClaimedDelivery]:
    """Leases what is due to these webhooks, and cancels what can never be sent."""
    token, today_ms = new_id(), system_clock()
    claimed: list[ClaimedDelivery] = []
    for webhook_ids, each in ((well, most), (troubled, IN_FLIGHT_PER_WEBHOOK)):
        if webhook_ids:
            claimed += await tx.all(
                _CLAIM,
                webhooks=_json(webhook_ids),
                token=token,
                until_ms=today_ms + LEASE_MS,
                most=each,
                now_ms=now_ms,
                today_ms=today_ms,
            )
    unsendable = [delivery.id for delivery in claimed if not delivery.body]
    if unsendable:
        await tx.run(_CANCEL_UNSENDABLE, ids=_json(unsendable), token=token)
    return sorted(delivery for delivery in claimed if delivery.body)
