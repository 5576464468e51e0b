"""A partner's earnings on both engines: each reader with what became of them, when and why, and
never who they are.
"""

from __future__ import annotations

import pytest

from honeyguide.kernel.clock import DAY_MS, system_clock
from honeyguide.pages.dashboard import earnings as earnings_page
from honeyguide.pages.dashboard import formats
from honeyguide.pages.dashboard.earnings import WHY_UNPAID
from honeyguide.partners import rules
from honeyguide.referrals.reasons import Reason
from tests.support.partner_network import join, offer, publish
from tests.support.service import Service
from tests.support.web import Operator, operator, text_of


def earnings(who: Operator, query: str = "") -> str:
    page = text_of(who.web.get(f"/earnings{query}").text)
    assert "veiled" not in page and "Veiled" not in page, "readers are the owner's"
    return page


def test_each_reader_stands_under_the_figure_they_are_part_of(service: Service) -> None:
    alice, bob = operator(service), operator(service, "bob")
    hold = {"referral_pending_duration_enabled": True, "referral_pending_duration": 7}
    place = join(bob, offer(alice, publish(alice, name="Slow lane"), **hold))
    for name in ("stays", "leaves"):
        alice.subscribe(
            f"veiled.{name}@example.org", name="Veiled", referrer_code=place["ref_code"]
        )
    alice.subscribe("veiled@mailinator.com", referrer_code=place["ref_code"])
    alice.put(f"{alice.v1}/subscribers/veiled.leaves@example.org", {"status": "unsubscribed"})
    due = formats.day(service.now_ms() + 7 * DAY_MS)
    pending = earnings(bob)
    assert f"Will be confirmed on {due} if they stay subscribed. $3.00" in pending, (
        "what is pending is shown first, with its day"
    )
    rejected = earnings(bob, "?show=rejected")
    assert (
        "They unsubscribed during the holding period." in rejected
        and "The email address is disposable." in rejected
    )
    one = bob.web.get(f"/earnings/{place['uuid']}").text
    assert one.count("</svg>Pending</span>") == 1 and one.count("</svg>Rejected</span>") == 2
    assert "eiled" not in one
    service.set_clock(8 * DAY_MS / 1000)
    service.run_jobs()
    bob.web.log_in(bob.email)
    confirmed = earnings(bob, "?show=confirmed")
    assert (
        f"Confirmed on {formats.day(service.now_ms())}. $3.00" in confirmed
        and "Slow lane" in confirmed
    )
    assert "Nothing pending." in earnings(bob, "?show=pending")


def test_a_reached_budget_is_said_to_its_partners(service: Service) -> None:
    alice, bob = operator(service), operator(service, "bob")
    hold = {"referral_pending_duration_enabled": True, "referral_pending_duration": 1}
    program = offer(alice, publish(alice), total_budget=5, max_payout=90, **hold)
    place = join(bob, program)
    for number in range(3):
        alice.subscribe(f"veiled{number}@example.org", referrer_code=place["ref_code"])
    before = earnings(bob)
    assert "Budget reached" not in before and "$90.00" in before
    # Not over the end of a month, where the budget would be a new one.
    service.set_clock(
        (rules.month_bounds(rules.next_month(rules.month_of(service.now_ms())))[0] - system_clock())
        / 1000
    )
    service.run_jobs()
    bob.web.log_in(bob.email)
    alice.web.log_in(alice.email)
    month = rules.month_of(service.now_ms())
    after, again = earnings(bob), rules.month_name(rules.next_month(month))
    assert f"$3.00 $0.00 $0.00 Budget reached, resumes 1 {again}" in after, (
        "whatever their own cap would still hold"
    )
    assert (
        earnings(bob, "?show=uncharged").count("The program had reached its monthly budget.") == 2
    )
    owner = text_of(alice.web.get(f"/program/{program['uuid']}").text)
    assert f"Reached on {formats.day(service.now_ms())}; you and 1 partner were notified." in owner


def test_why_a_reader_was_rejected_has_words_for_partners() -> None:
    never = {
        "awaiting_activity",
        "awaiting_confirmation",
        "holding_period",
        "imported",
        "needs_review",
        "verified_by_hand",
        "screening_hold_over",
        "own_program",
    }
    assert {reason.value for reason in Reason if not reason.facts.to_partner} == never
    assert set(rules.Uncharged) == set(WHY_UNPAID)


def test_a_partners_referrals_are_paged(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(earnings_page, "PER_PAGE", 2)
    alice, bob = operator(service), operator(service, "bob")
    place = join(bob, offer(alice))
    for number in range(3):
        alice.subscribe(f"veiled{number}@example.org", referrer_code=place["ref_code"])
    path = f"/earnings/{place['uuid']}"
    first, second = bob.web.get(path).text, bob.web.get(f"{path}?page=2").text
    assert [page.count("</svg>Confirmed</span>") for page in (first, second)] == [2, 1]
    assert f'rel="next" href="{path}?page=2"' in first and 'rel="next"' not in second


def test_the_owner_reads_why_a_partner_recommends_them(service: Service) -> None:
    alice, bob = operator(service), operator(service, "bob")
    program = offer(alice, show_in_directory=True, terms="Be kind.")
    card = bob.web.get("/network").text
    assert f'href="/network/{program["uuid"]}"' in card
    assert f'action="/network/{program["uuid"]}/join"' not in card, "the terms come first"
    terms = f"/network/{program['uuid']}"
    assert "By joining you accept the terms of this program." in text_of(bob.web.get(terms).text)
    bob.web.post(f"{terms}/join", page=terms, reason="My readers <3 wax")
    assert "“My readers <3 wax”" in text_of(alice.web.get(f"/program/{program['uuid']}").text)


def test_payouts_lists_only_months_with_fees(service: Service) -> None:
    alice, bob = operator(service), operator(service, "bob")
    assert "No fees yet." in text_of(alice.web.get("/payouts").text)
    place = join(bob, offer(alice))
    alice.subscribe("veiled.fee@example.org", referrer_code=place["ref_code"])
    month = rules.month_name(rules.month_of(service.now_ms()))
    page = text_of(alice.web.get("/payouts").text)
    assert f"{month} $3.00" in page and page.count("$") == 1


def test_the_headline_is_what_will_be_paid(service: Service) -> None:
    """Of two pending fees only one fits the partner's cap; what is due next month is paid then."""
    alice, bob = operator(service), operator(service, "bob")
    hold = {"referral_pending_duration_enabled": True, "referral_pending_duration": 1}
    place = join(bob, offer(alice, publish(alice), cpa=3, max_payout=3, **hold))
    for number in range(2):
        alice.subscribe(f"veiled{number}@example.org", referrer_code=place["ref_code"])
    page, month = earnings(bob), rules.month_of(service.now_ms())
    name = rules.month_name(month)
    assert "Pending $6.00 $3.00 of it is over a cap and will not be paid" in page
    if rules.month_of(service.now_ms() + DAY_MS) == month:
        assert f"Will be paid for {name} $3.00 $0.00 confirmed, $3.00 if they stay" in page
    carl = operator(service, "carl")
    place = join(carl, offer(alice, publish(alice), cpa=3, max_payout=3))
    alice.subscribe("veiled@example.org", referrer_code=place["ref_code"])
    page = earnings(carl)
    assert f"Will be paid for {name} $3.00 $3.00 confirmed" in page and "nothing pending" in page
    assert "Your cap is reached, resumes 1" in page
