"""Referrals to review by referrer: how they are grouped, what each group has in common, and
deciding all of one referrer's at once.
"""

from __future__ import annotations

from collections import Counter

import pytest

from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.pages.dashboard import review as review_page
from honeyguide.referrals import review
from tests.support.delayed import pass_minute
from tests.support.market import join, offer
from tests.support.service import Service
from tests.support.web import Operator, operator, words


@pytest.fixture
def alice(service: Service) -> Operator:
    alice = operator(service)
    alice.put(f"{alice.v1}/settings", {"screening": "strong"})
    return alice


def suspicious(alice: Operator, name: str, many: int, ip_address: str) -> str:
    """A referrer with so many suspicious referrals, all from the same IP network; their code."""
    code: str = alice.subscribe(f"{name}@example.org", name=name.title(), ip_address=ip_address)[
        "ref_code"
    ]
    for number in range(many):
        alice.subscribe(f"{name}{number}@example.org", referrer_code=code, ip_address=ip_address)
    return code


def groups(alice: Operator, kind: str = "suspected", page: int = 1, per_page: int = 20):  # type: ignore[no-untyped-def]
    tenant = Tenant(alice.account_id, alice.campaign_id)
    return alice.service.read(
        lambda tx: review.page_of_groups(tx, tenant, kind, Page(page, per_page))
    )


def test_the_largest_group_comes_first_with_what_it_has_in_common(
    service: Service, alice: Operator
) -> None:
    ann = suspicious(alice, "ann", 2, "9.9.9.9")
    ben = suspicious(alice, "ben", 5, "203.0.113.7")
    found, has_more = groups(alice)
    assert not has_more
    assert [(group.referrer_code, group.n) for group, _ in found] == [(ben, 5), (ann, 2)]
    (largest, clusters), _ = found
    assert Counter({(c.reason, c.ip_network): c.n for c in clusters}) == {
        ("same_network", "203.0.113.7"): 5
    }
    assert clusters[0].first_ms == largest.first_ms <= largest.last_ms == clusters[0].last_ms
    ((only, _),) = groups(alice, page=2, per_page=1)[0]
    assert only.referrer_code == ann
    shown = words(alice.web.get("/review?by=referrer").text)
    assert "Ben ben@example.org · 5 referrals" in shown
    assert "Same IP network as the referrer 203.0.113.7 5" in shown


def test_only_the_newest_are_grouped(alice: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    suspicious(alice, "old", 4, "9.9.9.9")
    new = suspicious(alice, "new", 3, "203.0.113.7")
    monkeypatch.setattr(review, "NEWEST", 3)
    assert [(group.referrer_code, group.n) for group, _ in groups(alice)[0]] == [(new, 3)]


@pytest.mark.parametrize(("verdict", "status"), [("verify", "verified"), ("reject", "rejected")])
def test_all_of_one_referrer_are_decided(
    alice: Operator, monkeypatch: pytest.MonkeyPatch, verdict: str, status: str
) -> None:
    monkeypatch.setattr(review_page, "MOST_OF_REFERRER", 3)
    ann = suspicious(alice, "ann", 4, "9.9.9.9")
    ben = suspicious(alice, "ben", 1, "203.0.113.7")
    listed = words(alice.web.get(f"/review?code={ann}").text)
    assert "Referrals by Ann" in listed and "ann3@example.org" in listed
    assert "ben0@example.org" not in listed
    for n, left in (("3 referrals", " Some are left"), ("1 referral", "")):
        alice.web.post("/review/referrer", page="/review", code=ann, show="suspected", do=verdict)
        page = words(alice.web.get("/review?by=referrer").text)
        assert f"{n} will be {status} in a minute.{left}" in page
        assert f"{n} will be {status} in less than a minute · Undo for Ann" in page
        pass_minute(alice.service)
    assert [group.referrer_code for group, _ in groups(alice)[0]] == [ben]
    people = alice.get(f"{alice.v1}/subscribers").json()["subscribers"]
    decided = [p["referral_status"] for p in people if p["referrer_code"] == ann]
    assert decided == [status] * 4


def test_a_partners_and_an_erased_referrers_groups_have_names(
    service: Service, alice: Operator
) -> None:
    bob = service.member("bob")
    code = join(bob, offer(alice, referral_pending_duration_enabled=True))["ref_code"]
    alice.subscribe("sent@example.org", referrer_code=code)
    gone = suspicious(alice, "gone", 2, "9.9.9.9")
    alice.delete(f"{alice.v1}/subscribers/gone@example.org")
    shown = words(alice.web.get("/review?show=pending&by=referrer").text)
    assert "a deleted subscriber 2 referrals" in shown
    assert "Partner · 1 referral" in shown and "Holding period 1" in shown
    assert {group.referrer_code for group, _ in groups(alice, "pending")[0]} == {code, gone}
