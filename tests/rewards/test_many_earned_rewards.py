"""One can earn thousands of a recurring reward; an answer takes a thousand. On both engines."""

from typing import Any

import pytest

from honeyguide.rewards import earned_rewards
from tests.support.prizes import advocate, offer
from tests.support.service import Service
from tests.support.web import Operator, operator

EARNED = 5


@pytest.fixture
def alice(service: Service, monkeypatch: pytest.MonkeyPatch) -> Operator:
    monkeypatch.setattr(earned_rewards, "MOST_IN_ANSWER", 2)
    made = operator(service)
    offer(made, referrals=1, recurring=True)
    return made


def test_a_list_is_read_page_by_page(alice: Operator) -> None:
    path = f"{alice.v1}/subscribers/{advocate(alice, EARNED)['uuid']}/rewards"
    answers = [alice.get(path, params={"page": page}) for page in (1, 2, 3, 4)]
    found = [answer.json() for answer in answers]
    assert [len(each["rewards"]) for each in found] == [2, 2, 1, 0]
    ids = [reward["uuid"] for each in found for reward in each["rewards"]]
    assert len(set(ids)) == EARNED and alice.get(path).json() == found[0]
    assert found[1]["meta"] == {
        "per_page": 2,
        "page": 2,
        "total_pages": 3,
        "total_rewards": EARNED,
    }
    assert {each["progress"]["next_reward"]["name"] for each in found} == {"The mug"}
    assert f'{path}?page=2&per_page=2>; rel="next"' in answers[0].headers["link"]
    assert alice.get(path, params={"page": "0"}).status_code == 400


def test_a_page_of_people_has_the_first_of_each_first(alice: Operator) -> None:
    many = advocate(alice, EARNED)["uuid"]
    one = advocate(alice, 1, "bea@example.org")["uuid"]
    listed = alice.get("/v2/subscribers", params={"expand": "campaigns", "type": "advocates"})
    found = {each["uuid"]: rewards_of(each) for each in listed.json()["subscribers"]}
    assert [len(found[who]) for who in (many, one)] == [1, 1], "nobody has nothing"
    path = f"{alice.v1}/subscribers/{many}/rewards"
    assert found[many][0] == alice.get(path).json()["rewards"][0]["uuid"]
    alone = alice.get(f"/v2/subscribers/{many}", params={"expand": "campaigns"}).json()
    assert len(rewards_of(alone["subscriber"])) == 2


def rewards_of(subscriber: dict[str, Any]) -> list[str]:
    return [each["uuid"] for each in subscriber["referral_programs"][0]["rewards"]]
