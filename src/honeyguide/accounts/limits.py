"""At most N accepted requests in any rolling minute: a ring of accepted times, exact and O(1) for
any N.

With one process the ring is in memory, and every accepted time is noted in a journal that survives
a kill. With PostgreSQL the same rule is the function `admit`, so that all processes share one ring.
Refused requests are not counted.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import NamedTuple

WINDOW_MS = 60_000
# Wrong keys from one address in a minute before it gets 429 instead of 401. Valid keys skip this
# check.
MOST_WRONG_KEYS = 1_000


class Allowance(NamedTuple):
    limit: int
    remaining: int
    frees_ms: int  # when the oldest request in the window leaves it
    refused: bool

    def retry_after_s(self, now_ms: int) -> int:
        # A request that waited may carry an older time than the ring. Nobody waits longer than a
        # window.
        return max(1, -(-min(self.frees_ms - now_ms, WINDOW_MS) // 1000))


class Window:
    """The accepted times of one key, oldest first, and the latest time anyone asked at."""

    __slots__ = ("last_ms", "limit", "times")

    def __init__(self, limit: int, kept: list[int]) -> None:
        """`kept` are the times that an earlier process accepted, in their order."""
        self.limit = limit
        self.last_ms = kept[-1] if kept else 0
        # Times past the last one are of before a clock was set back.
        self.times = deque(
            at_ms for at_ms in kept if self.last_ms - WINDOW_MS < at_ms <= self.last_ms
        )

    def ask(self, now_ms: int) -> Allowance:
        times = self.times
        # Requests that waited carry an older time. A clock set back by more than a window is
        # believed.
        if now_ms < self.last_ms - WINDOW_MS:
            times.clear()
        else:
            now_ms = max(now_ms, self.last_ms)
        self.last_ms = now_ms
        cutoff = now_ms - WINDOW_MS
        while times and times[0] <= cutoff:
            times.popleft()
        if len(times) >= self.limit:
            # A slot is free when all but limit - 1 have left. More than the limit are in only after
            # it was lowered.
            return Allowance(self.limit, 0, times[-self.limit] + WINDOW_MS, True)
        times.append(now_ms)
        return Allowance(self.limit, self.limit - len(times), times[0] + WINDOW_MS, False)


class WrongKeys:
    """Counts wrong keys per address in the current minute. The addresses seen longest ago are
    dropped."""

    _MOST_ADDRESSES = 10_000

    def __init__(self) -> None:
        self._seen: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def another(self, address: str, now_ms: int) -> bool:
        """Notes one more wrong key and returns whether that is too many."""
        minute, count = self._seen.pop(address, (0, 0))
        count = count + 1 if minute == now_ms // WINDOW_MS else 1
        self._seen[address] = (now_ms // WINDOW_MS, count)
        if len(self._seen) > self._MOST_ADDRESSES:
            self._seen.popitem(last=False)
        return count > MOST_WRONG_KEYS
