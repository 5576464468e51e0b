"""Endpoints for machines: liveness, readiness, metrics, the OpenAPI document, the public keys of
this installation, who is told of security problems, what a language model reads first, and whether
a proxy may get a certificate for a host.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from honeyguide.api.exposition import Exposition
from honeyguide.api.introduction import Introduction
from honeyguide.api.readiness import Readiness
from honeyguide.api.transport import (
    NOTHING_RUNS,
    Receive,
    Scope,
    Send,
    WrongMethod,
    error_body,
    query_of,
)
from honeyguide.kernel import log_context
from honeyguide.kernel.errors import Invalid, Missing, Unavailable
from honeyguide.subscribers.link_host_map import LinkHostMap
from honeyguide.subscribers.link_hosts import UNKNOWN

_encode = msgspec.json.encode
_JSON = b"application/json; charset=utf-8"
_TEXT = b"text/plain; charset=utf-8"
_METRICS = b"text/plain; version=0.0.4; charset=utf-8"
# A proxy asks before it gets a certificate for `?domain=`, and goes by the status.
TLS_QUESTION = "/internal/tls"
SECURITY_TXT = "/.well-known/security.txt"
LLMS_TXT = "/llms.txt"
_NOBODY = "This installation names nobody for security problems."


class System:
    paths = frozenset(
        {
            "/healthz",
            "/readyz",
            "/metrics",
            "/openapi.json",
            "/.well-known/honeyguide",
            SECURITY_TXT,
            LLMS_TXT,
            TLS_QUESTION,
        }
    )

    def __init__(
        self,
        readiness: Readiness,
        exposition: Exposition,
        describe: Callable[[], dict[str, Any]],
        introduction: Introduction,
        hosts: LinkHostMap,
        texts: Mapping[str, Callable[[], str | None]],
    ) -> None:
        self._readiness = readiness
        self._exposition = exposition
        self._describe = describe
        self._introduction = introduction
        self._hosts = hosts
        self._texts = texts
        self._openapi = b""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = os.urandom(8).hex()
        log_context.start_request(request_id)
        status, kind, body = await self._answer(scope, request_id)
        headers = [
            (b"content-type", kind),
            (b"content-length", b"%d" % len(body)),
            (b"x-content-type-options", b"nosniff"),
            (b"content-security-policy", NOTHING_RUNS),
        ]
        if status != 200:
            headers += [(b"cache-control", b"no-store"), (b"x-request-id", request_id.encode())]
        if status == 405:
            headers.append((b"allow", b"GET"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send(
            {"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body}
        )

    async def _answer(self, scope: Scope, request_id: str) -> tuple[int, bytes, bytes]:
        path = scope["path"]
        if scope["method"] not in ("GET", "HEAD"):
            return 405, _JSON, _encode(error_body(WrongMethod(["GET"]), request_id))
        if path == "/healthz":
            return 200, _JSON, b'{"status":"alive"}'
        if path == "/readyz":
            problem = await self._readiness.problem()
            if problem is None:
                return 200, _JSON, b'{"status":"ready"}'
            return 503, _JSON, _encode({"status": "waiting"} | error_body(problem, request_id))
        if path == "/metrics":
            return 200, _METRICS, await self._exposition.text()
        if path == "/.well-known/honeyguide":
            try:
                return 200, _JSON, _encode(await self._introduction.read())
            except Unavailable as error:
                return error.status, _JSON, _encode(error_body(error, request_id))
        if path in self._texts:
            text = self._texts[path]()
            if text is None:
                return 404, _JSON, _encode(error_body(Missing(_NOBODY), request_id))
            return 200, _TEXT, text.encode()
        if path == TLS_QUESTION:
            if await self._is_link_host(scope["query_string"]):
                return 200, _JSON, b'{"status":"verified"}'
            return 404, _JSON, _encode(error_body(Missing(UNKNOWN), request_id))
        if not self._openapi:  # making it takes longer than the event loop may wait
            self._openapi = await asyncio.to_thread(lambda: _encode(self._describe()))
        return 200, _JSON, self._openapi

    async def _is_link_host(self, query: bytes) -> bool:
        try:
            domain = query_of(query).get("domain", "")
        except Invalid:
            return False
        return await self._hosts.find(domain) is not None
