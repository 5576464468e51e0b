"""Deleting a person leaves nothing of them in events, deliveries or kept answers, whatever was on
its way.
"""

import asyncio
import itertools
from typing import Any

import pytest

from honeyguide.events import outbox, webhooks
from honeyguide.kernel.clock import DAY_MS
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.ids import new_id
from tests.support.dispatcher import Office, ReceiverThread, Request, office, receiving, reply
from tests.support.readings import change_of_account
from tests.support.service import Member, Service
from tests.support.tables import dump, mentions

_numbers = itertools.count(1)


async def erase(post: Office, person: str) -> None:
    await post.write(lambda tx: outbox.erase(tx, post.account_id, person))


async def left_of(post: Office, text: str) -> list[str]:
    return mentions(await post.tables(), text)


@pytest.mark.parametrize("role", ["subscriber_id", "referrer_id"])
async def test_what_waits_is_cancelled_and_what_was_kept_is_gone(engine: str, role: str) -> None:
    person, other = new_id(), new_id()
    mark = f"zoe{next(_numbers)}@example.org"
    async with (
        office(engine) as post,
        receiving(reply(200, mark.encode()), reply(500, mark.encode())) as receiver,
    ):
        hook = await post.webhook(receiver.url)
        about: dict[str, Any] = {"subscriber_id": other, "referrer_id": other, role: person}
        for _ in range(2):  # one is delivered, one waits for its second attempt
            await post.emit(facts={"email": mark}, **about)
            await post.deliver()
        await post.emit(facts={"email": "kept@example.org"}, subscriber_id=other, referrer_id=other)
        assert {place.split(".")[0] for place in await left_of(post, mark)} == {
            "event",
            "attempt",
        }
        await erase(post, person)
        assert await left_of(post, mark) == []
        await post.deliver(DAY_MS)
        log = await post.log(hook)
        assert [row.status for row, _ in log] == ["pending", "cancelled", "delivered"]
        assert [attempt.status_code for _, attempts in log[1:] for attempt in attempts] == [
            500,
            200,
        ]
        assert len(receiver.requests) == 3
        for row, _ in log[1:]:
            with pytest.raises(Invalid, match="erased"):
                await post.write(
                    lambda tx, row=row: webhooks.resend(
                        change_of_account(tx, post.account_id, now_ms=post.now_ms),
                        "",
                        hook.id,
                        row.id,
                    )
                )
        since = "2026-01-01T00:00:00Z"
        count = await post.write(
            lambda tx: webhooks.replay(
                change_of_account(tx, post.account_id, now_ms=post.now_ms), "", hook.id, since
            )
        )
        await post.deliver()
        assert count == 0, "the one about somebody else still waits, the others cannot be sent"


@pytest.mark.parametrize("status", [200, 500])
async def test_an_answer_that_comes_after_the_erasure_is_not_kept(engine: str, status: int) -> None:
    gate, person = asyncio.Event(), new_id()
    mark = f"zoe{next(_numbers)}@example.org"

    async def echo_late(receiver: object, writer: asyncio.StreamWriter, request: Request) -> None:
        await gate.wait()
        writer.write(reply(status, request.body))

    async with office(engine) as post, receiving(echo_late) as receiver:
        hook = await post.webhook(receiver.url)
        await post.emit(facts={"email": mark}, subscriber_id=person)
        delivering = asyncio.create_task(post.deliver())
        while not receiver.requests:
            await asyncio.sleep(0.005)
        await erase(post, person)
        gate.set()
        await delivering
        assert await left_of(post, mark) == []
        assert (await post.one(hook))[0].status == "cancelled"
        await post.deliver(DAY_MS)
        assert len(receiver.requests) == 1


async def test_what_was_claimed_but_not_begun_is_not_sent(engine: str) -> None:
    gate, person = asyncio.Event(), new_id()

    async def held(receiver: object, writer: asyncio.StreamWriter, request: Request) -> None:
        await gate.wait()
        writer.write(reply(200))

    async with office(engine) as post, receiving(held) as receiver:
        await post.webhook(receiver.url)
        for _ in range(10):
            await post.emit(subscriber_id=person)
        async with post.working(), asyncio.timeout(10):
            while len(receiver.requests) < 4:
                await asyncio.sleep(0.005)
            await erase(post, person)
            await post.emit(facts={"mark": "behind"})
            gate.set()
            # Behind those that were held: when it arrives, they would have been sent.
            while not any(b"behind" in request.body for request in receiver.requests):
                await asyncio.sleep(0.005)
        assert len(receiver.requests) == 5


async def test_a_resend_that_raced_an_erasure_is_cancelled_and_not_looked_at_for_ever(
    engine: str,
) -> None:
    person = new_id()
    async with office(engine) as post, receiving() as receiver:
        hook = await post.webhook(receiver.url)
        await post.emit(subscriber_id=person)
        await post.deliver()
        row, _ = await post.one(hook)
        await post.write(
            lambda tx: webhooks.resend(
                change_of_account(tx, post.account_id, now_ms=post.now_ms), "", hook.id, row.id
            )
        )
        # As if the resend had committed after the erasure cancelled and before it dropped the
        # body.
        await post.write(
            lambda tx: tx.run(
                outbox._DROP_BODIES_ABOUT, account_id=post.account_id, subscriber_id=person
            )
        )
        await post.deliver()
        assert (await post.one(hook))[0].status == "cancelled"
        assert len(receiver.requests) == 1


