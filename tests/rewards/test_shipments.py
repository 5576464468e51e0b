"""Physical rewards, from the claim with an address until the address is removed, on both engines:
the API, the dashboard, the reader's page, and who is first.
"""

import csv
import io
import itertools
import json
import re
from typing import Any

import httpx
import pytest

from honeyguide.events import outbox
from honeyguide.kernel.clock import DAY_MS
from honeyguide.pages.dashboard.rewards import shipments as pages
from honeyguide.rewards import shipments
from tests.support.dispatcher import ReceiverThread, reply
from tests.support.newsletter import Newsletter, errors
from tests.support.prizes import advocate, bring, earned_by, offer
from tests.support.service import Member, Service
from tests.support.shipments import ADDRESS, claim, listed
from tests.support.tables import dump, mentions
from tests.support.web import Operator, operator, text_of


def test_a_claim_with_an_address_is_listed_until_it_is_sent_and_then_as_sent(
    alice: Member,
) -> None:
    mug = offer(alice, kind="physical", variants=["Sage", " Honey "])
    assert mug["variants"] == ["Sage", "Honey"]
    first = claim(alice, "ana@example.org", variant="Honey")
    assert first["status"] == "redeemed"
    claim(alice, "ben@example.org")
    newest, oldest = listed(alice)
    assert (oldest["uuid"], oldest["reward_uuid"], oldest["name"]) == (
        first["uuid"],
        mug["uuid"],
        "The mug",
    )
    assert (oldest["variant"], newest["variant"]) == ("Honey", None)
    assert oldest["shipping_details"] == {**ADDRESS, "line2": None, "region": None}
    assert oldest["subscriber"]["email"] == "ana@example.org"
    assert (oldest["status"], oldest["sent_at"], oldest["sent_by"]) == ("to_send", None, None)
    path = f"{alice.v1}/shipments/{oldest['uuid']}/sent"
    sent = alice.post(path, {"tracking_note": " RR 123 PT "}).json()["shipment"]
    assert (sent["status"], sent["tracking_note"], sent["sent_by"]) == ("sent", "RR 123 PT", "api")
    assert sent["sent_at"] is not None
    # Marking it again changes nothing and says what was done.
    assert alice.post(path, {"tracking_note": "other"}).json()["shipment"] == sent
    assert [each["uuid"] for each in listed(alice, "?status=to_send")] == [newest["uuid"]]
    assert listed(alice, "?status=sent") == [sent]
    page = alice.get(f"{alice.v1}/shipments?per_page=1&page=2").json()
    assert page == {
        "shipments": [],
        "meta": {"per_page": 1, "page": 2, "total_pages": 1, "total_shipments": 1},
    }


def test_what_is_redeemed_without_an_address_or_is_no_thing_is_no_shipment(alice: Member) -> None:
    offer(alice, kind="physical")
    assert claim(alice, "ana@example.org", shipping_details=None)["status"] == "redeemed"
    offer(alice, name="A call", referrals=1, kind="manual")
    ben = advocate(alice, 1, "ben@example.org")
    for earned in earned_by(alice, ben):
        if earned["name"] == "A call":
            alice.post(f"{alice.v1}/rewards/{earned['uuid']}/redeem", {"shipping_details": ADDRESS})
        else:
            unclaimed = earned
    assert listed(alice) == listed(alice, "?status=sent") == []
    # Nothing is sent before there is an address.
    answer = alice.post(f"{alice.v1}/shipments/{unclaimed['uuid']}/sent")
    assert (answer.status_code, answer.json()["error"]) == (404, "There is no such shipment.")


