"""The signup form with a checkbox and a first name: what is asked, kept, exported and erased. On
both engines.
"""

import re
from typing import Any

import httpx
import pytest

from honeyguide.signups import privacy, signups
from honeyguide.subscribers import branding, consents
from honeyguide.subscribers.branding import BrandFields
from honeyguide.subscribers.consents import Consent
from tests.support import partner_network
from tests.support.newsletter import Newsletter
from tests.support.readings import reading
from tests.support.tables import dump

pytestmark = pytest.mark.usefixtures("roomy_network")
TEXT = "I’d like to get it by email."
PRIVACY = "https://wax.example/privacy"


def brand(wax: Newsletter, **fields: Any) -> str:
    """Saves the branding; the id of its consent text."""
    chosen = BrandFields(**{"consent_text": TEXT, "privacy_url": PRIVACY, **fields})
    return wax.member.make(branding.save, chosen).consent_text_id or ""


def join(wax: Newsletter, email: str, path: str = "", **fields: str) -> httpx.Response:
    path = path or wax.page
    sent = wax.fields(path) | {"email": email} | fields
    return wax.visitor.post(path, data=sent)


def agreed(wax: Newsletter, email: str) -> list[Consent]:
    person = wax.person(email)
    return wax.service.read(lambda tx: consents.of_subscriber(reading(tx, wax.tenant), person.id))


def test_a_form_without_a_text_has_no_checkbox_and_no_name(wax: Newsletter) -> None:
    html = wax.visitor.get(wax.page).text
    assert 'name="consent"' not in html and 'name="name"' not in html
    email = wax.address()
    assert join(wax, email, name="Ana", consent="x").status_code == 303
    assert (wax.person(email).name, agreed(wax, email)) == (None, [])


def test_the_box_is_not_checked_in_advance_and_must_be(wax: Newsletter) -> None:
    brand(wax)
    html = wax.visitor.get(wax.page).text
    box = re.search(r'<input type="checkbox" name="consent"[^>]*>', html)
    assert box is not None and "required" in box[0] and " checked" not in box[0]
    assert TEXT in html and html.count(PRIVACY) == 2
    refused = join(wax, "no-address", consent="")
    assert refused.status_code == 400
    assert "Please check this box to subscribe." in refused.text
    assert "Enter a valid email address." in refused.text


def test_what_was_agreed_to_is_kept_exported_and_erased(wax: Newsletter) -> None:
    text_id, email = brand(wax), wax.address()
    assert join(wax, email, consent=text_id).status_code == 303
    (first,) = agreed(wax, email)
    assert (first.text, first.privacy_url) == (TEXT, PRIVACY)
    join(wax, email, consent=text_id)
    assert agreed(wax, email) == [first], "the first time counts"
    join(wax, email, consent=brand(wax, consent_text="Something else."))
    assert [each.text for each in agreed(wax, email)] == [TEXT, "Something else."]
    person = wax.person(email)
    exported = wax.service.read(lambda tx: privacy.export_person(reading(tx, wax.tenant), person))
    assert exported["consents"][0]["text"] == TEXT
    assert exported["consents"][0]["agreed_at"].endswith("Z")
    wax.member.make(signups.erase, person.id)
    assert not [row for row in dump(wax.service)["consent"] if row["subscriber_id"] == person.id]


def test_agreeing_to_a_text_that_has_changed_does_not_count(wax: Newsletter) -> None:
    old, email = brand(wax), wax.address()
    sent = wax.fields(wax.page) | {"email": email, "consent": old}
    brand(wax, consent_text="I also like advertising.")
    refused = wax.visitor.post(wax.page, data=sent)
    assert refused.status_code == 400
    box = re.search(r'<input type="checkbox" name="consent"[^>]*>', refused.text)
    assert box is not None and " checked" not in box[0]
    assert email not in [row["email"] for row in dump(wax.service)["subscriber"]]


def test_a_wrong_address_keeps_the_box_checked_and_the_name(wax: Newsletter) -> None:
    text_id = brand(wax, asks_name=True)
    refused = join(wax, "nonsense", consent=text_id, name="<b>Ana")
    box = re.search(r'<input type="checkbox" name="consent"[^>]*>', refused.text)
    assert box is not None and " checked" in box[0]
    assert 'value="&lt;b&gt;Ana"' in refused.text


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("Ana", "Ana"),
        ("  Ana \t Maria ", "Ana Maria"),
        ("", None),
        ("   ", None),
        ("x" * 99, "x" * 60),
    ],
)
def test_a_first_name_is_optional_and_short(wax: Newsletter, typed: str, kept: str | None) -> None:
    text_id, email = brand(wax, asks_name=True), wax.address()
    assert join(wax, email, consent=text_id, name=typed).status_code == 303
    assert wax.person(email).name == kept


def test_a_name_whose_letters_are_joined_is_taken(wax: Newsletter) -> None:
    text_id, email = brand(wax, asks_name=True), wax.address()
    assert join(wax, email, consent=text_id, name="ශ්‍රී").status_code == 303
    assert wax.person(email).name == "ශ්‍රී"


def test_a_name_with_control_characters_is_refused(wax: Newsletter) -> None:
    text_id = brand(wax, asks_name=True)
    refused = join(wax, wax.address(), consent=text_id, name="Ana\u202e\u0007")
    assert (refused.status_code, "Please use letters only." in refused.text) == (400, True)


def test_nobody_else_changes_a_subscribers_name(wax: Newsletter) -> None:
    text_id, email = brand(wax, asks_name=True), wax.address()
    join(wax, email, consent=text_id, name="Ana")
    join(wax, email, consent=text_id, name="Mallory")
    assert wax.person(email).name == "Ana"


def test_a_partners_page_asks_the_same(wax: Newsletter) -> None:
    text_id, email = brand(wax), wax.address()
    program = partner_network.offer(wax.member, partner_network.publish(wax.member))
    joined = partner_network.join(wax.service.member("bob"), program)
    path = f"/m/{joined['ref_code']}"
    assert join(wax, email, path, consent="").status_code == 400
    assert join(wax, email, path, consent=text_id).status_code == 303
    assert [each.text for each in agreed(wax, email)] == [TEXT]
