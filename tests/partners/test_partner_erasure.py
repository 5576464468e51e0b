"""Erasing somebody whom a partner referred leaves nothing of them with the partner either."""

from typing import Any

from tests.partners.test_reversal_api import path, referral
from tests.support.dispatcher import ReceiverThread, reply
from tests.support.partner_network import join, offer
from tests.support.service import Member, Service
from tests.support.tables import dump, mentions

WORD = "quixote"
EMAIL = f"zelda.{WORD}@example.org"


def listening(partner: Member, url: str) -> str:
    """A webhook of the partner's, for fees that are taken back."""
    made = partner.post("/v2/webhooks", {"url": url, "new_referral": False})
    uuid = str(made.json()["webhook"]["uuid"])
    flags = {"partner_referral_reversed": True}
    assert partner.put(f"/v2/webhooks/{uuid}/more_events", flags).status_code == 200
    return uuid


def deliveries(partner: Member, hook: str) -> list[dict[str, Any]]:
    listed = partner.get(f"/v2/webhooks/{hook}/deliveries").json()["deliveries"]
    return list(listed)


def test_what_the_partners_server_answered_goes_too(quiet_service: Service) -> None:
    service = quiet_service
    alice, bob = service.member("alice"), service.member("bob")
    program = offer(alice)
    code = join(bob, program)["ref_code"]
    zelda = alice.subscribe(EMAIL, name=f"Zelda {WORD}", referrer_code=code)
    with ReceiverThread(reply(200, f"noted {EMAIL}".encode())) as receiver:
        hook = listening(bob, receiver.url)
        paid = referral(alice, program)
        body = {"reason": "other", "text": f"Zelda {WORD} is a robot."}
        assert alice.post(path(program, paid), body).status_code == 201
        service.run(service.services.dispatcher.deliver_due())
        (sent,) = deliveries(bob, hook)
        again = f"/v2/webhooks/{hook}/deliveries/{sent['uuid']}/resend"
        assert bob.post(again, headers={"Idempotency-Key": "again"}).status_code == 200
        service.run(service.services.dispatcher.deliver_due())
    found = {place.partition(".")[0] for place in mentions(dump(service), WORD)}
    assert {"attempt", "event", "idempotency", "partner_referral"} <= found
    assert alice.delete(f"{alice.v1}/subscribers/{zelda['uuid']}").status_code == 200
    # The email to the partner is forgotten by itself once it is sent.
    left = [place for place in mentions(dump(service), WORD) if not place.startswith("letter.")]
    assert left == []
    kept = referral(alice, program)
    assert (kept["status"], kept["reversal"]["reason"]) == ("rejected", "other")
