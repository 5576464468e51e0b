"""What a receiver gets and when: signed by the standard, tried again by the published schedule, the
same bytes each time.

The store, the HTTP client and the receivers are real; the clock is the test's, so that three days
pass in a second.
"""

import asyncio
from datetime import UTC, datetime

import pytest
from standardwebhooks.webhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError

from honeyguide.events import outbox, schedule, webhooks
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, system_clock
from tests.support.dispatcher import (
    HOME,
    Office,
    Request,
    office,
    receiving,
    reply,
    run,
)
from tests.support.payloads import PAYLOADS
from tests.support.readings import change_of_account

PUBLISHED_MS = [
    5 * SECOND_MS,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    10 * HOUR_MS,
    14 * HOUR_MS,
    20 * HOUR_MS,
    24 * HOUR_MS,
]


def verified(secret: str, request: Request) -> object:
    return Verifier(secret).verify(request.body, request.headers)


def refused(secret: str, body: bytes, headers: dict[str, str]) -> bool:
    try:
        Verifier(secret).verify(body, headers)
    except WebhookVerificationError:
        return True
    return False


@pytest.mark.parametrize("kind", [*outbox.TYPES, "test"])
async def test_the_independent_library_verifies_every_type_and_no_flipped_bit(
    engine: str, kind: str
) -> None:
    async with office(engine) as post, receiving() as receiver:
        hook = await post.webhook(receiver.url, **dict.fromkeys(outbox.TYPES, True))
        if kind == "test":
            await post.write(
                lambda tx: webhooks.send_test(
                    change_of_account(tx, post.account_id, now_ms=post.now_ms), "", hook.id
                )
            )
        else:
            facts = {
                name: value
                for name, value in PAYLOADS[kind].items()
                if name not in ("type", "timestamp", "id")
            }
            await post.emit(kind, facts)
        await post.deliver()
        (request,) = receiver.requests
        body = verified(hook.secret, request)
        assert isinstance(body, dict)
        assert list(body)[:3] == ["type", "timestamp", "id"]
        assert body["type"] == kind
        assert body["id"] == request.id
        assert request.headers["content-type"] == "application/json"
        if kind != "test":
            assert {**body, "timestamp": "", "id": ""} == {
                **PAYLOADS[kind],
                "timestamp": "",
                "id": "",
            }
        flipped = bytes([request.body[0], request.body[1] ^ 1, *request.body[2:]])
        assert refused(hook.secret, flipped, request.headers)
        assert refused(
            hook.secret, request.body, request.headers | {"webhook-id": request.id[:-1] + "_"}
        )
        later = str(int(request.headers["webhook-timestamp"]) + 1)
        assert refused(hook.secret, request.body, request.headers | {"webhook-timestamp": later})


async def test_a_rotation_verifies_with_every_secret_of_the_last_day_and_no_older(
    engine: str,
) -> None:
    async with office(engine) as post, receiving() as receiver:
        hook = await post.webhook(receiver.url)
        post.now_ms = system_clock() - 2 * DAY_MS
        secrets = [hook.secret]
        for _ in range(2):  # twice in a row: the first must not lose its day
            secrets.append(await post.make(webhooks.rotate_secret, "", hook.id))
            post.now_ms += HOUR_MS
        await post.emit()
        await post.deliver()
        request = receiver.requests[-1]
        moment = datetime.fromtimestamp(int(request.headers["webhook-timestamp"]), UTC)
        for secret in secrets:
            signature = Verifier(secret).sign(request.id, moment, request.body.decode())
            assert signature in request.headers["webhook-signature"].split(" ")
        post.now_ms = system_clock()
        await post.emit()
        await post.deliver()
        assert verified(secrets[-1], receiver.requests[-1])
        assert " " not in receiver.requests[-1].headers["webhook-signature"]


async def walk_to_the_next_attempt(post: Office, hook: webhooks.Webhook) -> int:
    """Moves the clock to just before the next attempt, sees that nothing happens, then to it; gives
    the wait.
    """
    delivery, attempts = await post.one(hook)
    began_ms = attempts[-1].at_ms
    await post.deliver(delivery.due_ms - post.now_ms - 1)
    assert len((await post.one(hook))[1]) == len(attempts)
    await post.deliver(1)
    return delivery.due_ms - began_ms


