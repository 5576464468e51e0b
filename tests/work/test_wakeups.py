"""A change that others wait for wakes them at once; none of them waits for its next look."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest

from honeyguide.events import outbox
from honeyguide.mail import emails, slack_messages
from honeyguide.operating.backups import records
from honeyguide.signups import erasures
from honeyguide.store.tx import Tx
from tests.support.dispatcher import ReceiverThread
from tests.support.service import Member, Service, until
from tests.support.web import WebClient, operator

SINCE = {"since": "2026-01-01T00:00:00Z"}


@contextmanager
def wakes(service: Service, topic: str) -> Iterator[None]:
    called = threading.Event()
    service.loop.call_soon_threadsafe(service.services.store.listen, topic, called.set)
    yield
    assert called.wait(10), f"nobody called {topic}"


@pytest.mark.parametrize("what", ["resend", "replay", "test", "event"])
def test_whatever_is_to_be_delivered_wakes_the_dispatcher(
    service: Service, alice: Member, what: str
) -> None:
    with ReceiverThread() as receiver:
        flags = {"url": receiver.url, "new_referral": True}
        hook = alice.post("/v2/webhooks", flags).json()["webhook"]["uuid"]
        code = alice.subscribe("ann@example.org")["ref_code"]
        alice.subscribe("ben@example.org", referrer_code=code)
        friend = {"email": "cid@example.org", "referrer_code": code}
        service.run(service.services.dispatcher.deliver_due())
        deliveries = f"/v2/webhooks/{hook}/deliveries"
        until(lambda: alice.get(deliveries).json()["deliveries"][0]["status"] == "delivered")
        (sent,) = alice.get(deliveries).json()["deliveries"]
        act: dict[str, Callable[[], httpx.Response]] = {
            "resend": lambda: alice.post(f"{deliveries}/{sent['uuid']}/resend"),
            "replay": lambda: alice.post(f"/v2/webhooks/{hook}/replay", SINCE),
            "test": lambda: alice.post(f"/v2/webhooks/{hook}/test"),
            "event": lambda: alice.post(f"{alice.v1}/subscribers", friend),
        }
        with wakes(service, outbox.DELIVERIES):
            assert act[what]().status_code < 400
        alice.delete(f"/v2/webhooks/{hook}")


def test_an_erasure_wakes_the_copy_to_the_backups_and_the_dispatcher(
    service: Service, alice: Member
) -> None:
    for email, topic in (("a@example.org", erasures.TOPIC), ("b@example.org", outbox.RECALLS)):
        alice.subscribe(email)
        with wakes(service, topic):
            assert alice.delete(f"{alice.v1}/subscribers/{email}").status_code == 200


def test_a_requested_backup_and_a_message_wake_their_jobs(service: Service) -> None:
    member = operator(service)
    with wakes(service, records.REQUESTED):
        service.write(records.request)

    async def post(tx: Tx) -> None:
        await slack_messages.enqueue(tx.at(1), member.account_id, "x", "/")

    with wakes(service, slack_messages.TOPIC):
        service.write(post)
    with wakes(service, emails.TOPIC):
        asked = WebClient(service).post("/password", email=member.email)
        assert asked.status_code < 400
