"""A partner's earnings on both engines: each reader with what became of them, when and why, and
never who they are.
"""

import pytest

from honeyguide.kernel.clock import DAY_MS, system_clock
from honeyguide.mail import newsletter_tools
from honeyguide.pages.dashboard import bars, formats
from honeyguide.pages.dashboard.earn import earnings as earnings_page
from honeyguide.pages.dashboard.earn.earnings import WHY_UNPAID, month_money
from honeyguide.partners import rules
from honeyguide.partners.month_limits import MonthLimit
from honeyguide.subscribers.reasons import Reason
from tests.support.partner_network import join, offer, publish
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import Operator, operator, text_of


def earnings(who: Operator, query: str = "") -> str:
    page = text_of(who.web.get(f"/earnings{query}").text)
    assert "veiled" not in page and "Veiled" not in page, "readers are the owner's"
    return page


def test_each_reader_stands_under_the_figure_they_are_part_of(
    service: Service, alice: Operator, bob: Operator
) -> None:
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
    assert "$3.00 pending 1: Will be confirmed on" in pending
    assert f"1: Will be confirmed on {due} if they stay subscribed." in pending
    assert 'aria-label="1 pending, 2 rejected"' in bob.web.get("/earnings").text, (
        "all of a day are one row"
    )
    rejected = earnings(bob, "?show=rejected")
    assert (
        "They unsubscribed during the holding period." in rejected
        and "The email address is disposable." in rejected
    )
    one = bob.web.get(f"/earnings/{place['uuid']}").text
    assert 'aria-label="1 pending, 2 rejected"' in one and "eiled" not in one
    service.set_clock(8 * DAY_MS / 1000)
    service.run_jobs()
    bob.web.log_in(bob.email)
    confirmed = earnings(bob, "?show=confirmed")
    assert (
        f"$3.00 Confirmed on {formats.day(service.now_ms())}." in confirmed
        and "Slow lane" in confirmed
    )
    assert "Nothing pending." in earnings(bob, "?show=pending")


def test_a_reached_budget_is_said_to_its_partners(
    service: Service, alice: Operator, bob: Operator
) -> None:
    hold = {"referral_pending_duration_enabled": True, "referral_pending_duration": 1}
    program = offer(alice, publish(alice), total_budget=5, max_payout=90, **hold)
    place = join(bob, program)
    for number in range(3):
        alice.subscribe(f"veiled{number}@example.org", referrer_code=place["ref_code"])
    before = earnings(bob)
    assert "Budget reached" not in before and "$90.00" not in before, "5.00 cannot pay 90.00"
    # Not over the end of a month, where the budget would be a new one.
    service.set_clock(
        (rules.month_bounds(rules.next_month(rules.month_of(service.now_ms())))[0] - system_clock())
        / 1000
    )
    service.run_jobs()
    bob.web.log_in(bob.email)
    alice.web.log_in(alice.email)
    month = rules.month_of(service.now_ms())
    after, again = earnings(bob), rules.month_name(rules.next_month(month))[:3]
    assert f"$3.00 $3.00 Budget reached, resumes 1 {again} " in after, (
        "sure and at most are the same, whatever their own cap would still hold"
    )
    unpaid = bob.web.get("/earnings?show=uncharged").text
    assert 'aria-label="2 not paid"' in unpaid
    assert text_of(unpaid).count("The program had reached its monthly budget.") == 1
    owner = text_of(alice.web.get(f"/program/{program['uuid']}").text)
    assert (
        f"Reached on {formats.day(service.now_ms())}; you and your active partners were notified."
        in owner
    )


