"""The four events that are switched on beside a webhook's `events`, and then delivered, signed,
logged and erased like the others.
"""

import json
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook as Verifier

from honeyguide.events import outbox
from honeyguide.kernel.tenant import Tenant
from honeyguide.signups import signups
from honeyguide.signups.lifecycle import NewSubscriber
from tests.support.changes import changing
from tests.support.dispatcher import ReceiverThread
from tests.support.newsletter import Newsletter
from tests.support.partner_network import join, offer
from tests.support.payloads import PAYLOADS
from tests.support.service import Member, Service
from tests.support.tables import dump

URL = "http://127.0.0.1:9/hook"
NONE = dict.fromkeys(outbox.MORE_TYPES)
ALL = dict.fromkeys(outbox.MORE_TYPES, True)


def listen(member: Member, url: str = URL, **flags: bool) -> str:
    hook = member.post("/v2/webhooks", {"url": url}).json()["webhook"]["uuid"]
    answer = member.put(f"/v2/webhooks/{hook}/more_events", flags or ALL)
    assert answer.status_code == 200, answer.text
    return hook  # type: ignore[no-any-return]


def types(member: Member, hook: str) -> list[str]:
    """What was recorded for a webhook, oldest first."""
    log = member.get(f"/v2/webhooks/{hook}/deliveries").json()["deliveries"]
    return [each["type"] for each in reversed(log)]


def test_the_flags_are_read_and_written_beside_the_webhook(alice: Member, bob: Member) -> None:
    hook = alice.post("/v2/webhooks", {"url": URL, "new_referral": True}).json()["webhook"]
    path = f"/v2/webhooks/{hook['uuid']}/more_events"
    assert alice.get(path).json() == {"more_events": NONE}
    changed = alice.put(path, {"new_subscriber": True, "referral_rejected": False})
    assert changed.json() == {
        "more_events": NONE | {"new_subscriber": True, "referral_rejected": False}
    }
    # Each request changes only what it names, here and in the webhook itself.
    alice.put(f"/v2/webhooks/{hook['uuid']}", {"new_referral": False})
    alice.put(path, {"referral_rejected": None})
    assert alice.get(path).json() == {"more_events": NONE | {"new_subscriber": True}}
    after = alice.get(f"/v2/webhooks/{hook['uuid']}").json()["webhook"]
    assert after == hook | {"events": hook["events"] | {"new_referral": False}}
    assert alice.put(path, {"new_subscriber": "yes"}).status_code == 400
    assert bob.get(path).status_code == bob.put(path, ALL).status_code == 404


def test_a_signup_and_a_departure(service: Service, alice: Member) -> None:
    with ReceiverThread() as receiver:
        hook = listen(alice, receiver.url)
        secret = alice.get(f"/v2/webhooks/{hook}/secret").json()["secret"]
        cat = alice.subscribe("cat@more.example", name="Cat Reed")
        for _ in range(2):
            alice.put(f"{alice.v1}/subscribers/{cat['uuid']}", {"status": "unsubscribed"})
        alice.put(f"{alice.v1}/subscribers/{cat['uuid']}", {"status": "confirmed"})
        alice.put(f"{alice.v1}/subscribers/{cat['uuid']}", {"name": "Cat R."})
        alice.subscribe("gone@more.example", status="unsubscribed")
        expected = ["new_subscriber", "subscriber_unsubscribed", "new_subscriber"]
        assert types(alice, hook) == expected
        service.run(service.services.dispatcher.deliver_due())
        requests = receiver.requests
        for request in requests:
            Verifier(secret).verify(request.body, dict(request.headers))
        bodies = {request.json()["type"]: request.json() for request in requests}
        assert sorted(bodies) == ["new_subscriber", "subscriber_unsubscribed"]
        for kind, body in bodies.items():
            assert list(body) == list(PAYLOADS[kind])
            assert list(body["subscriber"]) == list(PAYLOADS[kind]["subscriber"])
        left = bodies["subscriber_unsubscribed"]
        assert (left["status"], left["origin"], left["subscriber"]["email"]) == (
            "unsubscribed",
            "api",
            "cat@more.example",
        )
        replayed = alice.post(f"/v2/webhooks/{hook}/replay", {"since": "2026-01-01T00:00:00Z"})
        assert replayed.json() == {"replayed": 3}
    alice.delete(f"{alice.v1}/subscribers/{cat['uuid']}")
    about = [row["body"] for row in dump(service)["event"] if row["subscriber_id"] == cat["uuid"]]
    assert about == [None, None, None]


def test_with_confirmation_a_subscriber_is_new_when_they_confirm(service: Service) -> None:
    newsletter = Newsletter(service, needs_confirmation=True)
    owner = newsletter.member
    hook = listen(owner, new_subscriber=True)
    made = owner.subscribe(newsletter.address())
    assert types(owner, hook) == []
    owner.put(f"{owner.v1}/subscribers/{made['uuid']}", {"status": "confirmed"})
    owner.put(f"{owner.v1}/subscribers/{made['uuid']}", {"status": "confirmed"})
    assert types(owner, hook) == ["new_subscriber"]


