"""Runs the image library in a child process with limits on memory and time, never in the server.

The worst image kills the child, and the caller gets a refusal.
"""

from __future__ import annotations

import asyncio
import os
import sys
from weakref import WeakKeyDictionary

from honeyguide.kernel.errors import Unavailable

ANSWER_LIMIT = 2 * 1_048_576

_CHILD_MEMORY = 512 * 1024 * 1024
_CHILD_CPU_S = 10
_CHILD_WALL_S = 15.0
_CHILDREN_AT_ONCE = 2

_gates: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


def _gate() -> asyncio.Semaphore:
    # A flood of uploads queues here instead of starting a flood of processes.
    return _gates.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(_CHILDREN_AT_ONCE))


async def run(module: str, data: bytes, *arguments: str) -> tuple[int, bytes]:
    """Runs a module with `data` as its input. The child's exit code (negative if it was killed) and
    its output."""
    async with _gate():
        return await _run(module, data, *arguments)


async def _run(module: str, data: bytes, *arguments: str) -> tuple[int, bytes]:
    try:
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-B", "-W", "ignore", "-m", module, *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=child_environment(),
        )
    except OSError as fault:
        raise Unavailable(
            "The picture cannot be processed right now. Try again in a moment."
        ) from fault
    try:
        async with asyncio.timeout(_CHILD_WALL_S):
            answer = await _converse(child, data)
            return await child.wait(), answer
    except TimeoutError:
        return -1, b""
    finally:
        if child.returncode is None:  # out of patience, or our own caller has gone
            child.kill()
            await child.wait()


async def _converse(child: asyncio.subprocess.Process, data: bytes) -> bytes:
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        child.stdin.write(data)
        await child.stdin.drain()
    except ConnectionError:  # it died before it had read all; its exit code tells why
        pass
    child.stdin.close()
    try:
        await child.stdout.readexactly(ANSWER_LIMIT)
    except asyncio.IncompleteReadError as whole:
        return whole.partial
    child.kill()
    return b""


def child_environment() -> dict[str, str]:
    # If an attacker takes over the decoder, its environment has none of our secrets.
    kept = {
        name: os.environ[name]
        for name in ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT")
        if name in os.environ
    }
    return kept | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def limit_ourselves() -> None:
    """The first thing that a child does."""
    try:
        import resource
    except ImportError:  # Windows has no such limits; the caller's patience still ends
        return
    limits = [
        (resource.RLIMIT_AS, _CHILD_MEMORY),
        (resource.RLIMIT_CPU, _CHILD_CPU_S),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ]
    for kind, most in limits:
        try:
            resource.setrlimit(kind, (most, most))
        except (ValueError, OSError):
            pass  # a stricter limit is in force, or the platform does not know this one
