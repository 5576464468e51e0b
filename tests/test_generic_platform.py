"""Any tool: signed JSON out, signed JSON in. What every platform shares (the pace, and what becomes
of errors) is tested here too.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from honeyguide.events import signature
from honeyguide.integrations.generic import Generic
from honeyguide.integrations.platform import (
    ChangeKind,
    ContactStatus,
    IncomingHook,
    Limits,
    PlatformAccess,
    WriteResult,
)
from honeyguide.integrations.problems import (
    ForgedHook,
    PlatformError,
    TryLater,
    Unexpected,
    WrongCredentials,
)
from tests.support.platforms.generic import GenericTool
from tests.support.platforms.stand_in import access_to, contact, drop, garbage, status

GENERIC = Generic()
NOW_S = 1_800_000_000


def using(
    test: Callable[[GenericTool, PlatformAccess], Awaitable[None]], secret: str = "", **options: Any
) -> None:
    async def run() -> None:
        tool = GenericTool(signature.new_secret())
        async with tool.serving():
            credentials = {"url": f"{tool.url}/hook", "secret": secret or tool.secret}
            async with access_to(GENERIC, credentials, **options) as access:
                await test(tool, access)

    asyncio.run(run())


def test_contacts_are_written_with_the_operators_field_names() -> None:
    async def test(tool: GenericTool, access: PlatformAccess) -> None:
        assert await GENERIC.check(access) == ""
        tool.refuses = {"reader2@example.org": {"result": "refused", "reason": "Typo?"}}
        left = contact(3, status=ContactStatus.UNSUBSCRIBED, may_add=False)
        outcomes = await GENERIC.write_many(access, [contact(1), contact(2), left])
        assert [each.result for each in outcomes] == [
            WriteResult.WRITTEN,
            WriteResult.REFUSED,
            WriteResult.WRITTEN,
        ]
        assert outcomes[1].reason == "Typo?"
        written = tool.contacts[contact(1).subscriber_id]
        assert written["fields"] == {"RH_CODE": "code1", "RH_TOTREF": "3"}
        assert tool.contacts[left.subscriber_id]["status"] == "unsubscribed"

    using(test)


def test_a_wrong_secret_is_wrong_credentials() -> None:
    async def test(tool: GenericTool, access: PlatformAccess) -> None:
        with pytest.raises(WrongCredentials, match="does not accept the key"):
            await GENERIC.check(access)

    using(test, secret=signature.new_secret())


@pytest.mark.parametrize(
    ("fault", "error", "after_s"),
    [
        (status(429), TryLater, None),
        (status(429, retry_after="7"), TryLater, 7),
        (status(503, retry_after="60"), TryLater, 60),
        (status(500), TryLater, None),
        (drop, TryLater, None),
        (status(410), WrongCredentials, None),
        (status(302, location="https://example.org"), Unexpected, None),
        (status(200, '{"results": 7}'), Unexpected, None),
        (status(200, '{"results": [{"id": "x", "result": "no such"}]}'), Unexpected, None),
    ],
)
def test_what_goes_wrong_is_one_sentence(
    fault: Any, error: type[PlatformError], after_s: int | None
) -> None:
    async def test(tool: GenericTool, access: PlatformAccess) -> None:
        tool.fail(fault)
        with pytest.raises(error) as raised:
            await GENERIC.write_many(access, [contact()])
        assert getattr(raised.value, "after_s", None) == after_s
        assert raised.value.reason.endswith(".") and "example.org" not in raised.value.reason
        assert [each.result for each in await GENERIC.write_many(access, [contact()])] == [
            WriteResult.WRITTEN
        ]

    using(test)


def test_an_answer_that_is_no_json_object_says_nothing_about_anybody() -> None:
    async def test(tool: GenericTool, access: PlatformAccess) -> None:
        tool.fail(garbage)
        assert (await GENERIC.write_many(access, [contact()]))[0].result == WriteResult.WRITTEN

    using(test)


def test_requests_keep_the_pace() -> None:
    assert Limits(requests_per_minute=120, per_batch=1, requests_per_batch=1).interval_s == 0.5
    assert (
        Limits(
            requests_per_second=4, requests_per_minute=60, per_batch=1, requests_per_batch=1
        ).interval_s
        == 1
    )

    async def test(tool: GenericTool, access: PlatformAccess) -> None:
        began = time.perf_counter()
        for _ in range(4):
            await GENERIC.check(access)
        assert time.perf_counter() - began >= 0.3
        assert access.http.requests == 4 and 0 < access.http.wait_s <= 0.1

    using(test, interval_s=0.1)


def test_a_webhook_is_verified_and_understood() -> None:
    async def test(tool: GenericTool, access: PlatformAccess) -> None:
        content = {"type": "joined", "email": "a@example.org", "name": "Ada", "code": "k3x9"}

        def hook(**options: Any) -> IncomingHook:
            sent = tool.signed(options.pop("content", content), **{"at_s": NOW_S, **options})
            return IncomingHook(headers=sent["headers"], body=sent["content"])

        GENERIC.verify_hook(access, hook(), now_s=NOW_S + 299)
        for wrong in (
            hook(secret=signature.new_secret()),
            hook(at_s=NOW_S - 301),
            IncomingHook(headers={}, body=b"{}"),
            IncomingHook(headers=hook().headers, body=b"{}"),
        ):
            with pytest.raises(ForgedHook):
                GENERIC.verify_hook(access, wrong, now_s=NOW_S)
        [change] = await GENERIC.understand_hook(access, hook())
        assert (change.kind, change.email, change.name, change.code) == (
            ChangeKind.JOINED,
            "a@example.org",
            "Ada",
            "k3x9",
        )
        many = {"events": [{"type": "left", "email": "a@example.org"}, {"type": "deleted"}]}
        kinds = [each.kind for each in await GENERIC.understand_hook(access, hook(content=many))]
        assert kinds == [ChangeKind.LEFT, ChangeKind.DELETED]
        for nonsense in ([], {"type": "sneezed"}, {"events": 7}, "x"):
            with pytest.raises(Unexpected):
                await GENERIC.understand_hook(access, hook(content=nonsense))

    using(test)
