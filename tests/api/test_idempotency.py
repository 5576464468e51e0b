"""`Idempotency-Key` on POST: one effect and one answer, however often and however close together it
is sent.
"""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from honeyguide.accounts import idempotency
from honeyguide.signups import lifecycle
from honeyguide.store import postgres
from honeyguide.store.change import Change
from honeyguide.store.tx import Tx
from tests.support.service import Member, Service
from tests.support.tables import dump

HOUR_S = 3_600


def sign_up(
    member: Member, key: str, email: str = "ana@example.org", **fields: Any
) -> httpx.Response:
    return member.post(
        f"{member.v1}/subscribers", {"email": email, **fields}, headers={"Idempotency-Key": key}
    )


def kept(member: Member) -> list[dict[str, Any]]:
    return [
        row for row in dump(member.service)["idempotency"] if row["account_id"] == member.account_id
    ]


def test_the_same_key_and_body_give_the_first_answer_again(alice: Member) -> None:
    first = sign_up(alice, "k1", name="Ana")
    alice.put(f"{alice.v1}/subscribers/ana@example.org", {"name": "Changed"})
    for _ in range(3):
        again = sign_up(alice, "k1", name="Ana")
        assert (again.status_code, again.content) == (201, first.content)
        assert again.headers["idempotent-replayed"] == "true"
        assert again.headers["content-type"] == first.headers["content-type"]
        assert again.headers["x-request-id"] != first.headers["x-request-id"]
    assert "idempotent-replayed" not in first.headers
    assert alice.total() == 1


def test_without_a_key_the_second_is_judged_by_itself(alice: Member) -> None:
    assert alice.post(f"{alice.v1}/subscribers", {"email": "ana@example.org"}).status_code == 201
    assert alice.post(f"{alice.v1}/subscribers", {"email": "ana@example.org"}).status_code == 400
    assert kept(alice) == []


def test_another_body_or_path_with_the_same_key_is_a_422_and_has_no_effect(alice: Member) -> None:
    sign_up(alice, "k1")
    assert sign_up(alice, "k1", "ben@example.org").status_code == 422
    other_path = alice.post(
        "/v2/subscribers", {"email": "ana@example.org"}, headers={"Idempotency-Key": "k1"}
    )
    assert other_path.status_code == 422
    assert other_path.json()["param"] == "Idempotency-Key"
    assert sign_up(alice, "k1").status_code == 201
    assert alice.total() == 1


def test_a_refused_request_leaves_nothing_behind_and_may_be_tried_again(alice: Member) -> None:
    assert sign_up(alice, "k1", "nonsense").status_code == 400
    assert sign_up(alice, "k1", created_at="never").status_code == 400
    assert kept(alice) == []
    assert sign_up(alice, "k1").status_code == 201
    taken = sign_up(alice, "k2")
    assert (taken.status_code, taken.json()["error"]) == (400, "Email has already been taken")
    alice.delete(f"{alice.v1}/subscribers/ana@example.org")
    assert sign_up(alice, "k2").status_code == 201


def test_a_key_belongs_to_its_account(alice: Member, bob: Member) -> None:
    first, other = sign_up(alice, "k1"), sign_up(bob, "k1")
    assert first.status_code == other.status_code == 201
    assert first.json()["subscriber"]["uuid"] != other.json()["subscriber"]["uuid"]
    assert sign_up(bob, "k1").json() == other.json()


@pytest.mark.parametrize("method", ["PUT", "GET", "DELETE"])
def test_only_post_heeds_the_key(alice: Member, method: str) -> None:
    made = alice.subscribe("ana@example.org")
    for name in ("A", "B"):
        answer = alice.http.request(
            method,
            f"{alice.v1}/subscribers/{made['uuid']}",
            json={"name": name},
            headers={"Idempotency-Key": "k"},
        )
        assert answer.status_code in {200, 404}
        assert "idempotent-replayed" not in answer.headers
    assert kept(alice) == []


@pytest.mark.parametrize("key", ["", "x" * 256, "a\x7fb", "caf\u00e9"])
def test_a_key_that_cannot_be_one_is_refused(alice: Member, key: str) -> None:
    answer = alice.http.post(
        f"{alice.v1}/subscribers",
        json={"email": "a@example.org"},
        headers=[(b"Idempotency-Key", key.encode("latin-1"))],
    )
    assert answer.status_code == 400
    assert alice.total() == 0


@pytest.mark.parametrize(
    "key", ["x", "x" * 255, "a b:c/'\"--", "8e03978e-40d5-43e8-bc93-6894a57f9324"]
)
def test_any_printable_key_up_to_255_characters_is_taken(alice: Member, key: str) -> None:
    assert [sign_up(alice, key).status_code for _ in range(2)] == [201, 201]
    assert alice.total() == 1


# -- twins in flight


def test_of_parallel_twins_one_acts_and_all_hear_its_answer(alice: Member) -> None:
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: sign_up(alice, "k1"), range(24)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert sum("idempotent-replayed" not in answer.headers for answer in answers) == 1
    assert alice.total() == 1


