"""CPU time as a multiple of a fixed piece of work in the same thread of the same process.

A slow or busy machine makes both take longer, so a verdict on this measure is one on the code.
"""

import json
import time
from collections.abc import Callable

TRIES = 3


def calibration_s() -> float:
    """The quickest of three, about 5 ms on a server of 2026."""
    return min(_thread_s(_calibrate) for _ in range(TRIES))


def effort_of(work: Callable[[], object], most: float) -> float:
    """How many calibrations `work` takes, repeated while it takes more than `most`."""
    return least_effort(lambda: _thread_s(work), most)


def least_effort(seconds_of: Callable[[], float], most: float) -> float:
    """The same for work that measures itself."""
    efforts: list[float] = []
    while len(efforts) < TRIES and (not efforts or min(efforts) > most):
        efforts.append(seconds_of() / calibration_s())
    return min(efforts)


def _calibrate() -> None:
    rows = [{"email": f"reader{n}@example.org", "tags": [n, str(n)]} for n in range(1_000)]
    json.loads(json.dumps(rows))


def _thread_s(work: Callable[[], object]) -> float:
    began_s = time.thread_time()
    work()
    return time.thread_time() - began_s
