"""When a webhook is switched off, what becomes of what waits, what the owner is told, and how it
comes back.
"""

import asyncio

import pytest

from honeyguide.events import webhooks
from honeyguide.events.outbound import Outbound
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS
from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.paging import Page
from honeyguide.mail import emails
from tests.support.dispatcher import BASE_URL, HOME, Office, Request, office, receiving, reply
from tests.support.readings import change_of_account, in_account

STEP_MS = 6 * HOUR_MS


async def email_kinds_of(post: Office) -> list[str]:
    written = await post.store.read(
        lambda tx: emails.of_account(in_account(tx, post.account_id), Page(1, 50))
    )
    return [email.kind for email in reversed(written)]


async def text_of(post: Office, kind: str) -> str:
    written = (await post.tables())["letter"]
    return next(
        row["body_text"]
        for row in written
        if (row["account_id"], row["kind"]) == (post.account_id, kind)
    )  # type: ignore[no-any-return]


async def days_of_failure(post: Office, days: float) -> None:
    """An event every six hours, and everything that falls due meanwhile."""
    for _ in range(round(days * DAY_MS / STEP_MS)):
        await post.deliver(STEP_MS)
        await post.emit()
        await post.deliver()


async def enable(post: Office, hook: webhooks.Webhook) -> None:
    await post.make(webhooks.update, "", hook.id, hook.url, webhooks.Flags(), policy=HOME)


async def test_gone_disables_at_once_cancels_what_waits_and_tells_the_owner(engine: str) -> None:
    async with office(engine) as post, receiving(500, 410) as receiver:
        hook = await post.webhook(receiver.url)
        for _ in range(2):
            await post.emit()
            await post.deliver()
        current = await post.current(hook)
        assert current.disabled_ms == post.now_ms
        assert [row.status for row, _ in await post.log(hook)] == ["cancelled", "cancelled"]
        assert await email_kinds_of(post) == ["webhook_disabled"]
        text = await text_of(post, "webhook_disabled")
        assert receiver.url in text and "410 Gone" in text and f"{BASE_URL}/webhooks/" in text
        rung = [
            row for row in (await post.tables())["notice"] if row["account_id"] == post.account_id
        ]
        assert [(row["kind"], row["link"]) for row in rung] == [
            ("webhook_disabled", f"/webhooks/{hook.id}")
        ]
        await post.deliver(3 * DAY_MS)
        assert len(receiver.requests) == 2


async def test_what_happens_while_it_is_off_is_kept_and_replayed_on_request(engine: str) -> None:
    async with office(engine) as post, receiving(410, 200) as receiver:
        hook = await post.webhook(receiver.url)
        since = "2026-01-01T00:00:00Z"
        await post.emit(facts={"n": "before"})
        await post.deliver()
        await post.emit(facts={"n": "meanwhile"})
        with pytest.raises(Invalid, match="disabled"):
            await post.write(
                lambda tx: webhooks.send_test(
                    change_of_account(tx, post.account_id, now_ms=post.now_ms), "", hook.id
                )
            )
        with pytest.raises(Invalid, match="disabled"):
            await post.write(
                lambda tx: webhooks.replay(
                    change_of_account(tx, post.account_id, now_ms=post.now_ms), "", hook.id, since
                )
            )
        await enable(post, hook)
        await post.deliver(DAY_MS)
        assert len(receiver.requests) == 1, "enabling alone sends nothing"
        count = await post.write(
            lambda tx: webhooks.replay(
                change_of_account(tx, post.account_id, now_ms=post.now_ms), "", hook.id, since
            )
        )
        await post.deliver()
        assert count == 2
        assert {request.json()["n"] for request in receiver.requests[1:]} == {
            "before",
            "meanwhile",
        }
        assert {row.status for row, _ in await post.log(hook)} == {"delivered"}


async def test_a_day_of_failure_warns_once_and_five_days_disable(engine: str) -> None:
    async with office(engine) as post, receiving(500) as receiver:
        hook = await post.webhook(receiver.url)
        await post.emit()
        await post.deliver()
        await days_of_failure(post, 0.75)
        assert await email_kinds_of(post) == []
        await days_of_failure(post, 0.5)
        assert await email_kinds_of(post) == ["webhook_failing"]
        assert receiver.url in await text_of(post, "webhook_failing")
        await days_of_failure(post, 3.5)
        assert await email_kinds_of(post) == ["webhook_failing"]
        assert (await post.current(hook)).disabled_ms is None
        await days_of_failure(post, 0.5)
        assert await email_kinds_of(post) == ["webhook_failing", "webhook_disabled"]
        assert "five days" in await text_of(post, "webhook_disabled")
        assert "pending" not in {row.status for row, _ in await post.log(hook)}
        seen = len(receiver.requests)
        await days_of_failure(post, 0.5)
        assert len(receiver.requests) == seen
        await enable(post, hook)
        await post.emit()
        await post.deliver()
        assert len(receiver.requests) == seen + 1
        assert (await post.current(hook)).disabled_ms is None, "its record of failure begins anew"


