"""No more than N accepted requests in any rolling minute: a ring of accepted times, exact and O(1) for any N.

With one process the ring lives in memory and every accepted time is written through to a side file that is never synced; with
PostgreSQL the same rule is the function `admit`, so that all processes share one ring. Refused requests are not counted.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import NamedTuple

WINDOW_MS = 60_000
# Wrong keys from one address in a minute before it hears 429 instead of 401; honest keys never come near this check.
MOST_WRONG_KEYS = 1_000


class Allowance(NamedTuple):
    limit: int
    remaining: int
    frees_ms: int  # when the oldest request in the window leaves it
    refused: bool

    def retry_after_s(self, now_ms: int) -> int:
        return max(1, -(-(self.frees_ms - now_ms) // 1000))


class Window:
    """The accepted times of one key, oldest first."""

    __slots__ = ("limit", "slot", "times")

    def __init__(self, limit: int, kept: list[tuple[int, int]]) -> None:
        """`kept` holds (slot, time) of an earlier process, in order of time."""
        self.limit = limit
        self.times = deque(at_ms for _, at_ms in kept)
        self.slot = (kept[-1][0] + 1) % limit if kept else 0

    def ask(self, now_ms: int) -> Allowance:
        times = self.times
        if times and times[-1] > now_ms:
            if times[-1] - now_ms > WINDOW_MS:  # the clock was set back; believe it
                times.clear()
            else:
                now_ms = times[-1]
        cutoff = now_ms - WINDOW_MS
        while times and times[0] <= cutoff:
            times.popleft()
        if len(times) >= self.limit:
            return Allowance(self.limit, 0, times[0] + WINDOW_MS, True)
        times.append(now_ms)
        return Allowance(self.limit, self.limit - len(times), times[0] + WINDOW_MS, False)


class WrongKeys:
    """Counts wrong keys per address in the current minute, and forgets the addresses seen longest ago."""

    _MOST_ADDRESSES = 10_000

    def __init__(self) -> None:
        self._seen: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def another(self, address: str, now_ms: int) -> bool:
        """Notes one more wrong key and tells whether that is too many."""
        minute, count = self._seen.pop(address, (0, 0))
        count = count + 1 if minute == now_ms // WINDOW_MS else 1
        self._seen[address] = (now_ms // WINDOW_MS, count)
        if len(self._seen) > self._MOST_ADDRESSES:
            self._seen.popitem(last=False)
        return count > MOST_WRONG_KEYS
