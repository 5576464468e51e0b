"""The email that says that a reward is on its way: a minute after it was marked as sent, once for
each package, and not at all if that was undone.
"""

import re
from typing import Any

import pytest

from honeyguide.languages.language import CODES, get_language
from honeyguide.mail import layout, shipment_texts
from honeyguide.mail.layout import EmailBranding, EmailLinks
from honeyguide.mail.texts import AdvocateFacts
from honeyguide.rewards import shipment_emails
from honeyguide.rewards.shipment_emails import SentReward
from tests.support.newsletter import Newsletter
from tests.support.prizes import advocate, earned_by, offer, post_of
from tests.support.service import Service
from tests.support.shipments import ADDRESS, claim, listed, pass_minute
from tests.support.web import Operator, operator, text_of

USPS = "USPS 9400 1000 0000 0000 0000 17"


def send(nora: Operator, *ids: str, **fields: Any) -> str:
    """Marks these as sent on the page, and returns what undoes it."""
    page = nora.web.post("/shipments", id=list(ids), **fields)
    assert page.status_code == 303, text_of(page.text)
    html = nora.web.get("/shipments").text
    found = re.search(r'form="undo" name="action" value="(\S+)"', html)
    assert found, "the page offers to undo it"
    return found[1]


def claim_all(nora: Operator, email: str, **other: Any) -> list[str]:
    """Somebody claims all that they earned."""
    ana = advocate(nora, 1, email)
    ids = [str(each["uuid"]) for each in earned_by(nora, ana)]
    for each in ids:
        shipping = {"shipping_details": {**ADDRESS, **other}}
        assert nora.post(f"{nora.v1}/rewards/{each}/redeem", shipping).status_code == 200
    return ids


def test_it_goes_out_a_minute_after_the_click_with_the_carriers_link(nora: Operator) -> None:
    offer(nora, kind="physical")
    mug = claim(nora, "ana@example.org")["uuid"]
    send(nora, mug, tracking_note=USPS)
    nora.service.run_jobs()
    assert post_of(nora, "shipment_sent") == [], "not before the minute is over"
    (email,) = pass_minute(nora)
    assert (email["to"], email["subject"]) == ("ana@example.org", "On its way to you: The mug")
    assert "tools.usps.com/go/TrackConfirmAction?tLabels=9400100000000000000017" in email["html"]
    assert "USPS · To Porto" in email["text"] and "9400 1000 0000 0000 0000 17" in email["text"]
    assert "A friend reads Nora because of you." in email["text"]
    assert "1 Hive Lane" not in email["text"] + email["html"], "the street is not in it"
    assert "because you claimed a reward" in email["text"] and "/stop/" in email["stop"]
    assert len(email["html"]) < 8_000
    pass_minute(nora)
    assert len(post_of(nora, "shipment_sent")) == 1


def test_another_note_is_shown_as_it_was_typed_and_none_leaves_the_day(nora: Operator) -> None:
    offer(nora, kind="physical")
    for email, note in (("ana@example.org", "<b>Van</b> 7"), ("ben@example.org", "")):
        send(nora, claim(nora, email)["uuid"], tracking_note=note)
    typed, none = pass_minute(nora)
    assert "&lt;b&gt;Van&lt;/b&gt; 7" in typed["html"] and "<b>Van" not in typed["html"]
    assert "Track your package" not in typed["text"]
    assert "Van" not in none["text"] and re.search(r"Sent \d+ \w+ \d{4}\n\nTo Porto", none["text"])


def test_undo_stops_it_and_the_shipment_is_to_send_again(nora: Operator) -> None:
    offer(nora, kind="physical")
    ids = [claim(nora, email)["uuid"] for email in ("ana@example.org", "ben@example.org")]
    action = send(nora, *ids, tracking_note=USPS)
    assert listed(nora) == []
    nora.web.post("/account/undo", page="/settings", action=action, back="/shipments")
    text = text_of(nora.web.get("/shipments").text)
    assert "Undone. 2 shipments are under “To send” again, and nobody was emailed." in text
    assert {each["tracking_note"] for each in listed(nora)} == {None} and len(listed(nora)) == 2
    assert pass_minute(nora) == []


def test_after_the_minute_there_is_nothing_left_to_undo(nora: Operator) -> None:
    offer(nora, kind="physical")
    action = send(nora, claim(nora, "ana@example.org")["uuid"])
    assert len(pass_minute(nora)) == 1
    nora.web.post("/account/undo", page="/settings", action=action, back="/shipments")
    assert "There was nothing left to undo" in text_of(nora.web.get("/shipments").text)
    assert len(listed(nora, "?status=sent")) == 1


def test_nobody_undoes_what_another_account_sent(nora: Operator, service: Service) -> None:
    offer(nora, kind="physical")
    action = send(nora, claim(nora, "ana@example.org")["uuid"])
    bob = operator(service, "bob")
    bob.web.post("/account/undo", page="/settings", action=action, back="/shipments")
    assert "There was nothing left to undo" in text_of(bob.web.get("/shipments").text)
    assert len(listed(nora, "?status=sent")) == 1


