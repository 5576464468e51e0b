"""The garbage collector of a process that runs for long."""

from __future__ import annotations

import gc

AFTER = 20_000  # objects made and not yet freed; the default of 700 is reached every few requests


def tune_collector() -> None:
    """Called once everything is loaded: what is there now stays, so the collector need not look at
    it again. Requests and deliveries leave almost no cycles behind."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(AFTER, 20, 50)
