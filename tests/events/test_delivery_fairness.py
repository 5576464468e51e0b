"""A dead, slow or swamped webhook delays nobody but itself, and an idle service tells at once."""

import asyncio
import statistics
import time

import pytest

from honeyguide.events import claiming, dispatcher, outbox, recording
from honeyguide.events.outbound import LOOKUP_S, Outbound, SystemLookup
from honeyguide.events.webhooks import Webhook
from tests.support.dispatcher import (
    HOME,
    Office,
    Receiver,
    after,
    office,
    receiving,
    reset,
    run,
    silence,
    trickle,
)

QUEUED = 1_000


async def until(true: object, seconds: float = 30) -> None:
    async with asyncio.timeout(seconds):
        while not true():  # type: ignore[operator]
            await asyncio.sleep(0.001)


async def seconds_to_arrive(
    post: Office, hook: Webhook, receiver: Receiver, count: int
) -> list[float]:
    """From just before the commit to the arrival, one event after another."""
    took = []
    for _ in range(count):
        before, began = len(receiver.requests), time.monotonic()
        await post.emit_to(hook)
        await until(lambda before=before: len(receiver.requests) > before)
        took.append(receiver.requests[-1].at_s - began)
    return took


def assert_undelayed(alone: list[float], took: list[float]) -> None:
    """Compared with the same events before. On a busy machine two may wait for the processor. None
    waits as long as a name that does not resolve.
    """
    alone, took = sorted(alone), sorted(took)
    assert took[-3] < alone[-3] + 1, (alone, took)
    assert took[-1] < alone[-1] + LOOKUP_S, (alone, took)


@pytest.mark.parametrize("kind", ["dead", "failing", "black hole"])
def test_a_thousand_queued_for_one_that_does_not_work_do_not_delay_another(
    engine: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "STOP_WITHIN_S", 0.1)

    async def scenario() -> None:
        async with (
            office(engine) as post,
            receiving(500 if kind == "failing" else silence) as bad,
            receiving() as good,
        ):
            if kind == "dead":
                await bad.close()
            dead, well = await post.webhook(bad.url), await post.webhook(good.url)
            async with post.working():
                alone = await seconds_to_arrive(post, well, good, 100)
                await post.emit_to(dead, count=QUEUED)
                if kind == "black hole":
                    await until(lambda: bad.in_flight == dispatcher.IN_FLIGHT_PER_WEBHOOK)
                took = await seconds_to_arrive(post, well, good, 100)
            assert_undelayed(alone, took)
            assert bad.most_in_flight <= dispatcher.IN_FLIGHT_PER_WEBHOOK

    run(scenario())


