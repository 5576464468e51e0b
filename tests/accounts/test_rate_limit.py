"""60 accepted requests per rolling minute and key: exact in parallel, across processes and over a
restart, on both engines.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from honeyguide.accounts import accounts, keys
from honeyguide.accounts.admission import MOST_TOUCHED, LocalAdmission, admission
from honeyguide.accounts.limits import Allowance, Window
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.kernel.tenant import Tenant
from honeyguide.store import sqlite as sqlite_engine
from honeyguide.store.sqlite import SqliteStore
from tests.accounts.test_limits import STEPS
from tests.accounts.test_rate_limit_processes import assert_exactly, volley
from tests.support.changes import SITE, new_change
from tests.support.service import ENGINES, Service
from tests.support.stores import OpenStore

NOW = 1_800_000_000_000


@pytest.fixture(params=ENGINES)
def limited(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param, rate_limit=3) as service:
        yield service


def test_the_window_rolls(limited):
    alice = limited.member("alice")
    at = limited.set_clock
    script = [  # seconds, answer; the second and third pair share a fixed minute but no rolling one
        (0, 200),
        (30, 200),
        (31, 200),
        (45, 429),
        (55, 429),
        (65, 200),
        (70, 429),
        (92, 200),
        (93, 200),
        (94, 429),
        (120, 429),
        (126, 200),
        (200, 200),
        (200, 200),
        (200, 200),
        (201, 429),
    ]
    heard = []
    for seconds, _ in script:
        at(seconds)
        heard.append((seconds, alice.get(alice.v1).status_code))
    assert heard == script


def test_a_refusal_says_when_to_come_back_and_then_lets_in(limited):
    alice = limited.member("alice")
    for seconds in (0, 20, 40):
        limited.set_clock(seconds)
        assert alice.get(alice.v1).status_code == 200
    limited.set_clock(50)
    refused = alice.get(alice.v1)
    wait_s = int(refused.headers["retry-after"])
    assert refused.status_code == 429 and 5 <= wait_s <= 10
    assert (
        refused.json()["error"]
        == f"You have made 3 requests in the last 60 seconds. Try again in {wait_s} seconds."
    )
    assert abs(int(refused.headers["x-ratelimit-reset"]) - limited.now_ms() // 1000 - wait_s) <= 1
    limited.set_clock(50 + wait_s)
    assert alice.get(alice.v1).status_code == 200


def test_every_authenticated_answer_has_the_headers_and_counts(limited):
    alice = limited.member("alice")
    calls = [
        lambda: alice.get(f"{alice.v1}/subscribers/01890000-0000-7000-8000-000000000000"),
        lambda: alice.post(f"{alice.v1}/subscribers", {"email": "nonsense"}),
        lambda: alice.post(f"{alice.v1}/subscribers", {"email": "ana@example.org"}),
        lambda: alice.get("/v1/campaigns"),
    ]
    answers = [call() for call in calls]
    assert [answer.status_code for answer in answers] == [404, 400, 201, 429]
    assert [answer.headers["x-ratelimit-remaining"] for answer in answers] == ["2", "1", "0", "0"]
    assert {answer.headers["x-ratelimit-limit"] for answer in answers} == {"3"}
    for answer in answers:
        assert 0 <= int(answer.headers["x-ratelimit-reset"]) - limited.now_ms() / 1000 <= 61


def test_what_never_reached_an_account_does_not_count_and_has_no_headers(limited):
    alice = limited.member("alice")
    for _ in range(5):
        wrong = alice.http.get(alice.v1, headers={"X-Api-Key": keys.generate()})
        assert wrong.status_code == 401 and not any(
            name.startswith("x-ratelimit") for name in wrong.headers
        )
        assert httpx.get(f"{limited.url}/v1/nothing/here", verify=False).status_code == 401
    assert alice.get(alice.v1).headers["x-ratelimit-remaining"] == "2"


def test_refused_requests_are_not_counted(limited):
    alice = limited.member("alice")
    limited.set_clock(0)
    assert [alice.get(alice.v1).status_code for _ in range(3)] == [200] * 3
    for seconds in (20, 40, 50):
        limited.set_clock(seconds)
        assert [alice.get(alice.v1).status_code for _ in range(5)] == [429] * 5
    limited.set_clock(62)
    assert [alice.get(alice.v1).status_code for _ in range(4)] == [200, 200, 200, 429]


def test_two_keys_of_one_account_are_counted_apart(limited):
    alice = limited.member("alice")
    other = alice.make(keys.create, name="second")
    assert [alice.get(alice.v1).status_code for _ in range(4)] == [200, 200, 200, 429]
    heard = [alice.http.get(alice.v1, headers={"X-Api-Key": other}).status_code for _ in range(4)]
    assert heard == [200, 200, 200, 429]


def test_a_clock_set_back_a_little_gives_nothing_and_set_back_far_locks_nobody_out(limited):
    alice = limited.member("alice")
    limited.set_clock(1000)
    assert [alice.get(alice.v1).status_code for _ in range(3)] == [200] * 3
    limited.set_clock(980)
    assert alice.get(alice.v1).status_code == 429
    limited.set_clock(0)
    assert [alice.get(alice.v1).status_code for _ in range(4)] == [200, 200, 200, 429]


@pytest.mark.parametrize("engine", ENGINES)
def test_zero_is_off_and_says_nothing(engine):
    with Service(engine, rate_limit=0) as service:
        alice = service.member("alice")
        answers = [alice.get(alice.v1) for _ in range(80)]
        assert {answer.status_code for answer in answers} == {200}
        assert not any(name.startswith("x-ratelimit") for name in answers[-1].headers)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("limit", [1, 200])
def test_any_other_number_is_as_exact(engine, limit):
    with Service(engine, rate_limit=limit) as service:
        alice = service.member("alice")
        assert_exactly(volley([service.port], alice.key, alice.v1, limit + 40, threads=8), limit)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_key_used_is_seen_to_the_minute(engine):
    with Service(engine, rate_limit=0) as service:
        alice = service.member("alice")

        def used_ms() -> int | None:
            async def find(tx):
                return (await keys.of_account(tx, alice.account_id))[0].last_used_ms

            return service.read(find)

        assert used_ms() is None
        alice.get(alice.v1)
        service.run(
            service.services.store.write(_nothing)
        )  # the note of its use was queued before this
        first = used_ms()
        assert first is not None and abs(first - service.now_ms()) < 10_000
        alice.get(alice.v1)
        service.run(service.services.store.write(_nothing))
        assert used_ms() == first
        service.set_clock(61)
        alice.get(alice.v1)
        service.run(service.services.store.write(_nothing))
        assert used_ms() > first


async def _nothing(tx):
    return None


USED = "SELECT COUNT(*) FROM api_key WHERE last_used_ms = :now_ms"


async def knock(door: LocalAdmission, shown: list[str]) -> None:
    """All at once, and until the notes of their use are written or given up."""
    await asyncio.gather(*(door.admit(key, "192.0.2.1", NOW) for key in shown))
    await door._touches.flush()


def test_many_keys_used_at_once_are_all_seen():
    with OpenStore("sqlite") as opened:

        async def make(tx):
            made = await accounts.create(tx.at(1), EmailAddress("alice@example.org"), name=None)
            change = new_change(tx, SITE, Tenant(made.account_id, made.campaign_id), 1)
            return [await keys.create(change, name=f"{n}") for n in range(2 * MOST_TOUCHED + 1)]

        shown = opened.run(opened.store.write(make))
        opened.run(
            knock(LocalAdmission(opened.store, opened.store.path, 60, "http://127.0.0.1"), shown)
        )
        assert opened.ask(USED, now_ms=NOW) == [(len(shown),)]


def test_a_use_that_could_not_be_noted_costs_nobody_anything_and_is_noted_with_the_next(
    monkeypatch,
):
    monkeypatch.setattr(sqlite_engine, "LOCKED_S", 0.05)
    with (
        OpenStore("sqlite") as opened,
        closing(sqlite_engine.connect(opened.store.path)) as elsewhere,
    ):
        _, key = opened.account_with_key()
        door = LocalAdmission(opened.store, opened.store.path, 60, "http://127.0.0.1")
        elsewhere.execute("BEGIN IMMEDIATE")
        opened.run(knock(door, [key]))
        assert opened.ask(USED, now_ms=NOW) == [(0,)]
        elsewhere.execute("COMMIT")
        opened.run(knock(door, [key]))
        assert opened.ask(USED, now_ms=NOW) == [(1,)]


@pytest.mark.parametrize(("limit", "steps"), STEPS)
def test_postgres_keeps_the_rule_by_table(limit, steps, rings):
    ask = rings(limit)
    for at_ms, refused, remaining, frees_ms in steps:
        assert ask(NOW + at_ms) == Allowance(limit, remaining, NOW + frees_ms, refused), at_ms


@pytest.fixture(scope="module")
def rings() -> Iterator[object]:
    """`rings(limit)` gives PostgreSQL's own ring, emptied, as something to ask."""
    with OpenStore("postgres") as opened:
        _, key = opened.account_with_key()

        def fresh_ring(limit: int):
            opened.do("DELETE FROM rate_key")
            opened.do("DELETE FROM rate_slot")
            door = admission(opened.store, limit, "http://127.0.0.1")
            return lambda now_ms: opened.run(door.admit(key, "127.0.0.1", now_ms))[1]

        yield fresh_ring


