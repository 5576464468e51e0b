"""The rule of the rate limit, to the millisecond, without a service around it."""

import pytest

from honeyguide.accounts.limits import MOST_WRONG_KEYS, WINDOW_MS, Allowance, Window, WrongKeys

NOW = 1_800_000_000_000

# limit, asks as (ms, refused, remaining, frees)
STEPS = [
    (
        1,
        [
            (0, False, 0, 60_000),
            (59_999, True, 0, 60_000),
            (60_000, False, 0, 120_000),
            (60_001, True, 0, 120_000),
        ],
    ),
    (
        2,
        [
            (0, False, 1, 60_000),
            (1, False, 0, 60_000),
            (2, True, 0, 60_000),
            (60_000, False, 0, 60_001),
            (60_001, False, 0, 120_000),
        ],
    ),
    (
        2,
        [
            (0, False, 1, 60_000),
            (60_000, False, 1, 120_000),
            (60_000, False, 0, 120_000),
            (119_999, True, 0, 120_000),
        ],
    ),
    # A late one counts at the latest time known; a clock set back by more than a window begins
    # anew.
    (
        2,
        [
            (5_000, False, 1, 65_000),
            (4_000, False, 0, 65_000),
            (64_999, True, 0, 65_000),
            (65_000, False, 1, 125_000),
        ],
    ),
    (1, [(100_000, False, 0, 160_000), (40_000, True, 0, 160_000), (39_999, False, 0, 99_999)]),
    (1, [(0, False, 0, 60_000), (59_000, True, 0, 60_000), (1_000, True, 0, 60_000)]),
]


@pytest.mark.parametrize(("limit", "steps"), STEPS)
def test_the_window_by_table(limit: int, steps: list[tuple[int, bool, int, int]]) -> None:
    window = Window(limit, [])
    for at_ms, refused, remaining, frees_ms in steps:
        assert window.ask(NOW + at_ms) == Allowance(limit, remaining, NOW + frees_ms, refused), (
            at_ms
        )


def test_the_window_never_takes_more_than_the_limit_in_any_minute() -> None:
    """The definition, by brute force over a crowded quarter of an hour."""
    window, accepted = Window(60, []), []
    now_ms = 0
    while now_ms < 15 * WINDOW_MS:
        if not window.ask(now_ms).refused:
            accepted.append(now_ms)
        now_ms += 137
    for i, at_ms in enumerate(accepted):
        assert sum(1 for other in accepted[i : i + 61] if other < at_ms + WINDOW_MS) <= 60
    assert len(accepted) == 60 * 15


def test_nobody_is_told_to_wait_for_longer_than_a_window() -> None:
    refused = Allowance(1, 0, NOW + WINDOW_MS, True)
    waits = [
        refused.retry_after_s(now_ms)
        for now_ms in (NOW - 1_500, NOW, NOW + 1, NOW + 57_999, NOW + 59_001, NOW + 60_000)
    ]
    assert waits == [60, 60, 60, 3, 1, 1]


def test_what_an_earlier_process_accepted_is_remembered_but_for_times_outside_its_last_window() -> (
    None
):
    window = Window(3, [NOW - 60_001, NOW - 60_000, NOW - 59_999, NOW + 1, NOW])
    assert (window.last_ms, list(window.times)) == (NOW, [NOW - 59_999, NOW])
    assert window.ask(NOW) == Allowance(3, 0, NOW + 1, False)
    assert window.ask(NOW).refused
    assert Window(3, []).last_ms == 0


def test_wrong_keys_are_counted_per_address_and_minute() -> None:
    wrong_keys = WrongKeys()
    answers = [wrong_keys.another("192.0.2.1", NOW) for _ in range(MOST_WRONG_KEYS + 2)]
    assert answers == [False] * MOST_WRONG_KEYS + [True] * 2
    assert not wrong_keys.another("192.0.2.2", NOW), "another address"
    assert wrong_keys.another("192.0.2.1", NOW + WINDOW_MS - 1), "the same minute"
    assert not wrong_keys.another("192.0.2.1", NOW + WINDOW_MS), "the next minute"


def test_the_address_seen_longest_ago_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WrongKeys, "_MOST_ADDRESSES", 2)
    wrong_keys = WrongKeys()
    for address in ("192.0.2.1", "192.0.2.2", "192.0.2.1", "192.0.2.3"):
        wrong_keys.another(address, NOW)
    assert set(wrong_keys._seen) == {"192.0.2.1", "192.0.2.3"}


# -- when the limit is changed


def test_after_a_lowered_limit_one_place_is_free_when_all_but_the_last_ones_have_left() -> None:
    # Ten were accepted at 0, 5, ... 45 s under the earlier limit.
    window = Window(4, [NOW + n * 5_000 for n in range(10)])
    refused = window.ask(NOW + 46_000)
    assert refused == Allowance(4, 0, NOW + 30_000 + WINDOW_MS, True), (
        "the four newest begin at 30 s"
    )
    assert refused.retry_after_s(NOW + 46_000) == 44
    assert window.ask(NOW + 89_999).refused
    assert window.ask(NOW + 90_000) == Allowance(4, 0, NOW + 35_000 + WINDOW_MS, False)
