"""/v2/webhooks by the book, and what lies beyond it: secret, rotation, test, log, resend and
replay, the same under v1.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook as Verifier

from honeyguide.kernel.clock import DAY_MS, iso
from honeyguide.kernel.ids import is_id, new_id
from tests.support.dispatcher import Receiver, ReceiverThread, reply
from tests.support.service import ONE_ENGINE, Member, Service, until

URL = "http://127.0.0.1:9/hook"
FLAGS = ("new_referral", "new_partner_referral", "reward_unlocked", "reward_redeemed")
UNSET = dict.fromkeys(FLAGS)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with ReceiverThread() as receiver:
        yield receiver


@pytest.fixture(params=["v1", "v2"])
def base(request: pytest.FixtureRequest, alice: Member) -> str:
    """The address of Alice's webhooks in either generation."""
    return f"{alice.v1}/webhooks" if request.param == "v1" else "/v2/webhooks"


def made(owner: Member, base: str = "/v2/webhooks", **body: Any) -> dict[str, Any]:
    answer = owner.post(base, {"url": URL, **body})
    assert answer.status_code == 201, answer.text
    return answer.json()["webhook"]  # type: ignore[no-any-return]


def deliver(service: Service) -> None:
    service.run(service.services.dispatcher.deliver_due())


def log(owner: Member, hook: str) -> list[dict[str, Any]]:
    answer = owner.get(f"{hook}/deliveries")
    assert answer.status_code == 200, answer.text
    return answer.json()["deliveries"]  # type: ignore[no-any-return]


def test_a_webhook_has_exactly_its_fields_and_unset_flags_are_null(alice: Member) -> None:
    answer = alice.post("/v2/webhooks", {"url": URL})
    assert answer.status_code == 201
    assert list(answer.json()) == ["webhook"]
    hook = answer.json()["webhook"]
    assert is_id(hook["uuid"])
    assert hook == {"uuid": hook["uuid"], "url": URL, "events": UNSET}


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("value", [True, False, None])
@pytest.mark.parametrize("nested", [True, False])
def test_each_flag_is_true_false_or_null_in_the_body_or_under_events(
    alice: Member, flag: str, value: bool | None, nested: bool
) -> None:
    hook = made(alice, **({"events": {flag: value}} if nested else {flag: value}))
    assert hook["events"] == UNSET | {flag: value}
    assert alice.get(f"/v2/webhooks/{hook['uuid']}").json() == {"webhook": hook}


def test_the_bodys_own_flag_comes_before_the_nested_one(alice: Member) -> None:
    hook = made(
        alice,
        new_referral=False,
        events={"new_referral": True, "reward_redeemed": True, "unknown": 1},
    )
    assert hook["events"] == UNSET | {"new_referral": False, "reward_redeemed": True}
    assert made(alice, events=None)["events"] == UNSET


def test_an_update_changes_what_it_names_and_nothing_else(alice: Member) -> None:
    hook = made(alice, new_referral=True, reward_unlocked=True)
    path = f"/v2/webhooks/{hook['uuid']}"
    steps: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {}),
        ({"reward_redeemed": True}, {"reward_redeemed": True}),
        ({"events": {"new_referral": None}}, {"new_referral": None}),
        ({"reward_unlocked": False, "uuid": "x", "secret": "mine"}, {"reward_unlocked": False}),
    ]
    events = dict(hook["events"])
    for body, changed in steps:
        events |= changed
        answer = alice.put(path, body)
        assert (answer.status_code, answer.json()) == (200, {"webhook": {**hook, "events": events}})
    moved = alice.put(path, {"url": f"{URL}2"}).json()["webhook"]
    assert moved == {"uuid": hook["uuid"], "url": f"{URL}2", "events": events}
    assert alice.get(path).json()["webhook"] == moved


