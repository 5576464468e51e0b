"""Starts the HTTP server: one process, or several on PostgreSQL that a parent restarts."""

from __future__ import annotations

import asyncio
import faulthandler
import logging
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from typing import IO, NoReturn

from prometheus_client import values

from honeyguide import supervisor
from honeyguide.app import Application
from honeyguide.http_server import Server, server_config
from honeyguide.kernel.errors import Unavailable
from honeyguide.settings import Settings
from honeyguide.store import sqlite_path
from honeyguide.store.server_lock import lock_for_server

log = logging.getLogger("honeyguide.serve")

BACKLOG = 2048


def run_server(
    settings: Settings,
    *,
    workers: int = 1,
    work: bool = True,
    on_answering: Callable[[], None] | None = None,
) -> None:
    lock = only_server(settings)
    try:
        sock = listen(settings)
    except OSError as error:
        _cannot_start(
            f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}. "
            "Change HONEYGUIDE_HOST or HONEYGUIDE_PORT."
        )
    if workers == 1:
        greet = on_answering or partial(_greet, settings)
        application = Application(settings, work=work, shows_setup_code=True)
        watch = partial(_greet_and_watch, greet)
        server = _server(settings, application, watch, log_stopping, log_stopped)
        sys.exit(_run(server, sock))
    code = _supervise(settings, sock, workers, work)
    if code == 0:
        log_stopped()
    del lock
    sys.exit(code)


def only_server(settings: Settings) -> IO[str] | None:
    """SQLite serves one process: a second one on the same file would keep its own rate limits."""
    path = sqlite_path(settings.database_url)
    if path is None:
        return None
    try:
        return lock_for_server(path)
    except Unavailable as error:
        _cannot_start(error.message)


def _cannot_start(sentence: str) -> NoReturn:
    log.error("%s", sentence)
    sys.exit(1)


def listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # asyncio turns Nagle's algorithm, which delays responses, off only if the protocol is given.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((settings.host, settings.port))
    sock.listen(BACKLOG)
    sock.set_inheritable(True)
    return sock


def _server(
    settings: Settings,
    application: Application,
    on_answering: Callable[[], None],
    *on_end: Callable[[], None],
) -> Server:
    return Server(server_config(application, settings), on_answering, *on_end)


def _run(server: Server, sock: socket.socket) -> int:
    """Returns the exit code."""
    try:
        server.run(sockets=[sock])
    except SystemExit:  # the application did not start; uvicorn has logged why
        return 1
    except KeyboardInterrupt:  # Ctrl-C is how it is stopped, and it has stopped
        return 0
    return 0 if server.started else 1


def log_stopping() -> None:
    log.info("Stopping. Waiting for requests and jobs to finish.")


def log_stopped() -> None:
    log.info("Stopped")


def _greet(settings: Settings) -> None:
    log.info("Honeyguide is running at %s", settings.base_url)
    log.info("API reference: %s/docs. Press Ctrl-C to stop.", settings.base_url)


def _greet_and_watch(greet: Callable[[], None]) -> None:
    exit_if_blocked()
    greet()


def exit_if_blocked() -> None:
    """For a process without a parent, on its event loop: if the loop is blocked for too long, write
    to standard error where, and exit with 1. This needs no Python thread, because the code that
    blocks may let none run.
    """
    faulthandler.dump_traceback_later(supervisor.BLOCKED_S, exit=True)
    asyncio.get_running_loop().call_later(supervisor.BLOCKED_S / 10, exit_if_blocked)


def _supervise(settings: Settings, sock: socket.socket, workers: int, work: bool) -> int:
    """Run several processes on one socket."""
    with tempfile.TemporaryDirectory(prefix="honeyguide-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder

        def serve(number: int, on_answering: Callable[[], None]) -> int:
            # Each worker counts in files of its own there; the one that Prometheus asks adds them
            # up. A replacement goes on counting where the one before it stopped.
            values.ValueClass = values.MultiProcessValue(lambda: number)  # type: ignore[no-untyped-call]
            # One of them shows the code for the first account: each code replaces the last.
            application = Application(settings, work=work, shows_setup_code=number == 0)
            return _run(_server(settings, application, on_answering), sock)

        parent = supervisor.Supervisor(
            serve, partial(_greet, settings), log_stopping, blocked_s=supervisor.BLOCKED_S
        )
        return parent.run(workers)
