"""Shipments that were marked as sent by mistake."""

from tests.support.prizes import offer
from tests.support.shipments import claim
from tests.support.stores import statement
from tests.support.web import Operator, text_of


def test_what_was_marked_by_mistake_is_to_send_again(nora: Operator) -> None:
    offer(nora, name="The mug", kind="physical")
    claimed = claim(nora, "ana@example.org")["uuid"]
    nora.web.post("/shipments", id=claimed, tracking_note="RR 1")
    assert "Mark as not sent : The mug for Ana Lopes" in text_of(
        nora.web.get("/shipments?show=sent").text
    )
    for sentence in ("The shipment is under “To send” again.", "Nothing changed: it is not marked"):
        nora.web.post("/shipments?show=sent", page="/settings", id=claimed, do="unsend")
        assert sentence in text_of(nora.web.get("/shipments").text)
    (shipment,) = nora.get(f"{nora.v1}/shipments").json()["shipments"]
    assert (shipment["uuid"], shipment["status"], shipment["tracking_note"]) == (
        claimed,
        "to_send",
        None,
    )
    nora.web.post("/shipments", id=claimed)
    # 90 days later. Moving the clock would close months under the tests that share the service.
    remove = statement("UPDATE won_reward SET shipping = NULL WHERE id = :id")
    nora.service.write(lambda tx: tx.run(remove, id=claimed))
    nora.web.post("/shipments?show=sent", page="/settings", id=claimed, do="unsend")
    assert "no address is left" in text_of(nora.web.get("/shipments?show=sent").text)
    assert "Mark as not sent" not in nora.web.get("/shipments?show=sent").text
