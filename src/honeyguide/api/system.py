"""What machines ask of any service: is it alive, is it ready, how is it doing, and what can it do."""

from __future__ import annotations

from typing import Any

import msgspec

from honeyguide.api.telemetry import Telemetry
from honeyguide.api.transport import Receive, Scope, Send
from honeyguide.kernel.errors import Unavailable
from honeyguide.store import Store, health

_JSON = b"application/json; charset=utf-8"


class System:
    paths = frozenset({"/healthz", "/readyz", "/metrics", "/openapi.json"})

    def __init__(self, store: Store, telemetry: Telemetry, document: dict[str, Any]) -> None:
        self._store = store
        self._telemetry = telemetry
        self._openapi = msgspec.json.encode(document)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, kind, body = await self._answer(scope["path"], scope["method"])
        headers = [(b"content-type", kind), (b"content-length", b"%d" % len(body)), (b"x-content-type-options", b"nosniff")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    async def _answer(self, path: str, method: str) -> tuple[int, bytes, bytes]:
        if method not in ("GET", "HEAD"):
            return 405, _JSON, b'{"error":"This address takes GET only.","code":"method_not_allowed"}'
        if path == "/healthz":
            return 200, _JSON, b'{"status":"alive"}'
        if path == "/readyz":
            return await self._readiness()
        if path == "/metrics":
            return 200, b"text/plain; version=0.0.4; charset=utf-8", self._telemetry.exposition()
        return 200, _JSON, self._openapi

    async def _readiness(self) -> tuple[int, bytes, bytes]:
        try:
            await self._store.read(health.clock_skew_ms)
        except Unavailable as error:
            return 503, _JSON, msgspec.json.encode({"status": "waiting", "error": error.message})
        return 200, _JSON, b'{"status":"ready"}'
