"""Buttondown against a strict stand-in."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from honeyguide.integrations.buttondown import Buttondown
from honeyguide.integrations.platform import (
    ChangeKind,
    ContactStatus,
    IncomingHook,
    PlatformAccess,
    WriteResult,
)
from honeyguide.integrations.problems import (
    ForgedHook,
    TryLater,
    Unexpected,
    WrongCredentials,
)
from tests.support.platforms.buttondown import KEY, ButtondownServer
from tests.support.platforms.stand_in import access_to, contact, garbage, status

NOW_S = 1_800_000_000
Test = Callable[[ButtondownServer, Buttondown, PlatformAccess], Awaitable[None]]


def using(test: Test, **options: Any) -> None:
    async def run() -> None:
        server = ButtondownServer()
        async with server.serving():
            buttondown = Buttondown(f"{server.url}/v1")
            async with access_to(buttondown, {"api_key": KEY}, **options) as access:
                await test(server, buttondown, access)

    asyncio.run(run())


def results(outcomes: Any) -> list[WriteResult]:
    return [each.result for each in outcomes]


def test_connecting_names_the_newsletter() -> None:
    async def test(server: ButtondownServer, platform: Buttondown, access: PlatformAccess) -> None:
        assert await platform.check(access) == "morningwax"
        assert [each.name for each in await platform.audiences(access)] == ["morningwax"]
        assert await platform.ensure_fields(access) == 0
        server.key = "another"
        with pytest.raises(WrongCredentials):
            await platform.check(access)

    using(test)


def test_writing_never_makes_anybody_active_again() -> None:
    async def test(server: ButtondownServer, platform: Buttondown, access: PlatformAccess) -> None:
        gone = ("unsubscribed", "undeliverable", "complained", "blocked", "removed")
        for number, kind in enumerate((*gone, "premium"), start=2):
            server.add(f"reader{number}@example.org", kind, metadata={"town": "Bonn"})
        server.is_suppressed.add("reader8@example.org")
        contacts = [contact(n) for n in range(1, 9)] + [contact(9, may_add=False)]
        outcomes = await platform.write_many(access, contacts)
        assert results(outcomes) == [
            WriteResult.WRITTEN,
            *[WriteResult.LEFT] * 5,
            WriteResult.WRITTEN,
            WriteResult.LEFT,
            WriteResult.ABSENT,
        ]
        types = [person["type"] for person in server.people.values()]
        assert types == [*gone, "premium", "unactivated"]
        known = server.by_email("reader7@example.org")
        assert known and outcomes[6].remote_id == known["id"]
        assert known["metadata"] == {"town": "Bonn", "rh_code": "code7", "rh_totref": "3"}

    using(test)


def test_unsubscribed_erased_and_renamed() -> None:
    async def test(server: ButtondownServer, platform: Buttondown, access: PlatformAccess) -> None:
        one, two = server.add("reader1@example.org"), server.add("old+x@example.org")
        three = server.add("reader3@example.org", metadata={"rh_code": "code3", "town": "Bonn"})
        server.add("taken@example.org")
        five = server.add("reader5@example.org")
        complained = server.add("reader7@example.org", "complained")
        erased: dict[str, Any] = {
            "status": ContactStatus.ERASED,
            "email": "",
            "may_add": False,
            "values": {},
        }
        outcomes = await platform.write_many(
            access,
            [
                contact(1, status=ContactStatus.UNSUBSCRIBED, may_add=False),
                contact(2, old_email="old+x@example.org"),
                contact(3, remote_id=three["id"], **erased),
                contact(4, status=ContactStatus.UNSUBSCRIBED, may_add=False),
                contact(5, email="taken@example.org", remote_id=five["id"], old_email="x@y.org"),
                contact(6, remote_id="sub_gone", may_add=False),
                contact(7, status=ContactStatus.UNSUBSCRIBED, may_add=False),
            ],
        )
        assert results(outcomes) == [
            WriteResult.WRITTEN,
            WriteResult.WRITTEN,
            WriteResult.WRITTEN,
            WriteResult.ABSENT,
            WriteResult.REFUSED,
            WriteResult.ABSENT,
            WriteResult.WRITTEN,
        ]
        assert one["type"] == "unsubscribed" and two["email_address"] == "reader2@example.org"
        assert three["metadata"] == {"rh_code": "", "rh_totref": "", "town": "Bonn"}
        assert three["type"] == "regular" and complained["type"] == "complained"

    using(test)


def test_the_limits_of_a_minute_and_of_a_day() -> None:
    async def test(server: ButtondownServer, platform: Buttondown, access: PlatformAccess) -> None:
        server.left_this_minute = 4  # two requests for each
        outcomes = await platform.write_many(access, [contact(n) for n in range(1, 5)])
        assert results(outcomes) == [WriteResult.WRITTEN] * 2 + [WriteResult.LATER] * 2
        with pytest.raises(TryLater) as waiting:
            await platform.write_many(access, [contact(3)])
        assert waiting.value.after_s == 17
        server.left_this_minute, server.left_today = 600, 1
        fake = contact(5, email="fake@example.org")
        outcomes = await platform.write_many(access, [fake, contact(3), contact(4), contact(1)])
        assert results(outcomes) == [
            WriteResult.REFUSED,
            WriteResult.WRITTEN,
            WriteResult.LATER,
            WriteResult.WRITTEN,
        ]
        assert "100 subscribers a day" in outcomes[2].reason

    using(test)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (status(429), TryLater),
        (status(502), TryLater),
        (status(401), WrongCredentials),
        (status(403), WrongCredentials),
        (garbage, Unexpected),
        (status(200, '{"id": 7}'), Unexpected),
    ],
)
def test_what_goes_wrong_is_one_sentence(fault: Any, error: type[Exception]) -> None:
    async def test(server: ButtondownServer, platform: Buttondown, access: PlatformAccess) -> None:
        server.fail(fault)
        with pytest.raises(error, match=r"^[^@]+\.$"):
            await platform.write_many(access, [contact()])
        assert results(await platform.write_many(access, [contact()])) == [WriteResult.WRITTEN]

    using(test)


def test_changes_are_read_page_by_page() -> None:
    async def test(server: ButtondownServer, platform: Buttondown, access: PlatformAccess) -> None:
        for number in range(201):
            server.add(f"p{number}@example.org", metadata={"ref": f"c{number}"})
        server.add("new@example.org", creation_date="2026-11-16T10:00:00Z")
        day = "2026-11-16T10:00:00Z"
        server.add("left@example.org", "unsubscribed", unsubscription_date=day)
        server.add("bounced@example.org", "undeliverable", undeliverability_date=day)
        server.add("removed@example.org", "removed")
        for kind in ("unactivated", "unpaid", "churned", "upcoming"):
            server.add(f"{kind}@example.org", kind)

        async def read(since_ms: int | None) -> list[Any]:
            token, seen = None, []
            while True:
                page = await platform.read_changes(access, since_ms=since_ms, token=token)
                seen += page.changes
                token = page.next_token
                if token is None:
                    return seen

        everybody = await read(None)
        assert len(server.seen) == 3
        assert len({each.email for each in everybody}) == len(everybody) == 205
        assert (everybody[7].kind, everybody[7].code) == (ChangeKind.JOINED, "c7")
        lately = await read(1_794_700_800_000)  # November 15
        assert [(each.kind, each.email) for each in lately] == [
            (ChangeKind.JOINED, "new@example.org"),
            (ChangeKind.LEFT, "left@example.org"),
            (ChangeKind.BOUNCED, "bounced@example.org"),
        ]
        assert everybody[-1].kind == ChangeKind.DELETED

    using(test, code_field="ref")


def test_a_webhook_is_verified_and_checked_with_buttondown() -> None:
    async def test(server: ButtondownServer, platform: Buttondown, access: PlatformAccess) -> None:
        kept = await platform.add_hook(access, "https://refer.example.org/hooks/1")
        [made] = server.webhooks.values()

        def hook(key: str, event: str = "subscriber.created", secret: str = "") -> IncomingHook:
            body = json.dumps({"id": "e", "event_type": event, "data": {"subscriber": key}})
            signing = (secret or made["signing_key"]).encode()
            signed = hmac.new(signing, body.encode(), hashlib.sha256).hexdigest()
            headers = {"x-buttondown-signature": f"sha256={signed}"}
            return IncomingHook(headers=headers, body=body.encode())

        async with access_to(platform, {**access.credentials, **kept}) as connected:
            platform.verify_hook(connected, hook("x"), now_s=NOW_S)
            for wrong in (
                hook("x", secret="other"),
                IncomingHook(headers={}, body=b"{}"),
                IncomingHook(headers=hook("x").headers, body=b"{}"),
                IncomingHook(headers={"x-buttondown-signature": "sha256=ü"}, body=b"{}"),
            ):
                with pytest.raises(ForgedHook):
                    platform.verify_hook(connected, wrong, now_s=NOW_S)
            with pytest.raises(ForgedHook):
                platform.verify_hook(access, hook("x"), now_s=NOW_S)  # no secret was kept
            joined = server.add("in@example.org")
            left = server.add("out@example.org", "unsubscribed")
            waiting = server.add("waiting@example.org", "unactivated")
            # The body claims that all of them joined.
            for key, kinds in (
                (joined["id"], [ChangeKind.JOINED]),
                (left["id"], [ChangeKind.LEFT]),
                ("sub_gone", [ChangeKind.DELETED]),
                (waiting["id"], []),
                ("", []),
            ):
                changes = await platform.understand_hook(connected, hook(key))
                assert [each.kind for each in changes] == kinds
            assert await platform.understand_hook(connected, hook("x", "email.sent")) == []
            with pytest.raises(Unexpected):
                await platform.understand_hook(connected, IncomingHook(headers={}, body=b"[]"))
            await platform.remove_hook(connected)
            await platform.remove_hook(connected)
            assert server.webhooks == {}
        with pytest.raises(Unexpected, match="webhooks"):
            await platform.add_hook(access, "http://127.0.0.1/hooks/1")

    using(test)
