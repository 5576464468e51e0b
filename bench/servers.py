"""Real server processes for a bench: the service as an operator starts it, and the no-op."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.postgres import free_port

START_S = 120.0


@dataclass(frozen=True)
class Server:
    port: int
    pid: int  # of the process that the operator starts; others are its children
    started_s: float  # until it answered


@contextmanager
def honeyguide(
    database_url: str,
    folder: Path,
    *,
    rate_limit: int,
    trusted_proxies: str = "",
    secret_key: str = "",
) -> Iterator[int]:
    """One worker; gives its port."""
    with service(
        database_url,
        folder,
        rate_limit=rate_limit,
        trusted_proxies=trusted_proxies,
        secret_key=secret_key,
    ) as server:
        yield server.port


@contextmanager
def service(
    database_url: str,
    folder: Path,
    *,
    rate_limit: int,
    trusted_proxies: str = "",
    secret_key: str = "",
    workers: int = 1,
    core: int | None = None,
    work: bool = True,
) -> Iterator[Server]:
    """`honeyguide serve`, everything on, its access log written to a file; on one core only where
    one is given. Without `work` it runs no background jobs.
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
        "HONEYGUIDE_SECRET_KEY": secret_key,
    }
    command = [sys.executable, "-m", "honeyguide", "serve", "--workers", str(workers)]
    if not work:
        command.append("--no-work")
    if core is not None:
        command = ["taskset", "-c", str(core), *command]
    began = time.perf_counter()
    with (
        (folder / f"access-{port}.log").open("wb") as log,
        _running(command, environment, log, port) as pid,
    ):
        yield Server(port, pid, time.perf_counter() - began)


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
) -> Iterator[int]:
    process = subprocess.Popen(command, env=environment, stdout=log)  # type: ignore[call-overload]
    try:
        _await_answer(process, port)
        yield process.pid
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
