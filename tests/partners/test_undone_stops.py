"""A removal or a block that is taken back within a minute counts as if it had not been; one that
stands is told, and the public figures have the readers who came for nothing.
"""

from collections.abc import Callable
from typing import Any

import pytest

from honeyguide.kernel.ids import new_code
from tests.partners.test_removed_partners import (
    DAY_S,
    FEE,
    PENDING,
    REMOVED,
    Deal,
    emails_to,
    notified,
    wait_out_the_holding_period,
)
from tests.support.service import Member, Service
from tests.support.stores import statement

STOPS = {"remove": "allow", "block": "unblock"}


def stop(deal: Deal, how: str, **more: Any) -> None:
    if how == "remove":
        answer = deal.alice.delete(deal.partner, params=more)
    else:
        answer = deal.alice.post(f"{deal.partner}/block", more)
    assert answer.status_code == 200, answer.text


def undo(deal: Deal, how: str) -> None:
    assert deal.alice.post(f"{deal.partner}/{STOPS[how]}").status_code == 200


def days_of(deal: Deal) -> tuple[int, int]:
    """What the program's days count as verified and rejected."""
    sql = statement("SELECT SUM(verified), SUM(rejected) FROM program_day WHERE program_id = :id")
    ((verified, rejected),) = deal.alice.service.read(
        lambda tx: tx.all(sql, id=deal.program["uuid"])
    )
    return int(verified or 0), int(rejected or 0)


@pytest.fixture
def deal(alice: Member, bob: Member) -> Deal:
    return Deal(alice, bob)


@pytest.mark.parametrize("how", STOPS)
@pytest.mark.parametrize("terms", [{}, {"rule": "none", "screening": "flexible"}])
def test_who_came_before_the_undo_counts(
    service: Service, deal: Deal, how: str, terms: dict[str, str]
) -> None:
    if terms:
        answer = deal.alice.put(f"{deal.api}/verification", {"verification": terms})
        assert answer.status_code == 200
    stop(deal, how)
    came = [deal.arrive(), deal.arrive()]
    assert [deal.outcome(each) for each in came] == [REMOVED, REMOVED]
    service.set_clock(50)
    undo(deal, how)
    assert [deal.outcome(each) for each in came] == [PENDING, PENDING]
    assert days_of(deal) == (0, 0)
    assert notified(deal.bob, "partner_removed") == []
    assert emails_to(deal.bob, "partner_removed") == []
    wait_out_the_holding_period(service)
    assert [deal.outcome(each)[0] for each in came] == ["verified", "verified"]
    assert deal.spent() == 2 * FEE and days_of(deal) == (2, 0)


def test_without_a_holding_period_they_are_paid_at_once(alice: Member, bob: Member) -> None:
    deal = Deal(alice, bob, referral_pending_duration_enabled=False)
    stop(deal, "remove")
    came = deal.arrive()
    undo(deal, "remove")
    assert deal.outcome(came)[0] == "verified"
    assert deal.spent() == FEE and days_of(deal) == (1, 0)


@pytest.mark.parametrize("how", STOPS)
def test_after_the_minute_it_stands_is_told_and_counts_in_public(
    service: Service, deal: Deal, how: str
) -> None:
    stop(deal, how)
    came = deal.arrive()
    service.set_clock(70)
    undo(deal, how)
    assert deal.outcome(came) == REMOVED
    assert len(emails_to(deal.bob, "partner_removed")) == 1
    assert days_of(deal) == (0, 1)
    figures = deal.bob.get(deal.network).json()["partner_program"]
    assert figures["confirmation_rate_30d"] == 0
    service.set_clock(DAY_S)
    service.run_jobs()
    sql = statement("SELECT rejected FROM program_figures WHERE program_id = :id")
    assert service.read(lambda tx: tx.all(sql, id=deal.program["uuid"]))[0][0] == 1


def test_who_would_not_have_counted_anyway_still_does_not(deal: Deal) -> None:
    code = new_code()
    deal.alice.subscribe(f"{code}@gmail.com")
    stop(deal, "remove")
    alias, throwaway = f"{code}+again@gmail.com", f"{code}@mailinator.com"
    for email in (alias, throwaway):
        deal.alice.subscribe(email, referrer_code=deal.joined["ref_code"])
    undo(deal, "remove")
    assert deal.outcome(alias) == ("rejected", "already_subscribed")
    assert deal.outcome(throwaway) == ("rejected", "disposable_domain")
    assert days_of(deal) == (0, 2)


