"""Tokens of forms on the operator's own website: good for one signup, never needed, and telling
nobody who is subscribed.
"""

from typing import Any

import httpx
import pytest

from honeyguide.pages.embeds import endpoint
from tests.support.embeds import SITE, Visitor, embedding, people
from tests.support.newsletter import Newsletter
from tests.support.prizes import post_of
from tests.support.service import Member

USED = {"errors": {"token": "This form was already used. Please submit it again."}}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, roomy_network: None) -> None:
    """Answers wait for nothing, and all tests share one address."""
    monkeypatch.setattr(endpoint, "ANSWER_AFTER_S", 0)


@pytest.fixture
def visitor(alice: Member) -> Visitor:
    return Visitor(alice, embedding(alice))


def status_and_body(answer: httpx.Response) -> tuple[int, Any]:
    return answer.status_code, answer.json()


def test_a_token_is_for_one_visitor_of_a_listed_website(alice: Member, visitor: Visitor) -> None:
    answer = visitor.get("token")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["access-control-allow-origin"] == SITE
    assert answer.json().keys() == {"token"}
    assert visitor.token() != visitor.token()
    assert Visitor(alice, embedding(alice), "https://evil.example").get("token").status_code == 403


def test_one_token_sent_fifty_times_makes_one_signup(alice: Member, visitor: Visitor) -> None:
    given = visitor.token()
    answers = [visitor.sign_up(f"robot{n}@example.org", token=given) for n in range(50)]
    assert [each.status_code for each in answers] == [200] + [400] * 49
    assert [each.json() for each in answers[1:]] == [USED] * 49
    assert set(people(alice)) == {"robot0@example.org"}
    assert visitor.sign_up("ben@example.org", token=visitor.token()).status_code == 200


def test_the_same_address_gets_the_first_answer_again(alice: Member, visitor: Visitor) -> None:
    given = visitor.token()
    answers = [visitor.sign_up("ben@example.org", token=given) for _ in range(10)]
    assert [status_and_body(each) for each in answers] == [
        (200, {"ok": True, "needs_confirmation": False})
    ] * 10
    assert len(post_of(alice, "hub_link")) == 1


def test_an_error_in_a_field_uses_no_token_up(visitor: Visitor) -> None:
    given = visitor.token()
    assert visitor.sign_up("nonsense", token=given).status_code == 400
    assert visitor.sign_up("ben@example.org", token=given).status_code == 200


def test_a_signup_without_a_token_of_ours_still_counts(
    alice: Member, bob: Member, visitor: Visitor
) -> None:
    """As from the first version of the script, or from the website's own code."""
    wax = Newsletter(alice.service, member=alice)
    foreign = Visitor(bob, embedding(bob)).token()
    hosted = wax.fields(wax.page)["token"]
    for number, given in enumerate(("", "x", "\u0000", foreign, hosted)):
        for n in range(2):
            email = f"p{number}-{n}@example.org"
            assert visitor.sign_up(email, token=given).status_code == 200
    assert visitor.sign_up("none@example.org").status_code == 200
    assert len(people(alice)) == 11
    # A token that was good for nothing here is still good where it belongs.
    assert Visitor(bob, embedding(bob)).sign_up("a@example.org", token=foreign).is_success
    expired = visitor.token()
    alice.service.set_clock(3 * 86_400)
    for n in range(2):
        assert visitor.sign_up(f"late{n}@example.org", token=expired).status_code == 200


def test_a_used_token_tells_nobody_who_is_subscribed(alice: Member, visitor: Visitor) -> None:
    alice.subscribe("in@example.org")
    alice.subscribe("out@example.org", status="unsubscribed")
    names = ("in@example.org", "out@example.org", "new@example.org")
    given = visitor.token()
    assert visitor.sign_up("first@example.org", token=given).status_code == 200
    assert [status_and_body(visitor.sign_up(each, token=given)) for each in names] == [
        (400, USED)
    ] * 3
    fresh = [visitor.sign_up(each, token=visitor.token()) for each in names]
    assert len({(each.status_code, each.text) for each in fresh}) == 1


def test_a_robot_uses_no_token_up(visitor: Visitor) -> None:
    given = visitor.token()
    assert visitor.sign_up("trap@example.org", token=given, website="spam").status_code == 200
    assert visitor.sign_up("ben@example.org", token=given).status_code == 200


def test_one_network_gets_only_so_many_tokens(
    alice: Member, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    low = endpoint.TOKENS_BY_NETWORK._replace(name=f"test {alice.campaign_id}", most=3)
    monkeypatch.setattr(endpoint, "TOKENS_BY_NETWORK", low)
    answers = [visitor.get("token") for _ in range(4)]
    assert [each.status_code for each in answers] == [200, 200, 200, 429]
    assert int(answers[-1].headers["retry-after"]) > 0
    assert list(answers[-1].json()["errors"]) == [""]
    # Forms are counted apart.
    assert visitor.sign_up("ben@example.org").status_code == 200
