"""When the members of a group came, as the review page draws it."""

import pytest

from honeyguide.pages.dashboard.people import arrivals

MINUTE_MS = 60_000


@pytest.mark.parametrize(
    ("times_ms", "expected"),
    [
        pytest.param([], None, id="nobody"),
        pytest.param([1, 2], None, id="two need no line"),
        pytest.param([5, 5, 5], None, id="all at once"),
        pytest.param(
            [114_000 * n for n in range(12)],
            (12, "one every 1 min 54 s, give or take 0 s", "21 minutes"),
            id="a robot",
        ),
        pytest.param(
            [0, 3 * MINUTE_MS, 4 * MINUTE_MS, 11 * MINUTE_MS, 40 * MINUTE_MS],
            (5, "irregular", "40 minutes"),
            id="a crowd",
        ),
        pytest.param([0, 1_000, 2_000], (3, "irregular", "2 seconds"), id="too few to be regular"),
    ],
)
def test_a_line(times_ms: list[int], expected: tuple[int, str, str] | None) -> None:
    found = arrivals.line(list(reversed(times_ms)))
    shown = (len(found.places), found.rhythm, found.length) if found else None
    assert shown == expected
    if found:
        assert found.places[0] == 2 and found.places[-1] == 98
        assert found.places == sorted(found.places)


def test_a_large_group_has_few_marks() -> None:
    found = arrivals.line(range(0, 2_000_000, 1_000))
    assert found is not None and len(found.places) <= 2 * arrivals.MOST_DRAWN
