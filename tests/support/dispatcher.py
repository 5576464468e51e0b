"""Deliveries under the test's own clock: a real store, the real dispatcher, and receivers on real
sockets.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import itertools
import json
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import apsw
import asyncpg

from honeyguide.accounts import accounts
from honeyguide.events import outbox, webhooks
from honeyguide.events.addresses import OutboundPolicy
from honeyguide.events.dispatcher import Dispatcher
from honeyguide.events.outbound import Outbound
from honeyguide.events.webhooks import Flags, Webhook
from honeyguide.kernel.background import LoopHealth, keep_running
from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import Store, open_store
from honeyguide.store.statements import Statement
from honeyguide.store.tx import Tx, timed
from tests.support.readings import in_account

from .changes import SITE, changing
from .process import migrated
from .tables import Dump, dump_postgres, dump_sqlite

HOME = OutboundPolicy(https_only=False, loopback_ok=True)
BASE_URL = "https://refer.example.org"
_numbers = itertools.count(1)


class Request:
    """One request as it came, and when."""

    def __init__(self, path: str, headers: dict[str, str], body: bytes) -> None:
        self.path, self.headers, self.body, self.at_s = path, headers, body, time.monotonic()

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    def json(self) -> Any:
        return json.loads(self.body)


Answerer = Callable[["Receiver", asyncio.StreamWriter, Request], Awaitable[None]]
Step = bytes | int | Answerer


def reply(status: int, body: bytes = b"ok", **headers: str) -> bytes:
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{lines}\r\n".encode() + body


async def silence(receiver: Receiver, writer: asyncio.StreamWriter, request: Request) -> None:
    """Takes the request and never answers."""
    await asyncio.Event().wait()


async def endless(receiver: Receiver, writer: asyncio.StreamWriter, request: Request) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1000\r\n" + b"x" * 4096 + b"\r\n")
        await writer.drain()
        receiver.sent += 4096


async def trickle(receiver: Receiver, writer: asyncio.StreamWriter, request: Request) -> None:
    """An answer that never ends, a byte at a time."""
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.2)


async def reset(receiver: Receiver, writer: asyncio.StreamWriter, request: Request) -> None:
    writer.transport.abort()


class Receiver:
    """Answers by its script, step by step, and then its last step for ever."""

    def __init__(self, *script: Step) -> None:
        self.script = list(script or (200,))
        self.requests: list[Request] = []
        self.connections = self.in_flight = self.most_in_flight = self.sent = self.port = 0
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    @property
    def ids(self) -> list[str]:
        return [request.id for request in self.requests]

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                headers = {
                    name.lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in head[1:] if line)
                }
                request = Request(
                    head[0].split(" ")[1],
                    headers,
                    await reader.readexactly(int(headers["content-length"])),
                )
                self.requests.append(request)
                self.in_flight += 1
                self.most_in_flight = max(self.most_in_flight, self.in_flight)
                try:
                    await self._answer(writer, request)
                finally:
                    self.in_flight -= 1
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, request: Request) -> None:
        step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if callable(step):
            await step(self, writer, request)
        else:
            writer.write(reply(step) if isinstance(step, int) else step)
        await writer.drain()


def after(gate: asyncio.Event) -> Answerer:
    """Answers once the gate is open."""

    async def answer(receiver: Receiver, writer: asyncio.StreamWriter, request: Request) -> None:
        await gate.wait()
        writer.write(reply(200))

    return answer


@asynccontextmanager
async def receiving(*script: Step) -> AsyncIterator[Receiver]:
    receiver = Receiver(*script)
    await receiver.open()
    try:
        yield receiver
    finally:
        await receiver.close()


class ReceiverThread:
    """A receiver with a loop of its own, for tests that talk to the service from plain
    functions.
    """

    def __init__(self, *script: Step) -> None:
        self.receiver = Receiver(*script)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Receiver:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.receiver.open(), self._loop).result(10)
        return self.receiver

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self.receiver.close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


class Office:
    """One account, its webhooks, and a dispatcher whose clock stands still until the test
    moves it.
    """

    def __init__(
        self,
        store: Store,
        tenant: Tenant,
        url: str,
        outbound: Outbound,
        chance: Callable[[], float],
    ) -> None:
        self.store, self.tenant, self.database_url = store, tenant, url
        self.now_ms = system_clock()
        self.dispatcher = Dispatcher(
            store, outbound, lambda: self.now_ms, base_url=BASE_URL, chance=chance
        )

    @property
    def account_id(self) -> str:
        return self.tenant.account_id

    async def write(self, work: Callable[[Tx], Awaitable[Any]]) -> Any:
        return await self.store.write(work)

    async def make(self, unit: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        """Makes a change to this account now: `unit(change, …)`."""
        work = changing(unit, SITE, self.tenant, self.now_ms)
        return await self.store.write(work, *args, **kwargs)

    async def webhook(self, url: str, **flags: bool) -> Webhook:
        chosen = Flags(**(flags or {"new_referral": True}))
        return await self.make(webhooks.create, "", url, chosen, policy=HOME)

    async def emit(
        self, kind: str = "new_referral", facts: dict[str, Any] | None = None, **people: str | None
    ) -> None:
        async def work(tx: Tx) -> None:
            to = (await outbox.listeners_of(in_account(tx, self.account_id))).get(kind)
            if to:
                about = {"subscriber_id": None, **people}
                found = facts or {"n": next(_numbers)}
                event = outbox.Event(self.account_id, kind, found, to, **about)
                await outbox.emit(tx.at(self.now_ms), [event])

        await self.write(work)

    async def emit_to(self, *hooks: Webhook, count: int = 1) -> None:
        """So many events to each of these webhooks alone, in one transaction."""

        async def work(tx: Tx) -> None:
            events = [
                outbox.Event(
                    self.account_id, outbox.NEW_REFERRAL, {"n": next(_numbers)}, [hook.id], None
                )
                for hook in hooks
                for _ in range(count)
            ]
            await outbox.emit(tx.at(self.now_ms), events)

        await self.write(work)

    async def neighbor(self) -> Office:
        """Another account in the same database, served by the same dispatcher."""
        email = f"owner{next(_numbers)}@example.org"
        made = await self.store.write(
            timed(accounts.create, system_clock()), EmailAddress(email), name="Bob"
        )
        other = copy.copy(self)
        other.tenant = Tenant(made.account_id, made.campaign_id)
        return other

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """The dispatcher's own loop runs meanwhile, as in a serving process."""
        loop = asyncio.create_task(keep_running(self.dispatcher, LoopHealth(self.dispatcher.name)))
        try:
            yield
        finally:
            loop.cancel()
            await asyncio.gather(loop, return_exceptions=True)

    @asynccontextmanager
    async def another_dispatcher(self) -> AsyncIterator[Dispatcher]:
        """As in a second process, with a client of its own."""
        outbound = Outbound(HOME)
        try:
            yield Dispatcher(self.store, outbound, lambda: self.now_ms)
        finally:
            await outbound.close()

    async def deliver(self, after_ms: int = 0) -> None:
        self.now_ms += after_ms
        await self.dispatcher.deliver_due()

    async def log(self, webhook: Webhook) -> list[tuple[webhooks.Delivery, list[webhooks.Attempt]]]:
        page = Page(1, 200)
        rows, _ = await self.store.snapshot(
            lambda tx: webhooks.page_of_deliveries(
                in_account(tx, self.account_id), "", webhook.id, page
            )
        )
        return rows

    async def one(self, webhook: Webhook) -> tuple[webhooks.Delivery, list[webhooks.Attempt]]:
        (found,) = await self.log(webhook)
        return found

    async def to_the_end(self, webhook: Webhook) -> None:
        """Lets time pass until nothing waits any more, each attempt at its hour."""
        while waiting := [
            row.due_ms for row, _ in await self.log(webhook) if row.status == "pending"
        ]:
            await self.deliver(max(0, min(waiting) - self.now_ms))

    async def tables(self) -> Dump:
        if self.store.engine == "postgres":
            return await dump_postgres(self.database_url)
        return dump_sqlite(self.database_url.removeprefix("sqlite:///"))

    async def plan_of(self, statement: Statement[Any], **params: Any) -> str:
        """How the database means to run a statement on tables too large to read whole."""
        if self.store.engine == "postgres":
            connection = await asyncpg.connect(
                self.database_url, server_settings={"enable_seqscan": "off"}
            )
            try:
                rows = await connection.fetch(
                    f"EXPLAIN {statement.postgres}", *[params[n] for n in statement.postgres_order]
                )
                return "\n".join(row[0] for row in rows)
            finally:
                await connection.close()
        with contextlib.closing(
            apsw.Connection(self.database_url.removeprefix("sqlite:///"))
        ) as file:
            values = tuple([params[name] for name in statement.sqlite_order])
            return "\n".join(
                row[3] for row in file.execute(f"EXPLAIN QUERY PLAN {statement.sqlite}", values)
            )

    async def current(self, webhook: Webhook) -> Webhook:
        return await self.store.read(
            lambda tx: webhooks.get(in_account(tx, self.account_id), "", webhook.id)
        )


@cache
def _database(engine: str) -> str:
    return migrated(engine)


@asynccontextmanager
async def office(
    engine: str, *, outbound: Outbound | None = None, chance: float = 0.5
) -> AsyncIterator[Office]:
    url = await asyncio.to_thread(_database, engine)
    store = await open_store(url, pool_size=10)
    outbound = outbound or Outbound(HOME)
    try:
        email = f"owner{next(_numbers)}@example.org"
        made = await store.write(
            lambda tx: accounts.create(tx.at(system_clock()), EmailAddress(email), name="Alice")
        )
        tenant = Tenant(made.account_id, made.campaign_id)
        opened = Office(store, tenant, url, outbound, lambda: chance)
        yield opened
        for hook in await store.read(
            lambda tx: webhooks.of_account(in_account(tx, made.account_id), "")
        ):
            await opened.make(webhooks.delete, "", hook.id)
    finally:
        await outbound.close()
        await store.close()


def run(scenario: Awaitable[None], seconds: float = 60) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(seconds):
            await scenario

    asyncio.run(bounded())