def test_bad_input_is_refused_and_strangers_find_nothing(alice: Member, bob: Member) -> None:
    for wrong in (["M"] * 2, [""], ["x" * 61], [str(number) for number in range(51)]):
        body = {"name": "Shirt", "referrals": 1, "kind": "physical", "variants": wrong}
        refused = alice.post(f"{alice.v1}/rewards", body)
        assert (refused.status_code, refused.json()["param"]) == (400, "variants"), wrong
    body = {"name": "Code", "referrals": 1, "kind": "manual", "variants": ["S"]}
    assert alice.post(f"{alice.v1}/rewards", body).status_code == 400
    shirt = offer(alice, name="Shirt", kind="physical", variants=["S", "M"])
    ana = advocate(alice, 1)
    (earned,) = earned_by(alice, ana)
    redeem = f"{alice.v1}/rewards/{earned['uuid']}/redeem"
    wrong_size = alice.post(redeem, {"shipping_details": ADDRESS, "variant": "XL"})
    assert (wrong_size.status_code, wrong_size.json()["param"]) == (400, "variant")
    assert alice.post(redeem, {"shipping_details": ADDRESS, "variant": "M"}).status_code == 200
    path = f"/shipments/{earned['uuid']}/sent"
    long = alice.post(alice.v1 + path, {"tracking_note": "x" * 5_000})
    assert (long.status_code, long.json()["param"]) == (400, "tracking_note")
    assert alice.get(f"{alice.v1}/shipments?status=lost").status_code == 400
    assert bob.post(bob.v1 + path).status_code == 404
    assert bob.post(alice.v1 + path).status_code == 404
    assert listed(bob) == []
    assert listed(alice)[0]["status"] == "to_send"
    changed = alice.put(f"{alice.v1}/rewards/{shirt['uuid']}", {"variants": None})
    assert changed.json()["reward"]["variants"] == []
    assert listed(alice)[0]["variant"] == "M"


def test_the_page_lists_the_oldest_first_and_filters_by_reward(nora: Operator) -> None:
    empty = text_of(nora.web.get("/shipments").text)
    assert "Nothing to send" in empty and "Add a reward" in empty
    mug = offer(nora, kind="physical")
    claim(nora, "ana@example.org")
    nora.service.set_clock(15 * 86_400)
    nora.web.log_in(nora.email)
    offer(nora, name="Sticker <b>pack</b>", kind="physical")
    ben = advocate(nora, 1, "ben@example.org")
    for earned in earned_by(nora, ben):
        nora.post(
            f"{nora.v1}/rewards/{earned['uuid']}/redeem",
            {"shipping_details": {**ADDRESS, "name": "=HYPERLINK(1)"}},
        )
    html = nora.web.get("/shipments").text
    page = text_of(html)
    assert page.index("ana@example.org") < page.index("ben@example.org")
    assert "1 Hive Lane 4000-001 Porto Portugal +351 22 555 0100" in page
    assert "15 days" in page and "To send 3" in page and "Sticker <b>pack</b> 1" in page
    filtered = text_of(nora.web.get(f"/shipments?reward={mug['uuid']}").text)
    assert filtered.count("Mark as sent : The mug for") == 2
    assert "Mark as sent : Sticker" not in filtered
    answer = nora.web.get("/shipments/export.csv")
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["email"] for row in rows] == ["ana@example.org", *["ben@example.org"] * 2]
    assert (rows[0]["postal_code"], rows[0]["country_code"]) == ("4000-001", "PT")
    # A spreadsheet must not run what somebody typed.
    assert (rows[1]["name"], rows[0]["phone"]) == ("'=HYPERLINK(1)", "'+351 22 555 0100")
    # The rewards page leads here instead of listing them.
    assert "3 claimed items are waiting to be sent" in text_of(nora.web.get("/rewards").text)


def marked(web: Any, *ids: str, **fields: Any) -> httpx.Response:
    answer: httpx.Response = web.http.post(
        "/shipments", data={"csrf": web.token("/shipments"), "id": list(ids), **fields}
    )
    return answer


