"""A webhook's page on the dashboard: all eight events, the body that was sent, and why a delivery
was canceled.
"""

from __future__ import annotations

from honeyguide.events import outbox
from tests.support.service import Service
from tests.support.web import operator, words


def test_every_event_is_chosen_on_the_page(service: Service) -> None:
    alice = operator(service)
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
    assert "Referral rejected" in words(alice.web.get("/webhooks").text)


def test_a_delivery_shows_its_body_and_why_it_was_canceled(service: Service) -> None:
    alice = operator(service)
    hook = alice.post("/v2/webhooks", {"url": "http://127.0.0.1:9/"}).json()["webhook"]["uuid"]
    alice.put(f"/v2/webhooks/{hook}/more_events", {"new_subscriber": True})
    page = f"/webhooks/{hook}"
    ann = alice.subscribe("ann.body@example.org", name="<Ann>")
    shown = words(alice.web.get(page).text)
    assert '"email": "ann.body@example.org"' in shown and '"name": "<Ann>"' in shown
    alice.delete(f"{alice.v1}/subscribers/{ann['uuid']}")
    shown = words(alice.web.get(page).text)
    assert "Canceled The subscriber was erased, and the body with them." in shown
    assert "ann.body@example.org" not in shown
