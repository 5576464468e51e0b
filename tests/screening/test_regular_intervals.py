"""Signups that came by a timer: the smallest cases on both sides of each threshold."""

from random import Random

import pytest

from honeyguide.screening import regular_intervals
from honeyguide.screening.signals import Signal, SignalFinding
from tests.corpus.groups import DAY, HOUR, MINUTE, START, at_random, by_timer


def regular(times: list[int]) -> set[str]:
    return set(regular_intervals.findings([(str(n), time) for n, time in enumerate(times)]))


def test_a_timer_is_found_from_the_fifteenth_arrival() -> None:
    times = by_timer(5 * MINUTE, 0.1)(Random(1), 15)
    assert len(regular(times)) == 15 and not regular(times[:14])


def test_a_timer_is_found_among_people_and_with_breaks() -> None:
    people = at_random(HOUR)(Random(2), 100)
    timer = [people[-1] + HOUR + each - START for each in by_timer(2 * MINUTE, 0.2)(Random(3), 40)]
    found = regular(people + timer)
    assert len(found & {str(n) for n in range(100, 140)}) == 40
    assert len(found & {str(n) for n in range(90)}) == 0
    paused = [each + (8 * HOUR if n > 20 else 0) for n, each in enumerate(timer)]
    assert len(regular(paused)) == 40


@pytest.mark.parametrize("gap_ms", [0, 100, 999, 12 * HOUR + 1, DAY])
def test_batches_and_daily_newsletters_are_no_timer(gap_ms: int) -> None:
    assert all(regular([START + n * each for n in range(60)]) for each in (1_000, 12 * HOUR))
    assert not regular([START + n * gap_ms for n in range(60)])


def test_the_value_says_how_far_apart() -> None:
    times = [START + n * 5 * MINUTE for n in range(20)]
    finding = regular_intervals.findings([(str(n), time) for n, time in enumerate(times)])["0"]
    assert finding == SignalFinding(Signal.REGULAR_INTERVALS, "about 5 minutes apart", 3)


def test_a_timer_does_not_speak_against_people_who_came_in_between() -> None:
    """Anybody can send a form every half hour with somebody else's code."""
    rng = Random(5)
    timer = [START + n * 30 * MINUTE + rng.randrange(MINUTE) for n in range(290)]
    people = sorted(START + rng.randrange(6 * DAY) for _ in range(18))
    arrivals = [*((f"t{at}", at) for at in timer), *((f"p{at}", at) for at in people)]
    arrivals.sort(key=lambda arrival: arrival[1])
    found = set(regular_intervals.findings(arrivals))
    assert len([id for id in found if id.startswith("t")]) >= 0.9 * len(timer)
    assert len([id for id in found if id.startswith("p")]) <= 1