def test_why_a_reader_was_rejected_has_words_for_partners() -> None:
    never = {
        "awaiting_activity",
        "awaiting_confirmation",
        "awaiting_first_look",  # it waits; who is never looked at ends as unreviewed
        "ended_by_team",  # it waits for the owner
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
    assert 'aria-label="2 confirmed"' in first and 'aria-label="1 confirmed"' in second
    assert f'rel="next" href="{path}?page=2"' in first and 'rel="next"' not in second


def test_the_owner_reads_why_a_partner_recommends_them(alice: Operator, bob: Operator) -> None:
    program = offer(alice, show_in_directory=True, terms="Be kind.")
    card = bob.web.get("/network").text
    assert f'href="/network/{program["uuid"]}"' in card
    assert f'action="/network/{program["uuid"]}/join"' not in card, "the terms come first"
    terms = f"/network/{program['uuid']}"
    assert "By joining you accept the terms of this program." in text_of(bob.web.get(terms).text)
    bob.web.post(f"{terms}/join", page=terms, reason="My readers <3 wax")
    assert "“My readers <3 wax”" in text_of(alice.web.get(f"/program/{program['uuid']}").text)


def test_payouts_lists_only_months_with_fees(
    service: Service, alice: Operator, bob: Operator
) -> None:
    assert "No fees yet." in text_of(alice.web.get("/payouts").text)
    place = join(bob, offer(alice))
    alice.subscribe("veiled.fee@example.org", referrer_code=place["ref_code"])
    month = rules.month_name(rules.month_of(service.now_ms()))
    page = text_of(alice.web.get("/payouts").text)
    assert f"{month} $3.00" in page and page.count("$") == 1


def test_sure_and_at_most_are_never_one_promise(
    service: Service, alice: Operator, bob: Operator
) -> None:
    """Of two pending fees only one fits the partner's cap; what is due next month is paid then."""
    hold = {"referral_pending_duration_enabled": True, "referral_pending_duration": 1}
    place = join(bob, offer(alice, publish(alice), cpa=3, max_payout=3, **hold))
    for number in range(2):
        alice.subscribe(f"veiled{number}@example.org", referrer_code=place["ref_code"])
    page, month = earnings(bob), rules.month_of(service.now_ms())
    name = rules.month_name(month)
    assert f"Confirmed in {name} $0.00 0 subscribers." in page
    if rules.month_of(service.now_ms() + DAY_MS) == month:
        assert "$0.00 sure at most $3.00" in page
        assert "2 referrals are pending, worth $6.00; at most $3.00 can still be paid" in page
        assert "can still be paid: $3.00 is over your monthly cap." in page
        assert "Their fee does not fit what is left." in page
    carl = operator(service, "carl")
    place = join(carl, offer(alice, publish(alice), cpa=3, max_payout=3))
    alice.subscribe("veiled@example.org", referrer_code=place["ref_code"])
    page = earnings(carl)
    assert f"Confirmed in {name} $3.00 1 subscriber. Will be paid after the month closes" in page
    assert "$3.00 sure at most $3.00 No fee is pending." in page
    assert "Only a higher budget or cap, new readers, a fee that is taken back or a" in page
    assert "Your cap is reached, resumes 1" in page


def test_what_is_left_of_a_budget_is_shared(service: Service) -> None:
    """Two partners with room under their caps, and a budget for one fee."""
    if rules.month_of(service.now_ms() + DAY_MS) != rules.month_of(service.now_ms()):
        service.set_clock(2 * DAY_MS / 1000)  # all of it is about one month
    alice, bob, carl = (operator(service, name) for name in ("alice", "bob", "carl"))
    hold = {"referral_pending_duration_enabled": True, "referral_pending_duration": 1}
    program = offer(alice, publish(alice), cpa=3, max_payout=90, total_budget=3, **hold)
    for who in (bob, carl):
        place = join(who, program)
        alice.subscribe(f"veiled.{who.email}", referrer_code=place["ref_code"])
    for who in (bob, carl):
        page = earnings(who)
        assert "$0.00 sure at most $3.00" in page and "shared with 1 other" in page
    api = carl.get("/v2/partner_profile/earnings").json()["earnings"]
    assert (api["at_most"], api["programs"][0]["at_most"]) == (3, 3)
    owner = text_of(alice.web.get(f"/program/{program['uuid']}").text)
    assert "$3.00 pending, fits $3.00 pending, does not fit the budget" in owner
    assert owner.count("at most $3.00") == 2, "as both partners read it"
    for budget, more in (("6", "$3.00 more would be paid"), ("4", "Nobody more would be paid")):
        tried = text_of(alice.web.get(f"/program/{program['uuid']}?budget={budget}").text)
        assert more in tried, "without scripts"


def test_an_unpaid_program_has_no_caps(alice: Operator, bob: Operator) -> None:
    program = offer(alice, publish(alice), cpa=0, max_payout=0, total_budget=0)
    place = join(bob, program)
    alice.subscribe("veiled.free@example.org", referrer_code=place["ref_code"])
    page = earnings(bob)
    assert "unpaid recommendation · " in page and "1 no fee" in page
    one = text_of(bob.web.get(f"/earnings/{place['uuid']}").text)
    assert "$0.00" not in one and "This is an unpaid recommendation" in one
    owner = text_of(alice.web.get(f"/program/{program['uuid']}").text)
    assert "Unpaid recommendation" in owner and "$0.00" not in owner
    offer(alice, publish(alice))
    programs = text_of(alice.web.get("/program").text)
    assert "The Morning Wax Unpaid recommendation Active" in programs
    assert programs.count("$0.00") == programs.count("$0.00 of $300.00") == 1


def test_nothing_is_said_of_zero_dollars_while_something_unpaid_is_pending(
    alice: Operator,
    bob: Operator,
) -> None:
    """In an unpaid program, and in one's own, which is never paid."""
    hold = {"referral_pending_duration_enabled": True, "referral_pending_duration": 9}
    for who, cpa in ((bob, 0), (alice, 3)):
        program = offer(alice, publish(alice), cpa=cpa, **hold)
        place = join(who, program)
        person = alice.subscribe(f"veiled{cpa}@example.org", referrer_code=place["ref_code"])
        owner = alice.web.get(f"/program/{program['uuid']}").text
        asked = "Delete this program? Partner links will stop counting. "
        assert asked in owner and "up to $" not in owner and "if confirmed" not in owner
        assert "at most $" not in text_of(owner)
        for page in (
            alice.web.get(f"/program/partners/{place['uuid']}").text,
            who.web.get(f"/earnings/{place['uuid']}").text,
        ):
            assert "up to $" not in text_of(page), "neither for leaving nor for removing"
            assert "$3.00 pending" not in text_of(page)
        fee = text_of(alice.web.get(f"/subscribers/{person['uuid']}").text)
        assert "Fee None" in fee


def test_the_magic_link_has_the_merge_tag_of_each_tool(alice: Operator, bob: Operator) -> None:
    place = join(bob, offer(alice))
    page = text_of(bob.web.get(f"/earnings/{place['uuid']}").text)
    for tool, tag in newsletter_tools.EMAIL_TAGS.items():
        assert f"{tool} " in page and f"?email={tag}" in page


def test_a_program_that_became_free_still_shows_what_it_may_pay(
    service: Service, alice: Operator, bob: Operator
) -> None:
    hold = {"referral_pending_duration_enabled": True, "referral_pending_duration": 9}
    program = offer(alice, publish(alice), **hold)
    place = join(bob, program)
    path = f"/v2/partner_programs/{program['uuid']}"
    alice.subscribe("veiled.before@example.org", referrer_code=place["ref_code"])
    make_due_this_month(service, place["uuid"])
    assert alice.put(path, {"cpa": 0}).status_code == 200
    page = earnings(bob)
    assert "$0.00 sure at most $3.00" in page and "1 0 $0.00 $3.00" in page, "the row says the same"


def make_due_this_month(service: Service, place_id: str) -> None:
    """What the program has pending, whatever day it is."""
    sql = (
        "UPDATE subscriber SET referral_due_ms = :due_ms WHERE partner_campaign_id = :id "
        "AND referral_status = 'pending'"
    )
    due_ms = rules.month_bounds(rules.month_of(service.now_ms()))[1] - 1
    service.write(lambda tx: tx.run(statement(sql), id=place_id, due_ms=due_ms))


@pytest.mark.parametrize(
    ("month", "closes"), [("2026-11", "1 Dec"), ("2026-12", "1 Jan"), ("2028-02", "1 Mar")]
)
def test_a_month_is_paid_after_a_day_that_is_to_come(month: str, closes: str) -> None:
    shown = month_money(500, 2, [(month, MonthLimit())], None, month)
    assert shown.when_paid == f"Will be paid after the month closes on {closes}."


def test_the_chart_has_twelve_months_at_the_most() -> None:
    def columns(*earned: str) -> list[str]:
        return [each.month for each in bars.months(dict.fromkeys(earned, 100), "2026-11", 12)]

    assert columns("2026-11") == ["2026-11"]
    assert columns("2026-09") == ["2026-09", "2026-10", "2026-11"]
    for first in ("2025-12", "2025-11", "2020-01"):
        shown = columns(first, "2026-11")
        assert (len(shown), shown[0], shown[-1]) == (12, "2025-12", "2026-11")


def test_a_pending_fee_is_not_added_to_a_confirmed_one(alice: Operator, bob: Operator) -> None:
    """In the row of a day with both. Nor is it what they can come to: the cap may be less."""
    hold = {"referral_pending_duration_enabled": True, "referral_pending_duration": 9}
    place = join(bob, offer(alice, publish(alice), max_payout=3, **hold))
    people = [
        alice.subscribe(f"veiled{number}@example.org", referrer_code=place["ref_code"])
        for number in range(3)
    ]
    verify = f"{alice.v1}/subscribers/{people[0]['uuid']}/referral/verify"
    assert alice.post(verify).status_code == 200
    for page in (earnings(bob), text_of(bob.web.get(f"/earnings/{place['uuid']}").text)):
        assert "$3.00 $6.00 does not fit" in page and "up to" not in page
