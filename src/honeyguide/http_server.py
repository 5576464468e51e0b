"""The HTTP server: uvicorn, with limits and errors of our own.

This is the only file that uses uvicorn, and it overrides private parts of it. So pyproject.toml
pins the exact version, and `tests/serving/test_uvicorn_contract.py` lists what we rely on.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Callable
from typing import Any

import httptools
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from honeyguide.kernel.background import tune_collector
from honeyguide.settings import Settings

# More than any honest client sends; endless headers must not fill our memory.
HEAD_LIMIT = 64 * 1024
TOO_LARGE = f"The request headers are larger than {HEAD_LIMIT // 1024} KB."
LINE_BYTES = len(": \r\n")
# As long as a body may take. A client that never finishes a request must not keep its connection.
HEAD_S = 20.0
# A year, as browsers' makers recommend. Other names of the domain may need plain HTTP.
HSTS_S = 365 * 24 * 3600
# As long as a client may go on sending a body that was refused.
DISCARD_S = 10.0


class Discarding(asyncio.Protocol):
    """Reads what a client still sends after its response. Closing at once would reset the
    connection: the client could not read the response, and a proxy would answer 502 instead.
    """

    def __init__(self, protocol: HttpToolsProtocol) -> None:
        self.connection_lost = protocol.connection_lost  # type: ignore[method-assign]


class JoinedWrites:
    """A transport that joins writes: a response's head and body go out with one system call."""

    def __init__(self, transport: asyncio.Transport, protocol: HttpToolsProtocol) -> None:
        self._transport = transport
        self._protocol = protocol
        self._loop = protocol.loop
        self._is_discarding = False
        self._parts: list[bytes] = []
        # uvicorn calls these for every request; this skips `__getattr__`.
        self.is_closing = transport.is_closing
        self.resume_reading = transport.resume_reading

    def write(self, data: bytes) -> None:
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts and not self._transport.is_closing():
            self._transport.write(b"".join(parts))

    def close(self) -> None:
        self._flush()
        cycle: Any = self._protocol.cycle  # None before the first request
        is_unread = cycle is not None and cycle.response_complete and cycle.more_body
        if self._is_discarding or not is_unread or self._transport.is_closing():
            self._transport.close()
            return
        self._is_discarding = True
        self.is_closing = lambda: True
        self._transport.set_protocol(Discarding(self._protocol))
        self._transport.resume_reading()
        self._transport.write_eof()
        self._loop.call_later(DISCARD_S, self._transport.close)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _WrongHead(Exception):
    """The head of a request is refused. The message says why."""


class Protocol(HttpToolsProtocol):
    """HTTP with JSON errors for requests it cannot read, and with limits for the headers."""

    _head = 0
    _head_late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(JoinedWrites(transport, self))  # type: ignore[arg-type]
        # uvicorn limits only the idle time after a request, not the time before the first one.
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def connection_lost(self, exc: Exception | None) -> None:
        self._unset_keepalive_if_required()
        self._head_is_here()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._replay_without_upgrade(memoryview(data)[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            self._cannot_read(error)
            return
        scope: dict[str, object] | None = self.scope  # type: ignore[assignment]
        if scope is None or "method" in scope:  # no request begun, or its headers are complete
            if self._head_late is not None:
                self._head_is_here()
            return
        if self._head_late is None:
            self._head_late = self.loop.call_later(HEAD_S, self._too_late)
        self._head += len(data)
        if self._head > HEAD_LIMIT and not self.transport.is_closing():
            self.send_400_response(TOO_LARGE)

    def on_headers_complete(self) -> None:
        # A head that comes in one piece was not counted in `data_received`.
        size, hosts = len(self.url), 0
        for name, value in self.headers:
            size += len(name) + len(value) + LINE_BYTES
            hosts += name == b"host"
        if size > HEAD_LIMIT:
            raise _WrongHead(TOO_LARGE)
        # RFC 9112, section 3.2
        if hosts != 1 and self.parser.get_http_version() == "1.1":
            raise _WrongHead("Send exactly one Host header.")
        super().on_headers_complete()

    def _should_upgrade(self) -> bool:
        """uvicorn calls this for requests with an Upgrade header; we replay those without it."""
        return self.parser.get_method() != b"CONNECT"

    def _replay_without_upgrade(self, rest: memoryview) -> None:
        """Java's client and `curl --http2` ask every plain http URL to upgrade to HTTP/2, which a
        server may ignore. But the parser takes the body for the other protocol, so a new parser
        gets the same head without the Upgrade header.
        """
        while self._should_upgrade():
            head = b"%s %s HTTP/%s\r\n" % (
                self.parser.get_method(),
                self.url,
                self.parser.get_http_version().encode(),
            )
            lines = b"".join(
                b"%s: %s\r\n" % header for header in self.headers if header[0] != b"upgrade"
            )
            self.parser = httptools.HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
            try:
                self.parser.feed_data(head + lines + b"\r\n")
                self.parser.feed_data(rest)
                return
            except httptools.HttpParserUpgrade as upgrade:  # the next request has one too
                rest = rest[upgrade.args[0] :]
            except httptools.HttpParserError as error:
                self._cannot_read(error)
                return

    def _cannot_read(self, error: httptools.HttpParserError) -> None:
        # What a callback raises is the context of the parser's own error.
        why = error.__context__
        self.send_400_response(
            str(why) if isinstance(why, _WrongHead) else "This is not a valid HTTP request."
        )

    def _head_is_here(self) -> None:
        self._head = 0
        if self._head_late is not None:
            self._head_late.cancel()
            self._head_late = None

    def _too_late(self) -> None:
        if not self.transport.is_closing():
            self._refuse(
                "408 Request Timeout", "timeout", "The request headers took too long to arrive."
            )

    def send_400_response(self, msg: str) -> None:
        self._refuse("400 Bad Request", "invalid_http", msg)

    def _refuse(self, status: str, code: str, sentence: str) -> None:
        request_id = os.urandom(8).hex()
        body = json.dumps({"error": sentence, "code": code, "request_id": request_id}).encode()
        always = b"".join(b"%s: %s\r\n" % each for each in self.server_state.default_headers)
        head = (
            f"HTTP/1.1 {status}\r\n{always.decode('latin-1')}"
            "content-type: application/json; charset=utf-8\r\ncache-control: no-store\r\n"
            f"content-length: {len(body)}\r\nx-request-id: {request_id}\r\n"
            "connection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()


def _headers(settings: Settings) -> list[tuple[str, str]]:
    """On every response. Browsers that saw this never ask over plain HTTP again."""
    is_https = settings.base_url.startswith("https:")
    return [("strict-transport-security", f"max-age={HSTS_S}")] if is_https else []


def server_config(
    application: ASGIApp, settings: Settings, *, patience_s: int = 10
) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        http=Protocol,
        ws="none",
        loop="auto",
        lifespan="on",
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        headers=_headers(settings),
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies or None,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=patience_s,
    )


class Server(uvicorn.Server):
    """uvicorn with callbacks for when it is ready, when it begins to stop and when it has stopped.
    A signal that stops it is raised again right after the last one.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        on_answering: Callable[[], None] | None,
        on_stopping: Callable[[], None] | None = None,
        on_stopped: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(config)
        self._on_answering = on_answering
        self._on_stopping = on_stopping
        self._on_stopped = on_stopped

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        tune_collector()
        if self.started and self._on_answering is not None:
            self._on_answering()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._on_stopping is not None:
            self._on_stopping()
        await super().shutdown(sockets)
        if self._on_stopped is not None:
            self._on_stopped()
