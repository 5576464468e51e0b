"""The mailing tool that the first newsletter tells of its readers: a true receiver on this machine's loopback, there only while
the year is made. Every attempt in the webhook's log was made by the service's own dispatcher, over HTTP, at its moment of the
year. In the end the tool is gone (410) and the webhook switched off, so that nothing of the demo is ever sent to anybody.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from honeyguide.app import Services
from honeyguide.demo.stage import Stage
from honeyguide.events import webhooks
from honeyguide.events.dispatcher import Dispatcher
from honeyguide.events.outbound import Outbound
from honeyguide.events.webhooks import Flags, Webhook
from honeyguide.kernel.clock import DAY_MS, HOUR_MS
from honeyguide.mail.emails import Backlog
from honeyguide.store import Tx

# Long enough for one that is refused each time to be given up, after three days.
USED_MS = 10 * DAY_MS
# At this time of each day, when many sign up, the tool sends letters of its own: what comes then is tried again.
BUSY_MS = range(4 * HOUR_MS, 6 * HOUR_MS)


class Tool:
    """Answers as such tools do. What time it is, its dispatcher decides."""

    def __init__(self, services: Services, stage: Stage) -> None:
        self._store, self._policy, self._account_id = (
            services.store,
            services.policy,
            stage.players[0].tenant.account_id,
        )
        self._since_ms, self._end_ms = stage.end_ms - USED_MS, stage.end_ms
        self._outbound = Outbound(services.policy)
        page = f"{services.site.base_url}/webhooks"
        self._dispatcher = Dispatcher(
            services.store,
            self._outbound,
            lambda: self._now_ms,
            page=page,
            chance=random.Random(7).random,
        )
        self._now_ms = 0
        self._url = ""
        self._webhook: Webhook | None = None
        self._is_gone = False

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Tool]:
        receiver = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._url = f"http://127.0.0.1:{receiver.sockets[0].getsockname()[1]}/hooks/honeyguide"
        try:
            yield self
        finally:
            await self._outbound.close()
            receiver.close()

    async def connect(self, now_ms: int) -> None:
        """Once its time has come. Not where strangers' deliveries wait, which are not ours to send, nor where this very machine
        may not be called."""
        if self._webhook is not None or now_ms < self._since_ms or not self._policy.loopback_ok:
            return

        async def make(tx: Tx) -> Webhook | None:
            if (await webhooks.backlog(tx, now_ms=self._end_ms)).n:
                return None
            told_of = Flags(
                new_referral=True,
                new_partner_referral=True,
                reward_unlocked=True,
                reward_redeemed=True,
            )
            return await webhooks.create(
                tx, self._account_id, "", self._url, told_of, policy=self._policy, now_ms=now_ms
            )

        self._webhook = await self._store.write(make)

    async def hear(self, until_ms: int) -> None:
        """Everything that falls due until then, each attempt at its own moment."""
        before: Backlog | None = None
        while self._webhook is not None:
            waiting = await self._store.read(lambda tx: webhooks.backlog(tx, now_ms=until_ms))
            if (
                waiting.since_ms is None or waiting == before
            ):  # all is told, or somebody else is at it
                return
            before, self._now_ms = waiting, waiting.since_ms
            await self._dispatcher.deliver_due()

    async def leave(self) -> None:
        """The operator sends a test, and hears that the tool is gone."""
        if (webhook := self._webhook) is None:
            return

        async def test(tx: Tx) -> None:
            await webhooks.send_test(tx, self._account_id, "", webhook.id, now_ms=self._end_ms)

        self._is_gone = True
        await self._store.write(test)
        await self.hear(self._end_ms)

    def _answer(self, event: dict[str, object]) -> tuple[str, str]:
        subscriber = event.get("subscriber")
        if self._is_gone:
            return "410 Gone", "This account was closed."
        if (self._now_ms - self._since_ms) % DAY_MS in BUSY_MS:
            return "503 Service Unavailable", "Busy sending today's newsletter."
        if isinstance(subscriber, dict) and not subscriber.get("name"):
            return "422 Unprocessable Content", '{"error":"name is missing"}'
        return "200 OK", '{"ok":true}'

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                named = dict(line.lower().split(b": ", 1) for line in head.splitlines()[1:-1])
                event = msgspec.json.decode(await reader.readexactly(int(named[b"content-length"])))
                status, said = self._answer(event)
                writer.write(
                    f"HTTP/1.1 {status}\r\ncontent-length: {len(said)}\r\n\r\n{said}".encode()
                )
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):  # the dispatcher hung up
            pass
        finally:
            writer.close()
