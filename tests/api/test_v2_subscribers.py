"""v2 subscribers: the campaign's read-only lists, and `/v2/subscribers`, where the account's
campaign needs no naming.
"""

import pytest

from honeyguide.subscribers import codes
from honeyguide.subscribers.codes import CodeHolder
from tests.api.test_v1_subscribers import READ, WRITTEN
from tests.support.service import Member

PLAIN = READ - {"referrals_count"}
META = {"per_page", "page", "total_pages", "total_subscribers"}


@pytest.fixture
def pair(alice: Member) -> tuple[dict[str, object], dict[str, object]]:
    ana = alice.subscribe("ana@example.org", name="Ana")
    return ana, alice.subscribe("ben@example.org", referrer_code=ana["ref_code"])


def lists(member: Member) -> list[str]:
    return [f"{member.v2}/subscribers", "/v2/subscribers"]


def test_the_list_has_no_referrals_count(
    alice: Member, pair: tuple[dict[str, object], ...]
) -> None:
    for path in lists(alice):
        answer = alice.get(path)
        assert answer.status_code == 200
        assert answer.json().keys() == {"subscribers", "meta"}
        assert answer.json()["meta"].keys() == META
        assert [set(subscriber) for subscriber in answer.json()["subscribers"]] == [PLAIN, PLAIN]


def test_one_subscriber_has_no_referrals_count_and_is_found_by_uuid_or_email(
    alice: Member, pair: tuple[dict[str, object], ...]
) -> None:
    expected = {
        name: value
        for name, value in alice.subscriber("ben@example.org").items()
        if name != "referrals_count"
    }
    for path in lists(alice):
        for identifier in (pair[1]["uuid"], "ben@example.org", "BEN%40EXAMPLE.ORG"):
            answer = alice.get(f"{path}/{identifier}")
            assert answer.status_code == 200
            assert answer.json() == {"subscriber": expected}
    assert set(expected) == PLAIN
    assert (expected["referred"], expected["referral_status"]) == (True, "verified")


def test_the_referrals_list_has_referrals_count(
    alice: Member, pair: tuple[dict[str, object], ...]
) -> None:
    cy = alice.subscribe("cy@example.org", referrer_code=pair[1]["ref_code"])
    answer = alice.get(f"{alice.v2}/subscribers/{pair[0]['uuid']}/referrals")
    assert answer.status_code == 200
    assert answer.json().keys() == {"subscribers", "meta"}
    assert [set(subscriber) for subscriber in answer.json()["subscribers"]] == [READ]
    assert answer.json()["subscribers"][0] == alice.subscriber("ben@example.org")
    assert answer.json()["subscribers"][0]["referrals_count"] == 1
    alice.delete(f"{alice.v1}/subscribers/{cy['uuid']}")
    assert (
        alice.get(f"{alice.v2}/subscribers/ana%40example.org/referrals").json()["subscribers"][0][
            "referrals_count"
        ]
        == 0
    )


def test_kinds_and_paging_are_those_of_v1(
    alice: Member, pair: tuple[dict[str, object], ...]
) -> None:
    for path in lists(alice):
        for kind, names in (
            ("all", ["ben", "ana"]),
            ("referrals", ["ben"]),
            ("advocates", ["ana"]),
        ):
            found = alice.get(path, params={"type": kind}).json()
            assert [s["email"] for s in found["subscribers"]] == [
                f"{name}@example.org" for name in names
            ]
            assert found["meta"]["total_subscribers"] == len(names)
        second = alice.get(path, params={"page": 2, "per_page": 1})
        assert [s["email"] for s in second.json()["subscribers"]] == ["ana@example.org"]
        assert second.json()["meta"] == {
            "per_page": 1,
            "page": 2,
            "total_pages": 2,
            "total_subscribers": 2,
        }
        assert 'rel="prev"' in second.headers["link"]
        assert alice.get(path, params={"type": "x"}).status_code == 400


def test_expand_campaigns_adds_referral_programs_to_each(
    alice: Member, pair: tuple[dict[str, object], ...]
) -> None:
    alice.subscribe("fay@mailinator.com", referrer_code=pair[0]["ref_code"])
    program = {
        "uuid": alice.campaign_id,
        "name": "Alice",
        "ref_code": pair[0]["ref_code"],
        "referral_link": f"{alice.service.url}/r/{pair[0]['ref_code']}",
        "rewards": [],
        "referrals": {"verified": 1, "pending": 0, "rejected": 1},
        "status": "active",
        "codes": ["Ana23b"],
        "adjustments": 2,
        "tags": ["vip"],
    }
    ana = f"{alice.v1}/subscribers/ana%40example.org"
    alice.make(codes.adopt, [CodeHolder("Ana23b", str(pair[0]["uuid"]))])
    alice.post(f"{ana}/adjustments", {"amount": 2, "reason": "Event"})
    alice.put(f"{ana}/tags", {"tags": ["vip"]})
    for path in lists(alice):
        one = alice.get(f"{path}/ana%40example.org", params={"expand": "campaigns"}).json()[
            "subscriber"
        ]
        assert set(one) == PLAIN | {"referral_programs"}
        assert one["referral_programs"] == [program]
        for subscriber in alice.get(path, params={"expand": "campaigns"}).json()["subscribers"]:
            assert set(subscriber) == PLAIN | {"referral_programs"}
    listed = alice.get(
        f"{alice.v2}/subscribers/ana%40example.org/referrals", params={"expand": "campaigns"}
    )
    for subscriber in listed.json()["subscribers"]:
        assert set(subscriber) == READ | {"referral_programs"}
        assert subscriber["referral_programs"][0]["referrals"] == {
            "verified": 0,
            "pending": 0,
            "rejected": 0,
        }


