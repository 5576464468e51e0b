"""Starts the HTTP server: one process, or several on PostgreSQL under one parent that restarts what dies."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

import uvicorn

from honeyguide.app import Application
from honeyguide.settings import Settings
from honeyguide.store import sqlite_path

BACKLOG = 2048


class Server(uvicorn.Server):
    """uvicorn that tells us when it answers."""

    def __init__(self, config: uvicorn.Config, on_answering: Callable[[], None] | None) -> None:
        super().__init__(config)
        self._on_answering = on_answering

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self._on_answering is not None:
            self._on_answering()


def run_server(settings: Settings, *, workers: int = 1, work: bool = True, on_answering: Callable[[], None] | None = None) -> None:
    lock = _only_server(settings)
    try:
        sock = _listen(settings)
    except OSError as error:
        sys.exit(f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}. Choose another with HONEYGUIDE_PORT.")
    if workers == 1:
        sys.exit(_serve(settings, sock, work=work, on_answering=on_answering or (lambda: _greet(settings))))
    _supervise(settings, sock, workers, work)
    del lock


def _only_server(settings: Settings) -> IO[str] | None:
    """SQLite serves one process: a second one on the same file would keep its own rate limits."""
    path = sqlite_path(settings.database_url)
    if path is None:
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = Path(f"{path}.lock").open("w")  # noqa: SIM115 - held until the process ends
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit(f"Another honeyguide serves {path} already; SQLite serves one process. Stop it, or use PostgreSQL.")
    return lock


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((settings.host, settings.port))
    sock.listen(BACKLOG)
    sock.set_inheritable(True)
    return sock


def _serve(settings: Settings, sock: socket.socket, *, work: bool, on_answering: Callable[[], None] | None) -> int:
    config = uvicorn.Config(
        Application(settings, work=work), http="httptools", loop="auto", lifespan="on", access_log=False, log_level="warning",
        server_header=False, proxy_headers=bool(settings.trusted_proxies), forwarded_allow_ips=settings.trusted_proxies or None,
        timeout_keep_alive=75, timeout_graceful_shutdown=10, h11_max_incomplete_event_size=65_536,
    )  # fmt: skip
    server = Server(config, on_answering)
    server.run(sockets=[sock])
    return 0 if server.started else 1


def _greet(settings: Settings) -> None:
    print(f"Honeyguide answers at {settings.base_url} (API reference: {settings.base_url}/docs). Stop with Ctrl-C.", flush=True)


def _supervise(settings: Settings, sock: socket.socket, workers: int, work: bool) -> None:
    """Forks the workers; one that dies is replaced, and a signal to us goes to all."""
    alive: set[int] = set()
    stopping = False

    def stop(_signal: int, _frame: object) -> None:
        nonlocal stopping
        stopping = True
        for pid in alive:
            os.kill(pid, signal.SIGTERM)

    def start() -> None:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            asyncio.set_event_loop(None)
            os._exit(_serve(settings, sock, work=work, on_answering=None))
        alive.add(pid)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    for _ in range(workers):
        start()
    _greet(settings)
    while alive:
        pid, status = os.wait()
        alive.discard(pid)
        if not stopping:
            if os.waitstatus_to_exitcode(status) == 1:
                stop(0, None)  # it could not even start; the others will not fare better
                continue
            start()