def test_the_list_is_newest_first_whole_and_each_generation_sees_its_own(
    alice: Member, bob: Member
) -> None:
    assert alice.get("/v2/webhooks").json() == {"webhooks": []}
    hooks = [made(alice) for _ in range(60)]
    v1 = made(alice, f"{alice.v1}/webhooks")
    made(bob)
    answer = alice.get("/v2/webhooks", params={"per_page": 2, "page": 3})
    assert (answer.status_code, answer.json()) == (200, {"webhooks": hooks[::-1]})
    assert alice.get(f"{alice.v1}/webhooks").json() == {"webhooks": [v1]}
    assert alice.get(f"/v2/webhooks/{v1['uuid']}").status_code == 404
    assert alice.get(f"{alice.v1}/webhooks/{hooks[0]['uuid']}").status_code == 404
    assert (
        alice.put(f"{alice.v1}/webhooks/{hooks[0]['uuid']}", {"new_referral": True}).status_code
        == 404
    )


def test_a_deleted_webhook_is_gone(alice: Member, base: str) -> None:
    hook = made(alice, base)
    answer = alice.delete(f"{base}/{hook['uuid']}")
    assert answer.status_code == 200
    assert list(answer.json()) == ["message"] and isinstance(answer.json()["message"], str)
    for answer in (alice.get(f"{base}/{hook['uuid']}"), alice.delete(f"{base}/{hook['uuid']}")):
        assert (answer.status_code, answer.json()["error"]) == (404, "There is no such webhook.")
    assert hook["uuid"] not in alice.get(base).text


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "url"),
        ({"url": None}, "url"),
        ({"url": ""}, "url"),
        ({"url": 5}, "url"),
        ({"url": ["http://a.b"]}, "url"),
        ({"url": "nonsense"}, "url"),
        ({"url": "ftp://example.org/"}, "url"),
        ({"url": "//example.org/"}, "url"),
        ({"url": "http://user:pw@example.org/"}, "url"),
        ({"url": "http://example.org:99999/"}, "url"),
        ({"url": "http://example.org/\u0000"}, "url"),
        ({"url": "http://example.org/a b"}, "url"),
        ({"url": "http://example.org/\r\nX: y"}, "url"),
        ({"url": "http://example.org/" + "x" * 2030}, "url"),
        ({"url": URL, "new_referral": "true"}, "new_referral"),
        ({"url": URL, "reward_unlocked": 1}, "reward_unlocked"),
        ({"url": URL, "events": {"new_referral": "yes"}}, "events"),
        ({"url": URL, "events": []}, "events"),
    ],
)
@ONE_ENGINE
def test_what_cannot_be_is_refused_with_a_sentence(
    alice: Member, base: str, body: dict[str, Any], param: str
) -> None:
    answer = alice.post(base, body)
    assert answer.status_code == 400, answer.text
    assert answer.json()["param"] == param
    assert answer.json()["error"].endswith(".")
    assert alice.get(base).json() == {"webhooks": []}


@pytest.mark.parametrize(
    "body",
    [
        {"url": None},
        {"url": ""},
        {"url": 7},
        {"url": "x"},
        {"new_referral": "no"},
        {"events": None},
    ],
)
def test_an_update_that_cannot_be_changes_nothing(
    alice: Member, base: str, body: dict[str, Any]
) -> None:
    hook = made(alice, base, new_referral=True)
    assert alice.put(f"{base}/{hook['uuid']}", {"new_referral": False, **body}).status_code == 400
    assert alice.get(f"{base}/{hook['uuid']}").json()["webhook"] == hook


def test_a_stranger_finds_nothing_at_any_address(alice: Member, mallory: Member, base: str) -> None:
    hook = made(alice, base)
    path = f"{base}/{hook['uuid']}"
    delivery = alice.post(f"{path}/test").json()["delivery"]["uuid"]
    own = made(mallory)["uuid"]
    asked = [
        mallory.get(path),
        mallory.put(path, {"url": URL}),
        mallory.delete(path),
        mallory.get(f"{path}/secret"),
        mallory.post(f"{path}/rotate_secret"),
        mallory.post(f"{path}/test"),
        mallory.get(f"{path}/deliveries"),
        mallory.post(f"{path}/deliveries/{delivery}/resend"),
        mallory.post(f"{path}/replay", {"since": "2026-11-01T00:00:00Z"}),
        mallory.post(f"/v2/webhooks/{own}/deliveries/{delivery}/resend"),
        mallory.get(f"/v2/webhooks/{new_id()}"),
        mallory.get("/v2/webhooks/nonsense"),
    ]
    assert [answer.status_code for answer in asked] == [404] * len(asked)
    if base.startswith("/v1"):
        assert mallory.get(base).status_code == mallory.post(base, {"url": URL}).status_code == 404
    assert alice.http.get(path, headers={"X-Api-Key": "hg_wrong"}).status_code == 401
    assert alice.get(path).json()["webhook"] == hook


