"""Starts the HTTP server: one process, or several on PostgreSQL that a parent restarts."""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any, NoReturn

import httptools
import uvicorn
from prometheus_client import values
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from honeyguide.app import Application
from honeyguide.kernel import memory
from honeyguide.settings import Settings
from honeyguide.store import sqlite_path

log = logging.getLogger("honeyguide.serve")

BACKLOG = 2048
# More than any honest client sends; endless headers must not fill our memory.
HEAD_LIMIT = 64 * 1024
# As long as a body may take. A client that never finishes a request must not keep its connection.
HEAD_S = 20.0


class JoinedWrites:
    """A transport that joins writes: a response's head and body go out with one system call."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
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
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _WrongHost(Exception):
    """A request of HTTP/1.1 without a Host header, or with several (RFC 9112, section 3.2)."""


class Protocol(HttpToolsProtocol):
    """HTTP with JSON errors for requests it cannot read, and with limits for the headers."""

    _head = 0
    _head_late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(JoinedWrites(transport, self.loop))  # type: ignore[arg-type]
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
            self.send_400_response(f"The request headers are larger than {HEAD_LIMIT // 1024} KB.")

    def on_headers_complete(self) -> None:
        if (
            self.parser.get_http_version() == "1.1"
            and sum(name == b"host" for name, _ in self.headers) != 1
        ):
            raise _WrongHost
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
        wrong_host = isinstance(error.__context__, _WrongHost)
        self.send_400_response(
            "Send exactly one Host header." if wrong_host else "This is not a valid HTTP request."
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
        head = (
            f"HTTP/1.1 {status}\r\n"
            "content-type: application/json; charset=utf-8\r\ncache-control: no-store\r\n"
            f"content-length: {len(body)}\r\nx-request-id: {request_id}\r\n"
            "connection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()


def server_config(
    application: Application, settings: Settings, *, patience_s: int = 10
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
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies or None,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=patience_s,
    )


class Server(uvicorn.Server):
    """uvicorn with a callback for when it is ready."""

    def __init__(self, config: uvicorn.Config, on_answering: Callable[[], None] | None) -> None:
        super().__init__(config)
        self._on_answering = on_answering

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        memory.settle()
        if self.started and self._on_answering is not None:
            self._on_answering()


def run_server(
    settings: Settings,
    *,
    workers: int = 1,
    work: bool = True,
    on_answering: Callable[[], None] | None = None,
) -> None:
    lock = only_server(settings)
    try:
        sock = _listen(settings)
    except OSError as error:
        _cannot_start(
            f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}. "
            "Change HONEYGUIDE_HOST or HONEYGUIDE_PORT."
        )
    if workers == 1:
        sys.exit(_serve(settings, sock, work, on_answering or partial(_greet, settings)))
    code = _supervise(settings, sock, workers, work)
    del lock
    sys.exit(code)


def only_server(settings: Settings) -> IO[str] | None:
    """SQLite serves one process: a second one on the same file would keep its own rate limits."""
    path = sqlite_path(settings.database_url)
    if path is None:
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = Path(f"{path}.lock").open("w")  # noqa: SIM115 - held until the process ends
    except OSError as error:
        _cannot_start(
            f"The database file {path} cannot be opened: {error.strerror}. "
            "Check HONEYGUIDE_DATABASE_URL."
        )
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        _cannot_start(
            f"Another Honeyguide server is already using {path}, and SQLite supports only one. "
            "Stop it, or use PostgreSQL."
        )
    return lock


def _cannot_start(sentence: str) -> NoReturn:
    log.error("%s", sentence)
    sys.exit(1)


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # asyncio turns Nagle's algorithm, which delays responses, off only if the protocol is given.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((settings.host, settings.port))
    sock.listen(BACKLOG)
    sock.set_inheritable(True)
    return sock


def _serve(
    settings: Settings, sock: socket.socket, work: bool, on_answering: Callable[[], None]
) -> int:
    config = server_config(Application(settings, work=work), settings)
    server = Server(config, on_answering)
    try:
        server.run(sockets=[sock])
    except SystemExit:  # the application did not start; uvicorn has logged why
        return 1
    return 0 if server.started else 1


def _greet(settings: Settings) -> None:
    log.info("Honeyguide is running at %s", settings.base_url)
    log.info("API reference: %s/docs. Press Ctrl-C to stop.", settings.base_url)


class _Workers:
    """The worker processes. None outlives the parent, or the port would stay taken."""

    def __init__(
        self, serve: Callable[[Callable[[], None]], int], on_answering: Callable[[], None]
    ) -> None:
        self._serve = serve
        self._on_answering = on_answering
        self._answered = multiprocessing.get_context("fork").Event()
        self._started: dict[int, float] = {}
        self._stopping = False
        # Only the parent holds the writing end. If it dies, even by SIGKILL, every worker reads the
        # end of the file.
        self._parent_pipe, self._parent_end = os.pipe()

    def run(self, workers: int) -> int:
        for number in _STOPS:
            signal.signal(number, self._stop)
        for _ in range(workers):
            self._start()
        failed = 0
        while self._started:
            pid, status = os.wait()
            began = self._started.pop(pid, 0.0)
            if self._stopping:
                continue
            if not self._answered.is_set():
                failed = 1  # it could not start, and neither will the others
                self._stop(0, None)
                continue
            log.warning(
                "A server process exited with code %d. Starting a new one.",
                os.waitstatus_to_exitcode(status),
            )
            if time.monotonic() - began < 1:
                time.sleep(1)
            self._start()
        return failed

    def _greet_once(self) -> None:
        if not self._answered.is_set():
            self._answered.set()
            self._on_answering()

    def _stop(self, _signal: int, _frame: object) -> None:
        self._stopping = True
        for pid in self._started:
            os.kill(pid, signal.SIGTERM)

    def _start(self) -> None:
        # A signal between the fork and the entry in `_started` would never reach the worker.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
        if self._stopping:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
            return
        pid = os.fork()
        if pid == 0:
            for number in _STOPS:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
            os.close(self._parent_end)
            threading.Thread(target=self._watch_parent, daemon=True).start()
            os._exit(self._serve(self._greet_once))
        self._started[pid] = time.monotonic()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)

    def _watch_parent(self) -> None:
        os.read(self._parent_pipe, 1)
        os.kill(os.getpid(), signal.SIGTERM)


_STOPS = (signal.SIGTERM, signal.SIGINT)


def _supervise(settings: Settings, sock: socket.socket, workers: int, work: bool) -> int:
    """Run several processes on one socket, and replace any that dies."""
    with tempfile.TemporaryDirectory(prefix="honeyguide-metrics-") as folder:
        # Each worker counts in a file of its own there; the one that is asked adds them up.
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        values.ValueClass = values.get_value_class()  # type: ignore[no-untyped-call]
        serve = partial(_serve, settings, sock, work)
        return _Workers(serve, partial(_greet, settings)).run(workers)