@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0])
async def test_a_dead_receiver_is_tried_ten_times_by_the_published_schedule_and_then_it_failed(
    engine: str, chance: float
) -> None:
    async with office(engine, chance=chance) as post, receiving(500) as receiver:
        hook = await post.webhook(receiver.url)
        await post.emit()
        await post.deliver()
        waits_ms = [await walk_to_the_next_attempt(post, hook) for _ in PUBLISHED_MS]
        factor = 0.8 + 0.4 * chance
        assert waits_ms == [round(wait_ms * factor) for wait_ms in PUBLISHED_MS]
        delivery, attempts = await post.one(hook)
        assert delivery.status == "failed"
        assert [attempt.status_code for attempt in attempts] == [500] * 10
        await post.deliver(30 * DAY_MS)
        assert len(receiver.requests) == 10
        assert len({(request.id, request.body) for request in receiver.requests}) == 1
        stamps = [int(request.headers["webhook-timestamp"]) for request in receiver.requests]
        assert stamps == sorted(set(stamps))
        assert stamps == [attempt.at_ms // 1000 for attempt in attempts]


async def test_a_receiver_that_fails_twice_gets_it_the_third_time(engine: str) -> None:
    async with (
        office(engine) as post,
        receiving(500, reply(503, b"soon"), reply(201, b"thanks")) as receiver,
    ):
        hook = await post.webhook(receiver.url)
        await post.emit()
        await post.deliver()
        for _ in range(2):
            await walk_to_the_next_attempt(post, hook)
        delivery, attempts = await post.one(hook)
        assert delivery.status == "delivered"
        assert [(a.status_code, a.response, a.error) for a in attempts] == [
            (500, "ok", None),
            (503, "soon", None),
            (201, "thanks", None),
        ]
        assert all(0 <= attempt.latency_ms < 5_000 for attempt in attempts)
        await post.deliver(DAY_MS)
        assert len(receiver.requests) == 3
        assert (await post.current(hook)).failing_since_ms is None


async def test_a_change_of_address_or_secret_holds_from_the_next_attempt(engine: str) -> None:
    async with office(engine) as post, receiving(500) as old, receiving() as new:
        hook = await post.webhook(old.url)
        await post.emit()
        await post.deliver()
        await post.make(webhooks.update, "", hook.id, new.url, webhooks.Flags(), policy=HOME)
        secret = await post.make(webhooks.rotate_secret, "", hook.id)
        await post.deliver(5 * SECOND_MS)
        assert new.ids == old.ids
        assert verified(secret, new.requests[0]) and verified(hook.secret, new.requests[0])


def test_what_lay_for_a_while_is_looked_at_again_before_it_is_sent(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four in flight are held by the receiver; meanwhile the webhook moves, and the fifth goes to
    the new address.
    """
    monkeypatch.setattr("honeyguide.events.dispatcher.CHECK_AGAIN_S", 0.0)

    async def scenario() -> None:
        gate = asyncio.Event()

        async def held(receiver: object, writer: asyncio.StreamWriter, request: Request) -> None:
            await gate.wait()
            writer.write(reply(200))

        async with office(engine) as post, receiving(held) as old, receiving() as new:
            hook = await post.webhook(old.url)
            for _ in range(5):
                await post.emit()
            delivering = asyncio.create_task(post.deliver())
            while len(old.requests) < 4:
                await asyncio.sleep(0.005)
            await post.make(webhooks.update, "", hook.id, new.url, webhooks.Flags(), policy=HOME)
            gate.set()
            await delivering
            assert (len(old.requests), len(new.requests)) == (4, 1)
            assert old.most_in_flight == 4

    run(scenario())


@pytest.mark.parametrize("shift_ms", [0, 10 * DAY_MS, -10 * DAY_MS])
async def test_two_dispatchers_never_share_a_delivery_whatever_the_test_clock_says(
    engine: str, shift_ms: int
) -> None:
    gate = asyncio.Event()

    async def held(receiver: object, writer: asyncio.StreamWriter, request: Request) -> None:
        await gate.wait()
        writer.write(reply(200))

    async with office(engine) as post, receiving(held, 200) as receiver:
        post.now_ms += 5 * DAY_MS
        hook = await post.webhook(receiver.url)
        await post.emit()
        delivering = asyncio.create_task(post.deliver())
        while not receiver.requests:
            await asyncio.sleep(0.005)
        lease_ms = next(
            row["leased_until_ms"]
            for row in (await post.tables())["delivery"]
            if row["webhook_id"] == hook.id
        )
        assert system_clock() < lease_ms <= system_clock() + 60_000, (
            "a lease is by the world's clock"
        )
        post.now_ms += shift_ms
        await post.emit()
        async with post.another_dispatcher() as other:
            await other.deliver_due()
        assert len(receiver.requests) == 2, "the other one is sent"
        gate.set()
        await delivering
        assert len(set(receiver.ids)) == len(receiver.ids) == 2
        assert {row.status for row, _ in await post.log(hook)} == {"delivered"}


def test_an_outcome_without_its_lease_is_not_recorded(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first dispatcher's lease runs out while its receiver dawdles; the second sends it again,
    and its word counts.
    """
    monkeypatch.setattr("honeyguide.events.dispatcher.LEASE_MS", 0)

    async def scenario() -> None:
        gate = asyncio.Event()

        async def late_failure(
            receiver: object, writer: asyncio.StreamWriter, request: Request
        ) -> None:
            await gate.wait()
            writer.write(reply(500))

        async with office(engine) as post, receiving(late_failure, 200) as receiver:
            hook = await post.webhook(receiver.url)
            await post.emit()
            delivering = asyncio.create_task(post.deliver())
            while not receiver.requests:
                await asyncio.sleep(0.005)
            async with post.another_dispatcher() as other:
                await other.deliver_due()
            assert (await post.one(hook))[0].status == "delivered"
            gate.set()
            await delivering
            delivery, attempts = await post.one(hook)
            assert (delivery.status, [attempt.status_code for attempt in attempts]) == (
                "delivered",
                [200],
            )
            assert len(set(receiver.ids)) == 1

    run(scenario())


def test_the_schedule_is_the_published_one() -> None:
    assert list(schedule.WAITS_MS) == PUBLISHED_MS
    assert schedule.ATTEMPTS == 10