def test_referrals_are_told_when_they_are_decided(service: Service) -> None:
    newsletter = Newsletter(service)
    owner = newsletter.member
    hook = listen(owner, referral_verified=True, referral_rejected=True)
    ann = owner.subscribe(newsletter.address("ann"))
    at_once = {"referrer_code": ann["ref_code"]}
    owner.subscribe(newsletter.address("ben"), **at_once)
    assert types(owner, hook) == ["referral_verified"]
    owner.subscribe("x@mailinator.com", **at_once)
    newsletter.configure(hold_days=7)
    held = [owner.subscribe(newsletter.address("held"), **at_once) for _ in range(3)]
    assert types(owner, hook) == ["referral_verified", "referral_rejected"]
    subscribers = f"{owner.v1}/subscribers"
    owner.post(f"{subscribers}/{held[0]['uuid']}/referral/reject")
    owner.put(f"{subscribers}/{held[1]['uuid']}", {"status": "unsubscribed"})
    service.set_clock(8 * 86_400)
    service.run_jobs()
    rows = [event for event in dump(service)["event"] if event["account_id"] == owner.account_id]
    by_reason = [(e["type"], _body(e)["reason"], _body(e)["referrer"]["id"]) for e in rows]
    assert by_reason == [
        ("referral_verified", None, ann["uuid"]),
        ("referral_rejected", "disposable_domain", ann["uuid"]),
        ("referral_rejected", "rejected_by_hand", ann["uuid"]),
        ("referral_rejected", "left_during_hold", ann["uuid"]),
        ("referral_verified", None, ann["uuid"]),
    ]
    assert list(_body(rows[0])) == list(PAYLOADS["referral_verified"])
    owner.delete(f"{subscribers}/{ann['uuid']}")
    bodies = [row["body"] for row in dump(service)["event"] if row["referrer_id"] == ann["uuid"]]
    assert bodies == [None] * 5


def _body(event: dict[str, Any]) -> dict[str, Any]:
    return json.loads(event["body"])  # type: ignore[no-any-return]


def test_a_partners_referral_names_the_partner_to_the_owner_only(
    service: Service, alice: Member, bob: Member
) -> None:
    code = join(bob, offer(alice))["ref_code"]
    owners, partners = listen(alice), listen(bob)
    alice.subscribe("dan@more.example", referrer_code=code)
    alice.subscribe("x@mailinator.com", referrer_code=code)
    assert types(alice, owners) == [
        "new_subscriber",
        "referral_verified",
        "new_subscriber",
        "referral_rejected",
    ]
    assert types(bob, partners) == []
    body = next(
        _body(event)
        for event in dump(service)["event"]
        if event["account_id"] == alice.account_id and event["type"] == "referral_verified"
    )
    assert (body["referrer"], body["partner"]["id"]) == (None, bob.account_id)
    assert body["campaign"]["referral_code"] == code


def test_an_import_tells_of_referrals_but_not_of_subscribers(alice: Member) -> None:
    hook = listen(alice)
    ann = alice.subscribe("ann@import.example")
    for new in (
        NewSubscriber(email="ben@import.example", origin="import"),
        NewSubscriber(email="cat@import.example", origin="import", referrer_code=ann["ref_code"]),
    ):
        alice.make(signups.sign_up, new)
    assert types(alice, hook) == ["new_subscriber", "referral_verified"]


@pytest.mark.parametrize("flags", [{}, {"subscriber_unsubscribed": True}])
def test_a_signup_that_nobody_listens_to_asks_once(
    service: Service, alice: Member, flags: dict[str, bool]
) -> None:
    """It looks for a listener with the one thing that every signup asks, and asks nothing else."""
    if flags:
        listen(alice, **flags)
    tenant, site, now_ms = (
        Tenant(alice.account_id, alice.campaign_id),
        service.services.site,
        service.now_ms(),
    )
    asked: list[str] = []

    async def sign_up(tx: Any) -> None:
        counted = _Counting(tx, asked)
        new = NewSubscriber(email="quiet@more.example")
        await changing(signups.sign_up, site, tenant, now_ms)(counted, new)  # type: ignore[arg-type]

    service.write(sign_up)
    assert asked == ["signups.signups.arrival", "signups.lifecycle.insert"]


class _Counting:
    """A transaction that notes the statements that pass through it."""

    def __init__(self, tx: Any, asked: list[str]) -> None:
        self._tx, self._asked, self.written = tx, asked, tx.written

    def at(self, now_ms: int) -> Any:
        return _Counting(self._tx.at(now_ms), self._asked)

    async def one(self, statement: Any, *args: Any, **params: Any) -> Any:
        self._asked.append(statement.name)
        return await self._tx.one(statement, *args, **params)

    async def put(self, statement: Any, *args: Any, **params: Any) -> None:
        self._asked.append(statement.name)
        await self._tx.put(statement, *args, **params)