def borrow_an_address(deal: Deal, reader: str) -> None:
    email = f"{reader}@mailinator.com"
    assert deal.alice.put(reader, {"email": email}).status_code == 200


def hold_longer(deal: Deal, reader: str) -> None:
    assert deal.alice.put(deal.api, {"referral_pending_duration": 30}).status_code == 200


@pytest.mark.parametrize("change", [borrow_an_address, hold_longer])
def test_what_changed_before_the_undo_is_for_those_who_come_later(
    service: Service, deal: Deal, change: Callable[[Deal, str], None]
) -> None:
    stop(deal, "remove")
    came = deal.arrive()
    reader = f"{deal.alice.v1}/subscribers/{deal.alice.subscriber(came)['uuid']}"
    change(deal, reader)
    undo(deal, "remove")
    deal.alice.put(reader, {"email": came})
    assert deal.outcome(came) == PENDING
    wait_out_the_holding_period(service)
    assert deal.outcome(came)[0] == "verified" and deal.spent() == FEE


def test_who_left_or_confirmed_before_the_undo_did_so(deal: Deal) -> None:
    stop(deal, "remove")
    left, confirmed = deal.arrive(), deal.arrive()
    for email, status in ((left, "unsubscribed"), (confirmed, "confirmed")):
        reader = f"{deal.alice.v1}/subscribers/{deal.alice.subscriber(email)['uuid']}"
        assert deal.alice.put(reader, {"status": status}).status_code == 200
    undo(deal, "remove")
    assert deal.outcome(left) == ("rejected", "left_during_hold")
    assert deal.outcome(confirmed) == PENDING


def test_who_came_during_the_first_of_two_stops_counts_when_both_are_undone(
    service: Service, deal: Deal
) -> None:
    stop(deal, "remove")
    came = deal.arrive()
    service.set_clock(20)
    pause(deal, on=False)
    undo(deal, "remove")
    assert deal.outcome(came) == ("rejected", "program_paused")
    service.set_clock(50)
    pause(deal, on=True)
    assert deal.outcome(came) == PENDING


def test_an_undo_of_one_of_two_stops_changes_nothing(deal: Deal) -> None:
    stop(deal, "remove")
    stop(deal, "block")
    came = deal.arrive()
    undo(deal, "block")
    assert deal.outcome(came) == REMOVED
    undo(deal, "remove")
    assert deal.outcome(came) == PENDING


def pause(deal: Deal, *, on: bool) -> None:
    sql = statement("SELECT publication_id FROM program WHERE id = :id")
    ((publication,),) = deal.alice.service.read(lambda tx: tx.all(sql, id=deal.program["uuid"]))
    answer = deal.alice.put(f"/v2/publications/{publication}", {"enabled_partner_program": on})
    assert answer.status_code == 200, answer.text


def test_a_pause_and_a_removal_that_overlap_hide_nothing(service: Service, deal: Deal) -> None:
    pause(deal, on=False)
    came = deal.arrive()
    service.set_clock(40)
    stop(deal, "remove")
    pause(deal, on=True)
    assert deal.outcome(came) == REMOVED
    service.set_clock(80)
    undo(deal, "remove")
    assert deal.outcome(came) == PENDING


@pytest.mark.parametrize("second", ["pause", "remove"])
def test_a_stop_that_another_one_follows_is_told(service: Service, deal: Deal, second: str) -> None:
    """Or each would be withdrawn while the next one goes on."""
    first = "block" if second == "remove" else "remove"
    stop(deal, first)
    deal.arrive()
    service.set_clock(40)
    if second == "pause":
        pause(deal, on=False)
    else:
        stop(deal, second)
    undo(deal, first)
    service.set_clock(70)
    if second == "pause":
        pause(deal, on=True)
    else:
        undo(deal, second)
    assert len(emails_to(deal.bob, "partner_removed")) == 1


def test_what_was_ended_and_who_came_before_the_removal_stay_as_they_are(
    service: Service, deal: Deal
) -> None:
    before = deal.arrive()
    stop(deal, "remove")
    service.set_clock(70)
    undo(deal, "remove")
    stop(deal, "remove", end_pending="true")
    undo(deal, "remove")
    assert deal.outcome(before) == REMOVED