def test_the_secret_is_shown_and_rotated_and_a_test_is_signed_with_both(
    service: Service, alice: Member, base: str, receiver: Receiver
) -> None:
    hook = f"{base}/{made(alice, base, url=receiver.url)['uuid']}"
    first = alice.get(f"{hook}/secret").json()["secret"]
    answer = alice.post(f"{hook}/rotate_secret")
    assert answer.status_code == 200
    second = answer.json()["secret"]
    assert first.startswith("whsec_") and second.startswith("whsec_") and first != second
    assert alice.get(f"{hook}/secret").json() == {"secret": second}
    answer = alice.post(f"{hook}/test")
    assert answer.status_code == 200
    assert answer.json()["delivery"]["status"] == "pending"
    deliver(service)
    (request,) = receiver.requests
    for secret in (first, second):
        assert Verifier(secret).verify(request.body, request.headers)["type"] == "test"
    assert request.id == answer.json()["delivery"]["event_id"]


def test_the_log_shows_every_attempt_and_pages(service: Service, alice: Member, base: str) -> None:
    with ReceiverThread(reply(500, b"x" * 5000), reply(200, b"fine")) as receiver:
        hook = f"{base}/{made(alice, base, url=receiver.url)['uuid']}"
        before = iso(service.now_ms())
        alice.post(f"{hook}/test")
        deliver(service)
        (waiting,) = log(alice, hook)
        assert list(waiting) == [
            "uuid",
            "event_id",
            "type",
            "status",
            "next_attempt_at",
            "attempts",
        ]
        assert (waiting["type"], waiting["status"]) == ("test", "pending")
        (attempt,) = waiting["attempts"]
        assert list(attempt) == ["at", "status_code", "latency_ms", "error", "response"]
        assert (attempt["status_code"], attempt["error"], attempt["response"]) == (
            500,
            None,
            "x" * 1024,
        )
        assert before <= attempt["at"] < waiting["next_attempt_at"]
        service.set_clock(60)
        deliver(service)
        (done,) = log(alice, hook)
        assert (done["status"], done["next_attempt_at"], done["uuid"]) == (
            "delivered",
            None,
            waiting["uuid"],
        )
        assert [a["response"] for a in done["attempts"]] == ["x" * 1024, "fine"]
        alice.post(f"{hook}/test")
        deliver(service)
        pages = [
            alice.get(f"{hook}/deliveries", params={"per_page": 1, "page": n}) for n in (1, 2, 3)
        ]
        assert [len(page.json()["deliveries"]) for page in pages] == [1, 1, 0]
        assert pages[1].json()["deliveries"] == [done]
        assert pages[1].json()["meta"] == {
            "per_page": 1,
            "page": 2,
            "total_pages": 2,
            "total_deliveries": 2,
        }
        assert 'rel="prev"' in pages[1].headers["link"]
        assert alice.get(f"{hook}/deliveries", params={"per_page": 0}).status_code == 400


def test_resend_and_replay_send_the_same_bytes_again(
    service: Service, alice: Member, base: str, receiver: Receiver
) -> None:
    hook = f"{base}/{made(alice, base, url=receiver.url, new_referral=True)['uuid']}"
    ann = alice.subscribe("ann@replay.example")
    since = [iso(service.now_ms())]
    for name in ("ben", "cleo"):
        alice.subscribe(f"{name}@replay.example", referrer_code=ann["ref_code"])
        deliver(service)
        service.set_clock(30 if name == "ben" else 60)
        since.append(iso(service.now_ms()))
    newest = log(alice, hook)[0]
    answer = alice.post(f"{hook}/deliveries/{newest['uuid']}/resend")
    assert (answer.status_code, answer.json()["delivery"]["status"]) == (200, "pending")
    deliver(service)
    first, second, again = receiver.requests
    assert (again.id, again.body) == (second.id, second.body)
    assert again.headers["webhook-timestamp"] > second.headers["webhook-timestamp"]
    for start, count in zip(since, (2, 1, 0), strict=True):
        answer = alice.post(f"{hook}/replay", {"since": start})
        assert (answer.status_code, answer.json()) == (200, {"replayed": count})
        deliver(service)
    assert sorted(receiver.ids[3:]) == sorted([first.id, second.id, second.id])
    assert {request.body for request in receiver.requests[3:]} == {first.body, second.body}
    assert len(log(alice, hook)) == 2
    assert alice.post(f"{hook}/deliveries/{new_id()}/resend").status_code == 404
    assert alice.post(f"{hook}/deliveries/x/resend").status_code == 404


