"""What an open store notes about itself, for metrics and for the readiness probe."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from honeyguide.kernel.background import LoopHealth


class PoolState(NamedTuple):
    """Connections of one process, and callers that wait for one. SQLite has one that writes."""

    name: str
    most: int
    open: int
    in_use: int
    waiting: int


def _ignore_wait(_seconds: float) -> None:
    """Until somebody watches."""


def _ignore_batch(_size: int, _seconds: float) -> None:
    """Until somebody watches."""


class StoreWatch:
    """`on_wait` is told how long a caller waited for a connection, on SQLite for its turn to write.
    `on_batch` is told how many callers shared a batch, and how long it took. On SQLite that is a
    group commit with its sync.
    """

    def __init__(self) -> None:
        self.on_wait: Callable[[float], None] = _ignore_wait
        self.on_batch: Callable[[int, float], None] = _ignore_batch
        # Whether writes may be failing, perhaps because the disk is full: set when the database
        # refused something, cleared by whoever has tried to write since.
        self.is_suspect = False
        # How the store's own loops do.
        self.loops: list[LoopHealth] = []
