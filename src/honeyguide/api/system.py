"""Endpoints for machines: liveness, readiness, metrics, the OpenAPI document, the public keys of
this installation, who is told of security problems, what a language model reads first, and whether
a proxy may get a certificate for a host.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parseaddr
from typing import Any

import msgspec
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from honeyguide.api.process_metrics import ProcessMetrics
from honeyguide.api.readiness import Readiness
from honeyguide.api.state_metrics import StateMetrics
from honeyguide.api.telemetry import Telemetry
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
from honeyguide.kernel.clock import DAY_MS, iso
from honeyguide.kernel.errors import Invalid, Missing, Unavailable
from honeyguide.moving import installation_key
from honeyguide.moving.installation_key import InstallationKey
from honeyguide.store import Store
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


class Exposition:
    """The text that Prometheus reads: the metrics of all workers, and those of the installation."""

    def __init__(self, telemetry: Telemetry, process: ProcessMetrics, state: StateMetrics) -> None:
        self._telemetry = telemetry
        self._process = process
        self._state = state
        self._state_registry = CollectorRegistry()
        self._state_registry.register(state)
        self._one_at_a_time = asyncio.Lock()

    async def text(self) -> bytes:
        async with self._one_at_a_time:
            await self._state.refresh()
            self._process.sample()
            self._telemetry.flush()
            # It takes some milliseconds, in which requests go on.
            return await asyncio.to_thread(self._generate)

    def _generate(self) -> bytes:
        ours = self._telemetry.registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            ours = CollectorRegistry()
            MultiProcessCollector(ours)  # type: ignore[no-untyped-call]
        return generate_latest(ours) + generate_latest(self._state_registry)


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
        introduction: Callable[[], Awaitable[dict[str, Any]]],
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
                return 200, _JSON, _encode(await self._introduction())
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


async def introduction(store: Store, base_url: str) -> dict[str, Any]:
    """What an installation says of itself at `/.well-known/honeyguide`: where it is, and the public
    keys that it signs documents with, as JSON Web Keys (RFC 8037)."""
    keys = await store.read(installation_key.list_all)
    return {"name": "Honeyguide", "url": base_url, "keys": [_jwk(key) for key in keys]}


def _jwk(key: InstallationKey) -> dict[str, Any]:
    return {
        "kty": "OKP",
        "crv": "Ed25519",
        "x": key.public_key,
        "kid": key.fingerprint,
        "use": "sig",
        "created_at": iso(key.created_ms),
        "retired_at": None if key.retired_ms is None else iso(key.retired_ms),
    }


def llms_txt(base_url: str) -> str:
    """What a language model finds at `/llms.txt`, in Markdown as llmstxt.org asks."""
    return f"""# Honeyguide

> Runs the referral program of a newsletter, and paid partner programs between newsletters. This \
is an installation of it, with a JSON API.

Send requests to {base_url} with an API key in the header `X-Api-Key`. An account's owner creates \
one at {base_url}/account/keys. Errors are JSON with a sentence in `error` and a stable `code`.

## API

- [OpenAPI document]({base_url}/openapi.json): every operation, field, limit and webhook
- [API reference]({base_url}/docs): the same for people, with a sample for each operation

## Guide

- [API]({base_url}/docs/guide/api.html): keys, paging, limits, retries
- [Webhooks]({base_url}/docs/guide/webhooks.html): events, and how to verify their signatures
- [Tools for assistants]({base_url}/docs/guide/mcp.html): `honeyguide mcp`, a server for the Model \
Context Protocol
"""


# The RFC asks for less than a year. The day moves on while the service runs, so that a copy
# that somebody kept ends, and the file itself does not.
_VALID_DAYS = 180


def security_txt(contact: str, mail_from: str, base_url: str, *, now_ms: int) -> str | None:
    """Who is told of a security problem (RFC 9116). None if nobody is named: neither a contact, nor
    a sender who can be written to."""
    if not contact:
        contact = parseaddr(mail_from)[1]
        if contact.endswith("@localhost"):
            return None
    uri = contact if contact.startswith("https://") else f"mailto:{contact}"
    expires_ms = (now_ms // DAY_MS + _VALID_DAYS) * DAY_MS
    lines = [
        f"Contact: {uri}",
        f"Expires: {iso(expires_ms)}",
        "Preferred-Languages: en",
        f"Canonical: {base_url}/.well-known/security.txt",
    ]
    return "\n".join(lines) + "\n"
