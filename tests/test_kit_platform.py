"""Kit against a strict stand-in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from honeyguide.integrations.kit import Kit
from honeyguide.integrations.platform import (
    ChangeKind,
    ContactStatus,
    IncomingHook,
    PlatformAccess,
    WriteResult,
)
from honeyguide.integrations.problems import (
    FieldsGone,
    ForgedHook,
    TryLater,
    Unexpected,
    WrongCredentials,
)
from tests.support.platforms.kit import KEY, KitServer, signed
from tests.support.platforms.stand_in import access_to, contact, garbage, status

NOW_S = 1_800_000_000
Test = Callable[[KitServer, Kit, PlatformAccess], Awaitable[None]]


def using(test: Test, *, key: str = KEY, **options: Any) -> None:
    async def run() -> None:
        server = KitServer()
        server.fields |= {"rh_code", "rh_totref"}
        async with server.serving():
            kit = Kit(server.url)
            async with access_to(kit, {"api_key": key}, **options) as access:
                await test(server, kit, access)

    asyncio.run(run())


def results(outcomes: Any) -> list[WriteResult]:
    return [each.result for each in outcomes]


def test_connecting_creates_the_fields_that_are_missing() -> None:
    async def test(server: KitServer, kit: Kit, access: PlatformAccess) -> None:
        server.fields = {"last_name", "rh_code"}
        assert await kit.check(access) == "The Morning Wax"
        assert [each.name for each in await kit.audiences(access)] == ["The Morning Wax"]
        assert await kit.ensure_fields(access) == 1
        assert "rh_totref" in server.fields
        assert await kit.ensure_fields(access) == 0

    using(test)


def test_writing_never_makes_anybody_active_again() -> None:
    async def test(server: KitServer, kit: Kit, access: PlatformAccess) -> None:
        for number, state in ((2, "cancelled"), (3, "bounced"), (4, "complained"), (5, "active")):
            server.add(f"reader{number}@example.org", state)
        contacts = [contact(n) for n in range(1, 6)] + [contact(6, may_add=False)]
        outcomes = await kit.write_many(access, contacts)
        assert results(outcomes) == [
            WriteResult.WRITTEN,
            WriteResult.LEFT,
            WriteResult.LEFT,
            WriteResult.LEFT,
            WriteResult.WRITTEN,
            WriteResult.ABSENT,
        ]
        states = [person["state"] for person in server.people.values()]
        assert states == ["cancelled", "bounced", "complained", "active", "active"]
        known = server.by_email("reader5@example.org")
        assert known and known["fields"] == {"rh_code": "code5", "rh_totref": "3"}
        assert outcomes[4].remote_id == str(known["id"])

    using(test)


def test_unsubscribed_erased_and_renamed() -> None:
    async def test(server: KitServer, kit: Kit, access: PlatformAccess) -> None:
        one, two = server.add("reader1@example.org"), server.add("old@example.org")
        three = server.add("reader3@example.org", rh_code="code3")
        server.add("taken@example.org")
        outcomes = await kit.write_many(
            access,
            [
                contact(1, status=ContactStatus.UNSUBSCRIBED, may_add=False),
                contact(2, old_email="old@example.org"),
                contact(
                    3,
                    status=ContactStatus.ERASED,
                    email="",
                    may_add=False,
                    values={},
                    remote_id=str(three["id"]),
                ),
                contact(4, status=ContactStatus.UNSUBSCRIBED, may_add=False),
                contact(5, email="taken@example.org", old_email="reader2@example.org"),
                contact(6, remote_id="999", may_add=False),
            ],
        )
        assert results(outcomes) == [
            WriteResult.WRITTEN,
            WriteResult.WRITTEN,
            WriteResult.WRITTEN,
            WriteResult.ABSENT,
            WriteResult.REFUSED,
            WriteResult.ABSENT,
        ]
        assert one["state"] == "cancelled" and two["email_address"] == "reader2@example.org"
        assert three["fields"] == {"rh_code": "", "rh_totref": ""} and three["state"] == "active"

    using(test)


def test_what_was_written_before_the_limit_stays_written() -> None:
    async def test(server: KitServer, kit: Kit, access: PlatformAccess) -> None:
        server.left_this_minute = 2
        outcomes = await kit.write_many(access, [contact(n) for n in range(1, 5)])
        assert results(outcomes) == [WriteResult.WRITTEN] * 2 + [WriteResult.LATER] * 2
        with pytest.raises(TryLater):
            await kit.write_many(access, [contact(3)])
        server.left_this_minute = 9
        fake = contact(5, email="fake@example.org")
        outcomes = await kit.write_many(access, [contact(3), fake, contact(4)])
        assert results(outcomes) == [
            WriteResult.WRITTEN,
            WriteResult.REFUSED,
            WriteResult.WRITTEN,
        ]

    using(test)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (status(429, retry_after="7"), TryLater),
        (status(502), TryLater),
        (status(401), WrongCredentials),
        (status(403), WrongCredentials),
        (garbage, Unexpected),
        (status(200, '{"subscriber": 7}'), Unexpected),
    ],
)
def test_what_goes_wrong_is_one_sentence(fault: Any, error: type[Exception]) -> None:
    async def test(server: KitServer, kit: Kit, access: PlatformAccess) -> None:
        server.fail(fault)
        with pytest.raises(error, match=r"^[^@]+\.$"):
            await kit.write_many(access, [contact()])
        assert results(await kit.write_many(access, [contact()])) == [WriteResult.WRITTEN]

    using(test)


def test_a_deleted_field_and_a_revoked_key_are_named() -> None:
    async def test(server: KitServer, kit: Kit, access: PlatformAccess) -> None:
        server.fields.discard("rh_totref")
        with pytest.raises(FieldsGone):
            await kit.write_many(access, [contact()])
        server.fail(status(422, '{"errors": ["Custom field \'rh_totref\' does not exist"]}'))
        with pytest.raises(FieldsGone):
            await kit.write_many(access, [contact()])
        server.key = "another"
        with pytest.raises(WrongCredentials):
            await kit.check(access)

    using(test)


def test_changes_are_read_page_by_page() -> None:
    async def test(server: KitServer, kit: Kit, access: PlatformAccess) -> None:
        for number in range(1201):
            server.add(f"p{number}@example.org", ref=f"c{number}")
        server.add("left@example.org", "cancelled")
        server.add("bounced@example.org", "bounced")
        server.add("unconfirmed@example.org", "inactive")
        token, seen = None, []
        while True:
            page = await kit.read_changes(access, since_ms=None, token=token)
            seen += page.changes
            token = page.next_token
            if token is None:
                break
        assert len(server.seen) == 3
        assert len({each.email for each in seen}) == len(seen) == 1203
        assert [each.kind for each in seen[:2]] == [ChangeKind.BOUNCED, ChangeKind.LEFT]
        assert seen[-1].code == "c0" and seen[-1].kind == ChangeKind.JOINED
        later = await kit.read_changes(access, since_ms=NOW_S * 1000, token=None)
        assert (later.changes, later.next_token) == ([], None)

    using(test, code_field="REF")


def test_a_webhook_is_verified_and_understood() -> None:
    async def test(server: KitServer, kit: Kit, access: PlatformAccess) -> None:
        kept = await kit.add_hook(access, "https://refer.example.org/hooks/1")
        async with access_to(kit, {**access.credentials, **kept}) as connected:
            left = server.add("left@example.org", "cancelled")
            events = [
                {"id": "1", "type": "subscriber.unsubscribed", "data": {"subscriber": left}},
                {"id": "2", "type": "tag.created", "data": {"tag": {"id": 1}}},
            ]

            def hook(at_s: int = NOW_S, secrets: tuple[str, ...] = ("whsec_abc",)) -> IncomingHook:
                return IncomingHook(**signed(events, at_s=at_s, secrets=list(secrets)))

            kit.verify_hook(connected, hook(), now_s=NOW_S + 299)
            kit.verify_hook(connected, hook(secrets=("old", "whsec_abc")), now_s=NOW_S)
            for wrong in (
                hook(secrets=("other",)),
                hook(secrets=()),
                hook(at_s=NOW_S - 301),
                IncomingHook(headers={}, body=b"{}"),
                IncomingHook(headers=hook().headers, body=b"{}"),
                IncomingHook(headers={"x-kit-signature": f"t={NOW_S},v1=ü"}, body=b"{}"),
            ):
                with pytest.raises(ForgedHook):
                    kit.verify_hook(connected, wrong, now_s=NOW_S)
            with pytest.raises(ForgedHook):
                kit.verify_hook(access, hook(secrets=("",)), now_s=NOW_S)  # no secret was kept
            [change] = await kit.understand_hook(connected, hook())
            assert (change.kind, change.email) == (ChangeKind.LEFT, "left@example.org")
            with pytest.raises(Unexpected):
                await kit.understand_hook(connected, IncomingHook(headers={}, body=b"[]"))
            await kit.remove_hook(connected)
            await kit.remove_hook(connected)
            assert server.endpoints == {}
        with pytest.raises(Unexpected, match="once an hour"):
            await kit.add_hook(access, "http://127.0.0.1/hooks/1")

    using(test)