async def test_one_success_in_five_days_is_enough(engine: str) -> None:
    async with office(engine) as post, receiving(500) as receiver:
        hook = await post.webhook(receiver.url)
        await post.emit()
        await post.deliver()
        await days_of_failure(post, 3)
        receiver.script[:] = [200, 500]
        await days_of_failure(post, 4)
        assert (await post.current(hook)).disabled_ms is None
        assert await email_kinds_of(post) == ["webhook_failing", "webhook_failing"]


async def test_a_flapping_receiver_gets_everything_and_is_never_disabled(engine: str) -> None:
    async with office(engine) as post, receiving(*[500, 200] * 40) as receiver:
        hook = await post.webhook(receiver.url)
        for _ in range(14):
            await post.emit()
            await post.deliver(12 * HOUR_MS)
        for _ in range(9):
            await post.deliver(30 * HOUR_MS)
        assert {row.status for row, _ in await post.log(hook)} == {"delivered"}
        assert (await post.current(hook)).disabled_ms is None
        assert len(set(receiver.ids)) == 14
        assert await email_kinds_of(post) == []


async def test_two_failures_with_a_long_quiet_between_them_are_no_streak(engine: str) -> None:
    async with office(engine) as post, receiving(500) as receiver:
        hook = await post.webhook(receiver.url)
        for _ in range(2):
            await post.emit()
            await post.to_the_end(hook)
            await post.deliver(20 * DAY_MS)
        assert (await post.current(hook)).disabled_ms is None
        assert {row.status for row, _ in await post.log(hook)} == {"failed"}


async def test_what_is_in_flight_when_it_is_disabled_still_counts_if_it_arrives(
    engine: str,
) -> None:
    gate = asyncio.Event()

    async def slow(receiver: object, writer: asyncio.StreamWriter, request: Request) -> None:
        await gate.wait()
        writer.write(reply(200))

    async def slow_failure(
        receiver: object, writer: asyncio.StreamWriter, request: Request
    ) -> None:
        await gate.wait()
        writer.write(reply(500))

    async with office(engine) as post, receiving(slow, slow_failure, 410) as receiver:
        hook = await post.webhook(receiver.url)
        for _ in range(2):
            await post.emit()
        delivering = asyncio.create_task(post.deliver())
        while len(receiver.requests) < 2:
            await asyncio.sleep(0.005)
        await post.emit()
        other = type(post.dispatcher)(post.store, Outbound(HOME), lambda: post.now_ms)
        await other.deliver_due()
        assert (await post.current(hook)).disabled_ms is not None
        gate.set()
        await delivering
        outcome = sorted(
            (row.status, [a.status_code for a in attempts])
            for row, attempts in await post.log(hook)
        )
        assert outcome == [("cancelled", [410]), ("cancelled", [500]), ("delivered", [200])]


async def test_a_deleted_webhook_gets_nothing_more_and_harms_nobody(engine: str) -> None:
    async with office(engine) as post, receiving(500) as gone, receiving() as well:
        hook, other = await post.webhook(gone.url), await post.webhook(well.url)
        await post.emit()
        await post.deliver()
        await post.make(webhooks.delete, "", hook.id)
        await post.emit()
        await post.deliver(5 * MINUTE_MS)
        assert (len(gone.requests), len(well.requests)) == (1, 2)
        assert [row.status for row, _ in await post.log(other)] == ["delivered", "delivered"]


async def test_a_webhook_deleted_while_its_delivery_is_in_flight(engine: str) -> None:
    gate = asyncio.Event()

    async def slow(receiver: object, writer: asyncio.StreamWriter, request: Request) -> None:
        await gate.wait()
        writer.write(reply(500))

    async with office(engine) as post, receiving(slow) as receiver, receiving() as well:
        hook, other = await post.webhook(receiver.url), await post.webhook(well.url)
        await post.emit()
        delivering = asyncio.create_task(post.deliver())
        while not receiver.requests:
            await asyncio.sleep(0.005)
        await post.make(webhooks.delete, "", hook.id)
        gate.set()
        await delivering
        assert (await post.one(other))[0].status == "delivered"
        assert await email_kinds_of(post) == []