def test_many_black_holes_at_once_leave_room_for_the_others(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them fails and has more queued than it can have in flight: one post each at a
    time.
    """
    monkeypatch.setattr(dispatcher, "STOP_WITHIN_S", 0.1)

    async def scenario() -> None:
        async with office(engine) as post, receiving(silence) as hole, receiving() as good:
            holes = [await post.webhook(hole.url) for _ in range(60)]
            well = await post.webhook(good.url)
            for one in holes:
                await post.write(
                    lambda tx, one=one: tx.one(
                        recording._FAILS,
                        account_id=post.account_id,
                        id=one.id,
                        now_ms=1,
                        quiet_ms=0,
                    )
                )
            async with post.working():
                alone = await seconds_to_arrive(post, well, good, 50)
                await post.emit_to(*holes, count=10)
                await until(lambda: hole.in_flight == 60)
                took = await seconds_to_arrive(post, well, good, 50)
            assert_undelayed(alone, took)
            assert hole.most_in_flight == 60

    run(scenario())


class SilentNameServer(asyncio.DatagramProtocol):
    """Never answers."""


@pytest.mark.parametrize("known", [False, True], ids=["new", "known to fail"])
def test_no_account_delays_another(
    engine: str, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred webhooks that hang, trickle, reset or never resolve, each with a queue: they delay
    the other account's events by less than a second, compared with the same events before."""
    monkeypatch.setattr(dispatcher, "STOP_WITHIN_S", 0.1)

    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        name_server, _ = await loop.create_datagram_endpoint(
            SilentNameServer, local_addr=("127.0.0.1", 0)
        )
        port = name_server.get_extra_info("sockname")[1]
        lookup = SystemLookup(nameservers=["127.0.0.1"], udp_port=port)
        async with (
            office(engine, outbound=Outbound(HOME, lookup=lookup)) as post,
            receiving(silence) as hangs,
            receiving(trickle) as trickles,
            receiving(reset) as resets,
            receiving() as good,
        ):
            victim = await post.neighbor()
            well = await victim.webhook(good.url)
            hostile = [
                await post.webhook(url)
                for n in range(25)
                for url in (
                    *(hangs.url, trickles.url, resets.url),
                    f"http://nobody{n}.example.org/hook",
                )
            ]
            if known:
                for hook in hostile:
                    await post.write(
                        lambda tx, hook=hook: tx.one(
                            recording._FAILS,
                            account_id=post.account_id,
                            id=hook.id,
                            now_ms=1,
                            quiet_ms=0,
                        )
                    )
            async with post.working():
                alone = await seconds_to_arrive(victim, well, good, 50)
                await post.emit_to(*hostile, count=10)
                await until(lambda: hangs.in_flight and trickles.in_flight and resets.requests)
                took = await seconds_to_arrive(victim, well, good, 50)
            assert_undelayed(alone, took)
            assert all(attempts[0].error is None for _, attempts in await victim.log(well))
        name_server.close()
        await lookup.close()

    run(scenario())


def test_every_webhook_has_its_turn_when_there_are_more_than_slots(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "MOST_IN_FLIGHT", 5)

    async def scenario() -> None:
        async with office(engine) as post, receiving() as receiver:
            hooks = [await post.webhook(f"{receiver.url}/{n}") for n in range(23)]
            await post.emit_to(*hooks, count=3)
            async with post.working():
                await until(lambda: len(receiver.requests) == 69)
            assert len({request.path for request in receiver.requests}) == 23

    run(scenario())


def test_an_idle_dispatcher_sends_within_a_tenth_of_a_second(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quarter of the time at least: on a busy machine others wait for the processor."""
    monkeypatch.setattr(dispatcher, "POLL_S", 20.0)  # what is told wakes it, not the time

    async def scenario() -> None:
        async with office(engine) as post, receiving() as receiver:
            hook = await post.webhook(receiver.url)
            async with post.working():
                took = await seconds_to_arrive(post, hook, receiver, 20)
            assert statistics.quantiles(took, n=4)[0] < 0.1

    run(scenario())


async def test_a_slow_delivery_does_not_hold_up_the_next_to_the_same_webhook(engine: str) -> None:
    gate = asyncio.Event()
    slow = after(gate)
    async with office(engine) as post, receiving(slow, slow, slow, 200) as receiver:
        hook = await post.webhook(receiver.url)
        async with post.working():
            for held in range(1, 5):
                await post.emit_to(hook)
                await until(lambda held=held: len(receiver.requests) == held)
            gate.set()


async def test_a_stop_lets_what_is_in_flight_finish_and_gives_the_rest_back(engine: str) -> None:
    gate = asyncio.Event()
    slow = after(gate)
    async with office(engine) as post, receiving(slow) as receiver:
        hook = await post.webhook(receiver.url)
        await post.emit_to(hook, count=10)
        async with post.working():
            await until(lambda: receiver.in_flight == 4)
            asyncio.get_running_loop().call_later(0.1, gate.set)
        assert (
            sorted(row.status for row, _ in await post.log(hook))
            == ["delivered"] * 4 + ["pending"] * 6
        )
        rows = [row for row in (await post.tables())["delivery"] if row["webhook_id"] == hook.id]
        assert {row["lease_token"] for row in rows} == {None}
        assert len(receiver.requests) == 4


def test_a_stop_does_not_wait_for_a_black_hole(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "STOP_WITHIN_S", 0.1)

    async def scenario() -> None:
        async with office(engine) as post, receiving(silence) as receiver:
            hook = await post.webhook(receiver.url)
            await post.emit_to(hook)
            async with post.working():
                await until(lambda: receiver.in_flight == 1)
                began = time.monotonic()
            assert time.monotonic() - began < 5
            assert (await post.one(hook))[0].status == "pending"

    run(scenario())


async def test_a_claim_never_reads_the_backlog(engine: str) -> None:
    """Without statistics PostgreSQL once chose to walk through all that waits for a webhook, for
    every claim.
    """
    async with office(engine) as post:
        hooks = [await post.webhook(f"http://127.0.0.1:9/{n}") for n in range(20)]
        await post.emit_to(*hooks, count=100)
        plan = await post.plan_of(claiming._STILL_CLAIMED, id="a", token="b")
        assert "delivery_due" not in plan and "Seq Scan on delivery" not in plan, plan
        plan = await post.plan_of(
            outbox._CANCEL_ABOUT, account_id=post.account_id, subscriber_id="x"
        )
        assert "delivery_log" not in plan and "Seq Scan on delivery" not in plan, plan