def deliveries(owner: Member, hook: str) -> list[dict[str, Any]]:
    return owner.get(f"/v2/webhooks/{hook}/deliveries").json()["deliveries"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("who", ["subscriber", "referrer"])
def test_deleting_by_the_api_reaches_every_event_that_names_the_person(
    service: Service, alice: Member, who: str
) -> None:
    number = next(_numbers)
    mails = {"referrer": f"ann{number}@erase.example", "subscriber": f"ben{number}@erase.example"}
    with ReceiverThread(
        reply(200, b"welcome " + mails[who].encode()), reply(500, mails[who].encode())
    ) as receiver:
        hook = alice.post("/v2/webhooks", {"url": receiver.url, "new_referral": True}).json()[
            "webhook"
        ]["uuid"]
        ann = alice.subscribe(mails["referrer"], name="Ann Lee")
        ben = alice.subscribe(mails["subscriber"], referrer_code=ann["ref_code"])
        service.run(service.services.dispatcher.deliver_due())
        (sent,) = deliveries(alice, hook)
        assert (sent["status"], sent["attempts"][0]["response"]) == (
            "delivered",
            f"welcome {mails[who]}",
        )
        again = alice.post(f"/v2/webhooks/{hook}/deliveries/{sent['uuid']}/resend")
        assert again.status_code == 200, again.text
        service.run(service.services.dispatcher.deliver_due())
        assert deliveries(alice, hook)[0]["status"] == "pending"
        gone = ben if who == "subscriber" else ann
        assert alice.delete(f"{alice.v1}/subscribers/{gone['uuid']}").status_code == 200
        assert mentions(dump(service), mails[who]) == []
        (after,) = deliveries(alice, hook)
        assert after["status"] == "cancelled"
        assert [attempt["response"] for attempt in after["attempts"]] == [None, None]
        refused = alice.post(f"/v2/webhooks/{hook}/deliveries/{sent['uuid']}/resend")
        assert (refused.status_code, refused.json()["code"]) == (400, "erased")
        service.set_clock(DAY_MS / 1000)
        service.run(service.services.dispatcher.deliver_due())
        assert len(receiver.requests) == 2
        alice.delete(f"/v2/webhooks/{hook}")


@pytest.mark.parametrize("who", ["subscriber", "referrer"])
def test_a_stored_answer_that_quotes_a_receiver_goes_with_the_person_it_quotes(
    service: Service, alice: Member, who: str
) -> None:
    number = next(_numbers)
    mails = {"referrer": f"ann{number}@erase.example", "subscriber": f"ben{number}@erase.example"}
    with ReceiverThread(reply(200, b"welcome " + mails[who].encode())) as receiver:
        hook = alice.post("/v2/webhooks", {"url": receiver.url, "new_referral": True}).json()[
            "webhook"
        ]["uuid"]
        ann = alice.subscribe(mails["referrer"])
        ben = alice.subscribe(mails["subscriber"], referrer_code=ann["ref_code"])
        service.run(service.services.dispatcher.deliver_due())
        (sent,) = deliveries(alice, hook)
        path, key = (
            f"/v2/webhooks/{hook}/deliveries/{sent['uuid']}/resend",
            {"Idempotency-Key": f"again {number}"},
        )
        assert mails[who] in alice.post(path, headers=key).text
        assert "idempotency.body" in mentions(dump(service), mails[who])
        gone = ben if who == "subscriber" else ann
        assert alice.delete(f"{alice.v1}/subscribers/{gone['uuid']}").status_code == 200
        assert mentions(dump(service), mails[who]) == []
        assert alice.post(path, headers=key).status_code == 400
        alice.delete(f"/v2/webhooks/{hook}")


@pytest.mark.parametrize("way", ["webhook", "age"])
async def test_a_log_goes_whole_with_its_webhook_or_with_its_age(engine: str, way: str) -> None:
    mark = f"answer of {new_id()}"
    async with (
        office(engine) as post,
        receiving(reply(500, mark.encode()), reply(200, mark.encode())) as receiver,
    ):
        hook = await post.webhook(receiver.url)
        await post.emit()
        await post.to_the_end(hook)
        (delivery, attempts) = await post.one(hook)
        assert (delivery.status, len(attempts)) == ("delivered", 2)
        if way == "webhook":
            await post.make(webhooks.delete, "", hook.id)
        else:
            later_ms = post.now_ms + outbox.KEPT_MS + DAY_MS
            while await post.write(lambda tx: outbox.purge(tx.at(later_ms))):
                pass
        assert await left_of(post, delivery.id) == []
        assert await left_of(post, mark) == []


async def test_what_still_waits_for_delivery_is_not_purged_however_old(engine: str) -> None:
    async with office(engine) as post, receiving(200, 500, 500, 200) as receiver:
        hook = await post.webhook(receiver.url)
        for _ in range(2):  # one is delivered, one waits for its second attempt
            await post.emit()
            await post.deliver()
        later_ms = post.now_ms + outbox.KEPT_MS + DAY_MS
        while await post.write(lambda tx: outbox.purge(tx.at(later_ms))):
            pass
        waiting, attempts = await post.one(hook)
        assert (waiting.status, len(attempts)) == ("pending", 1)
        await post.to_the_end(hook)
        assert (await post.one(hook))[0].status == "delivered"
        while await post.write(lambda tx: outbox.purge(tx.at(later_ms))):
            pass
        assert await post.log(hook) == []
