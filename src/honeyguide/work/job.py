"""What a background job is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from honeyguide.store import Store
from honeyguide.work.items import Items

# What cannot be done in parts: it does one bounded batch and returns whether there is more to do.
Batch = Callable[[Store, int], Awaitable[bool]]
Probe = Callable[..., Awaitable[bool]]


@dataclass(frozen=True)
class Job:
    """A job goes through items, of which one that fails stops no other (`items`). Only what is
    about the whole installation is a `Batch`; then `probe` returns whether there is anything to do.
    """

    name: str
    every_ms: int
    work: tuple[Items, ...] | Batch
    probe: Probe | None = None
    # A commit that wakes this topic also starts the job.
    topic: str | None = None
    # Whether it runs at every interval. Others look first, so that an idle installation writes
    # nothing for them.
    always_runs: bool = False
