"""The rule of the rate limit, to the millisecond: the window itself and both engines, also when the limit changes between two
starts.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.accounts.admission import admission
from honeyguide.accounts.limits import MOST_WRONG_KEYS, WINDOW_MS, Allowance, Window, WrongKeys
from tests.support.process import fresh
from tests.support.service import ENGINES, Member, Service
from tests.support.stores import OpenStore

NOW = 1_800_000_000_000

# limit, asks as (ms, refused, remaining, frees)
STEPS = [
    (1, [(0, False, 0, 60_000), (59_999, True, 0, 60_000), (60_000, False, 0, 120_000), (60_001, True, 0, 120_000)]),
    (2, [(0, False, 1, 60_000), (1, False, 0, 60_000), (2, True, 0, 60_000), (60_000, False, 0, 60_001),
         (60_001, False, 0, 120_000)]),
    (2, [(0, False, 1, 60_000), (60_000, False, 1, 120_000), (60_000, False, 0, 120_000), (119_999, True, 0, 120_000)]),
    # A late one counts at the latest time known; a clock set back by more than a window begins anew.
    (2, [(5_000, False, 1, 65_000), (4_000, False, 0, 65_000), (64_999, True, 0, 65_000), (65_000, False, 1, 125_000)]),
    (1, [(100_000, False, 0, 160_000), (40_000, True, 0, 160_000), (39_999, False, 0, 99_999)]),
    (1, [(0, False, 0, 60_000), (59_000, True, 0, 60_000), (1_000, True, 0, 60_000)]),
]  # fmt: skip


@pytest.mark.parametrize(("limit", "steps"), STEPS)
def test_the_window_by_table(limit: int, steps: list[tuple[int, bool, int, int]]) -> None:
    window = Window(limit, [])
    for at_ms, refused, remaining, frees_ms in steps:
        assert window.ask(NOW + at_ms) == Allowance(limit, remaining, NOW + frees_ms, refused), at_ms


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
    waits = [refused.retry_after_s(now_ms) for now_ms in (NOW - 1_500, NOW, NOW + 1, NOW + 59_001, NOW + 60_000)]
    assert waits == [60, 60, 60, 1, 1]


def test_what_an_earlier_process_accepted_is_remembered_but_for_times_outside_its_last_window() -> None:
    kept = [(7, NOW - 60_000), (8, NOW - 59_999), (9, NOW + 1), (10, NOW)]
    window = Window(3, kept)
    assert (window.seq, window.last_ms, list(window.times)) == (11, NOW, [NOW - 59_999, NOW])
    assert window.ask(NOW) == Allowance(3, 0, NOW + 1, False)
    assert window.seq == 12
    assert window.ask(NOW).refused and window.seq == 12
    assert (Window(3, []).seq, Window(3, []).last_ms) == (0, 0)


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
    kept = [(n, NOW + n * 5_000) for n in range(10)]  # ten accepted at 0, 5, ... 45 s under the earlier limit
    window = Window(4, kept)
    refused = window.ask(NOW + 46_000)
    assert refused == Allowance(4, 0, NOW + 30_000 + WINDOW_MS, True), "the four newest begin at 30 s"
    assert refused.retry_after_s(NOW + 46_000) == 44
    assert window.ask(NOW + 89_999).refused
    assert window.ask(NOW + 90_000) == Allowance(4, 0, NOW + 35_000 + WINDOW_MS, False)


class Model:
    """The rule by its definition: every accepted time, looked at anew for each question."""

    def __init__(self) -> None:
        self.accepted: list[int] = []

    def ask(self, limit: int, now_ms: int) -> Allowance:
        inside = [at_ms for at_ms in self.accepted if at_ms > now_ms - WINDOW_MS]
        if len(inside) >= limit:
            return Allowance(limit, 0, sorted(inside)[-limit] + WINDOW_MS, True)
        self.accepted.append(now_ms)
        return Allowance(limit, limit - len(inside) - 1, min([*inside, now_ms]) + WINDOW_MS, False)


@pytest.fixture(scope="module", params=ENGINES)
def starts(request: pytest.FixtureRequest) -> Iterator[Callable[[], Callable[[int], Callable[[int], Allowance]]]]:
    """`starts()` gives a key of its own; what that gives starts the service with a limit."""
    with OpenStore(request.param) as opened:

        def new_caller() -> Callable[[int], Callable[[int], Allowance]]:
            _, key = opened.account_with_key(f"a{opened.ask('SELECT COUNT(*) FROM account')[0][0]}@example.org")

            def start(limit: int) -> Callable[[int], Allowance]:
                door = admission(opened.store, limit)
                return lambda now_ms: opened.run(door.admit(key, "127.0.0.1", now_ms))[1]

            return start

        yield new_caller


@settings(max_examples=80, deadline=None)
@given(
    runs=st.lists(
        st.tuples(st.integers(1, 7), st.lists(st.integers(0, 20_000) | st.just(0), min_size=1, max_size=9)), max_size=6
    )
)
def test_a_limit_changed_at_any_start_is_exact_and_tells_the_right_time(starts, runs) -> None:
    model, start, now_ms = Model(), starts(), NOW
    for limit, steps in runs:
        ask = start(limit)
        for step in steps:
            now_ms += step
            assert ask(now_ms) == model.ask(limit, now_ms)


@pytest.mark.parametrize("engine", ENGINES)
def test_retry_after_is_right_when_the_limit_was_lowered_between_two_starts(engine: str) -> None:
    with Service(engine, rate_limit=10) as service:
        alice, url = service.member("alice"), service.database_url
        for second in range(0, 50, 5):
            service.set_clock(second)
            assert alice.get(alice.v1).status_code == 200
    with Service(engine, rate_limit=4, database_url=url) as service:
        service.set_clock(50)
        again = Member(service, alice.account_id, alice.campaign_id, alice.key)
        refused = again.get(alice.v1)
        # Of ten at 0, 5, ... 45 s the four newest begin at 30 s: one place is free at 90 s.
        wait_s = int(refused.headers["retry-after"])
        assert refused.status_code == 429 and 30 <= wait_s <= 40
        service.set_clock(50 + wait_s - 10)
        assert again.get(alice.v1).status_code == 429
        service.set_clock(50 + wait_s)
        assert [again.get(alice.v1).status_code for _ in range(2)] == [200, 429]


def test_an_upgrade_in_the_middle_of_a_minute_forgets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ring as version 0.1.0 first wrote it, before it knew its own size."""
    migrations = sys.modules["honeyguide.store.migrate"]  # the package has a function of the same name
    for path in migrations.FOLDER.glob("*.sql"):
        if path.name != "0013_rate_ring.postgres.sql":
            shutil.copy(path, tmp_path)
    url, models = fresh("postgres"), (Model(), Model())
    monkeypatch.setattr(migrations, "FOLDER", tmp_path)
    with OpenStore("postgres", url) as opened:
        keys = [opened.account_with_key(f"{name}@example.org")[1] for name in ("busy", "quiet")]
        door = admission(opened.store, 5)
        for key, model, requests in zip(keys, models, (7, 2), strict=True):
            for now_ms in range(NOW, NOW + requests * 9_000, 9_000):
                assert opened.run(door.admit(key, "", now_ms))[1] == model.ask(5, now_ms)
    monkeypatch.undo()
    now_ms = NOW + 64_000
    with OpenStore("postgres", url) as opened:
        for limit in (5, 3, 8):
            door, now_ms = admission(opened.store, limit), now_ms + 1_000
            for key, model in zip(keys, models, strict=True):
                assert opened.run(door.admit(key, "", now_ms))[1] == model.ask(limit, now_ms)
