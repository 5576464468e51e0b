"""A store that tells before each step of a worker, so that a test can do something in between."""

from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from honeyguide.integrations.worker import IntegrationWorker
from tests.support.integrations import KEYS, Synced
from tests.support.platforms.stand_in import StandIn, pass_on
from tests.support.trade import SITE

Between = Callable[[str], Awaitable[web.StreamResponse | None]]


class Interrupted:
    """Counts the steps of a sync, which are what the worker does with the database and each request
    to the platform; and calls `between` before each one. That may answer instead of the platform.
    """

    def __init__(self, synced: Synced, server: StandIn, between: Between) -> None:
        self.steps: list[str] = []
        self._store: Any = synced.store
        self._between = between
        server.before = self._before_request
        synced.worker = IntegrationWorker(self, synced.outbound, lambda: synced.now_ms, SITE, KEYS)  # type: ignore[arg-type]

    def listen(self, topic: str, wake: Callable[[], None]) -> None:
        self._store.listen(topic, wake)

    async def read(self, work: Any, *args: Any, **named: Any) -> Any:
        await self._step(work.__name__)
        return await self._store.read(work, *args, **named)

    async def write(self, work: Any, *args: Any, **named: Any) -> Any:
        await self._step(work.__name__)
        return await self._store.write(work, *args, **named)

    async def _before_request(self, request: web.Request) -> web.StreamResponse:
        answer = await self._step(f"{request.method} {request.path}")
        return answer or await pass_on(request)

    async def _step(self, name: str) -> web.StreamResponse | None:
        self.steps.append(name)
        return await self._between(name)
