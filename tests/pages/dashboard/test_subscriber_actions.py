"""What the API can do about one subscriber, a person can do on the dashboard: unsubscribe, confirm
and add them, with the same result and the same refusals.
"""

import re
from typing import Any

import pytest

from tests.support.service import Member, Service
from tests.support.tables import dump
from tests.support.web import Operator, operator, text_of

# The same for everybody, or only ever the same by chance.
OWN = {"id", "account_id", "campaign_id", "ref_code", "referrer_code", "referrer_id", "person_key"}
EVENTS = ["new_subscriber", "subscriber_unsubscribed", "referral_verified", "referral_rejected"]


def listen(member: Member) -> None:
    """A webhook that wants every event, so that each leaves a row."""
    made = member.post("/v2/webhooks", {"url": "http://127.0.0.1:9/hook", "new_referral": True})
    path = f"/v2/webhooks/{made.json()['webhook']['uuid']}/more_events"
    assert member.put(path, dict.fromkeys(EVENTS, True)).status_code == 200


def facts(member: Member) -> dict[str, list[Any]]:
    """What is stored about an account's subscribers, without ids and times."""
    held = dump(member.service)
    people = [
        {k: v for k, v in row.items() if k not in OWN and not k.endswith("_ms")}
        for row in held["subscriber"]
        if row["account_id"] == member.account_id
    ]
    return {
        "people": sorted(people, key=lambda row: row["email"]),
        "times": sorted(
            (row["email"], row["unsubscribed_ms"] is None, row["decided_ms"] is None)
            for row in held["subscriber"]
            if row["account_id"] == member.account_id
        ),
        "events": sorted(
            row["type"] for row in held["event"] if row["account_id"] == member.account_id
        ),
        "rewards": [
            row["status"] for row in held["won_reward"] if row["account_id"] == member.account_id
        ],
    }


def prepare(member: Member) -> str:
    """A subscriber whose referral waits for a confirmation."""
    listen(member)
    member.post(f"{member.v1}/rewards", {"name": "Mug", "referrals": 1})
    member.put(f"{member.v1}/settings", {"needs_confirmation": True})
    star = member.subscribe("star@example.org", status="confirmed")
    friend = member.subscribe("friend@example.org", referrer_code=star["ref_code"])
    return str(friend["uuid"])


@pytest.mark.parametrize(
    "moves",
    [["confirmed"], ["unsubscribed"], ["confirmed", "unsubscribed"], ["unsubscribed", "confirmed"]],
    ids="-".join,
)
def test_the_page_does_what_the_api_does(service: Service, moves: list[str]) -> None:
    bob, alice = service.member("bob"), operator(service)
    his, hers = prepare(bob), prepare(alice)
    for status in moves:
        assert bob.put(f"{bob.v1}/subscribers/{his}", {"status": status}).status_code == 200
        page = f"/subscribers/{hers}"
        assert alice.web.post(f"{page}/status", page=page, status=status).status_code == 303
    assert facts(alice) == facts(bob)
    assert status_shown(alice, hers) == moves[-1].title()


def status_shown(alice: Operator, subscriber_id: str) -> str:
    page = text_of(alice.web.get(f"/subscribers/{subscriber_id}").text)
    found = re.search(r"(Subscribed|Confirmed|Unsubscribed|Not confirmed yet)[ \w]* Joined ", page)
    assert found is not None, page
    return found[1]


def questions(page: str, action: str) -> dict[str, str]:
    """The questions of a page whose button posts there, by the status that it sets."""
    found = {}
    for fold in re.findall(r"<details name.*?</details>", page, re.DOTALL):
        if f'action="{action}"' in fold:
            status = re.search(r'name="status" value="(\w+)"', fold)
            assert status is not None
            found[status[1]] = text_of(fold)
    return found


def test_the_page_asks_first_and_says_what_follows(alice: Operator) -> None:
    friend = prepare(alice)
    page = f"/subscribers/{friend}"
    assert status_shown(alice, friend) == "Not confirmed yet"
    asked = questions(alice.web.get(page).text, f"{page}/status")
    assert sorted(asked) == ["confirmed", "unsubscribed"]
    assert "pending referral will be rejected" in asked["unsubscribed"]
    assert "referral waits for it" in asked["confirmed"]
    done = alice.web.post(f"{page}/status", page=page, status="unsubscribed")
    assert done.status_code == 303
    shown = alice.web.get(page).text
    assert "friend@example.org is unsubscribed." in text_of(shown)
    asked = questions(shown, f"{page}/status")
    assert list(asked) == ["confirmed"] and "subscribes them again" in asked["confirmed"]
    wrong = alice.web.post(f"{page}/status", page=page, status="active")
    assert wrong.status_code == 400


def add(alice: Operator, **fields: str) -> Any:
    return alice.web.post("/subscribers/new", **fields)


def test_one_subscriber_is_added_as_the_api_adds_them(service: Service) -> None:
    bob, alice = service.member("bob"), operator(service)
    codes = []
    for member in (bob, alice):
        listen(member)
        codes.append(member.subscribe("star@example.org")["ref_code"])
    bob.subscribe("Ana@example.org", name="Ana", referrer_code=codes[0], status="confirmed")
    bob.subscribe("gone@example.org", status="unsubscribed")
    typed = {"email": " Ana@example.org ", "name": "Ana", "status": "confirmed"}
    added = add(alice, **typed, referrer_code=codes[1].upper())
    assert added.status_code == 303
    page = text_of(alice.web.get(added.headers["location"]).text)
    assert "Ana@example.org was added." in page and "Referred by star@example.org" in page
    # One after another.
    another = add(alice, email="gone@example.org", status="unsubscribed", do="another")
    assert another.headers["location"] == "/subscribers/new"
    assert "gone@example.org was added." in text_of(alice.web.get("/subscribers/new").text)
    assert facts(alice) == facts(bob)


def test_what_is_wrong_stands_next_to_its_field_and_nothing_typed_is_lost(alice: Operator) -> None:
    alice.subscribe("taken@example.org")
    for fields, sentence in (
        ({"email": ""}, "Enter an email address."),
        ({"email": "nobody"}, "Enter a valid email address."),
        ({"email": "TAKEN@example.org"}, "Email has already been taken"),
        ({"email": "a@example.org", "name": "x" * 256}, "Name must be at most 255 characters"),
        (
            {"email": "a@example.org", "referrer_code": "x" * 2_000},
            "Referrer’s code must be at most",
        ),
        ({"email": "a@example.org", "status": "gone"}, "Status must be one of"),
    ):
        answer = add(alice, **{"name": "Typed", **fields})
        assert answer.status_code == 400 and sentence in text_of(answer.text), fields
        assert f'value="{fields.get("name", "Typed")}"' in answer.text
    assert alice.total() == 1


def test_subscribers_added_by_hand_can_be_found_from_the_list(alice: Operator) -> None:
    assert "/subscribers/new" in alice.web.get("/subscribers").text, "also while there is nobody"
    add(alice, email="ana@example.org")
    page = alice.web.get("/subscribers?origin=api").text
    assert "/subscribers/new" in page and "ana@example.org" in page
    assert "API or added by you" in text_of(page)
