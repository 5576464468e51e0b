"""Real server processes for a bench: the service as an operator starts it, and the no-op."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.postgres import free_port

START_S = 120.0


@contextmanager
def honeyguide(
    database_url: str, folder: Path, *, rate_limit: int, trusted_proxies: str = ""
) -> Iterator[int]:
    """`honeyguide serve`, one worker, everything on, its access log written to a file; gives its
    port.
    """
    port = free_port()
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("HONEYGUIDE_")
    } | {
        "HONEYGUIDE_DATABASE_URL": database_url,
        "HONEYGUIDE_PORT": str(port),
        "HONEYGUIDE_RATE_LIMIT": str(rate_limit),
        "HONEYGUIDE_LOG": "json",
        "HONEYGUIDE_TRUSTED_PROXIES": trusted_proxies,
    }
    with (
        (folder / f"access-{port}.log").open("wb") as log,
        _running([sys.executable, "-m", "honeyguide", "serve"], environment, log, port),
    ):
        yield port


@contextmanager
def noop(folder: Path) -> Iterator[int]:
    port = free_port()
    with _running(
        [sys.executable, "-m", "bench.noop", str(port), str(folder)], dict(os.environ), None, port
    ):
        yield port


@contextmanager
def sink() -> Iterator[int]:
    """A receiver of webhooks."""
    port = free_port()
    with _running([sys.executable, "-m", "bench.sink", str(port)], dict(os.environ), None, port):
        yield port


@contextmanager
def _running(
    command: list[str], environment: dict[str, str], log: object, port: int
) -> Iterator[None]:
    process = subprocess.Popen(command, env=environment, stdout=log)  # type: ignore[call-overload]
    try:
        _await_answer(process, port)
        yield
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await_answer(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError(f"the server on port {port} did not start")
