"""v1 campaigns: the one campaign of an account, read and renamed."""

import pytest

from tests.support.service import Member


def test_the_list_holds_the_one_campaign_of_the_account(alice: Member) -> None:
    answer = alice.get("/v1/campaigns")
    assert answer.status_code == 200
    assert answer.json() == {"campaigns": [{"uuid": alice.campaign_id, "name": "Alice"}]}


def test_a_campaign_has_exactly_uuid_and_name(alice: Member) -> None:
    answer = alice.get(alice.v1)
    assert answer.status_code == 200
    assert answer.json() == {"campaign": {"uuid": alice.campaign_id, "name": "Alice"}}


def test_an_update_renames_it_and_answers_with_the_new_name(alice: Member) -> None:
    answer = alice.put(alice.v1, {"name": "Morning Brew ☕"})
    assert answer.status_code == 200
    assert answer.json() == {"campaign": {"uuid": alice.campaign_id, "name": "Morning Brew ☕"}}
    assert alice.get(alice.v1).json()["campaign"]["name"] == "Morning Brew ☕"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b'{"uuid": "x", "slug": "y", "account_id": "z", "destination_url": "http://e.org"}',
    ],
)
def test_an_update_without_a_name_changes_nothing(alice: Member, body: bytes) -> None:
    answer = alice.http.put(alice.v1, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 200
    assert answer.json() == {"campaign": {"uuid": alice.campaign_id, "name": "Alice"}}


@pytest.mark.parametrize("name", [None, "", "   ", 5, True, ["a"], {"a": 1}, "x" * 256, "a\x00b"])
def test_a_name_that_cannot_be_one_is_refused_and_blamed(alice: Member, name: object) -> None:
    answer = alice.put(alice.v1, {"name": name})
    assert answer.status_code == 400
    assert answer.json()["param"] == "name"
    assert alice.get(alice.v1).json()["campaign"]["name"] == "Alice"


def test_a_name_may_have_255_characters_of_any_script(alice: Member) -> None:
    assert alice.put(alice.v1, {"name": "ж" * 255}).status_code == 200
    assert alice.get(alice.v1).json()["campaign"]["name"] == "ж" * 255


@pytest.mark.parametrize(
    "id", ["01890000-0000-7000-8000-000000000000", "nonsense", "1", "%20x", "a@example.org"]
)
def test_a_campaign_that_is_not_there_is_a_404(alice: Member, id: str) -> None:
    answer = alice.get(f"/v1/campaigns/{id}")
    assert answer.status_code == 404
    assert answer.json()["error"] == "There is no such campaign."


@pytest.mark.parametrize(
    "path",
    [
        "/v1/campaigns/",
        "/v1/campaigns//subscribers",
        "/v1/campaigns/%20",
        "/v2/campaigns//subscribers",
    ],
)
def test_a_blank_campaign_is_a_400(alice: Member, path: str) -> None:
    answer = alice.get(path)
    assert answer.status_code == 400
    assert answer.json()["param"] == "campaign_uuid"


def test_a_campaign_can_be_neither_made_nor_deleted(alice: Member) -> None:
    for method, path, allowed in (
        ("POST", "/v1/campaigns", "GET"),
        ("DELETE", alice.v1, "GET, PUT"),
        ("POST", alice.v1, "GET, PUT"),
    ):
        answer = alice.http.request(method, path, json={"name": "Second"})
        assert answer.status_code == 405
        assert answer.headers["allow"] == allowed
    assert len(alice.get("/v1/campaigns").json()["campaigns"]) == 1
