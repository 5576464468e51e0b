"""The list of subscribers: what it says of each, and how it is found again."""

import re

import pytest

from tests.support.partner_network import join, offer
from tests.support.service import Service
from tests.support.web import Operator, text_of


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        ("q=&sort=newest&status=&tag=", "/subscribers"),
        ("q=ana&sort=newest&status=", "/subscribers?q=ana"),
        ("q=+&sort=best&min_referrals=2", "/subscribers?sort=best&min_referrals=2"),
        ("joined_from=nonsense&q=", "/subscribers?joined_from=nonsense"),
    ],
)
def test_the_address_keeps_only_what_says_something(alice: Operator, asked: str, kept: str) -> None:
    answer = alice.web.get(f"/subscribers?{asked}")
    assert (answer.status_code, answer.headers["location"]) == (303, kept)
    assert alice.web.get(kept).status_code in (200, 400)


def rows_of(page: str) -> dict[str, str]:
    """What each row says, by the email address."""
    found = {}
    for row in re.findall(r"<tr data-href.*?</tr>", page, re.DOTALL):
        email = re.search(r'aria-label="Select ([^"]+)"', row)
        assert email is not None
        found[email[1]] = text_of(row)
    return found


def test_a_row_says_subscription_and_referral_apart_and_names_the_partner(
    service: Service, alice: Operator
) -> None:
    bob = service.member("bob")
    code = join(bob, offer(alice))["ref_code"]
    ana = alice.subscribe("ana@example.org", name="Ana Lopes")
    alice.subscribe("friend@example.org", referrer_code=ana["ref_code"], status="confirmed")
    alice.subscribe("gone@example.org", referrer_code=ana["ref_code"], status="unsubscribed")
    alice.subscribe("paid@example.org", referrer_code=code)
    alice.put(f"{alice.v1}/settings", {"needs_confirmation": True})
    alice.subscribe("new@example.org", referrer_code=ana["ref_code"])
    rows = rows_of(alice.web.get("/subscribers").text)
    assert "Subscribed Not referred 1 1 pending" in rows["ana@example.org"].replace("✓ ", "")
    for email, subscription, referral in (
        ("friend@example.org", "Confirmed", "Verified by Ana Lopes"),
        ("gone@example.org", "Unsubscribed", "Rejected by Ana Lopes"),
        ("new@example.org", "Not confirmed yet", "Pending by Ana Lopes"),
        ("paid@example.org", "Subscribed", "by Bob , a partner"),
    ):
        assert subscription in rows[email] and referral in rows[email], rows[email]


def test_somebody_is_found_by_each_of_their_codes(alice: Operator) -> None:
    ana = alice.subscribe("ana@example.org")
    alice.subscribe("ben@example.org")
    page = f"/subscribers/{ana['uuid']}"
    for code in ("Ana-Lopes", "ana2"):
        alice.web.post(f"{page}/codes", page=page, code=code)
    for asked in ("ana-lopes", "ANA2", ana["ref_code"]):
        assert list(rows_of(alice.web.get(f"/subscribers?q={asked}").text)) == ["ana@example.org"]
    assert rows_of(alice.web.get("/subscribers?q=ana-lop").text) == {}, "whole codes only"


def test_a_filter_says_what_its_numbers_mean(alice: Operator) -> None:
    alice.subscribe("ana@example.org")
    page = text_of(alice.web.get("/subscribers?min_referrals=2&max_referrals=5").text)
    assert "Referrals at least: 2" in page and "Referrals at most: 5" in page
