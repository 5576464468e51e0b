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
from honeyguide.events.recording import Outcome, Recorder
from honeyguide.kernel.clock import Clock, system_clock
from honeyguide.kernel.errors import Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.store import Store
from honeyguide.store.statements import beside
from honeyguide.store.tx import Tx

log = logging.getLogger("honeyguide.delivery")

IN_FLIGHT_PER_WEBHOOK = 4
# Webhooks served at once, so at most a thousand posts are under way. Those that fail or stall have part of the lanes only.
LANES = 250
TROUBLED_LANES = 100
# What may be claimed and not begun yet, shared by the lanes. A quick webhook is given many at a time, and more when half of
# them are gone; one that fails only what it can have in flight.
MOST_HELD = 1024
MOST_PER_LANE = 512
# By the world's clock, which nobody shifts: a lease must outlast the attempts of a batch, each of which may take 15 s. What
# could not be begun in time is given back.
LEASE_MS = 60_000
BEGIN_WITHIN_S = 40.0
# Nothing is sent that was last looked at before a recall (a person was erased, a webhook changed or is gone), nor longer ago
# than this, since a recall by another process may be missed. All that are held are looked at together, and in good time, so
# that senders seldom wait for it.
LOOK_ANEW_S = 1.0
# A lane in which nothing moved for this long is given nothing more.
STALLED_S = 0.5
# Wake-ups come with each commit; this is for what falls due and for wake-ups that were missed.
LOOK_AGAIN_S = 1.0
# Rounds that follow each other faster would find a handful each.
ROUND_S = 0.01
# How long those in flight may take to finish when the process is asked to stop; the others are sent again after their lease.
STOP_WITHIN_S = 5.0


class Due(NamedTuple):
    id: str
    failing_since_ms: int | None


class Parcel(NamedTuple):
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


class Held:
    """A parcel that is claimed and not begun yet; None when it was cancelled, or the lease is somebody else's by now."""

    __slots__ = ("id", "parcel", "seen_s", "since_s", "token")

    def __init__(self, parcel: Parcel, now_s: float) -> None:
        self.id, self.token = parcel.id, parcel.token
        self.parcel: Parcel | None = parcel
        self.since_s = self.seen_s = now_s


