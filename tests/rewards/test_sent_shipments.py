"""What operators do once shipments are sent: the note, delivered, and a row's own button."""

from typing import Any

from honeyguide.rewards import shipments
from tests.support.newsletter import Newsletter
from tests.support.page_forms import PageForms
from tests.support.prizes import advocate, earned_by, offer
from tests.support.service import Service
from tests.support.shipments import claim, listed, pass_minute
from tests.support.web import Operator, operator, row_of, text_of

SENT = "/shipments?show=sent"


def sent(nora: Operator, note: str = "") -> str:
    offer(nora, kind="physical")
    mug = str(claim(nora, "ana@example.org")["uuid"])
    assert nora.web.post("/shipments", id=mug, tracking_note=note).status_code == 303
    return mug


def save_note(nora: Operator, shipment: str, note: str, **fields: Any) -> str:
    answer = nora.web.post(
        "/shipments/note?show=sent", page=SENT, edited=shipment, tracking_note=note, **fields
    )
    return text_of((nora.web.get(SENT) if answer.status_code == 303 else answer).text)


def test_a_rows_own_button_takes_the_note_and_only_its_row(nora: Operator) -> None:
    offer(nora, kind="physical")
    first, second = (claim(nora, f"{name}@example.org")["uuid"] for name in ("ana", "ben"))
    nora.web.post("/shipments", one=first, id=[second], tracking_note="RR 1")
    (shipment,) = listed(nora, "?status=sent")
    assert (shipment["uuid"], shipment["tracking_note"]) == (first, "RR 1")
    assert [each["uuid"] for each in listed(nora)] == [second]


def test_the_note_can_be_changed_and_the_email_has_the_new_one(nora: Operator) -> None:
    mug = sent(nora, "USPS 1111 1111 1111")
    assert "The note is saved." in save_note(nora, mug, " USPS 2222 2222 2222 ")
    assert listed(nora, "?status=sent")[0]["tracking_note"] == "USPS 2222 2222 2222"
    (email,) = pass_minute(nora)
    assert "2222 2222 2222" in email["text"] and "1111" not in email["text"]
    # The email is out. Another one goes only to who is to be told.
    assert "Nothing changed." in save_note(nora, mug, "USPS 2222 2222 2222")
    assert "The note is saved." in save_note(nora, mug, "")
    assert pass_minute(nora) == []
    text = save_note(nora, mug, "USPS 3333 3333 3333", tell="1")
    assert "The subscriber gets an email with it in a minute." in text
    assert "3333 3333 3333" in pass_minute(nora)[-1]["text"]


def test_a_note_that_is_too_long_is_refused_in_its_row_and_kept(nora: Operator) -> None:
    mug = sent(nora)
    answer = nora.web.post(
        "/shipments/note?show=sent", page=SENT, edited=mug, tracking_note="x" * 300
    )
    assert answer.status_code == 400
    assert "Tracking note must be at most 255 characters long." in text_of(answer.text)
    assert '<details class="note-form" open>' in answer.text and "x" * 300 in answer.text


def test_of_two_rows_only_the_one_whose_form_is_sent_gets_the_note(nora: Operator) -> None:
    offer(nora, kind="physical")
    mugs = {name: claim(nora, f"{name}@example.org")["uuid"] for name in ("ana", "ben")}
    nora.web.post("/shipments", id=list(mugs.values()))
    for name in mugs:
        row = row_of(nora.web.get(SENT).text, f"{name}@example.org")
        form = PageForms(row, SENT).found["/shipments/note"]
        nora.web.http.post("/shipments/note", data={**form, "tracking_note": f"For {name}"})
    notes = {each["uuid"]: each["tracking_note"] for each in listed(nora, "?status=sent")}
    assert notes == {mugs["ana"]: "For ana", mugs["ben"]: "For ben"}


def test_what_is_not_sent_has_no_note_to_change(nora: Operator) -> None:
    offer(nora, kind="physical")
    mug = claim(nora, "ana@example.org")["uuid"]
    assert "Nothing changed." in save_note(nora, mug, "RR 1")
    assert listed(nora)[0]["tracking_note"] is None


def test_it_is_marked_as_delivered_and_back(nora: Operator) -> None:
    mug = sent(nora)
    nora.web.post(SENT, page=SENT, id=mug, do="deliver")
    page = text_of(nora.web.get(SENT).text)
    assert "1 shipment marked as delivered." in page and "Not delivered : The mug" in page
    # The API has promised two statuses.
    assert listed(nora, "?status=sent")[0]["status"] == "sent"
    nora.web.post(SENT, page=SENT, one=mug, do="deliver")
    assert "Nothing changed: these were delivered already" in text_of(nora.web.get(SENT).text)
    nora.web.post(SENT, page=SENT, one=mug, do="undeliver")
    assert "Mark as delivered : The mug for Ana Lopes" in text_of(nora.web.get(SENT).text)


def test_nothing_is_delivered_before_it_is_sent(nora: Operator) -> None:
    offer(nora, kind="physical")
    mug = claim(nora, "ana@example.org")["uuid"]
    nora.web.post(SENT, page="/settings", one=mug, do="deliver")
    assert "Nothing changed" in text_of(nora.web.get(SENT).text)
    assert "Mark as sent : The mug" in text_of(nora.web.get("/shipments").text)


def test_the_reader_sees_the_carriers_link_and_that_it_arrived(wax: Newsletter) -> None:
    offer(wax.member, kind="physical")
    claimed = claim(wax.member, "ana@example.org")["uuid"]
    note = {"tracking_note": "USPS 9400 1000 0000 0000 0000 17"}
    wax.member.post(f"{wax.member.v1}/shipments/{claimed}/sent", note)
    hub = wax.hub(wax.person("ana@example.org"))
    html = wax.visitor.get(hub).text
    assert "tools.usps.com/go/TrackConfirmAction?tLabels=9400100000000000000017" in html
    assert "It’s on its way to you." in text_of(html)
    wax.member.make(shipments.mark_delivered, claimed)
    shown = text_of(wax.visitor.get(hub).text)
    assert " Delivered " in shown and "on its way" not in shown and "9400 1000" in shown


def test_who_has_given_no_address_is_named(nora: Operator, service: Service) -> None:
    offer(nora, kind="physical")
    offer(nora, name="The call", kind="manual")
    ana = advocate(nora, 1, "ana@example.org")
    claim(nora, "ben@example.org")
    page = nora.web.get("/shipments").text
    assert "One more physical reward was" in text_of(page)
    listing = text_of(nora.web.get("/shipments?show=unclaimed").text)
    assert "ana@example.org" in listing and "ben@" not in listing and "The call" not in listing
    assert "ana@" not in operator(service, "bob").web.get("/shipments?show=unclaimed").text
    assert len(earned_by(nora, ana)) == 2
    nora.delete(f"{nora.v1}/subscribers/{ana['uuid']}")
    assert "physical reward was" not in text_of(nora.web.get("/shipments").text)


def test_another_account_changes_nothing(nora: Operator, service: Service) -> None:
    mug, bob = sent(nora, "RR 1"), operator(service, "bob")
    for path, fields in (
        ("/shipments/note", {"edited": mug, "tracking_note": "mine"}),
        ("/shipments", {"one": mug, "do": "deliver"}),
        ("/shipments", {"one": mug, "do": "undeliver"}),
    ):
        assert bob.web.post(path, page="/settings", **fields).status_code == 404
    assert listed(nora, "?status=sent")[0]["tracking_note"] == "RR 1"
