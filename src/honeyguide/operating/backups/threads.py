"""Blocking work in a thread, so that requests are served meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from honeyguide.store.workspace import workspace

T = TypeVar("T")

# Called again and again by work that takes long; raises `Stopped` if the work must end.
Tick = Callable[[], None]
# How much of a file is read or written between two ticks.
CHUNK = 1 << 20


class Stopped(Exception):
    """The service stops."""


async def run_apart(work: Callable[..., T], *args: Any) -> T:
    """Run `work(*args, tick)` in a thread. Cancelling this stops the work at its next tick, and
    waits until it has stopped.
    """
    stop = threading.Event()

    def tick() -> None:
        if stop.is_set():
            raise Stopped

    running = asyncio.get_running_loop().run_in_executor(None, partial(work, *args, tick))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([running])
        raise


@asynccontextmanager
async def workspace_apart(parent: Path) -> AsyncIterator[Path]:
    """A workspace. Removing large files takes a while, so a thread does it."""
    with ExitStack() as stack:
        folder = await asyncio.to_thread(stack.enter_context, workspace(parent))
        removing = stack.pop_all().close
    try:
        yield folder
    finally:
        await asyncio.to_thread(removing)


def copy_in_chunks(source: Any, target: Any, tick: Tick) -> None:
    """From one binary file object to another."""
    while chunk := source.read(CHUNK):
        tick()
        target.write(chunk)


def copy_file(source: Path, target: Path, tick: Tick) -> None:
    with source.open("rb") as reading, target.open("wb") as writing:
        copy_in_chunks(reading, writing, tick)
