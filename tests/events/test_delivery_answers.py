"""What a receiver may answer, or not answer, and what becomes of the delivery."""

import pytest

from honeyguide.events.outbound import Outbound
from honeyguide.kernel.clock import DAY_MS, MINUTE_MS, SECOND_MS
from tests.support.dispatcher import (
    HOME,
    endless,
    office,
    receiving,
    reply,
    silence,
)


async def test_a_receiver_without_an_answer_is_given_up_after_its_time_and_left_alone_for_a_minute(
    engine: str,
) -> None:
    outbound = Outbound(HOME, total_s=0.2)
    async with office(engine, outbound=outbound) as post, receiving(silence, 200) as receiver:
        hook = await post.webhook(receiver.url)
        await post.emit()
        await post.deliver()
        delivery, (attempt,) = await post.one(hook)
        assert (attempt.status_code, attempt.response) == (None, "")
        assert attempt.error == "No response within 0.2 seconds."
        assert attempt.latency_ms >= 200
        assert delivery.due_ms - attempt.at_ms == MINUTE_MS
        await post.deliver(MINUTE_MS)
        assert (await post.one(hook))[0].status == "delivered"


@pytest.mark.parametrize(
    ("answer", "wait_ms"),
    [
        (reply(503, Retry_After="7"), 7 * SECOND_MS),
        (reply(503, Retry_After="2"), 5 * SECOND_MS),
        (reply(429, Retry_After="7"), MINUTE_MS),
        (reply(429, Retry_After="600"), 10 * MINUTE_MS),
        (reply(500, Retry_After="99999999"), DAY_MS),
        (reply(503, Retry_After="soon"), 5 * SECOND_MS),
        (429, MINUTE_MS),
    ],
)
async def test_retry_after_is_honoured_within_a_day(
    engine: str, answer: bytes | int, wait_ms: int
) -> None:
    async with office(engine) as post, receiving(answer) as receiver:
        hook = await post.webhook(receiver.url)
        await post.emit()
        await post.deliver()
        delivery, (attempt,) = await post.one(hook)
        assert delivery.status == "pending"
        assert delivery.due_ms - attempt.at_ms == wait_ms


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_a_failure_and_nobody_follows_it(engine: str, status: int) -> None:
    async with (
        office(engine) as post,
        receiving() as canary,
        receiving(reply(status, Location=canary.url)) as receiver,
    ):
        hook = await post.webhook(receiver.url)
        await post.emit()
        await post.deliver()
        delivery, (attempt,) = await post.one(hook)
        assert (delivery.status, attempt.status_code) == ("pending", status)
        assert canary.connections == 0


async def test_an_endless_answer_is_cut_and_its_beginning_kept(engine: str) -> None:
    async with office(engine) as post, receiving(endless) as receiver:
        hook = await post.webhook(receiver.url)
        await post.emit()
        await post.deliver()
        delivery, (attempt,) = await post.one(hook)
        assert (delivery.status, attempt.status_code, attempt.response) == (
            "delivered",
            200,
            "x" * 1024,
        )
        assert receiver.sent < 20_000_000


async def test_bytes_that_no_text_column_takes_are_left_out_of_the_log(engine: str) -> None:
    async with (
        office(engine) as post,
        receiving(reply(200, b"a\x00b\xff\xed\xa0\x80c\x1b[0m")) as receiver,
    ):
        hook = await post.webhook(receiver.url)
        await post.emit()
        await post.deliver()
        delivery, (attempt,) = await post.one(hook)
        assert delivery.status == "delivered"
        assert attempt.response is not None
        assert attempt.response.startswith("ab") and attempt.response.endswith("c[0m")


async def test_nobody_there_is_a_failure_with_a_plain_sentence(engine: str) -> None:
    async with office(engine) as post:
        async with receiving() as receiver:
            hook = await post.webhook(receiver.url)
        await post.emit()
        await post.deliver()
        delivery, (attempt,) = await post.one(hook)
        assert (delivery.status, attempt.status_code) == ("pending", None)
        assert attempt.error == "The connection failed: Connection refused."
        assert delivery.due_ms - attempt.at_ms == 5 * SECOND_MS