def test_expand_is_kept_in_the_links_to_other_pages(
    alice: Member, pair: tuple[dict[str, object], ...]
) -> None:
    link = alice.get("/v2/subscribers", params={"expand": "campaigns", "per_page": 1}).headers[
        "link"
    ]
    assert link.count("expand=campaigns") == 3


@pytest.mark.parametrize("expand", ["", "campaign", "Campaigns", "campaigns,x", "rewards"])
def test_any_other_expand_is_refused(
    alice: Member, pair: tuple[dict[str, object], ...], expand: str
) -> None:
    for path in (
        *lists(alice),
        f"{alice.v2}/subscribers/{pair[0]['uuid']}",
        f"{alice.v2}/subscribers/{pair[0]['uuid']}/referrals",
    ):
        answer = alice.get(path, params={"expand": expand})
        assert answer.status_code == 400
        assert answer.json()["param"] == "expand"


def test_v1_knows_no_expand_and_ignores_it(
    alice: Member, pair: tuple[dict[str, object], ...]
) -> None:
    answer = alice.get(f"{alice.v1}/subscribers", params={"expand": "campaigns"})
    assert answer.status_code == 200
    assert "referral_programs" not in answer.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_the_campaigns_subscribers_are_read_only_in_v2(
    alice: Member, pair: tuple[dict[str, object], ...], method: str
) -> None:
    for path in (f"{alice.v2}/subscribers", f"{alice.v2}/subscribers/{pair[0]['uuid']}"):
        answer = alice.http.request(method, path, json={"email": "new@example.org"})
        assert answer.status_code == 405
        assert answer.headers["allow"] == "GET"
    assert alice.total() == 2


def test_the_accounts_subscribers_can_be_written_in_the_v1_form(alice: Member) -> None:
    made = alice.post(
        "/v2/subscribers",
        {"email": "ana@example.org", "origin": "signup", "created_at": "2020-01-01T00:00:00Z"},
    )
    assert made.status_code == 201
    subscriber = made.json()["subscriber"]
    assert set(subscriber) == WRITTEN
    assert (subscriber["origin"], subscriber["created_at"]) == ("api", "2020-01-01T00:00:00.000Z")
    updated = alice.put(
        "/v2/subscribers/ana%40example.org", {"name": "Ana", "status": "unsubscribed"}
    )
    assert updated.status_code == 200
    assert updated.json() == {"subscriber": {**subscriber, "name": "Ana"}}
    assert alice.subscriber(subscriber["uuid"])["name"] == "Ana"
    assert (
        alice.post("/v2/subscribers", {"email": "ANA@example.org"}).json()["error"]
        == "Email has already been taken"
    )
    assert (
        alice.post("/v2/subscribers", {}).json()["error"] == "You have to provide at least an email"
    )
    deleted = alice.delete(f"/v2/subscribers/{subscriber['uuid']}")
    assert deleted.status_code == 200
    assert deleted.json().keys() == {"message"}
    assert alice.get(f"/v2/subscribers/{subscriber['uuid']}").status_code == 404
    assert alice.total() == 0


def test_a_blank_or_missing_subscriber_is_told_apart(alice: Member) -> None:
    assert alice.get("/v2/subscribers/").status_code == 400
    assert alice.get("/v2/subscribers/nobody").status_code == 404
    assert alice.get("/v2/subscribers/nobody@example.org").status_code == 404
    assert alice.get("/v2/subscribers/ana/referrals/x").status_code == 404


def test_the_referrals_list_needs_no_campaign_either(
    alice: Member, bob: Member, pair: tuple[dict[str, object], ...]
) -> None:
    alice.subscribe("cy@example.org", referrer_code=pair[0]["ref_code"])
    for query in ({}, {"per_page": 1, "page": 2}, {"expand": "campaigns"}):
        named = alice.get(f"{alice.v2}/subscribers/{pair[0]['uuid']}/referrals", params=query)
        for identifier in (pair[0]["uuid"], "ana%40example.org"):
            answer = alice.get(f"/v2/subscribers/{identifier}/referrals", params=query)
            assert (answer.status_code, answer.json()) == (200, named.json())
    assert named.json()["meta"]["total_subscribers"] == 2
    assert bob.get(f"/v2/subscribers/{pair[0]['uuid']}/referrals").status_code == 404