def test_of_two_sessions_one_marks_it_and_the_other_sees_who(nora: Operator) -> None:
    offer(nora, kind="physical")
    first, second = claim(nora, "ana@example.org"), claim(nora, "ben@example.org")
    token = nora.web.token("/shipments")
    refused = marked(nora.web, first["uuid"], tracking_note="x" * 5_000)
    assert refused.status_code == 400
    assert "Tracking note must be at most 255 characters long." in text_of(refused.text)
    assert f'value="{first["uuid"]}" aria-label="Select The mug for Ana Lopes" checked' in (
        refused.text
    )
    assert marked(nora.web, first["uuid"], tracking_note="RR 1").status_code == 303
    assert "1 shipment marked as sent." in text_of(nora.web.get("/shipments").text)
    # The other session still shows the list as it was.
    both = nora.web.http.post(
        "/shipments", data={"csrf": token, "id": [first["uuid"], second["uuid"]]}
    )
    assert both.status_code == 303
    page = text_of(nora.web.get("/shipments").text)
    assert (
        "1 shipment marked as sent. " in page
        and f"The mug for Ana Lopes was already marked as sent by {nora.email} on " in page
        and "Nothing to send" in page
    ), page
    sent = text_of(nora.web.get("/shipments?show=sent").text)
    assert "RR 1" in sent and f"by {nora.email}" in sent and "Sent 2" in sent


def test_selected_shipments_come_as_csv_and_nothing_is_marked(nora: Operator) -> None:
    offer(nora, kind="physical")
    first, _ = claim(nora, "ana@example.org"), claim(nora, "ben@example.org")
    answer = marked(nora.web, first["uuid"], do="csv")
    assert answer.headers["content-type"].startswith("text/csv")
    assert "ana@example.org" in answer.text and "ben@example.org" not in answer.text
    assert len(listed(nora)) == 2


def test_operators_cannot_hand_over_what_has_no_address(nora: Operator) -> None:
    offer(nora, kind="physical")
    ana = advocate(nora, 1)
    (earned,) = earned_by(nora, ana)
    page = f"/subscribers/{ana['uuid']}"
    assert "Mark as redeemed" not in nora.web.get(page).text
    answer = nora.web.post("/rewards/hand-over", page, earned=earned["uuid"], do="redeem")
    assert answer.status_code == 400
    assert earned_by(nora, ana)[0]["status"] == "unlocked"


def test_a_reward_to_hand_over_stays_listed_whatever_is_earned_later(nora: Operator) -> None:
    """Also if everything earned later is of another kind, and however much that is."""
    offer(nora, name="The call", kind="manual")
    offer(nora, name="The file", kind="link", link="https://example.org/file", recurring=True)
    offer(nora, name="The party", kind="manual", referrals=2, approval="manual")
    advocate(nora, 32)
    page = text_of(nora.web.get("/rewards").text)
    to_do = page[page.index("To fulfill") : page.index("Milestones")]
    assert "The file" not in to_do
    assert to_do.index("The party") < to_do.index("The call"), "to approve comes first"
    assert to_do.count("Ana Lopes") == 2


def test_the_reader_chooses_a_size_and_sees_when_it_is_sent(wax: Newsletter) -> None:
    offer(wax.member, name="The shirt", kind="physical", variants=["S", "M"])
    ben = wax.advocate(1)
    (earned,) = earned_by(wax.member, {"uuid": ben.id})
    path = f"{wax.hub(ben)}/claim/{earned['uuid']}"
    form = wax.visitor.get(path).text
    assert "<option>M" in form and '<option value="PT">Portugal' in form
    token = wax.fields(path)["token"]
    wrong = {**ADDRESS, "country": "Atlantis", "phone": "call me", "variant": "XL", "city": ""}
    refused = wax.visitor.post(path, data={**wrong, "token": token})
    assert errors(refused) == {
        "variant": "Choose an option.",
        "city": "Enter your city.",
        "country": "Choose your country.",
        "phone": "Enter a phone number that the carrier can call.",
    }
    good = {**ADDRESS, "country": "PT", "variant": "M", "token": token}
    assert wax.visitor.post(path, data=good).status_code == 303
    shown = text_of(wax.visitor.get(wax.hub(ben)).text)
    assert " Being prepared " in shown and "will send it to the address you entered" in shown
    (shipment,) = listed(wax.member)
    assert (shipment["variant"], shipment["shipping_details"]["country"]) == ("M", "Portugal")
    wax.member.post(
        f"{wax.member.v1}/shipments/{shipment['uuid']}/sent", {"tracking_note": "<i>RR 1</i>"}
    )
    html = wax.visitor.get(wax.hub(ben)).text
    assert " Sent " in text_of(html) and "&lt;i&gt;RR 1&lt;/i&gt;" in html and "<i>" not in html


