"""First looks in Review: what the card says, its three answers, and who may give them."""

from __future__ import annotations

import re

import pytest

from honeyguide.pages.dashboard.people.look_drawing import LINE_Y, draw
from honeyguide.screening.look_cohorts import Bar, Comparison
from tests.support.delayed import pass_minute
from tests.support.first_looks import FIRST, asked, begin, bring, run_jobs
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.trait_groups import DOMAIN, NAMES, come
from tests.support.trait_groups import look as look_for_groups
from tests.support.web import Operator, operator, text_of

PATH = "/review/looks"


@pytest.fixture
def alice(service: Service) -> Operator:
    return operator(service)


def card(owner: Operator) -> str:
    return text_of(owner.web.get(PATH).text)


def give(owner: Operator, look: str, answer: str) -> str:
    path = f"{PATH}/refuse" if answer == "refuse" else PATH
    sent = owner.web.post(path, page=PATH, look=look, do=answer)
    assert sent.status_code == 303, text_of(sent.text)
    return text_of(owner.web.get(sent.headers["location"]).text)


def statuses(owner: Operator) -> list[tuple[str, str | None]]:
    sql = (
        "SELECT referral_status, referral_reason FROM subscriber "
        "WHERE account_id = :id AND partner_campaign_id IS NOT NULL ORDER BY id"
    )
    rows = owner.service.read(lambda tx: tx.all(statement(sql), id=owner.account_id))
    return [tuple(row) for row in rows]


def test_nobody_waits(alice: Operator) -> None:
    assert "No partner waits for a look" in card(alice)
    assert PATH in alice.web.get("/review").text


def test_looks_right_lets_those_count_who_wait(alice: Operator) -> None:
    look = asked(alice)
    page = card(alice)
    assert "brought its first readers. Look once." in page
    assert f"{FIRST} counted, 2 are pending, 2 of them wait for you." in page
    assert "Reject 2, take back $9.00" in page and "$6.00 pending; $9.00 charged" in page
    assert "1 partner will be marked as looking right in a minute." in give(alice, look, "right")
    assert statuses(alice).count(("pending", "awaiting_first_look")) == 2
    pass_minute(alice.service)
    run_jobs(alice.service)
    assert statuses(alice) == [("verified", None)] * (FIRST + 2)
    assert "Looks right" in card(alice) and f"{FIRST + 2} of 105" in card(alice)


def test_refused_readers_are_rejected_and_unsubscribed_after_the_minute(alice: Operator) -> None:
    look = asked(alice)
    assert "1 partner will be refused in a minute." in give(alice, look, "refuse")
    pass_minute(alice.service)
    run_jobs(alice.service)
    assert (
        statuses(alice)
        == [("rejected", "reversed")] * FIRST + [("rejected", "rejected_by_hand")] * 2
    )
    assert "Refused" in card(alice)


def test_the_look_is_put_off_once(alice: Operator) -> None:
    look = asked(alice)
    assert "We will ask you again in a week." in give(alice, look, "later")
    assert "No partner waits for a look" in card(alice)
    refused = alice.web.post(PATH, page=PATH, look=look, do="later")
    assert refused.status_code == 400 and "put this look off already" in text_of(refused.text)


def test_a_member_of_the_partners_account_answers_nothing(alice: Operator) -> None:
    look = asked(alice)
    sql = (
        "INSERT INTO member (account_id, user_id, role, created_ms) "
        "SELECT j.account_id, :user_id, 'analyst', 0 FROM partner_campaign AS j WHERE j.id = :id"
    )
    alice.service.write(lambda tx: tx.run(statement(sql), user_id=alice.user_id, id=look))
    refused = alice.web.post(PATH, page=PATH, look=look, do="right")
    assert refused.status_code == 400
    assert "an owner who is not in both decides about its readers" in text_of(refused.text)


def test_what_differs_is_said_and_drawn(alice: Operator) -> None:
    alice.service.set_clock(-15 * 86_400)
    for number in range(40):
        alice.subscribe(f"own{number}@gmail.com", status="confirmed")
        # Strangers, made up so that the partner's fakes are like others.
        alice.subscribe(f"stranger{number}@example.org")
    alice.service.set_clock(0)
    for number in range(40):
        alice.subscribe(f"new{number}@example.org", status="confirmed")
    look = asked(alice)
    found = alice.web.get(PATH).text
    assert "All 5 are at one host, example.org. None of the others are there." in text_of(found)
    assert len(re.findall('class="cell p" transform', found)) == 5 * 3
    assert text_of(found).count("Not known of these readers.") == 2, "they came by API"
    assert look in found


