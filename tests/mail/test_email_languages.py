"""Emails are in the language of the page on which somebody signed up, if pages follow browsers."""

import pytest

from honeyguide.rewards import advocate_emails
from honeyguide.signups import privacy, resent_emails, signups
from honeyguide.subscribers.subscribers import Subscriber
from tests.support.newsletter import Newsletter
from tests.support.prizes import bring, earned_by, offer
from tests.support.readings import reading
from tests.support.service import Member, Service
from tests.support.shipments import ADDRESS, pass_minute
from tests.support.stores import statement

DAY_S = 86_400
LANGUAGE = statement("SELECT language FROM subscriber WHERE id = :id")
NAME = "The Morning Wax"
# What each kind is called, as subject.
GERMAN = {
    "confirm": f"Bestätige dein Abo von {NAME}",
    "friend_joined": f"Durch dich liest jetzt jemand Neues {NAME}",
    "one_more": "Noch eine Empfehlung, und du hast dir „The mug“ verdient",
    "reward_unlocked": "Du hast dir „The mug“ verdient",
    "shipment_sent": "Unterwegs zu dir: The mug",
    "hub_link": f"Deine Empfehlungsseite für {NAME}",
}
ENGLISH = {
    "friend_joined": f"A friend joined {NAME} through you",
    "one_more": "One more friend and you’ve earned “The mug”",
    "reward_unlocked": "You’ve earned “The mug”",
    "shipment_sent": "On its way to you: The mug",
    "hub_link": f"Your referral page for {NAME}",
}


@pytest.fixture
def member(service: Service) -> Member:
    return service.member("alice")


@pytest.fixture
def wax(service: Service, member: Member) -> Newsletter:
    made = Newsletter(service, NAME, member)
    made.speak("en", follow_browser=True)
    for kind in ("friend_joined", "one_more", "reward_unlocked"):
        member.make(advocate_emails.switch, kind, is_on=True)
    return made


def sign_up(wax: Newsletter, accept_language: str) -> Subscriber:
    wax.visitor.headers["accept-language"] = accept_language
    email = wax.address("ana")
    wax.join(email)
    return wax.person(email)


def subjects(wax: Newsletter, person: Subscriber) -> dict[str, str]:
    """Of all that comes after the signup: friends, a reward, its way, and the link once more."""
    member = wax.member
    offer(member, kind="physical", referrals=3)
    try:
        for day in range(1, 4):
            wax.service.set_clock(day * DAY_S)
            bring(member, {"ref_code": person.ref_code}, 1)
        (earned,) = earned_by(member, {"uuid": person.id})
        claim = f"{member.v1}/rewards/{earned['uuid']}/redeem"
        assert member.post(claim, {"shipping_details": ADDRESS}).status_code == 200
        (shipment,) = member.get(f"{member.v1}/shipments").json()["shipments"]
        sent = member.post(f"{member.v1}/shipments/{shipment['uuid']}/sent")
        assert sent.status_code == 200, sent.text
        pass_minute(member)
        member.make(resent_emails.send_link, person.id)
    finally:
        wax.service.set_clock(0)
    oldest_first = reversed(wax.emails())
    return {each.kind: each.subject for each in oldest_first if each.to_email == person.email}


def test_every_email_is_in_the_language_of_the_signup(wax: Newsletter) -> None:
    wax.configure(needs_confirmation=True)
    person = sign_up(wax, "de-AT, en;q=0.5")
    assert person.language == "de"
    link = wax.confirm_link(person.email)
    wax.visitor.post(link, data=wax.fields(link))
    wax.configure(needs_confirmation=False)  # for the friends
    assert subjects(wax, person) == GERMAN


def test_the_newsletters_language_is_used_if_pages_do_not_follow_the_browser(
    wax: Newsletter,
) -> None:
    person = sign_up(wax, "de")
    wax.speak("en")
    assert subjects(wax, person) == ENGLISH


def test_who_came_by_the_api_is_written_to_in_the_newsletters_language(wax: Newsletter) -> None:
    made = wax.member.subscribe(wax.address("ana"))
    person = wax.person(made["uuid"])
    assert person.language is None
    assert subjects(wax, person) == ENGLISH


def test_the_language_is_in_their_data_and_goes_with_it(wax: Newsletter) -> None:
    person = sign_up(wax, "ar")
    exported = wax.service.read(lambda tx: privacy.export_person(reading(tx, wax.tenant), person))
    assert exported["subscriber"]["language"] == "ar"
    wax.member.make(signups.erase, person.id)
    assert wax.service.read(lambda tx: tx.all(LANGUAGE, id=person.id)) == [(None,)]
