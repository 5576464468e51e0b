"""What all stand-ins share: a real HTTP server on loopback that keeps every request, and that fails
as told before it answers as the platform would.
"""

import asyncio
import itertools
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import NamedTuple

from aiohttp import web

from honeyguide.events.addresses import OutboundPolicy
from honeyguide.events.outbound import Outbound
from honeyguide.integrations.about import SyncField
from honeyguide.integrations.http import PlatformHttp
from honeyguide.integrations.platform import Contact, ContactStatus, Platform, PlatformAccess

FREE = OutboundPolicy(https_only=False, loopback_ok=True)
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Seen(NamedTuple):
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class StandIn:
    """Subclasses add the platform's routes in `routes`. `faults` are used up one per request."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.faults: deque[Answer] = deque()
        self.before: Answer | None = None
        """Answers every request, usually as the platform would."""
        self.url = ""
        self.numbers = itertools.count(1)
        """For the IDs of webhooks, which are never used twice."""

    def routes(self) -> list[web.RouteDef]:
        raise NotImplementedError

    def fail(self, *answers: Answer) -> None:
        self.faults.extend(answers)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        app = web.Application(middlewares=[self._notes_and_fails])
        app.add_routes(self.routes())
        runner = web.AppRunner(app, shutdown_timeout=1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield
        finally:
            await runner.cleanup()

    @contextmanager
    def serving_apart(self) -> Iterator[None]:
        """In a thread of its own, for tests that have no event loop."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        serving = self.serving()
        asyncio.run_coroutine_threadsafe(serving.__aenter__(), loop).result(30)
        try:
            yield
        finally:
            asyncio.run_coroutine_threadsafe(serving.__aexit__(None, None, None), loop).result(30)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)

    @web.middleware
    async def _notes_and_fails(self, request: web.Request, handler: Answer) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.seen.append(Seen(request.method, request.path_qs, headers, await request.read()))
        if self.faults:
            return await self.faults.popleft()(request)
        return await (self.before or handler)(request)


def status(code: int, text: str = "{}", **headers: str) -> Answer:
    """Answers with this status; `retry_after="3"` becomes the header Retry-After."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(status=code, text=text, headers=named, content_type="application/json")

    return answer


async def drop(request: web.Request) -> web.StreamResponse:
    """Closes the connection without an answer."""
    assert request.transport is not None
    request.transport.close()
    return web.Response()


async def pass_on(request: web.Request) -> web.StreamResponse:
    """Answers as the platform would."""
    return await request.match_info.handler(request)


async def lose_answer(request: web.Request) -> web.StreamResponse:
    """Does what was asked, and closes the connection without an answer."""
    await request.match_info.handler(request)
    return await drop(request)


def slow(seconds: float, then: Answer) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return await then(request)

    return answer


garbage = status(200, "<html>We'll be right back</html>")


@asynccontextmanager
async def access_to(
    platform: Platform, credentials: Mapping[str, str], **options: object
) -> AsyncIterator[PlatformAccess]:
    """An integration as a module sees it, without a pace unless asked for."""
    outbound = Outbound(FREE)
    interval_s = options.pop("interval_s", 0.0)
    http = PlatformHttp(outbound, platform.about.name, interval_s=interval_s)  # type: ignore[arg-type]
    try:
        yield PlatformAccess(
            about=platform.about,
            http=http,
            credentials=credentials,
            **{
                "field_names": {SyncField.CODE: "RH_CODE", SyncField.REFERRALS: "RH_TOTREF"},
                **options,
            },  # type: ignore[arg-type]
        )
    finally:
        await outbound.close()


def contact(number: int = 1, **changes: object) -> Contact:
    made: dict[str, object] = {
        "subscriber_id": f"00000000-0000-7000-8000-{number:012}",
        "email": f"reader{number}@example.org",
        "name": f"Reader {number}",
        "status": ContactStatus.ACTIVE,
        "may_add": True,
        "remote_id": None,
        "values": {SyncField.CODE: f"code{number}", SyncField.REFERRALS: "3"},
    }
    return Contact(**{**made, **changes})  # type: ignore[arg-type]