def test_a_partner_reads_that_a_look_is_awaited(alice: Operator) -> None:
    bob = operator(alice.service, "bob")
    joined = begin(alice, bob)
    before = text_of(bob.web.get(f"/network/{joined['partner_program_uuid']}").text)
    assert "The first 3 verified readers of a new partner count at once" in before
    assert "First looks" not in before
    bring(alice, joined, FIRST + 2)
    page = text_of(bob.web.get(f"/earnings/{joined['uuid']}").text)
    assert "Waits for a first look" in page
    assert "2 readers with $6.00 at most wait for it." in page
    assert "Without a look, who waits goes unpaid" in page
    assert "Without a look it is not paid after" in page, "of each referral"
    give(alice, joined["uuid"], "right")
    pass_minute(alice.service)
    run_jobs(alice.service)
    assert "Waits for a first look" not in text_of(bob.web.get(f"/earnings/{joined['uuid']}").text)
    after = text_of(bob.web.get(f"/network/{joined['partner_program_uuid']}").text)
    assert "1 of 1 new partner looked at. 0 not within 30 days (0%)" in after
    path = f"/v2/partner_network/partner_programs/{joined['partner_program_uuid']}"
    looks = bob.get(path).json()["partner_program"]["first_looks"]
    assert looks == {"answered": 1, "unanswered": 0, "unanswered_share": 0.0}


def test_a_look_is_on_home_and_in_the_menu_and_takes_in_its_group(alice: Operator) -> None:
    """One decision, counted once."""
    path = begin(alice, alice.service.member("bob"))
    program = f"/v2/partner_programs/{path['partner_program_uuid']}/verification"
    assert alice.put(program, {"screening": "strong"}).status_code == 200
    come(alice, path["ref_code"], *(f"{name}@{DOMAIN}" for name in NAMES))
    look_for_groups(alice.service)
    look_for_groups(alice.service)
    assert statuses(alice) == [("pending", "needs_review")] * 8
    alone = text_of(alice.web.get("/").text)
    assert "8 referrals to review" in alone and "first look" not in alone
    for name in NAMES[:FIRST]:
        alice.subscribe(f"{name}@gmail.com", referrer_code=path["ref_code"])
    run_jobs(alice.service)
    home = text_of(alice.web.get("/").text)
    assert "1 thing needs you" in home and "1 partner waits for a first look" in home
    review = text_of(alice.web.get("/review").text)
    assert "Nothing to review" in review and "waiting: 1" in review
    page = card(alice)
    assert "What some of them share" in page and "8 at quiet-harbor.example" in page
    assert f"0 counted, {8 + FIRST} are pending" in page
    give(alice, path["uuid"], "right")
    pass_minute(alice.service)
    look_for_groups(alice.service)
    run_jobs(alice.service)
    assert ("pending", "needs_review") not in statuses(alice)
    assert "Nothing to review" in text_of(alice.web.get("/review").text)


def test_a_partner_in_the_owners_team_decides_no_single_referral_either(alice: Operator) -> None:
    """Also who became a member of the other side after the referrals came."""
    look = asked(alice)
    sql = (
        "INSERT INTO member (account_id, user_id, role, created_ms) "
        "SELECT j.account_id, :user_id, 'analyst', 0 FROM partner_campaign AS j WHERE j.id = :id"
    )
    alice.service.write(lambda tx: tx.run(statement(sql), user_id=alice.user_id, id=look))
    people = alice.get(f"{alice.v1}/subscribers").json()["subscribers"]
    waits = next(each["uuid"] for each in people if each["referral_status"] == "pending")
    refused = alice.web.post("/review", page="/review?show=pending", id=waits, do="verify")
    assert refused.status_code == 400
    assert "an owner who is not in both decides about its readers" in text_of(refused.text)


def test_hexagons_stand_on_the_line_and_never_beside_their_column() -> None:
    bars = [Bar("gmail.com", 200, 10), Bar("others", 3, 0)]
    drawing = draw(Comparison("Mail host", bars, 203, 10, [], ""))
    assert drawing.each == 10
    many, few = drawing.columns
    assert len(many.cells) == 20 and len(few.cells) == 1
    assert (many.percent, few.percent, few.depth) == (100, 0, 0)
    for column in drawing.columns:
        for x, y in column.cells:
            assert abs(x - column.x) <= 300 / 4 and 0 < y < LINE_Y
