"""The rate limit stays exact, and tells the right time to wait, when its number changes between two
starts. On both engines.
"""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.accounts.admission import admission
from honeyguide.accounts.limits import WINDOW_MS, Allowance
from tests.support.service import ENGINES, Member, Service
from tests.support.stores import OpenStore

NOW = 1_800_000_000_000


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
def starts(
    request: pytest.FixtureRequest,
) -> Iterator[Callable[[], Callable[[int], Callable[[int], Allowance]]]]:
    """`starts()` gives a key of its own; what that gives starts the service with a limit."""
    with OpenStore(request.param) as opened:

        def new_caller() -> Callable[[int], Callable[[int], Allowance]]:
            _, key = opened.account_with_key(
                f"a{opened.ask('SELECT COUNT(*) FROM account')[0][0]}@example.org"
            )

            def start(limit: int) -> Callable[[int], Allowance]:
                door = admission(opened.store, limit, "https://hg.example")
                return lambda now_ms: opened.run(door.admit(key, "127.0.0.1", now_ms))[1]

            return start

        yield new_caller


@settings(max_examples=80, deadline=None)
@given(
    runs=st.lists(
        st.tuples(
            st.integers(1, 7), st.lists(st.integers(0, 20_000) | st.just(0), min_size=1, max_size=9)
        ),
        max_size=6,
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