class Lane:
    """What this process holds for one webhook, and how many of it are in flight."""

    __slots__ = ("more", "most", "moved_s", "senders", "troubled", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[Held] = deque()
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
        return len(self.waiting) < self.most and (self.senders < IN_FLIGHT_PER_WEBHOOK or not self.stalls(now_s))


_sql = beside(__file__)
_DUE_WEBHOOKS = _sql.query("due_webhooks", Due)
_CLAIM = _sql.query("claim", Parcel)
_PARCELS = _sql.query("parcels", Parcel)
_CANCEL_UNSENDABLE = _sql.command("cancel_unsendable")
_GIVE_BACK = _sql.command("give_back")


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


class Courier:
    """The delivery loop of one process. `page` is where the owner of a webhook can look after it."""

    def __init__(
        self, store: Store, outbound: Outbound, clock: Clock, *, page: str = "", chance: Callable[[], float] = random.random
    ) -> None:
        self._store = store
        self._outbound = outbound
        self._clock = clock
        self._chance = chance
        self._recorder = Recorder(store, page)
        self._wake = asyncio.Event()
        self._turn = asyncio.Lock()
        self._looking = asyncio.Lock()
        self._glance: asyncio.Task[None] | None = None
        self._lanes: dict[str, Lane] = {}
        self._held: dict[str, Held] = {}
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
                    await asyncio.sleep(LOOK_AGAIN_S)
                except Exception:
                    log.exception("Webhook deliveries failed; trying again")
                    await asyncio.sleep(LOOK_AGAIN_S)
                try:
                    async with asyncio.timeout(LOOK_AGAIN_S):
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
        unsent = [held for lane in self._lanes.values() for held in lane.waiting]
        for lane in self._lanes.values():
            lane.waiting.clear()
        if self._senders:
            _, late = await asyncio.wait(self._senders, timeout=STOP_WITHIN_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        if self._glance is not None:
            self._glance.cancel()
        await self._recorder.flush()
        try:
            await self._give_back(unsent)
        except Unavailable as error:
            log.warning("Could not release unsent webhook deliveries; they wait until their lease expires: %s", error)

    # One round: who has something due, a claim for all of them together, and senders for what came.

    async def _begin_due(self) -> int:
        async with self._turn:
            if self._stopping:
                return 0
            now_ms, today_ms = self._clock(), system_clock()
            due = await self._store.read(lambda tx: tx.all(_DUE_WEBHOOKS, now_ms=now_ms, today_ms=today_ms))
            well, troubled = self._choose(due) if due else ([], [])
            if not well and not troubled:
                return 0
            most = max(IN_FLIGHT_PER_WEBHOOK, min(MOST_PER_LANE, MOST_HELD // len(self._lanes)))
            counts: Counter[str] = Counter()
            try:
                parcels = await self._store.write(lambda tx: claim(tx, well, troubled, most=most, now_ms=now_ms))
                now_s = asyncio.get_running_loop().time()
                for parcel in parcels:
                    held = self._held[parcel.id] = Held(parcel, now_s)
                    self._lane(parcel.webhook_id).waiting.append(held)
                    counts[parcel.webhook_id] += 1
                return len(parcels)
            finally:
                for webhook_id in (*well, *troubled):
                    self._man(webhook_id, more=counts[webhook_id] >= most, most=most)

    def _choose(self, due: list[Due]) -> tuple[list[str], list[str]]:
        """Round-robin where there are more than lanes: it goes on after the webhook begun last, and while anyone waits for a
        lane nobody is given more, so that every lane runs out and is free for the next."""
        now_s = asyncio.get_running_loop().time()
        places = LANES - len(self._lanes)
        bad_places = TROUBLED_LANES - sum(lane.troubled or lane.stalls(now_s) for lane in self._lanes.values())
        again: list[Due] = []
        new: list[Due] = []
        all_found_place = True
        for webhook in sorted(due, key=lambda webhook: (webhook.id <= self._last_begun, webhook.id)):
            bad = webhook.failing_since_ms is not None
            lane = self._lanes.get(webhook.id)
            if lane is not None:
                lane.troubled = bad
                if lane.wants_more(now_s):
                    again.append(webhook)
            elif places > 0 and (not bad or bad_places > 0):
                places -= 1
                bad_places -= bad
                self._lane(webhook.id).troubled = bad
                self._last_begun = webhook.id
                new.append(webhook)
            else:
                all_found_place &= places > 0
        chosen = [*new, *again] if all_found_place else new
        return (
            [webhook.id for webhook in chosen if webhook.failing_since_ms is None],
            [webhook.id for webhook in chosen if webhook.failing_since_ms is not None],
        )

    def _lane(self, webhook_id: str) -> Lane:
        lane = self._lanes.get(webhook_id)
        if lane is None:
            lane = self._lanes[webhook_id] = Lane()
        return lane

    def _man(self, webhook_id: str, *, more: bool, most: int) -> None:
        """As many senders as there is work for; a lane without either is closed."""
        lane = self._lane(webhook_id)
        lane.more, lane.most = more, most
        loop = asyncio.get_running_loop()
        for _ in range(min(len(lane.waiting), IN_FLIGHT_PER_WEBHOOK - lane.senders)):
            if not lane.senders:
                lane.moved_s = loop.time()
            lane.senders += 1
            task = loop.create_task(self._send_each(webhook_id, lane))
            self._senders.add(task)
            task.add_done_callback(self._senders.discard)
        if not lane.senders:
            del self._lanes[webhook_id]

    async def _send_each(self, webhook_id: str, lane: Lane) -> None:
        try:
            while lane.waiting:
                held = lane.waiting.popleft()
                if lane.more and len(lane.waiting) <= lane.most // 2:
                    lane.more = False
                    self._wake.set()
                try:
                    parcel = await self._checked(held)
                except Unavailable as error:
                    log.warning("Could not check a webhook delivery; it waits until its lease expires: %s", error)
                    continue
                finally:
                    self._held.pop(held.id, None)
                if parcel is not None:
                    await self._attempt(parcel, lane)
        finally:
            lane.senders -= 1
            if not lane.senders:
                del self._lanes[webhook_id]
            self._wake.set()

    async def _checked(self, held: Held) -> Parcel | None:
        """The parcel, if it may still be sent."""
        loop = asyncio.get_running_loop()
        ago_s = loop.time() - held.seen_s
        if ago_s > LOOK_ANEW_S or held.seen_s <= self._recalled_s:
            await self._look_anew(held)
        elif ago_s > LOOK_ANEW_S / 4 and (self._glance is None or self._glance.done()):
            self._glance = loop.create_task(self._look_ahead(held))
        if held.parcel is not None and loop.time() - held.since_s > BEGIN_WITHIN_S:
            await self._give_back([held])
            return None
        return held.parcel

    async def _attempt(self, parcel: Parcel, lane: Lane) -> None:
        now_ms = self._clock()
        answer = await self._post(parcel, now_ms)
        lane.moved_s = asyncio.get_running_loop().time()
        status, due_ms = schedule.outcome(answer, parcel.tries + 1, now_ms, self._chance())
        await self._recorder.add(
            Outcome(
                parcel.webhook_id, parcel.url, new_id(), parcel.account_id, parcel.id, parcel.token, now_ms, answer.status,
                answer.latency_ms, answer.error, answer.body, status, due_ms, schedule.is_gone(answer),
            )
        )  # fmt: skip

    async def _look_ahead(self, held: Held) -> None:
        try:
            await self._look_anew(held)
        except Unavailable as error:
            log.warning("Could not check claimed webhook deliveries: %s", error)

    async def _look_anew(self, wanted: Held) -> None:
        """At all that are held: whoever waited for this meanwhile finds theirs seen as well."""
        asked_s = asyncio.get_running_loop().time()
        async with self._looking:
            if wanted.seen_s >= asked_s:
                return
            looked_s, all_held = asyncio.get_running_loop().time(), list(self._held.values())
            ids, tokens = _json([held.id for held in all_held]), _json(list({held.token for held in all_held}))
            found = await self._store.read(lambda tx: tx.all(_PARCELS, ids=ids, tokens=tokens))
            by_id = {(parcel.id, parcel.token): parcel for parcel in found}
            for held in all_held:
                held.parcel, held.seen_s = by_id.get((held.id, held.token)), looked_s

    async def _post(self, parcel: Parcel, now_ms: int) -> Answer:
        body = parcel.body.encode()
        timestamp_s = now_ms // 1000
        secrets = signature.valid_secrets(parcel.secret, parcel.old_secrets, now_ms)
        headers = {
            "content-type": "application/json",
            "webhook-id": parcel.event_id,
            "webhook-timestamp": str(timestamp_s),
            "webhook-signature": signature.sign(secrets, parcel.event_id, timestamp_s, body),
        }
        try:
            return await self._outbound.post(parcel.url, body, headers)
        except Exception:  # a bug of ours must use up an attempt, or this delivery would be tried for ever
            log.exception("A webhook delivery failed because of a bug")
            return Answer(None, "Internal error in Honeyguide; nothing was sent.", "protocol", 0)

    async def _give_back(self, unsent: Iterable[Held]) -> None:
        by_token: dict[str, list[str]] = defaultdict(list)
        for held in unsent:
            by_token[held.token].append(held.id)

        async def work(tx: Tx) -> None:
            for token, ids in by_token.items():
                await tx.run(_GIVE_BACK, ids=_json(ids), token=token)

        if by_token:
            await self._store.write(work)


async def claim(tx: Tx, well: list[str], troubled: list[str], *, most: int, now_ms: int) -> list[Parcel]:
    """Leases what is due to these webhooks, and cancels what can never be sent."""
    token, today_ms = new_id(), system_clock()
    claimed: list[Parcel] = []
    for webhook_ids, each in ((well, most), (troubled, IN_FLIGHT_PER_WEBHOOK)):
        if webhook_ids:
            claimed += await tx.all(
                _CLAIM, webhooks=_json(webhook_ids), token=token, until_ms=today_ms + LEASE_MS, most=each, now_ms=now_ms,
                today_ms=today_ms,
            )  # fmt: skip
    unsendable = [parcel.id for parcel in claimed if not parcel.body]
    if unsendable:
        await tx.run(_CANCEL_UNSENDABLE, ids=_json(unsendable), token=token)
    return sorted(parcel for parcel in claimed if parcel.body)
