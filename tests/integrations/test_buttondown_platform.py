"""Buttondown against a strict stand-in."""

import hashlib
import hmac
import json

import msgspec
import pytest

from honeyguide.integrations.platform import ContactStatus, WriteResult
from honeyguide.integrations.problems import ForgedHook, TryLater, Unexpected, WrongCredentials
from honeyguide.integrations.reports import ChangeKind, IncomingHook
from tests.support.platforms.case import Opened
from tests.support.platforms.cases import read_all, results
from tests.support.platforms.stand_in import access_to, contact

NOW_S = 1_800_000_000

PLATFORM = "buttondown"


async def test_connecting_names_the_newsletter(on_platform: Opened) -> None:
    server, platform, access = on_platform
    assert await platform.check(access) == "morningwax"
    assert [each.name for each in await platform.audiences(access)] == ["morningwax"]
    assert await platform.ensure_fields(access) == 0
    server.key = "another"
    with pytest.raises(WrongCredentials):
        await platform.check(access)


async def test_types_stay_and_suppressed_addresses_have_left(on_platform: Opened) -> None:
    server, platform, access = on_platform
    premium = server.add("reader1@example.org", "premium")
    complained = server.add("reader2@example.org", "complained")
    server.is_suppressed.add("reader3@example.org")
    outcomes = await platform.write_many(
        access,
        [
            contact(1),
            contact(2, status=ContactStatus.UNSUBSCRIBED, may_add=False),
            contact(3),
        ],
    )
    assert results(outcomes) == [WriteResult.WRITTEN, WriteResult.WRITTEN, WriteResult.LEFT]
    assert (premium["type"], complained["type"]) == ("premium", "complained")


async def test_the_limits_of_a_minute_and_of_a_day(on_platform: Opened) -> None:
    server, platform, access = on_platform
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


async def test_changes_are_read_page_by_page(on_platform: Opened) -> None:
    server, platform, access = on_platform
    access = msgspec.structs.replace(access, code_field="ref")
    for number in range(201):
        server.add(f"p{number}@example.org", metadata={"ref": f"c{number}"})
    server.add("new@example.org", creation_date="2026-11-16T10:00:00Z")
    day = "2026-11-16T10:00:00Z"
    server.add("left@example.org", "unsubscribed", unsubscription_date=day)
    server.add("bounced@example.org", "undeliverable", undeliverability_date=day)
    server.add("removed@example.org", "removed")
    for kind in ("unactivated", "unpaid", "churned", "upcoming"):
        server.add(f"{kind}@example.org", kind)

    everybody = await read_all(platform, access)
    assert len(server.seen) == 3
    assert len({each.email for each in everybody}) == len(everybody) == 205
    assert (everybody[7].kind, everybody[7].code) == (ChangeKind.JOINED, "c7")
    lately = await read_all(platform, access, 1_794_700_800_000)  # November 15
    assert [(each.kind, each.email) for each in lately] == [
        (ChangeKind.JOINED, "new@example.org"),
        (ChangeKind.LEFT, "left@example.org"),
        (ChangeKind.BOUNCED, "bounced@example.org"),
    ]
    assert everybody[-1].kind == ChangeKind.DELETED


async def test_a_webhook_is_verified_and_checked_with_buttondown(on_platform: Opened) -> None:
    server, platform, access = on_platform
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
