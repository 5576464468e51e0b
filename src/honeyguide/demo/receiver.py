"""A receiver for the first newsletter's webhooks, on loopback, while the history is created. The
service's own dispatcher makes every attempt in the webhook's log, over HTTP, at its time of the
year. Later `local_tools` listens on the same port, so the demo never sends anything to anybody.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from honeyguide.app import Services
from honeyguide.demo import local_tools
from honeyguide.demo.setup import DemoState
from honeyguide.events import webhooks
from honeyguide.events.dispatcher import Dispatcher
from honeyguide.events.outbound import Outbound
from honeyguide.events.webhooks import Flags, Webhook
from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.mail.emails import Backlog
from honeyguide.store import Tx
from honeyguide.store.tx import timed

# Long enough for the retries of a delivery that is always refused, which end after three days.
USED_MS = 10 * DAY_MS
# At this time of each day, when many sign up, the receiver is busy. Deliveries are retried later.
BUSY_MS = range(4 * HOUR_MS, 6 * HOUR_MS)


class WebhookReceiver:
    """Responds as such tools do. Its dispatcher decides what time it is."""

    def __init__(self, services: Services, state: DemoState) -> None:
        self._store, self._policy = services.store, services.policy
        self._state = state
        self._since_ms, self._end_ms = state.end_ms - USED_MS, state.end_ms
        self._outbound = Outbound(services.policy)
        self._dispatcher = Dispatcher(
            services.store,
            self._outbound,
            lambda: self._now_ms,
            base_url=services.site.base_url,
            chance=random.Random(7).random,
        )
        self._now_ms = 0
        self.port = 0
        self._webhook: Webhook | None = None

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[WebhookReceiver]:
        receiver = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = receiver.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            await self._outbound.close()
            receiver.close()

    async def connect(self, now_ms: int) -> None:
        """Create the webhook, once its time has come, if this machine may be called."""
        if self._webhook is not None or now_ms < self._since_ms or not self._policy.loopback_ok:
            return
        self._webhook = await self._store.write(timed(self._create_webhook, now_ms))

    async def _create_webhook(self, tx: Tx) -> Webhook | None:
        """None if real accounts have deliveries waiting, because those are not ours to send."""
        if (await webhooks.backlog(tx.at(self._end_ms))).n:
            return None
        flags = Flags(
            new_referral=True,
            new_partner_referral=True,
            reward_unlocked=True,
            reward_redeemed=True,
        )
        change = self._state.change(tx, self._state.accounts[0], tx.now_ms)
        url = local_tools.url(self.port, local_tools.HOOKS_PATH)
        return await webhooks.create(change, "", url, flags, policy=self._policy)

    async def receive_due(self, until_ms: int) -> None:
        """Receive everything that falls due until then, each attempt at its own time."""
        before: Backlog | None = None
        while self._webhook is not None:
            waiting = await self._store.read(timed(webhooks.backlog, until_ms))
            # All is delivered, or another process is sending it.
            if waiting.since_ms is None or waiting == before:
                return
            before, self._now_ms = waiting, waiting.since_ms
            await self._dispatcher.deliver_due()

    def _answer(self, event: dict[str, object]) -> tuple[str, str]:
        subscriber = event.get("subscriber")
        if (self._now_ms - self._since_ms) % DAY_MS in BUSY_MS:
            return "503 Service Unavailable", "Busy sending today's newsletter."
        if isinstance(subscriber, dict) and not subscriber.get("name"):
            return "422 Unprocessable Content", '{"error":"name is missing"}'
        return "200 OK", '{"ok":true}'

    async def _serve(self, subscriber: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await subscriber.readuntil(b"\r\n\r\n"):
                named = dict(line.lower().split(b": ", 1) for line in head.splitlines()[1:-1])
                event = msgspec.json.decode(
                    await subscriber.readexactly(int(named[b"content-length"]))
                )
                status, body = self._answer(event)
                writer.write(
                    f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode()
                )
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):  # the dispatcher hung up
            pass
        finally:
            writer.close()
