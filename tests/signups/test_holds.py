"""Holds end when they are due, by the service's own background work, through a whole year; and why
is told at any time.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from tests.support.service import Member, Service

DAY_S = 86_400


@pytest.fixture
def alice(quiet_service: Service) -> Iterator[Member]:
    yield quiet_service.member("alice")
    quiet_service.set_clock(0)


def configure(member: Member, **fields: Any) -> None:
    answer = member.put(f"{member.v1}/settings", fields)
    assert answer.status_code == 200, answer.text


def time_passes(member: Member) -> None:
    """The one job that ends holds, and no other, so that a year stays short."""
    (job,) = [job for job in member.service.services.loop.jobs if "hold" in job.name]
    member.service.run(member.service.services.loop.once(job))


def referral(member: Member, who: dict[str, Any]) -> dict[str, Any]:
    answer = member.get(f"{member.v1}/subscribers/{who['uuid']}/referral")
    assert answer.status_code == 200, answer.text
    return answer.json()["referral"]  # type: ignore[no-any-return]


def test_through_a_year_every_hold_ends_on_its_day_and_no_other(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    held: dict[str, tuple[dict[str, Any], int]] = {}
    for day in range(0, 366, 5):
        alice.service.set_clock(day * DAY_S)
        time_passes(alice)
        for name, (who, due_day) in list(held.items()):
            # The seconds that the year takes to run are on top of each day's beginning.
            if day == due_day:
                held.pop(name)
                alice.service.set_clock(day * DAY_S + 600)
                time_passes(alice)
            assert referral(alice, who)["status"] == ("verified" if day == due_day else "pending")
        days = (5, 10, 30)[day % 3]
        configure(alice, hold_days=days)
        made = alice.subscribe(f"day{day}@example.org", referrer_code=ana["ref_code"])
        held[made["uuid"]] = (made, day + days)
        counted = alice.subscriber(ana["uuid"])["referrals_count"]
        assert counted == alice.total("referrals") - len(held)


def test_a_hold_by_screening_ends_after_seven_days_and_says_so(alice: Member) -> None:
    configure(alice, screening="strong")
    ana = alice.subscribe("ana@example.org", ip_address="203.0.113.9")
    ben = alice.subscribe(
        "ben@example.org", referrer_code=ana["ref_code"], ip_address="203.0.113.9"
    )
    body = referral(alice, ben)
    assert (body["status"], body["reason"], body["decided_by"]) == ("pending", "same_network", None)
    assert body["signals"]["same_network_as_referrer"] is True
    assert (
        body["rule"]
        == '"Strong" screening holds suspicious referrals for 7 days. The level is now "Strong".'
    )
    assert body["what_would_change_it"].endswith("unless you decide earlier or they unsubscribe.")
    due = datetime.fromisoformat(body["due_at"])
    assert 6.9 < (due - datetime.fromisoformat(ben["created_at"])).total_seconds() / DAY_S <= 7
    alice.service.set_clock(7 * DAY_S - 60)
    time_passes(alice)
    assert referral(alice, ben)["status"] == "pending"
    alice.service.set_clock(7 * DAY_S + 60)
    time_passes(alice)
    body = referral(alice, ben)
    assert (body["status"], body["reason"], body["due_at"]) == (
        "verified",
        "screening_hold_over",
        None,
    )
    assert alice.subscriber(ana["uuid"])["referrals_count"] == 1


def test_strict_rejects_what_strong_holds(alice: Member) -> None:
    configure(alice, screening="strict")
    ana = alice.subscribe("ana@example.org", ip_address="203.0.113.9")
    ben = alice.subscribe(
        "ben@example.org", referrer_code=ana["ref_code"], ip_address="203.0.113.9"
    )
    body = referral(alice, ben)
    assert (body["status"], body["reason"]) == ("rejected", "same_network")
    assert body["what_would_change_it"] == "You can verify it manually."


def test_time_never_stands_in_for_a_confirmation(alice: Member) -> None:
    configure(alice, hold_days=3, needs_confirmation=True)
    ana = alice.subscribe("ana@example.org")
    ben = alice.subscribe("ben@example.org", referrer_code=ana["ref_code"])
    alice.service.set_clock(40 * DAY_S)
    time_passes(alice)
    assert referral(alice, ben)["reason"] == "awaiting_confirmation"
    alice.put(f"{alice.v1}/subscribers/{ben['uuid']}", {"status": "confirmed"})
    assert referral(alice, ben)["status"] == "verified"


def test_a_person_decides_over_every_rule_and_is_remembered(alice: Member) -> None:
    ana = alice.subscribe("ana@gmail.com")
    alias = alice.subscribe("a.na+2@gmail.com", referrer_code=ana["ref_code"])
    path = f"{alice.v1}/subscribers/{alias['uuid']}/referral"
    body = referral(alice, alias)
    assert (body["status"], body["reason"], body["signals"]["alias_of_referrer"]) == (
        "rejected",
        "alias_of_referrer",
        True,
    )
    assert (body["referrer_code"], body["referrer_uuid"]) == (ana["ref_code"], ana["uuid"])
    verified = alice.post(f"{path}/verify").json()["referral"]
    assert (verified["status"], verified["reason"], verified["decided_by"]) == (
        "verified",
        "verified_by_hand",
        "api",
    )
    assert verified["decided_at"] is not None
    assert (
        alice.post(f"/v2/subscribers/{alias['uuid']}/referral/verify").json()["referral"]
        == verified
    )
    refused = alice.post(f"{path}/reject")
    assert (refused.status_code, refused.json()["code"]) == (400, "illegal_move")
    assert alice.subscriber(ana["uuid"])["referrals_count"] == 1


def test_each_certainty_shows_its_own_signal(alice: Member) -> None:
    ana = alice.subscribe("ana@gmail.com")
    cases = {"thrown@mailinator.com": "disposable_domain"}
    ben = alice.subscribe("ben@example.org", referrer_code=ana["ref_code"])
    body = referral(alice, ben)
    assert (body["status"], body["reason"]) == ("verified", None)
    assert not any(
        value for name, value in body["signals"].items() if not name.startswith("signups")
    )
    loop = alice.subscribe("a.na@gmail.com", referrer_code=ben["ref_code"])
    body = referral(alice, loop)
    assert (body["reason"], body["signals"]["referral_loop"]) == ("referral_loop", True)
    for email, reason in cases.items():
        body = referral(alice, alice.subscribe(email, referrer_code=ana["ref_code"]))
        assert (body["status"], body["reason"], body["signals"][reason]) == (
            "rejected",
            reason,
            True,
        )


def test_who_was_not_referred_has_no_referral_to_explain(alice: Member) -> None:
    ana = alice.subscribe("ana@example.org")
    for method, tail in (("GET", ""), ("POST", "/verify"), ("POST", "/reject")):
        answer = alice.http.request(method, f"{alice.v1}/subscribers/{ana['uuid']}/referral{tail}")
        assert (answer.status_code, answer.json()["code"]) == (404, "not_referred")
        assert answer.json()["error"].startswith("Nobody referred this subscriber")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"screening": "loose"}, "screening"),
        ({"hold_days": 31}, "hold_days"),
        ({"hold_days": -1}, "hold_days"),
        ({"hold_days": 1.5}, "hold_days"),
        ({"hold_days": None}, "hold_days"),
        ({"needs_confirmation": "yes"}, "needs_confirmation"),
        ({"destination_url": "javascript:alert(1)"}, "destination_url"),
        ({"destination_url": "//evil.example"}, "destination_url"),
        ({"slug": "Admin"}, "slug"),
        ({"slug": "admin"}, "slug"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    alice: Member, body: dict[str, Any], param: str
) -> None:
    before = alice.get(f"{alice.v1}/settings").json()
    answer = alice.put(f"{alice.v1}/settings", body)
    assert (answer.status_code, answer.json()["param"]) == (400, param), answer.text
    assert alice.get(f"{alice.v1}/settings").json() == before


def test_settings_are_read_back_and_the_campaign_object_stays_as_specified(alice: Member) -> None:
    chosen = {
        "screening": "strict",
        "hold_days": 30,
        "needs_confirmation": True,
        "destination_url": "https://wax.example.org/",
        "slug": f"wax-{alice.campaign_id[-12:]}",
    }
    configure(alice, **chosen)
    body = alice.get(f"{alice.v1}/settings").json()["settings"]
    assert body == {
        **chosen,
        "link_parameters": [],
        "signup_page_url": alice.service.services.site.page_link(chosen["slug"]),
    }
    assert set(alice.get(alice.v1).json()["campaign"]) == {"uuid", "name"}
    configure(alice, destination_url=None)
    assert alice.get(f"{alice.v1}/settings").json()["settings"]["destination_url"] is None
