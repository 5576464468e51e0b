"""A verified partner referral reaches the partner's own webhooks too, and tells the partner nothing
about who the person is.
"""

import itertools
import json
from typing import Any

import pytest

from tests.support.dispatcher import ReceiverThread, reply
from tests.support.partner_network import join, offer
from tests.support.service import Member, Service
from tests.support.tables import dump, mentions

_numbers = itertools.count(1)


def listen(member: Member, url: str = "http://127.0.0.1:9/", **flags: bool) -> str:
    answer = member.post("/v2/webhooks", {"url": url, **(flags or {"new_partner_referral": True})})
    return answer.json()["webhook"]["uuid"]  # type: ignore[no-any-return]


def deliveries(member: Member, hook: str) -> list[dict[str, Any]]:
    return member.get(f"/v2/webhooks/{hook}/deliveries").json()["deliveries"]  # type: ignore[no-any-return]


def events(service: Service, member: Member) -> list[dict[str, Any]]:
    return [row for row in dump(service)["event"] if row["account_id"] == member.account_id]


@pytest.fixture
def code(alice: Member, bob: Member) -> str:
    return join(bob, offer(alice))["ref_code"]  # type: ignore[no-any-return]


def test_the_partner_is_told_without_email_and_name(
    service: Service, alice: Member, bob: Member, mallory: Member, code: str
) -> None:
    with (
        ReceiverThread() as to_owner,
        ReceiverThread() as to_partner,
        ReceiverThread() as to_others,
    ):
        listen(alice, to_owner.url)
        listen(bob, to_partner.url)
        listen(bob, to_others.url, new_referral=True)
        listen(mallory, to_others.url)
        email = f"yolanda{next(_numbers)}@secret.example"
        yolanda = alice.subscribe(
            email, name="Yolanda Vesper", referrer_code=code, ip_address="192.0.2.213"
        )
        service.run(service.services.dispatcher.deliver_due())
        assert (len(to_owner.requests), len(to_partner.requests), len(to_others.requests)) == (
            1,
            1,
            0,
        )
        owned, body = to_owner.requests[0].json(), to_partner.requests[0].json()
    assert (owned["subscriber"]["email"], owned["campaign_id"]) == (email, alice.campaign_id)
    assert (body["type"], body["campaign"], body["partner"]) == (
        "new_partner_referral",
        owned["campaign"],
        owned["partner"],
    )
    assert body["campaign"]["referral_code"] == code and body["partner"]["id"] == bob.account_id
    assert body["subscriber"] == {
        "id": yolanda["uuid"],
        "referred": True,
        "referral_status": "verified",
        "created_at": owned["subscriber"]["created_at"],
    }
    assert body["id"] != owned["id"]
    (row,) = events(service, bob)
    for private in (
        email,
        "yolanda",
        "vesper",
        yolanda["ref_code"],
        "192.0.2.213",
        alice.campaign_id,
    ):
        assert private not in json.dumps(row).lower()


def test_a_referral_that_waits_or_is_rejected_is_not_told(
    service: Service, alice: Member, bob: Member
) -> None:
    program = offer(alice, referral_pending_duration_enabled=True, referral_pending_duration=7)
    held = join(bob, program)["ref_code"]
    hook = listen(bob)
    alice.subscribe("ana@example.org", referrer_code=held)
    alice.subscribe("x@mailinator.com", referrer_code=held)
    assert deliveries(bob, hook) == []
    service.set_clock(8 * 86_400)
    service.run_jobs()
    assert [each["type"] for each in deliveries(bob, hook)] == ["new_partner_referral"]


def test_ones_own_program_tells_once(alice: Member) -> None:
    own = join(alice, offer(alice))["ref_code"]
    hook = listen(alice)
    alice.subscribe("ana@example.org", referrer_code=own)
    assert len(deliveries(alice, hook)) == 1


def test_erasing_the_subscriber_reaches_the_partners_event(
    service: Service, alice: Member, bob: Member, code: str
) -> None:
    mark = f"we guess it was yolanda{next(_numbers)}"
    with ReceiverThread(reply(500, mark.encode())) as receiver:
        hook = listen(bob, receiver.url)
        yolanda = alice.subscribe("yolanda@example.org", referrer_code=code)
        ana = alice.subscribe("ana@example.org", referrer_code=code)
        service.run(service.services.dispatcher.deliver_due())
        assert {each["status"] for each in deliveries(bob, hook)} == {"pending"}
        path = f"/v2/webhooks/{hook}/deliveries"
        by_person = {row["subscriber_id"]: row["id"] for row in events(service, bob)}
        (sent,) = [
            each for each in deliveries(bob, hook) if each["event_id"] == by_person[yolanda["uuid"]]
        ]
        assert (
            mark
            in bob.post(f"{path}/{sent['uuid']}/resend", headers={"Idempotency-Key": mark}).text
        )
        assert alice.delete(f"{alice.v1}/subscribers/{yolanda['uuid']}").status_code == 200
        after = {each["event_id"]: each for each in deliveries(bob, hook)}
        gone, kept = after[by_person[yolanda["uuid"]]], after[by_person[ana["uuid"]]]
        assert (gone["status"], {attempt["response"] for attempt in gone["attempts"]}) == (
            "cancelled",
            {None},
        )
        assert kept["status"] == "pending" and kept["attempts"][0]["response"] == mark
        assert "idempotency.body" not in mentions(dump(service), mark)
        refused = bob.post(f"{path}/{sent['uuid']}/resend")
        assert (refused.status_code, refused.json()["code"]) == (400, "erased")
        bodies = {row["subscriber_id"]: row["body"] for row in events(service, bob)}
        assert bodies[yolanda["uuid"]] is None and bodies[ana["uuid"]] is not None
        bob.delete(f"/v2/webhooks/{hook}")
