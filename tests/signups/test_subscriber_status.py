"""`status` when a subscriber is created: whoever is created as unsubscribed counts for nobody and
gets no email.
"""

from typing import Any

import pytest

from honeyguide.accounts.permissions import Right
from honeyguide.api.routes import ROUTES
from tests.support.partner_network import join, offer
from tests.support.prizes import advocate, bring, earned_by, post_of
from tests.support.prizes import offer as offer_reward
from tests.support.service import Member


def status_of(member: Member, email: str) -> str:
    answer = member.get(f"{member.v1}/subscribers/{email}/export")
    assert answer.status_code == 200, answer.text
    return answer.json()["export"]["subscriber"]["status"]  # type: ignore[no-any-return]


def referral_of(member: Member, email: str) -> dict[str, Any]:
    return member.get(f"{member.v1}/subscribers/{email}/referral").json()["referral"]  # type: ignore[no-any-return]


@pytest.fixture(params=["v1", "v2"])
def path(request: pytest.FixtureRequest, alice: Member) -> str:
    return f"{alice.v1}/subscribers" if request.param == "v1" else "/v2/subscribers"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({}, "active"),
        ({"status": None}, "active"),
        ({"status": "active"}, "active"),
        ({"status": "confirmed"}, "confirmed"),
        ({"status": "unsubscribed"}, "unsubscribed"),
    ],
)
def test_a_subscriber_is_created_with_a_status(
    alice: Member, path: str, given: dict[str, Any], kept: str
) -> None:
    answer = alice.post(path, {"email": "ana@example.org", **given})
    assert answer.status_code == 201, answer.text
    assert "status" not in answer.json()["subscriber"], "the specification's object is closed"
    assert status_of(alice, "ana@example.org") == kept


@pytest.mark.parametrize("status", ["gone", "", "Active", 1])
def test_another_status_is_refused(alice: Member, path: str, status: Any) -> None:
    answer = alice.post(path, {"email": "ana@example.org", "status": status})
    assert (answer.status_code, answer.json()["param"]) == (400, "status")
    assert alice.total() == 0


def test_created_as_unsubscribed_is_no_referral(alice: Member) -> None:
    offer_reward(alice)
    hook = alice.post("/v2/webhooks", {"url": "http://127.0.0.1:9/", "new_referral": True}).json()[
        "webhook"
    ]["uuid"]
    ana = advocate(alice)
    alice.subscribe("ben@example.org", referrer_code=ana["ref_code"], status="unsubscribed")
    assert alice.subscriber("ben@example.org")["referral_status"] == "rejected"
    assert alice.subscriber("ana@example.org")["referrals_count"] == 0
    assert earned_by(alice, ana) == []
    assert alice.get(f"/v2/webhooks/{hook}/deliveries").json()["deliveries"] == []
    body = referral_of(alice, "ben@example.org")
    assert (body["reason"], body["explanation"].split(".")[0]) == (
        "unsubscribed",
        "Already unsubscribed when added",
    )
    alice.put(f"{alice.v1}/subscribers/ben@example.org", {"status": "confirmed"})
    assert alice.subscriber("ben@example.org")["referral_status"] == "rejected", (
        "coming back does not make it count"
    )
    assert alice.subscriber("ana@example.org")["referrals_count"] == 0


def test_created_as_unsubscribed_costs_no_fee(alice: Member, bob: Member) -> None:
    program = offer(alice)
    code = join(bob, program)["ref_code"]
    alice.subscribe("ben@example.org", referrer_code=code, status="unsubscribed")
    (row,) = alice.get(f"/v2/partner_programs/{program['uuid']}/referrals").json()["referrals"]
    assert (row["status"], row["reason"], row["charged"]) == ("rejected", "unsubscribed", None)
    assert alice.get(f"/v2/partner_programs/{program['uuid']}/spend").json()["spend"]["spent"] == 0


def test_created_as_unsubscribed_gets_no_email(alice: Member) -> None:
    offer_reward(alice)
    ana = alice.subscribe("ana@example.org", status="unsubscribed")
    bring(alice, ana, 1)
    assert earned_by(alice, ana)[0]["status"] == "unlocked"
    assert post_of(alice, "reward_unlocked") == []


def test_created_as_confirmed_needs_no_second_confirmation(alice: Member) -> None:
    alice.put(f"{alice.v1}/settings", {"needs_confirmation": True})
    ana = advocate(alice)
    alice.subscribe("ben@example.org", referrer_code=ana["ref_code"], status="confirmed")
    alice.subscribe("cy@example.org", referrer_code=ana["ref_code"])
    assert alice.subscriber("ben@example.org")["referral_status"] == "verified"
    assert alice.subscriber("cy@example.org")["referral_status"] == "pending"


def test_a_repeated_create_does_not_bring_back_who_unsubscribed(alice: Member, path: str) -> None:
    alice.subscribe("ana@example.org", status="unsubscribed")
    for status in ("active", "confirmed", None):
        answer = alice.post(path, {"email": "ANA@example.org", "status": status})
        assert (answer.status_code, answer.json()["code"]) == (400, "email_taken")
    assert status_of(alice, "ana@example.org") == "unsubscribed"


def test_the_openapi_document_lists_the_statuses(alice: Member) -> None:
    schemas = alice.get("/openapi.json").json()["components"]["schemas"]
    assert schemas["SubscriberCreate"]["properties"]["status"]["enum"] == [
        "active",
        "confirmed",
        "unsubscribed",
        None,
    ]


def get_status(member: Member, who: str) -> dict[str, Any]:
    answer = member.get(f"{member.v1}/subscribers/{who}/status")
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


def test_the_status_says_whether_they_are_subscribed(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    path = f"{alice.v1}/subscribers/{ana['uuid']}"
    at_first = {
        "status": "active",
        "is_subscribed": True,
        "is_confirmed": False,
        "must_confirm": False,
        "unsubscribed_at": None,
    }
    assert get_status(alice, ana["uuid"]) == at_first == get_status(alice, "ana@example.org")
    alice.put(path, {"status": "unsubscribed"})
    left = get_status(alice, ana["uuid"])
    assert (left["status"], left["is_subscribed"]) == ("unsubscribed", False)
    assert left["unsubscribed_at"].endswith("Z")
    alice.put(path, {"status": "confirmed"})
    assert get_status(alice, ana["uuid"]) == at_first | {
        "status": "confirmed",
        "is_confirmed": True,
    }
    missing = alice.get(f"{alice.v1}/subscribers/nobody@example.org/status")
    assert missing.status_code == 404


def test_who_must_confirm_is_not_subscribed_yet(alice: Member) -> None:
    alice.put(f"{alice.v1}/settings", {"needs_confirmation": True})
    alice.subscribe("ana@example.org")
    status = get_status(alice, "ana@example.org")
    assert (status["is_subscribed"], status["must_confirm"]) == (False, True)


def test_the_referral_page_opens_and_needs_more_than_read(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    answer = alice.get(f"{alice.v1}/subscribers/{ana['uuid']}/referral_page")
    page = alice.http.get(answer.json()["referral_page_url"])
    assert page.status_code == 200 and ana["ref_code"] in page.text
    (route,) = (each for each in ROUTES if each.path.endswith("/referral_page"))
    assert route.right == Right.SUBSCRIBERS, "the link works without a login"
