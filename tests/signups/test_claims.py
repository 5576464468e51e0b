"""An address that comes again with another code before it is confirmed: each signup is a claim, has
an email of its own, and the button that is pressed decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from honeyguide.signups import confirmations
from tests.support.mailbox import Mailbox
from tests.support.partner_network import join
from tests.support.robots import Robots
from tests.support.service import ENGINES, Service
from tests.support.stores import statement
from tests.support.web import text_of

EMAIL = "wanted@gmail.com"
HOUR_S = 3_600
LINK = re.compile(r"/confirm/[\w-]+")


STATES = statement(
    "SELECT s.referral_status, s.referral_reason FROM partner_referral AS r "
    "JOIN subscriber AS s ON s.id = r.subscriber_id WHERE r.partner_account_id = :partner "
    "ORDER BY r.id"
)


class Rivals(Robots):
    """Two partners who want the same reader."""

    def __init__(self, service: Service, mailbox: Mailbox) -> None:
        super().__init__(service)
        self.mailbox = mailbox
        self.rival = service.member("carol")
        self.other = join(self.rival, self.program)["ref_code"]

    def links(self, email: str = EMAIL) -> list[str]:
        """In the emails that left, in the order in which they were made."""
        self.service.run_jobs()
        texts = [each.text for each in self.mailbox.received if each.to == email]
        return [found[0] for text in texts if (found := LINK.search(text))]

    def press(self, link: str) -> None:
        answer = self.wax.visitor.post(link, data=self.wax.fields(link))
        assert answer.status_code == 303, answer.text

    def seen_by(self, code: str) -> list[tuple[str, str | None]]:
        """The referrals of a partner, as their own page lists them."""
        partner = self.partner if code == self.code else self.rival
        rows = self.service.read(lambda tx: tx.all(STATES, partner=partner.account_id))
        return [(row[0], row[1]) for row in rows]


@pytest.fixture(params=ENGINES)
def rivals(request: pytest.FixtureRequest) -> Iterator[Rivals]:
    with (
        Mailbox() as mailbox,
        Service(request.param, smtp_url=mailbox.url, work=False) as service,
    ):
        yield Rivals(service, mailbox)


def test_the_button_that_is_pressed_decides(rivals: Rivals) -> None:
    rivals.come(EMAIL, rivals.code)
    before = rivals.wax.person(EMAIL)
    (first,) = rivals.links()
    rivals.wax.later(2 * HOUR_S)
    rivals.come(EMAIL, rivals.other)
    shown = rivals.wax.person(EMAIL)
    assert (shown.id, shown.ref_code) == (before.id, before.ref_code)
    assert shown.referrer_code == rivals.other
    assert (shown.referral_status, shown.referral_reason) == ("pending", "awaiting_confirmation")
    assert rivals.seen_by(rivals.code) == [("pending", "awaiting_confirmation")]
    _, second = rivals.links()
    assert first != second
    rivals.press(first)
    assert rivals.wax.person(EMAIL).id == before.id
    assert rivals.wax.person(EMAIL).referrer_code == rivals.code
    assert rivals.referral(EMAIL) == ("verified", None)
    assert rivals.seen_by(rivals.code) == [("verified", None)]
    assert rivals.seen_by(rivals.other) == [("rejected", "unconfirmed")]
    assert rivals.charged() == 1
    rivals.press(second)
    assert rivals.wax.person(EMAIL).referrer_code == rivals.code
    assert rivals.charged() == 1


def test_each_email_names_through_whom_it_came(rivals: Rivals) -> None:
    set_name = statement("UPDATE account SET name = :name WHERE id = :id")
    for member, name in ((rivals.partner, "Bob’s Bulletin"), (rivals.rival, "Carol’s Courier")):
        rivals.service.write(
            lambda tx, id=member.account_id, name=name: tx.run(set_name, id=id, name=name)
        )
    rivals.come(EMAIL, rivals.code)
    rivals.wax.later(2 * HOUR_S)
    rivals.come(EMAIL, rivals.other)
    rivals.links()
    texts = [each.text for each in rivals.mailbox.received if each.to == EMAIL]
    named = {"Bob’s Bulletin", "Carol’s Courier"}
    assert {name for name in named for text in texts if f"a link from {name}." in text} == named


def test_a_second_email_within_the_hour_waits_for_its_end(rivals: Rivals) -> None:
    rivals.come(EMAIL, rivals.code)
    rivals.wax.later(600)
    rivals.come(EMAIL, rivals.other)
    assert len(rivals.links()) == 1
    rivals.wax.later(HOUR_S - 600 + 1)
    assert len(rivals.links()) == 2


def test_it_waits_for_the_hour_also_if_its_flooded_code_is_released(rivals: Rivals) -> None:
    for number in range(confirmations.FREE):
        rivals.come(f"flood{number}@gmail.com", rivals.other)
    rivals.come(EMAIL, rivals.code)
    rivals.come(EMAIL, rivals.other)
    assert len(rivals.links()) == 1
    sent = rivals.owner.web.post("/review/confirmations", page="/review", code=rivals.other)
    assert "1 confirmation email will be sent now." in text_of(
        rivals.owner.web.get(sent.headers["location"]).text
    )
    assert len(rivals.links()) == 1
    rivals.wax.later(HOUR_S)
    assert len(rivals.links()) == 2


def test_it_does_not_leave_if_the_first_was_confirmed(rivals: Rivals) -> None:
    rivals.come(EMAIL, rivals.code)
    rivals.wax.later(600)
    rivals.come(EMAIL, rivals.other)
    (link,) = rivals.links()
    rivals.press(link)
    rivals.wax.later(2 * HOUR_S)
    assert rivals.links() == [link]
    assert rivals.wax.person(EMAIL).referrer_code == rivals.code


def test_the_owner_and_the_person_see_every_signup_and_erasure_takes_what_is_personal(
    rivals: Rivals,
) -> None:
    rivals.come(EMAIL, rivals.code)
    rivals.wax.later(2 * HOUR_S)
    rivals.come(EMAIL, rivals.other)
    person, owner = rivals.wax.person(EMAIL), rivals.owner
    assert "Another signup through" in owner.web.get(f"/subscribers/{person.id}").text
    path = f"{owner.v1}/subscribers/{person.id}"
    (signup,) = owner.get(f"{path}/export").json()["export"]["other_signups"]
    assert signup["referrer_code"] == rivals.code and signup["ip_address"]
    assert owner.delete(path).status_code < 300
    kept = statement("SELECT id FROM claim WHERE account_id = :id")
    assert rivals.service.read(lambda tx: tx.all(kept, id=owner.account_id)) == []
    assert rivals.seen_by(rivals.code) == [("rejected", "unconfirmed")]
    assert rivals.seen_by(rivals.other) == [("rejected", "left_during_hold")]


def test_a_partner_who_is_removed_with_what_waits_is_not_paid_for_a_claim(rivals: Rivals) -> None:
    rivals.come(EMAIL, rivals.code)
    (first,) = rivals.links()
    rivals.wax.later(2 * HOUR_S)
    rivals.come(EMAIL, rivals.other)
    joined = rivals.partner.get("/v2/partner_profile/partner_campaigns").json()
    partner = joined["partner_campaigns"][0]["uuid"]
    path = f"/v2/partner_programs/{rivals.program['uuid']}/partners/{partner}"
    assert rivals.owner.delete(path, params={"end_pending": "true"}).status_code == 200
    rivals.press(first)
    assert rivals.wax.person(EMAIL).referrer_code == rivals.code
    assert rivals.referral(EMAIL) == ("rejected", "partner_removed")
    assert rivals.seen_by(rivals.other) == [("rejected", "unconfirmed")]
    assert rivals.charged() == 0


def test_who_was_verified_by_hand_before_they_confirmed_is_nobody_elses(rivals: Rivals) -> None:
    rivals.come(EMAIL, rivals.code)
    path = f"{rivals.owner.v1}/subscribers/{rivals.wax.person(EMAIL).id}/referral/verify"
    assert rivals.owner.post(path).status_code == 200
    rivals.wax.later(2 * HOUR_S)
    rivals.come(EMAIL, rivals.other)
    assert rivals.wax.person(EMAIL).referrer_code == rivals.code
    assert rivals.seen_by(rivals.other) == []


def test_somebody_who_comes_again_without_a_code_is_sent_the_same_email_again(
    rivals: Rivals,
) -> None:
    rivals.come(EMAIL, rivals.code)
    rivals.wax.later(2 * HOUR_S)
    rivals.wax.join(EMAIL)
    assert len(rivals.links()) == 2
    assert rivals.wax.person(EMAIL).referrer_code == rivals.code
