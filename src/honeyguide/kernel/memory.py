"""The garbage collector of a process that runs for long."""

from __future__ import annotations

import gc

AFTER = 20_000  # objects made and not yet freed; the default of 700 is reached every few requests


def settle() -> None:
    """Once all is loaded: what is there now stays, so the collector need not walk it again and again. Requests and
    deliveries leave next to no cycles behind."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(AFTER, 20, 50)
