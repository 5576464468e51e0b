"""/v1/campaigns/:campaign_uuid/webhooks: every row of the specification. What both generations
share is in test_v2_webhooks.
"""

import threading
from typing import Any

import pytest

from honeyguide.kernel.ids import is_id, new_id
from tests.support.dispatcher import ReceiverThread
from tests.support.payloads import PAYLOADS
from tests.support.service import Member, Service

URL = "http://127.0.0.1:9/hook"


@pytest.fixture
def hooks(alice: Member) -> str:
    return f"{alice.v1}/webhooks"


def test_create_read_list_update_delete(alice: Member, hooks: str) -> None:
    answer = alice.post(hooks, {"url": URL, "new_referral": True})
    assert answer.status_code == 201
    hook = answer.json()["webhook"]
    assert is_id(hook["uuid"])
    assert answer.json() == {
        "webhook": {
            "uuid": hook["uuid"],
            "url": URL,
            "events": {"new_referral": True, "reward_unlocked": None},
        }
    }
    path = f"{hooks}/{hook['uuid']}"
    assert alice.get(path).json() == {"webhook": hook}
    assert alice.get(hooks).json() == {"webhooks": [hook]}
    answer = alice.put(path, {"reward_unlocked": False})
    assert answer.status_code == 200
    assert answer.json()["webhook"]["events"] == {"new_referral": True, "reward_unlocked": False}
    answer = alice.put(path, {"url": "http://localhost:9/other", "new_referral": None})
    changed = {
        "uuid": hook["uuid"],
        "url": "http://localhost:9/other",
        "events": {"new_referral": None, "reward_unlocked": False},
    }
    assert answer.json() == {"webhook": changed}
    answer = alice.delete(path)
    assert (answer.status_code, list(answer.json())) == (200, ["message"])
    assert alice.get(hooks).json() == {"webhooks": []}


@pytest.mark.parametrize("value", [True, False, None])
@pytest.mark.parametrize("nested", [True, False])
def test_flags_are_true_false_or_null(
    alice: Member, hooks: str, value: bool | None, nested: bool
) -> None:
    flags = {"new_referral": value, "reward_unlocked": value}
    hook = alice.post(hooks, {"url": URL, **({"events": flags} if nested else flags)}).json()[
        "webhook"
    ]
    assert hook["events"] == flags


def test_flags_of_the_other_generation_are_ignored(alice: Member, hooks: str) -> None:
    extras = {"new_partner_referral": True, "reward_redeemed": "?"}
    hook = alice.post(hooks, {"url": URL, **extras, "events": extras}).json()["webhook"]
    assert hook["events"] == {"new_referral": None, "reward_unlocked": None}


def test_newest_first(alice: Member, hooks: str) -> None:
    made = [alice.post(hooks, {"url": f"{URL}{n}"}).json()["webhook"] for n in range(5)]
    assert alice.get(hooks).json() == {"webhooks": made[::-1]}


def test_another_campaign_is_not_there(alice: Member, bob: Member) -> None:
    for campaign in (bob.campaign_id, new_id(), "x"):
        answers = [
            alice.get(f"/v1/campaigns/{campaign}/webhooks"),
            alice.post(f"/v1/campaigns/{campaign}/webhooks", {"url": URL}),
        ]
        assert [answer.status_code for answer in answers] == [404, 404]
    assert bob.get(f"{bob.v1}/webhooks").json() == {"webhooks": []}


def test_two_updates_at_once_lose_nothing(alice: Member, hooks: str) -> None:
    for _ in range(10):
        path = f"{hooks}/{alice.post(hooks, {'url': URL}).json()['webhook']['uuid']}"
        together = threading.Barrier(2)

        def put(
            body: dict[str, Any], path: str = path, together: threading.Barrier = together
        ) -> None:
            together.wait()
            assert alice.put(path, body).status_code == 200

        threads = [
            threading.Thread(target=put, args=({name: True},))
            for name in ("new_referral", "reward_unlocked")
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert alice.get(path).json()["webhook"]["events"] == {
            "new_referral": True,
            "reward_unlocked": True,
        }


def shape(value: Any) -> Any:
    return (
        {name: shape(inner) for name, inner in value.items()} if isinstance(value, dict) else None
    )


def test_a_referral_is_told_to_v1_and_v2_webhooks_that_ask_in_the_published_shape(
    service: Service, alice: Member, bob: Member, hooks: str
) -> None:
    with ReceiverThread() as asks, ReceiverThread() as asks_too, ReceiverThread() as asks_not:
        alice.post(hooks, {"url": asks.url, "new_referral": True})
        alice.post("/v2/webhooks", {"url": asks_too.url, "new_referral": True})
        for flags in ({}, {"new_referral": False}, {"reward_unlocked": True}):
            alice.post(hooks, {"url": asks_not.url, **flags})
        bob.post("/v2/webhooks", {"url": asks_not.url, "new_referral": True})
        ann = alice.subscribe("ann@shape.example", name="Ann Mary Lee")
        ben = alice.subscribe("ben@shape.example", referrer_code=ann["ref_code"])
        alice.subscribe("ann+again@gmail.com", referrer_code="nosuchcode")
        service.run(service.services.dispatcher.deliver_due())
        assert (len(asks.requests), len(asks_too.requests), len(asks_not.requests)) == (1, 1, 0)
        body = asks.requests[0].json()
        assert body == asks_too.requests[0].json()
        published = PAYLOADS["new_referral"]
        for person in ("subscriber", "referrer"):
            assert (body[person]["next_reward"], body[person]["next_reward_details"]) == (
                None,
                None,
            )
            assert isinstance(published[person]["next_reward"], int)
            published[person]["next_reward_details"] = None
        assert shape(body) == shape(published)
        assert body["campaign_id"] == alice.campaign_id
        assert (body["subscriber"]["id"], body["subscriber"]["email"]) == (
            ben["uuid"],
            "ben@shape.example",
        )
        assert (body["referrer"]["first_name"], body["referrer"]["tot_referrals"]) == ("Ann", 1)
        assert body["referrer"]["referral_link"] == f"{service.url}/r/{ann['ref_code']}"


def test_a_rejected_referral_is_not_told(service: Service, alice: Member, hooks: str) -> None:
    with ReceiverThread() as receiver:
        alice.post(hooks, {"url": receiver.url, "new_referral": True})
        ann = alice.subscribe("ann.lee@gmail.com")
        alice.subscribe("annlee+2@gmail.com", referrer_code=ann["ref_code"])
        service.run(service.services.dispatcher.deliver_due())
        assert receiver.requests == []
