"""When a delivery is tried again: the published schedule, and the rules about what a response
means.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.events.outbound import Answer
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS

# The wait after the first failure, the second, and so on: ten attempts over about three days.
WAITS_MS = (
    5 * SECOND_MS,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    10 * HOUR_MS,
    14 * HOUR_MS,
    20 * HOUR_MS,
    24 * HOUR_MS,
)
ATTEMPTS = len(WAITS_MS) + 1
# Receivers that fell over together should not be met by everyone at once.
JITTER = 0.2
# A receiver that timed out or said 429 is busy: five seconds would not help it.
BUSY_MS = MINUTE_MS
LONGEST_RETRY_AFTER_MS = DAY_MS
WARN_AFTER_MS = DAY_MS
DISABLE_AFTER_MS = 5 * DAY_MS
# Longer than any wait between two attempts: failures further apart than this are no streak.
STREAK_ENDS_AFTER_MS = 2 * DAY_MS


class Outcome(NamedTuple):
    status: str  # delivered, pending or failed
    due_ms: int


def outcome(answer: Answer, tries: int, now_ms: int, chance: float) -> Outcome:
    """The status of a delivery after attempt number `tries` (from 1), and when it is due. `chance`
    in 0..1 chooses the jitter.
    """
    if is_success(answer):
        return Outcome("delivered", now_ms)
    if tries >= ATTEMPTS:
        return Outcome("failed", now_ms)
    wait_ms = round(WAITS_MS[tries - 1] * (1 + JITTER * (2 * chance - 1)))
    if answer.status == 429 or answer.error_kind == "timeout":
        wait_ms = max(wait_ms, BUSY_MS)
    if answer.retry_after_s is not None:
        wait_ms = max(wait_ms, min(answer.retry_after_s * SECOND_MS, LONGEST_RETRY_AFTER_MS))
    return Outcome("pending", now_ms + wait_ms)


def is_success(answer: Answer) -> bool:
    return answer.status is not None and 200 <= answer.status < 300


def is_gone(answer: Answer) -> bool:
    """410: the receiver says it wants no more."""
    return answer.status == 410