def test_an_address_is_removed_90_days_after_sending_here_and_from_events(alice: Member) -> None:
    alice.post("/v2/webhooks", {"url": "http://127.0.0.1:9/hook", "reward_redeemed": True})
    offer(alice, kind="physical", recurring=True)
    street = {"shipping_details": {**ADDRESS, "line1": "77 Unmistakable Row"}}
    sent = claim(alice, "ana@example.org", **street)
    claim(alice, "ben@example.org")  # never sent: its address stays
    alice.post(f"{alice.v1}/shipments/{sent['uuid']}/sent", {"tracking_note": "RR 1"})
    sent_ms = alice.service.now_ms()

    def work_off(now_ms: int) -> None:
        while found := alice.service.read(
            lambda tx: shipments.with_old_address(tx.at(now_ms), most=100)
        ):
            alice.service.write(lambda tx, found=found: shipments.remove_addresses(tx, found))  # type: ignore[misc]

    work_off(sent_ms + 90 * DAY_MS - 60_000)
    assert listed(alice, "?status=sent")[0]["shipping_details"] is not None
    assert mentions(dump(alice.service), "77 Unmistakable Row")
    work_off(sent_ms + 90 * DAY_MS + 1)
    (kept,) = listed(alice, "?status=sent")
    assert (kept["shipping_details"], kept["tracking_note"]) == (None, "RR 1")
    assert not mentions(dump(alice.service), "77 Unmistakable Row")
    assert listed(alice)[0]["shipping_details"] is not None
    bodies = [
        json.loads(row["body"])
        for row in dump(alice.service)["event"]
        if row["account_id"] == alice.account_id and row["type"] == outbox.REWARD_REDEEMED
    ]
    assert sorted(body["shipping_details"] is None for body in bodies) == [False, True]
    assert all(body["reward"]["name"] == "The mug" for body in bodies)


def test_after_90_days_no_answer_of_a_receiver_repeats_the_address(alice: Member) -> None:
    street = "78 Unmistakable Row"
    given = {"shipping_details": {**ADDRESS, "line1": street}}
    with ReceiverThread(reply(200, f"Sending to {street}".encode())) as receiver:
        alice.post("/v2/webhooks", {"url": receiver.url, "reward_redeemed": True})
        offer(alice, kind="physical", recurring=True)
        sent = claim(alice, "ana@example.org", **given)
        claim(alice, "ben@example.org")  # never sent, so its answer stays
        alice.service.run(alice.service.services.dispatcher.deliver_due())
    answers = [row["response"] for row in dump(alice.service)["attempt"]]
    assert answers.count(f"Sending to {street}") == 2
    alice.post(f"{alice.v1}/shipments/{sent['uuid']}/sent")
    late_ms = alice.service.now_ms() + 90 * DAY_MS + 1
    old = alice.service.read(lambda tx: shipments.with_old_address(tx.at(late_ms), most=9))
    alice.service.write(lambda tx: shipments.remove_addresses(tx, old))
    assert mentions(dump(alice.service), street) == ["attempt.response"], "that of the other claim"


def test_an_erased_subscriber_leaves_the_queue_and_the_export_has_it_all(nora: Operator) -> None:
    offer(nora, kind="physical", variants=["Sage"])
    sent = claim(nora, "ana@example.org", variant="Sage")
    claim(nora, "ben@example.org")
    nora.post(f"{nora.v1}/shipments/{sent['uuid']}/sent", {"tracking_note": "for Ana"})
    (ana,) = (each["subscriber"]["uuid"] for each in listed(nora, "?status=sent"))
    (ben,) = (each["subscriber"]["uuid"] for each in listed(nora))
    assert "1 Hive Lane 4000-001 Porto Portugal" in text_of(
        nora.web.get(f"/subscribers/{ana}").text
    )
    exported = nora.web.get(f"/subscribers/{ana}/export.json").json()["rewards"][0]
    assert exported["shipping_details"]["line1"] == "1 Hive Lane"
    assert (exported["variant"], exported["tracking_note"]) == ("Sage", "for Ana")
    assert exported["sent_at"] is not None
    for person in (ana, ben):
        assert nora.delete(f"{nora.v1}/subscribers/{person}").status_code == 200
    assert listed(nora) == []
    (kept,) = listed(nora, "?status=sent")
    assert kept["shipping_details"] is kept["tracking_note"] is kept["subscriber"]["email"] is None
    assert "Deleted subscriber" in nora.web.get("/shipments?show=sent").text


