"""A webhook's page on the dashboard: all eight events, the body that was sent, and why a delivery
was canceled.
"""

import pytest

from honeyguide.events import outbox
from honeyguide.pages.dashboard.settings import webhooks
from tests.support.service import Service, until
from tests.support.stores import statement
from tests.support.web import Operator, mistakes, operator, text_of

FAIL = statement(
    "UPDATE delivery SET status = 'failed' WHERE account_id = :account_id AND id = :id"
)


def test_every_event_is_chosen_on_the_page(alice: Operator) -> None:
    made = alice.web.post(
        "/webhooks", url="http://127.0.0.1:9/", event=["new_referral", "new_subscriber"]
    )
    path = made.headers["location"]
    more = f"/v2{path}/more_events"
    assert alice.get(more).json()["more_events"] == {
        kind: kind == "new_subscriber" for kind in outbox.MORE_TYPES
    }
    alice.web.post(path, url="http://127.0.0.1:9/", event=["referral_rejected"])
    assert alice.get(more).json()["more_events"]["referral_rejected"] is True
    assert alice.get(f"/v2{path}").json()["webhook"]["events"]["new_referral"] is False
    assert "Referral rejected" in text_of(alice.web.get("/webhooks").text)


def test_one_without_an_event_is_refused(alice: Operator) -> None:
    url = {"url": "http://127.0.0.1:9/"}
    path = alice.web.post("/webhooks", **url, event="new_referral").headers["location"]
    for page in ("/webhooks", path):
        for chosen in ({}, {"event": "not_an_event"}):
            refused = alice.web.post(page, **url, **chosen)
            assert refused.status_code == 400
            sentence = "Choose at least one event: without one, nothing is sent."
            assert mistakes(refused.text) == {"event": sentence}
    kept = alice.get(f"/v2{path}").json()["webhook"]["events"]
    assert kept["new_referral"] is True and len(alice.get("/v2/webhooks").json()["webhooks"]) == 1


def test_the_log_can_show_failures_only(service: Service, alice: Operator) -> None:
    hook = alice.post("/v2/webhooks", {"url": "http://127.0.0.1:9/"}).json()["webhook"]["uuid"]
    ids = [alice.post(f"/v2/webhooks/{hook}/test").json()["delivery"] for _ in range(3)]
    # Otherwise the first attempt would be recorded after we pretend that the delivery failed.
    until(lambda: text_of(alice.web.get(f"/webhooks/{hook}").text).count("Next try") == 3)
    service.write(lambda tx: tx.run(FAIL, account_id=alice.account_id, id=ids[1]["uuid"]))
    assert ids[0]["event_id"] in text_of(alice.web.get(f"/webhooks/{hook}").text)
    shown = text_of(alice.web.get(f"/webhooks/{hook}?show=failed").text)
    assert "1 delivery in the last 30 days" in shown and ids[1]["event_id"] in shown
    assert ids[0]["event_id"] not in shown and ids[2]["event_id"] not in shown


def test_a_long_log_is_counted_up_to_a_limit_and_can_be_read_to_its_end(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "MOST_COUNTED", 4)
    monkeypatch.setattr(webhooks, "PER_PAGE", 2)
    alice = operator(service)
    hook = alice.post("/v2/webhooks", {"url": "http://127.0.0.1:9/"}).json()["webhook"]["uuid"]
    ids = [alice.post(f"/v2/webhooks/{hook}/test").json()["delivery"] for _ in range(4)]
    page = alice.web.get(f"/webhooks/{hook}?page=2").text
    assert "4 deliveries in the last 30 days" in text_of(page) and "Page 2 of 2 " in text_of(page)
    ids.append(alice.post(f"/v2/webhooks/{hook}/test").json()["delivery"])
    page = alice.web.get(f"/webhooks/{hook}?page=2").text
    assert "4+ deliveries in the last 30 days" in text_of(page) and "Page 2 of 2+" in text_of(page)
    page = alice.web.get(f"/webhooks/{hook}?page=3").text
    assert ids[0]["event_id"] in page and "Page 3 of 3 " in text_of(page) and "Older" not in page
    assert alice.get(f"/v2/webhooks/{hook}/deliveries").json()["meta"]["total_deliveries"] == 5


def test_a_delivery_shows_its_body_and_why_it_was_canceled(alice: Operator) -> None:
    hook = alice.post("/v2/webhooks", {"url": "http://127.0.0.1:9/"}).json()["webhook"]["uuid"]
    alice.put(f"/v2/webhooks/{hook}/more_events", {"new_subscriber": True})
    page = f"/webhooks/{hook}"
    ann = alice.subscribe("ann.body@example.org", name="<Ann>")
    shown = text_of(alice.web.get(page).text)
    assert '"email": "ann.body@example.org"' in shown and '"name": "<Ann>"' in shown
    alice.delete(f"{alice.v1}/subscribers/{ann['uuid']}")
    shown = text_of(alice.web.get(page).text)
    assert "Canceled The subscriber was erased, and the body with them." in shown
    assert "ann.body@example.org" not in shown