def test_of_parallel_rivals_for_one_key_one_acts_and_the_others_hear_422(alice: Member) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: sign_up(alice, "k1", f"s{n}@example.org"), range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] + [422] * 7
    assert alice.total() == 1


def test_a_twin_waits_while_the_first_is_still_at_work(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is held inside its transaction: on PostgreSQL the twin waits for its lock, on
    SQLite behind it in the queue.
    """
    began, go_on = threading.Event(), threading.Event()
    original = lifecycle.sign_up

    async def held(change: Change, *args: Any, **kwargs: Any) -> Any:
        if not began.is_set():
            began.set()
            if change.tx.engine == "postgres":
                await asyncio.to_thread(go_on.wait, 5)
            else:
                time.sleep(0.3)  # noqa: ASYNC251 - a unit of work on SQLite never suspends
        return await original(change, *args, **kwargs)

    monkeypatch.setattr(lifecycle, "sign_up", held)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(sign_up, alice, "k1")
        assert began.wait(30)
        twin = pool.submit(sign_up, alice, "k1")
        time.sleep(0.2)
        assert not twin.done()
        go_on.set()
        assert first.result(10).content == twin.result(10).content
    assert twin.result().headers["idempotent-replayed"] == "true"
    assert alice.total() == 1


def test_a_twin_acts_itself_when_the_first_was_refused(
    alice: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = threading.Event()
    original = lifecycle.sign_up

    async def fails_once(change: Change, *args: Any, **kwargs: Any) -> Any:
        if began.is_set():
            return await original(change, *args, **kwargs)
        began.set()
        if change.tx.engine == "postgres":  # a unit of work on SQLite never suspends
            await asyncio.sleep(0.3)
        raise lifecycle.Invalid("Not this time.")

    monkeypatch.setattr(lifecycle, "sign_up", fails_once)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(sign_up, alice, "k1")
        assert began.wait(30)
        twin = pool.submit(sign_up, alice, "k1")
        assert first.result(10).status_code == 400
        assert twin.result(10).status_code == 201
    assert "idempotent-replayed" not in twin.result().headers
    assert alice.total() == 1


def test_a_twin_of_one_that_never_ends_is_a_409(alice: Member) -> None:
    """A row without an answer can be seen only while its writer runs; here one is left behind on
    purpose.
    """
    body = b'{"email":"ana@example.org"}'
    path = f"{alice.v1}/subscribers"

    async def begin(tx: Tx) -> None:
        print_ = idempotency.fingerprint("POST", path.encode(), body)
        await idempotency.claim(tx.at(alice.service.now_ms()), alice.account_id, "k1", print_)

    alice.service.write(begin)
    answer = alice.http.post(path, content=body, headers={"Idempotency-Key": "k1"})
    assert answer.status_code == 409
    assert answer.json()["code"] == "conflict"


def test_on_postgresql_a_twin_hears_409_when_the_first_holds_its_key_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(postgres.SETTINGS, "lock_timeout", "300")
    with Service("postgres") as service:
        alice = service.member()
        holding, let_go = threading.Event(), threading.Event()

        async def hold(tx: Tx) -> None:
            await idempotency.claim(tx.at(service.now_ms()), alice.account_id, "k1", "another")
            holding.set()
            await asyncio.to_thread(let_go.wait, 10)

        with ThreadPoolExecutor(1) as pool:
            held = pool.submit(service.write, hold)
            assert holding.wait(30)
            answer = sign_up(alice, "k1")
            let_go.set()
            held.result(10)
        assert answer.status_code == 409
        assert alice.total() == 0


# -- time and erasure


def test_a_stored_answer_is_kept_for_a_day_and_not_longer(alice: Member) -> None:
    first = sign_up(alice, "k1")
    alice.service.set_clock(24 * HOUR_S - 60)
    alice.service.run_jobs()
    assert sign_up(alice, "k1").json() == first.json()
    alice.service.set_clock(24 * HOUR_S + 60)
    late = sign_up(alice, "k1")
    assert (late.status_code, late.json()["error"]) == (400, "Email has already been taken")
    fresh = sign_up(alice, "k1", "ben@example.org")
    assert fresh.status_code == 201
    assert "idempotent-replayed" not in fresh.headers
    assert sign_up(alice, "k1", "ben@example.org").json() == fresh.json()


def test_old_answers_are_swept_away_and_younger_ones_stay(alice: Member) -> None:
    sign_up(alice, "old")
    alice.service.set_clock(23 * HOUR_S)
    sign_up(alice, "young", "ben@example.org")
    alice.service.set_clock(25 * HOUR_S)
    alice.service.run_jobs()
    assert [row["idempotency_key"] for row in kept(alice)] == ["young"]


def test_a_stored_answer_goes_with_the_person_it_tells_of_and_no_other(alice: Member) -> None:
    sign_up(alice, "k1")
    sign_up(alice, "k2", "ben@example.org")
    alice.delete(f"{alice.v1}/subscribers/ana@example.org")
    assert [row["idempotency_key"] for row in kept(alice)] == ["k2"]