jumps = st.one_of(
    st.integers(0, 3_000),
    st.integers(0, 70_000),
    st.integers(-200_000, 200_000),
    st.sampled_from([0, 1, -1, 59_999, 60_000, 60_001, -59_999, -60_000, -60_001, 30_000]),
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(limit=st.integers(1, 4), steps=st.lists(jumps, max_size=25))
def test_both_engines_answer_any_sequence_of_times_alike(limit, steps, rings):
    window, ring = Window(limit, []), rings(limit)
    now_ms = NOW
    for step in steps:
        now_ms += step
        assert ring(now_ms) == window.ask(now_ms)


@pytest.fixture(scope="module")
def sqlite() -> Iterator[OpenStore]:
    with OpenStore("sqlite") as opened:
        yield opened


@settings(max_examples=60, deadline=None)
@given(
    limit=st.integers(1, 5),
    steps=st.lists(st.tuples(st.integers(0, 40_000) | st.just(0), st.booleans()), max_size=30),
    data=st.data(),
)
def test_a_restart_at_any_moment_changes_no_answer_on_sqlite(sqlite, limit, steps, data):
    assert isinstance(sqlite.store, SqliteStore)
    _, key = sqlite.account_with_key(
        f"a{sqlite.ask('SELECT COUNT(*) FROM account')[0][0]}@example.org"
    )
    window, door, now_ms = (
        Window(limit, []),
        LocalAdmission(sqlite.store, sqlite.store.path, limit, "http://127.0.0.1"),
        NOW,
    )
    for step, restarts in steps:
        now_ms += step
        if restarts:
            door = LocalAdmission(sqlite.store, sqlite.store.path, limit, "http://127.0.0.1")
        assert sqlite.run(door.admit(key, "127.0.0.1", now_ms))[1] == window.ask(now_ms)


def test_wrong_keys_from_one_address_are_shed_and_honest_ones_are_not():
    """Refusals are counted in memory, on either engine."""
    with Service("sqlite", rate_limit=3) as limited:
        shed_wrong_keys(limited)


def shed_wrong_keys(limited: Service) -> None:
    alice = limited.member("alice")
    limited.set_clock(
        61 - limited.now_ms() / 1000 % 60
    )  # the beginning of a minute, by which wrong keys are counted
    answers = Counter(
        alice.http.get(alice.v1, headers={"X-Api-Key": "hg_live_wrong"}).status_code
        for _ in range(1_010)
    )
    assert answers == {401: 1_000, 429: 10}
    assert alice.get(alice.v1).status_code == 200
