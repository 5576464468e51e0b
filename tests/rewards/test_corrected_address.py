"""A reader corrects the postal address of a reward, until it is sent."""

from typing import Any

import pytest

from honeyguide.kernel.errors import Invalid
from honeyguide.rewards import shipments
from honeyguide.rewards.shipments import PostalAddress
from tests.support.newsletter import Newsletter, errors
from tests.support.prizes import offer, post_of
from tests.support.shipments import ADDRESS, claim, listed
from tests.support.tables import dump, mentions
from tests.support.web import operator, text_of

NEW = {
    "name": "Ana Lopes",
    "line1": "2 Comb Court",
    "line2": "",
    "city": "Leeds",
    "region": "",
    "postcode": "LS1 4DY",
    "country": "GB",
    "phone": "",
}


def form_of(wax: Newsletter, claimed: str, email: str = "ana@example.org") -> str:
    return f"{wax.hub(wax.person(email))}/address/{claimed}"


def save(wax: Newsletter, path: str, **changed: str) -> Any:
    token = wax.fields(path).get("token", "")
    return wax.visitor.post(path, data={**NEW, "token": token, **changed})


def test_the_form_has_the_address_and_saves_another(wax: Newsletter) -> None:
    offer(wax.member, name="The mug", kind="physical", variants=["Sage", "Honey"])
    claimed = claim(wax.member, "ana@example.org", variant="Sage")["uuid"]
    path = form_of(wax, claimed)
    hub = wax.visitor.get(wax.hub(wax.person("ana@example.org"))).text
    assert path.removeprefix("http://") in hub and "Correct the address" in text_of(hub)
    html = wax.visitor.get(path).text
    for part in ('value="1 Hive Lane"', '<option value="PT" selected>', "<option selected>Sage"):
        assert part in html, part
    wrong = save(wax, path, city="", variant="Sage")
    assert wrong.status_code == 400 and errors(wrong) == {"city": "Enter your city."}
    answer = save(wax, path, variant="Honey")
    assert answer.status_code == 303
    page = text_of(wax.visitor.get(answer.headers["location"]).text)
    assert "The new address is saved." in page
    (shipment,) = listed(wax.member)
    assert (shipment["shipping_details"]["line1"], shipment["variant"]) == ("2 Comb Court", "Honey")
    assert shipment["shipping_details"]["country"] == "United Kingdom"


def test_the_operator_is_told_and_sees_it_beside_the_address(wax: Newsletter) -> None:
    nora = operator(wax.service, "nora")
    own = Newsletter(wax.service, member=nora)
    offer(nora, name="The mug", kind="physical")
    claimed = claim(nora, "ana@example.org")["uuid"]
    assert "Corrected" not in text_of(nora.web.get("/shipments").text)
    assert save(own, form_of(own, claimed)).status_code == 303
    page = text_of(nora.web.get("/shipments").text)
    assert "2 Comb Court" in page and "Corrected" in page and "1 Hive Lane" not in page
    (notification,) = post_of(nora, "address_corrected")
    assert notification.subject == "The mug: the postal address was corrected"
    # Neither address is kept elsewhere.
    own_rows = [
        row
        for rows in dump(nora.service).values()
        for row in rows
        if row.get("account_id") == nora.account_id
    ]
    assert sum("2 Comb Court" in str(row) for row in own_rows) == 1
    assert not any("1 Hive Lane" in str(row) for row in own_rows)


def test_once_it_is_sent_nothing_changes_and_the_page_says_so(wax: Newsletter) -> None:
    offer(wax.member, kind="physical")
    claimed = claim(wax.member, "ana@example.org")["uuid"]
    path = form_of(wax, claimed)
    token = wax.fields(path)["token"]
    wax.member.post(f"{wax.member.v1}/shipments/{claimed}/sent")
    late = wax.visitor.post(path, data={**NEW, "token": token})
    assert late.status_code == 400
    assert "This reward was sent already" in text_of(late.text) and " Sent " in text_of(late.text)
    assert wax.visitor.get(path).status_code == 303
    hub = wax.visitor.get(wax.hub(wax.person("ana@example.org"))).text
    assert "/address/" not in hub
    (shipment,) = listed(wax.member, "?status=sent")
    assert shipment["shipping_details"] == {**ADDRESS, "line2": None, "region": None}


def test_nobody_corrects_the_address_of_another(wax: Newsletter) -> None:
    offer(wax.member, kind="physical")
    claimed = claim(wax.member, "ana@example.org")["uuid"]
    claim(wax.member, "ben@example.org")
    bens = form_of(wax, claimed, "ben@example.org")
    assert wax.visitor.get(bens).status_code == 404
    own = form_of(wax, claimed)
    token = wax.fields(own)["token"]
    assert wax.visitor.post(bens, data={**NEW, "token": token}).status_code == 404
    assert wax.visitor.post(own, data=NEW).status_code == 400, "without its token"
    ben = wax.person("ben@example.org")
    address = PostalAddress("Ben", "9 Row", "Porto", "1", "Portugal")
    with pytest.raises(Invalid):
        wax.member.make(shipments.correct_address, claimed, ben.id, address, None)
    assert "9 Row" not in str(listed(wax.member))


def test_no_address_comes_back_after_an_erasure(wax: Newsletter) -> None:
    offer(wax.member, kind="physical")
    claimed = claim(wax.member, "ana@example.org")["uuid"]
    ana = wax.person("ana@example.org")
    assert wax.member.delete(f"{wax.member.v1}/subscribers/{ana.id}").status_code == 200
    address = PostalAddress("Ana", "3 Unmistakable Row", "Porto", "1", "Portugal")
    with pytest.raises(Invalid):
        wax.member.make(shipments.correct_address, claimed, ana.id, address, None)
    assert not mentions(dump(wax.service), "3 Unmistakable Row")


def test_a_size_that_is_no_longer_offered_can_be_kept(wax: Newsletter) -> None:
    shirt = offer(wax.member, name="Shirt", kind="physical", variants=["S", "M"])
    claimed = claim(wax.member, "ana@example.org", variant="M")["uuid"]
    wax.member.put(f"{wax.member.v1}/rewards/{shirt['uuid']}", {"variants": ["S"]})
    assert save(wax, form_of(wax, claimed), variant="M").status_code == 303
    assert listed(wax.member)[0]["variant"] == "M"
