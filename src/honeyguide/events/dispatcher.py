"""The webhook dispatcher: claims what is due, sends it and records the outcome. Any number of
processes can do so at once.

    pending ──claim──▶ leased ──send──▶ in flight ──record──▶ delivered, failed, or pending again
       ▲                  │                  │
       └──────────────────┴──────────────────┘  the lease ends: the process died, or began too late

A round claims only for webhooks with a free slot. One webhook has at most four posts in flight, or
one while it is failing, and one account at most a hundred. So no account can take the slots of
another, whatever its webhooks do. `claiming` leases, `outbound` sends, `recording` records.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections import Counter, deque
from collections.abc import Callable

from honeyguide.events import claiming, outbox, schedule, signature
from honeyguide.events.claiming import ClaimedDelivery, DueWebhook
from honeyguide.events.outbound import Answer, Outbound
from honeyguide.events.recording import AttemptResult, Recorder
from honeyguide.kernel import log_context
from honeyguide.kernel.clock import Clock
from honeyguide.kernel.errors import Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.store import Store
from honeyguide.store.tx import timed

log = logging.getLogger("honeyguide.delivery")

IN_FLIGHT_PER_WEBHOOK = 4
IN_FLIGHT_PER_ACCOUNT = 100
# The file descriptors that one process spends on this. Round-robin among webhooks beyond it.
MOST_IN_FLIGHT = 1_000
# A webhook that is quick to take its claim gets twice as much with the next one, up to this.
LARGEST_CLAIM = 128
QUICK_S = 1.0
# In real time. A lease must outlast an attempt, which may take 15 s. A delivery that was not begun
# in time is left to whoever claims it after the lease.
LEASE_MS = 60_000
BEGIN_WITHIN_S = 40.0
# A delivery is read again before it is sent if a recall came after its claim (a subscriber was
# erased, a webhook changed), or if the claim is older than this: a recall by another process may be
# missed.
CHECK_AGAIN_S = 1.0
# Wake-ups come with each commit; this is for what falls due and for wake-ups that were missed.
POLL_S = 1.0
# Rounds that follow each other faster would find a handful each.
ROUND_S = 0.01
# How long posts in flight may take to finish when the process is asked to stop.
STOP_WITHIN_S = 5.0


class WebhookQueue:
    """What this process has claimed for one webhook, and how many posts to it are in flight."""

    __slots__ = ("account_id", "claim_size", "claimed_s", "in_flight", "slots", "waiting")

    def __init__(self, account_id: str) -> None:
        self.account_id = account_id
        self.waiting: deque[ClaimedDelivery] = deque()
        self.in_flight = 0
        self.slots = 0  # how many more posts the last claim allows
        self.claim_size = 0
        self.claimed_s = 0.0

    def is_idle(self, now_s: float) -> bool:
        return not self.in_flight and not self.waiting and now_s - self.claimed_s > QUICK_S

    def plan_claim(self, slots: int, *, is_failing: bool, now_s: float) -> int:
        """How many to claim when `slots` posts can begin."""
        is_quick = not is_failing and now_s - self.claimed_s < QUICK_S
        self.claim_size = max(slots, min(self.claim_size * 2, LARGEST_CLAIM)) if is_quick else slots
        self.slots, self.claimed_s = slots, now_s
        return self.claim_size


class Dispatcher:
    """The delivery loop of one process. `base_url` is that of the dashboard."""

    name = "deliver webhooks"

    def __init__(
        self,
        store: Store,
        outbound: Outbound,
        clock: Clock,
        *,
        base_url: str = "",
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._store = store
        self._outbound = outbound
        self._clock = clock
        self._chance = chance
        self._recorder = Recorder(store, base_url)
        self._wake = asyncio.Event()
        self._round = asyncio.Lock()
        self._queues: dict[str, WebhookQueue] = {}
        self._senders: set[asyncio.Task[None]] = set()
        self._recalled_s = 0.0
        self._last_begun = ""
        self._stopping = False
        self._began_s = 0.0

    def begin(self) -> None:
        self._store.listen(outbox.DELIVERIES, self._wake.set)
        self._store.listen(outbox.RECALLS, self._recall)

    async def step(self) -> None:
        self._began_s = asyncio.get_running_loop().time()
        await self._begin_due()

    async def rest(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(POLL_S):
                await self._wake.wait()
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, self._began_s + ROUND_S - loop.time()))
        self._wake.clear()

    def _recall(self) -> None:
        """Whatever was claimed before this moment is read again before it is sent."""
        self._recalled_s = asyncio.get_running_loop().time()

    async def deliver_due(self) -> None:
        """Sends and records everything that is due by the clock."""
        while await self._begin_due() or self._senders:
            if self._senders:
                await asyncio.wait(self._senders)
            await self._recorder.flush()
        await self._recorder.flush()

    async def end(self) -> None:
        """Let posts in flight finish, give back what was not begun, and record all results."""
        self._stopping = True
        unsent = [delivery for queue in self._queues.values() for delivery in queue.waiting]
        for queue in self._queues.values():
            queue.waiting.clear()
        if self._senders:
            _, late = await asyncio.wait(self._senders, timeout=STOP_WITHIN_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._recorder.flush()
        try:
            if unsent:
                await self._store.write(claiming.give_back, unsent)
        except Unavailable as error:
            log.warning("Unsent webhook deliveries wait until their lease expires: %s", error)

    # One round: find the accounts with deliveries due, claim for all of them at once, start
    # senders.

    async def _begin_due(self) -> int:
        async with self._round:
            if self._stopping:
                return 0
            now_ms = self._clock()
            counts = self._share_out(await self._store.read(timed(claiming.due_webhooks, now_ms)))
            if not counts:
                return 0
            try:
                claimed = await self._store.write(
                    timed(claiming.claim, now_ms), counts, lease_ms=LEASE_MS
                )
                for delivery in claimed:
                    self._queues[delivery.webhook_id].waiting.append(delivery)
                return len(claimed)
            finally:
                for webhook_id in counts:
                    self._start_senders(self._queues[webhook_id])

    def _share_out(self, due: list[DueWebhook]) -> dict[str, int]:
        """How many to claim for each webhook. It goes on after the one that was begun last, so that
        every webhook has its turn when there are more than slots."""
        now_s = asyncio.get_running_loop().time()
        self._queues = {id: queue for id, queue in self._queues.items() if not queue.is_idle(now_s)}
        used: Counter[str] = Counter()
        for queue in self._queues.values():
            used[queue.account_id] += queue.in_flight
        free = MOST_IN_FLIGHT - used.total()
        counts: dict[str, int] = {}
        for webhook in sorted(
            due, key=lambda webhook: (webhook.id <= self._last_begun, webhook.id)
        ):
            queue = self._queues.get(webhook.id) or WebhookQueue(webhook.account_id)
            most = 1 if webhook.is_failing else IN_FLIGHT_PER_WEBHOOK
            slots = min(
                most - queue.in_flight, IN_FLIGHT_PER_ACCOUNT - used[webhook.account_id], free
            )
            if slots <= 0 or queue.waiting:
                continue
            used[webhook.account_id] += slots
            free -= slots
            counts[webhook.id] = queue.plan_claim(slots, is_failing=webhook.is_failing, now_s=now_s)
            self._queues[webhook.id] = queue
            self._last_begun = webhook.id
        return counts

    def _start_senders(self, queue: WebhookQueue) -> None:
        for _ in range(min(len(queue.waiting), queue.slots)):
            queue.in_flight += 1
            task = asyncio.get_running_loop().create_task(self._send_each(queue))
            self._senders.add(task)
            task.add_done_callback(self._senders.discard)

    async def _send_each(self, queue: WebhookQueue) -> None:
        log_context.set_account(queue.account_id)
        try:
            while queue.waiting:
                await self._send_next(queue)
        finally:
            queue.in_flight -= 1
            self._wake.set()

    async def _send_next(self, queue: WebhookQueue) -> None:
        """Whatever fails, the sender goes on with what is waiting: nobody else would send it."""
        claimed = queue.waiting.popleft()
        try:
            delivery = await self._checked(queue, claimed)
        except Exception as error:  # nothing was sent, so it can be tried again
            _log_trouble("A webhook delivery could not be checked; trying again", error)
            queue.waiting.appendleft(claimed)
            await asyncio.sleep(POLL_S)
            return
        try:
            if delivery is not None and not await self._attempt(delivery):
                await self._give_back(queue)
        except Exception as error:
            _log_trouble("A webhook delivery waits until its lease expires", error)

    async def _checked(
        self, queue: WebhookQueue, delivery: ClaimedDelivery
    ) -> ClaimedDelivery | None:
        """The delivery, if it may still be sent."""
        age_s = asyncio.get_running_loop().time() - queue.claimed_s
        if age_s > BEGIN_WITHIN_S:
            return None
        if age_s > CHECK_AGAIN_S or queue.claimed_s <= self._recalled_s:
            return await self._store.read(claiming.still_claimed, delivery)
        return delivery

    async def _give_back(self, queue: WebhookQueue) -> None:
        """After a failure: the webhook gets one delivery at a time until it is well."""
        unsent = list(queue.waiting)
        queue.waiting.clear()
        if unsent:
            await self._store.write(claiming.give_back, unsent)

    async def _attempt(self, delivery: ClaimedDelivery) -> bool:
        """Whether the receiver took it."""
        now_ms = self._clock()
        answer = await self._post(delivery, now_ms)
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
        return schedule.is_success(answer)

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
        if delivery.sparkloop_token is not None:
            headers["sparkloop-token"] = delivery.sparkloop_token
        try:
            return await self._outbound.post(delivery.url, body, headers)
        except Exception:  # a bug must use up an attempt, or the delivery would be tried forever
            log.exception("A webhook delivery failed because of a bug")
            return Answer(None, "Internal error in Honeyguide; nothing was sent.", "protocol", 0)


def _log_trouble(sentence: str, error: Exception) -> None:
    if isinstance(error, Unavailable):
        log.warning("%s: %s", sentence, error)
    else:
        log.error(sentence, exc_info=error)