def test_replay_takes_a_moment_that_has_been(service: Service, alice: Member, base: str) -> None:
    hook = f"{base}/{made(alice, base)['uuid']}"
    now_ms = service.now_ms()
    for since in (
        None,
        "",
        "yesterday",
        "2026-11-15",
        "2026-02-30T00:00:00Z",
        5,
        iso(now_ms + DAY_MS),
    ):
        answer = alice.post(f"{hook}/replay", {"since": since})
        assert (answer.status_code, answer.json()["param"]) == (400, "since"), since
    assert alice.post(f"{hook}/replay").status_code == 400
    for since in (iso(now_ms + 60_000), iso(now_ms - 90 * DAY_MS), "2020-01-01T00:00:00.5+14:00"):
        assert alice.post(f"{hook}/replay", {"since": since}).json() == {"replayed": 0}


def test_a_disabled_webhook_says_so_and_an_update_enables_it(
    service: Service, alice: Member, base: str
) -> None:
    with ReceiverThread(410, 200) as receiver:
        hook = f"{base}/{made(alice, base, url=receiver.url)['uuid']}"
        sent = alice.post(f"{hook}/test").json()["delivery"]
        deliver(service)
        assert log(alice, hook)[0]["status"] == "cancelled"
        for path, body in (
            (f"{hook}/test", None),
            (f"{hook}/replay", {"since": "2026-01-01T00:00:00Z"}),
            (f"{hook}/deliveries/{sent['uuid']}/resend", None),
        ):
            answer = alice.post(path, body)
            assert (answer.status_code, answer.json()["code"]) == (400, "disabled")
        assert alice.put(hook, {}).status_code == 200
        assert alice.post(f"{hook}/deliveries/{sent['uuid']}/resend").status_code == 200
        deliver(service)
        assert [entry["status"] for entry in log(alice, hook)] == ["delivered"]


def test_an_account_has_a_limited_number_of_webhooks(service: Service, alice: Member) -> None:
    """Both generations count together, also when many requests come at once."""
    for _ in range(96):
        made(alice)
    with ThreadPoolExecutor(8) as pool:
        answers = [
            pool.submit(alice.post, base, {"url": URL})
            for base in ("/v2/webhooks", f"{alice.v1}/webhooks")
            for _ in range(4)
        ]
    assert sorted(answer.result().status_code for answer in answers) == [201] * 4 + [400] * 4
    refused = alice.post("/v2/webhooks", {"url": URL})
    assert refused.json()["error"] == (
        "You can have at most 100 webhooks; delete one you no longer need."
    )
    first = alice.get("/v2/webhooks").json()["webhooks"][0]["uuid"]
    assert alice.delete(f"/v2/webhooks/{first}").status_code == 200
    made(alice)


def test_the_log_says_that_a_webhook_is_disabled_and_an_update_enables_it(
    alice: Member, base: str, receiver: Receiver
) -> None:
    receiver.script = [410]
    hook = f"{base}/{made(alice, base, url=receiver.url)['uuid']}"
    assert alice.get(f"{hook}/deliveries").json()["disabled_at"] is None
    alice.post(f"{hook}/test")
    until(lambda: alice.get(f"{hook}/deliveries").json()["disabled_at"] is not None)
    body = alice.get(f"{hook}/deliveries").json()
    assert body["disabled_at"].endswith("Z")
    assert set(body) == {"disabled_at", "deliveries", "meta"}
    assert set(alice.get(hook).json()["webhook"]) == {"uuid", "url", "events"}, "it stays closed"
    assert alice.post(f"{hook}/test").json()["code"] == "disabled"
    assert alice.put(hook, {}).status_code == 200
    assert alice.get(f"{hook}/deliveries").json()["disabled_at"] is None
    assert alice.post(f"{hook}/test").status_code == 200
