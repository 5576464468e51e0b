"""When a delivery is tried again, by the published schedule: the rule alone, without a receiver."""

from typing import Any

import pytest

from honeyguide.events import schedule
from honeyguide.events.outbound import Answer
from honeyguide.events.schedule import Outcome, outcome
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS

NOW = 1_800_000_000_000
PUBLISHED_MS = [
    *(5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS),
    *(hours * HOUR_MS for hours in (2, 5, 10, 14, 20, 24)),
]
NO_JITTER = 0.5


def answer(status: int | None = 500, **more: Any) -> Answer:
    return Answer(**{"status": status, "error": None, "error_kind": "", "latency_ms": 1, **more})


def wait_ms(answer: Answer, tries: int = 1, chance: float = NO_JITTER) -> int:
    found = outcome(answer, tries, NOW, chance)
    assert found.status == "pending"
    return found.due_ms - NOW


def test_every_wait_is_the_published_one_and_the_tenth_failure_is_the_last() -> None:
    assert [wait_ms(answer(), tries) for tries in range(1, 10)] == PUBLISHED_MS
    assert outcome(answer(), 10, NOW, NO_JITTER) == Outcome("failed", NOW)
    assert outcome(answer(), 11, NOW, NO_JITTER) == Outcome("failed", NOW)


@pytest.mark.parametrize(
    ("status", "is_success"),
    [(199, False), (200, True), (204, True), (299, True), (300, False), (None, False)],
)
def test_only_a_2xx_is_a_success(status: int | None, is_success: bool) -> None:
    assert schedule.is_success(answer(status)) is is_success
    expected = Outcome("delivered", NOW) if is_success else Outcome("pending", NOW + 5_000)
    assert outcome(answer(status), 1, NOW, NO_JITTER) == expected
    assert (outcome(answer(status), 10, NOW, NO_JITTER).status == "delivered") is is_success


def test_jitter_is_a_fifth_to_either_side() -> None:
    assert [wait_ms(answer(), 2, chance) for chance in (0.0, 0.25, 1.0)] == [
        240_000,
        270_000,
        360_000,
    ]


def test_a_busy_receiver_is_left_alone_for_a_minute_at_least() -> None:
    for busy in (answer(429), answer(None, error_kind="timeout")):
        assert [wait_ms(busy, tries) for tries in (1, 2)] == [MINUTE_MS, 5 * MINUTE_MS]
    assert (
        wait_ms(answer(428))
        == wait_ms(answer(430))
        == wait_ms(answer(None, error_kind="refused"))
        == 5_000
    )


def test_retry_after_may_lengthen_a_wait_up_to_a_day_and_never_shortens_one() -> None:
    waits = [
        wait_ms(answer(503, retry_after_s=seconds))
        for seconds in (0, 1, 5, 6, 600, 86_400, 86_401, 10**9)
    ]
    assert waits == [5_000, 5_000, 5_000, 6_000, 600_000, DAY_MS, DAY_MS, DAY_MS]
    assert wait_ms(answer(503, retry_after_s=1), 4) == 2 * HOUR_MS
    assert wait_ms(answer(429, retry_after_s=30)) == MINUTE_MS


def test_only_410_is_gone() -> None:
    assert [schedule.is_gone(answer(status)) for status in (409, 410, 411, 200, None)] == [
        False,
        True,
        False,
        False,
        False,
    ]


def test_a_webhook_is_warned_about_after_a_day_and_disabled_after_five() -> None:
    assert (schedule.WARN_AFTER_MS, schedule.DISABLE_AFTER_MS) == (DAY_MS, 5 * DAY_MS)
    assert max(PUBLISHED_MS) * (1 + schedule.JITTER) < schedule.STREAK_ENDS_AFTER_MS, (
        "a wait between two attempts ends no streak"
    )