def test_what_goes_in_one_package_is_one_email_whoever_marks_it(nora: Operator) -> None:
    for name in ("The mug", "The shirt", "The pen"):
        offer(nora, name=name, kind="physical")
    mug, shirt, pen = claim_all(nora, "ana@example.org")
    other = claim_all(nora, "ben@example.org")
    send(nora, mug, other[0], tracking_note=USPS)
    # Also what the API marks meanwhile, with the same note.
    nora.post(f"{nora.v1}/shipments/{shirt}/sent", {"tracking_note": USPS})
    nora.post(f"{nora.v1}/shipments/{pen}/sent", {"tracking_note": "RR 123 456 785 SE"})
    subjects = [(each["to"], each["subject"]) for each in pass_minute(nora)]
    assert subjects == [
        ("ana@example.org", "On its way to you: The mug and The shirt"),
        ("ana@example.org", "On its way to you: The pen"),
        ("ben@example.org", "On its way to you: The mug"),
    ]


def is_due(nora: Operator, now_ms: int) -> bool:
    found = nora.service.read(lambda tx: shipment_emails.due(tx.at(now_ms), most=99))
    return nora.account_id in {each.account_id for each in found}


def test_one_that_was_marked_later_is_waited_for(nora: Operator) -> None:
    """Nobody gets two emails because somebody clicked twice."""
    for name in ("The mug", "The shirt"):
        offer(nora, name=name, kind="physical")
    mug, shirt = claim_all(nora, "ana@example.org")
    send(nora, mug)
    first_ms = nora.service.now_ms()
    nora.service.set_clock(40)
    try:
        nora.post(f"{nora.v1}/shipments/{shirt}/sent", {})
        assert not is_due(nora, first_ms + 61_000)
        assert is_due(nora, nora.service.now_ms() + 61_000)
    finally:
        nora.service.set_clock(0)


def test_a_recurring_reward_is_counted_and_two_towns_are_two_packages() -> None:
    def sent(name: str, city: str) -> SentReward:
        place = f'{{"name":"","line1":"","city":"{city}","postcode":"","country":""}}'
        return SentReward(name, 0, 0, place, None)

    packed = [sent("Pen", "Porto"), sent("Mug", "Ghent"), sent("Pen", "Porto")]
    found = shipment_emails.packages(packed)
    english = get_language("en")
    sendings = [shipment_emails.sending_of(english, package) for package in found]
    assert [(each.rewards, each.town) for each in sendings] == [
        ("2 × Pen", "Porto"),
        ("Mug", "Ghent"),
    ]


@pytest.mark.parametrize("why", ["off", "unsubscribed", "erased", "unsent"])
def test_none_is_written_to(nora: Operator, why: str) -> None:
    offer(nora, kind="physical")
    mug = claim(nora, "ana@example.org")["uuid"]
    who = listed(nora)[0]["subscriber"]["uuid"]
    send(nora, mug)
    if why == "off":
        assert nora.web.post("/look/emails?email=shipment_sent").status_code == 303
    elif why == "unsubscribed":
        nora.put(f"{nora.v1}/subscribers/{who}", {"status": "unsubscribed"})
    elif why == "erased":
        assert nora.delete(f"{nora.v1}/subscribers/{who}").status_code == 200
    else:
        nora.web.post("/shipments?show=sent", page="/settings", id=mug, do="unsend")
    assert pass_minute(nora) == []


def test_the_operators_text_and_language_are_used_and_the_sample_shows_it(
    wax: Newsletter,
) -> None:
    nora = wax.member
    wax.speak("de")
    wax.configure(words={"shipment_sent_subject.de": "{first_name}, schau mal: {reward}"})
    wax.brand(reply_to="hallo@wax.example")
    offer(nora, kind="physical", name="Die Tasse")
    mug = claim(nora, "ana@example.org")["uuid"]
    nora.post(f"{nora.v1}/shipments/{mug}/sent", {"tracking_note": "DHL 1234567890"})
    (email,) = pass_minute(nora)
    assert email["subject"] == "Ana, schau mal: Die Tasse"
    assert "Wir haben dir „Die Tasse“ geschickt. Dank dir liest jemand Neues" in email["text"]
    assert "Sendung verfolgen" in email["text"] and "antworte einfach" in email["text"]


def test_the_emails_page_shows_a_sample(nora: Operator) -> None:
    offer(nora, kind="physical", name="The pot")
    html = nora.web.get("/look/emails/preview?email=shipment_sent").text
    assert "On its way to you: The pot" in html and "Brooklyn, NY" in html
    page = text_of(nora.web.get("/look/emails?email=shipment_sent").text)
    assert "On its way" in page and "one email" in page


@pytest.mark.parametrize("code", CODES)
def test_it_is_whole_in_every_language(code: str) -> None:
    language = get_language(code)
    place = '{"name":"","line1":"","city":"Porto","postcode":"","country":""}'
    sending = shipment_emails.sending_of(language, [SentReward("Mug", 0, 0, place, USPS)])
    brand = EmailBranding("Wax", language, reply_to="wax@wax.example")
    made = [
        layout.parts(
            shipment_texts.shipment_sent(
                brand, AdvocateFacts("https://wax.example/hub/1", referrals), sending
            ),
            brand,
            EmailLinks(stop="https://wax.example/stop/1"),
        ).text
        for referrals in (0, 1, 2, 3, 11, 100)
    ]
    for text in made:
        assert "{" not in text and "Mug" in text and "Porto" in text
        if code != "en":
            for english in (
                "We’ve",
                "Sent ",
                "Earned",
                "Track your",
                "claimed a reward",
                "90 days",
            ):
                assert english not in text, text
    assert len(set(made)) >= 2