def test_pages_of_the_list_neither_repeat_nor_skip(
    nora: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PER_PAGE", 2)
    offer(nora, kind="physical", recurring=True)
    ana = advocate(nora, 0)
    bring(nora, ana, 5)
    for earned in earned_by(nora, ana):
        nora.post(f"{nora.v1}/rewards/{earned['uuid']}/redeem", {"shipping_details": ADDRESS})
    seen: list[str] = []
    path = "/shipments"
    while path:
        html = nora.web.get(path).text
        seen += [part[:36] for part in html.split('type="checkbox" name="id" value="')[1:]]
        _, found, rest = html.partition('rel="next" href="')
        path = rest.partition('"')[0].replace("&amp;", "&") if found else ""
    newest_first = [each["uuid"] for each in listed(nora, "?per_page=200")]
    assert len(seen) == 5 and seen == newest_first[::-1]


def claim_many(nora: Operator, count: int) -> list[str]:
    """So many shipments of one subscriber, in the order in which they were claimed."""
    offer(nora, kind="physical", recurring=True)
    ana = advocate(nora, 0)
    bring(nora, ana, count)
    ids: list[str] = [each["uuid"] for each in earned_by(nora, ana)]
    for number, earned in enumerate(ids):
        nora.service.set_clock(60 * number)
        nora.post(f"{nora.v1}/rewards/{earned}/redeem", {"shipping_details": ADDRESS})
    return ids


def send_all(nora: Operator, ids: list[str]) -> list[str]:
    """Sends them in another order, one a minute; their tracking notes, the latest first."""
    order = ids[1::2] + ids[::2]
    for number, shipment in enumerate(order):
        nora.service.set_clock(3_600 + 60 * number)
        note = {"tracking_note": f"note-{number}"}
        assert nora.post(f"{nora.v1}/shipments/{shipment}/sent", note).status_code == 200
    return [f"note-{number}" for number in reversed(range(len(order)))]


def test_pages_of_what_was_sent_neither_repeat_nor_skip(
    nora: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PER_PAGE", 2)
    notes = send_all(nora, claim_many(nora, 5))
    seen: list[list[str]] = []
    path = "/shipments?show=sent"
    while path and len(seen) < 10:
        html = nora.web.get(path).text
        seen.append(re.findall(r"note-\d", text_of(html)))
        _, found, rest = html.partition('rel="next" href="')
        path = rest.partition('"')[0].replace("&amp;", "&") if found else ""
    assert seen == [notes[:2], notes[2:4], notes[4:]]


@pytest.mark.parametrize("show", ["", "sent"])
def test_an_export_of_many_has_each_line_once_and_ends(
    nora: Operator, monkeypatch: pytest.MonkeyPatch, show: str
) -> None:
    monkeypatch.setattr(pages, "CSV_BATCH", 2)
    ids = claim_many(nora, 5)
    column, expected = "shipment_uuid", ids
    if show:
        column, expected = "tracking_note", send_all(nora, ids)
    nora.web.get("/shipments/export.csv")  # an hour later, it asks for the password
    with nora.web.http.stream("GET", f"/shipments/export.csv?show={show}") as answer:
        lines = list(itertools.islice(answer.iter_lines(), 50))  # a file without end is one too
    assert [row[column] for row in csv.DictReader(lines)] == expected


def test_the_id_of_anothers_reward_shows_none_of_its_shipments(
    nora: Operator, service: Service
) -> None:
    mug = offer(nora, kind="physical")["uuid"]
    claim(nora, "ana@example.org")
    bob = operator(service, "bob")
    for path in ("/shipments", "/shipments/export.csv"):
        assert "1 Hive Lane" in nora.web.get(f"{path}?reward={mug}").text
        assert "Hive" not in bob.web.get(f"{path}?reward={mug}").text
