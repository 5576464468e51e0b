"""Whether SQLite's commits wait for the disk, and a disk that can be watched, made slow or made to
fail: SQLite's own file layer with our hand on its sync.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw
import pytest

from honeyguide.store import sqlite

PRAGMAS = sqlite._PRAGMAS
_numbers = itertools.count(1)


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._disk = disk

    def xSync(self, flags: int) -> bool:
        self._disk.syncs += 1
        self._disk.may_sync.wait()
        if self._disk.broken:
            raise apsw.IOError("the disk is broken")
        return super().xSync(flags)


class Disk(apsw.VFS):
    def __init__(self) -> None:
        super().__init__(f"watched{next(_numbers)}", "unix", makedefault=True)
        self.syncs = 0
        self.broken = False
        self.may_sync = threading.Event()
        self.may_sync.set()

    def xOpen(self, name: Any, flags: list[int]) -> _File:
        return _File(self, name, flags)

    async def begins_to_sync(self, after: int) -> None:
        """Waits for a sync past the first `after` ones."""
        async with asyncio.timeout(20):
            while self.syncs == after:
                await asyncio.sleep(0.001)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Syncs begin and do not return meanwhile."""
        self.may_sync.clear()
        try:
            yield
        finally:
            self.may_sync.set()


@contextmanager
def quick_commits() -> Iterator[None]:
    """No test wants its data back after a crash of the machine, so commits do not wait for the
    disk, as on the shared PostgreSQL server.
    """
    with pytest.MonkeyPatch.context() as patch:
        quick = PRAGMAS.replace("synchronous = FULL", "synchronous = OFF")
        assert quick != PRAGMAS
        patch.setattr(sqlite, "_PRAGMAS", quick)
        yield


@contextmanager
def durable_commits() -> Iterator[None]:
    """Commits wait, as they do outside tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite, "_PRAGMAS", PRAGMAS)
        yield


@contextmanager
def watched_disk() -> Iterator[Disk]:
    """Files that SQLite opens inside are on this disk, and stay there."""
    disk = Disk()
    try:
        with durable_commits():
            yield disk
    finally:
        disk.unregister()
