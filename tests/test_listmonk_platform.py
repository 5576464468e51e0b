"""listmonk against a strict stand-in, which the Python client for listmonk accepts too."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import listmonk as client
import pytest

from honeyguide.integrations.listmonk import Listmonk
from honeyguide.integrations.platform import (
    ChangeKind,
    ContactStatus,
    IncomingHook,
    PlatformAccess,
    WriteResult,
)
from honeyguide.integrations.problems import (
    AudienceGone,
    ForgedHook,
    TryLater,
    Unexpected,
    WrongCredentials,
)
from tests.support.platforms.listmonk import LATELY, LIST, TOKEN, USER, ListmonkServer
from tests.support.platforms.stand_in import access_to, contact, garbage, status

NOW_S = 1_800_000_000
Test = Callable[[ListmonkServer, Listmonk, PlatformAccess], Awaitable[None]]


def using(test: Test, **options: Any) -> None:
    async def run() -> None:
        server, listmonk = ListmonkServer(), Listmonk()
        async with server.serving():
            credentials = {"url": f"{server.url}/", "username": USER, "token": TOKEN}
            options.setdefault("audience_id", str(LIST))
            async with access_to(listmonk, credentials, **options) as access:
                await test(server, listmonk, access)

    asyncio.run(run())


def results(outcomes: Any) -> list[WriteResult]:
    return [each.result for each in outcomes]


def test_connecting_names_the_lists_and_needs_every_permission() -> None:
    async def test(server: ListmonkServer, listmonk: Listmonk, access: PlatformAccess) -> None:
        assert await listmonk.check(access) == ""
        found = await listmonk.audiences(access)
        assert [(each.id, each.name) for each in found] == [("3", "Readers"), ("4", "Customers")]
        assert await listmonk.ensure_fields(access) == 0
        server.may_query = False
        with pytest.raises(WrongCredentials, match="permission"):
            await listmonk.check(access)

    using(test)


def test_writing_never_makes_anybody_active_again() -> None:
    async def test(server: ListmonkServer, listmonk: Listmonk, access: PlatformAccess) -> None:
        server.add("reader2@example.org", "unsubscribed")
        server.add("reader3@example.org", "unsubscribed", status="blocklisted")
        server.add("reader4@example.org", "", status="blocklisted")
        server.add("reader5@example.org", "", attribs={"town": "Bonn"})
        server.add("reader6@example.org", "confirmed")
        server.add("reader7@example.org", "")
        server.add("readerX@example.org", name="reader1@example.org")  # found by the name only
        contacts = [contact(n) for n in range(1, 7)]
        contacts += [contact(7, may_add=False), contact(8, may_add=False)]
        outcomes = await listmonk.write_many(access, contacts)
        assert results(outcomes) == [
            WriteResult.WRITTEN,
            WriteResult.LEFT,
            WriteResult.LEFT,
            WriteResult.LEFT,
            WriteResult.WRITTEN,
            WriteResult.WRITTEN,
            WriteResult.ABSENT,
            WriteResult.ABSENT,
        ]
        assert [person["on"].get(LIST) for person in server.people.values()] == [
            "unsubscribed",
            "unsubscribed",
            None,
            "unconfirmed",  # was on another list, and is now on both
            "confirmed",
            None,
            "unconfirmed",
            "unconfirmed",
        ]
        five = server.by_email("reader5@example.org")
        assert five and five["attribs"] == {"town": "Bonn", "rh_code": "code5", "rh_totref": "3"}
        assert outcomes[4].remote_id == str(five["id"])

    using(test)


def test_only_new_subscribers_are_asked_to_confirm() -> None:
    async def test(server: ListmonkServer, listmonk: Listmonk, access: PlatformAccess) -> None:
        server.optin = "double"
        server.add("reader1@example.org")
        server.add("reader2@example.org", "")
        contacts = [contact(n) for n in (1, 2, 3)]
        assert results(await listmonk.write_many(access, contacts)) == [WriteResult.WRITTEN] * 3
        await listmonk.write_many(access, contacts)
        assert server.asked_to_confirm == ["reader2@example.org", "reader3@example.org"]
        page = await listmonk.read_changes(access, since_ms=None, token=None)
        assert page.changes == []  # nobody has confirmed yet
        server.people[1]["on"][LIST] = "confirmed"
        page = await listmonk.read_changes(access, since_ms=None, token=None)
        assert [each.kind for each in page.changes] == [ChangeKind.JOINED]

    using(test)


def test_unsubscribed_erased_and_renamed() -> None:
    async def test(server: ListmonkServer, listmonk: Listmonk, access: PlatformAccess) -> None:
        one, two = server.add("reader1@example.org"), server.add("old+x@example.org")
        three = server.add("reader3@example.org", attribs={"rh_code": "code3", "town": "Bonn"})
        server.add("taken@example.org")
        five = server.add("reader5@example.org")
        erased: dict[str, Any] = {
            "status": ContactStatus.ERASED,
            "email": "",
            "may_add": False,
            "values": {},
        }
        renamed: dict[str, Any] = {"remote_id": str(five["id"]), "old_email": five["email"]}
        outcomes = await listmonk.write_many(
            access,
            [
                contact(1, status=ContactStatus.UNSUBSCRIBED, may_add=False),
                contact(2, old_email="old+x@example.org"),
                contact(3, remote_id=str(three["id"]), **erased),
                contact(4, status=ContactStatus.UNSUBSCRIBED, may_add=False),
                contact(5, email="taken@example.org", **renamed),
                contact(5, email="fake@example.org", **renamed),
                contact(6, remote_id="999", may_add=False),
                contact(7, email="fake@example.org"),
            ],
        )
        assert results(outcomes) == [
            WriteResult.WRITTEN,
            WriteResult.WRITTEN,
            WriteResult.WRITTEN,
            WriteResult.ABSENT,
            WriteResult.REFUSED,
            WriteResult.REFUSED,
            WriteResult.ABSENT,
            WriteResult.REFUSED,
        ]
        assert one["on"][LIST] == "unsubscribed" and two["email"] == "reader2@example.org"
        assert three["attribs"] == {"rh_code": "", "rh_totref": "", "town": "Bonn"}
        assert three["on"][LIST] == "unconfirmed"

    using(test)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (status(429, retry_after="7"), TryLater),
        (status(502, "<html>Bad gateway</html>"), TryLater),
        (status(403), WrongCredentials),
        (status(404), Unexpected),
        (garbage, Unexpected),
        (status(200, '{"data": []}'), Unexpected),
    ],
)
def test_what_goes_wrong_is_one_sentence(fault: Any, error: type[Exception]) -> None:
    async def test(server: ListmonkServer, listmonk: Listmonk, access: PlatformAccess) -> None:
        server.fail(fault)
        with pytest.raises(error, match=r"^[^@]+\.$"):
            await listmonk.write_many(access, [contact()])
        assert results(await listmonk.write_many(access, [contact()])) == [WriteResult.WRITTEN]

    using(test)


def test_a_deleted_list_and_a_revoked_token_are_named() -> None:
    async def test(server: ListmonkServer, listmonk: Listmonk, access: PlatformAccess) -> None:
        del server.lists[LIST]
        with pytest.raises(AudienceGone):
            await listmonk.write_many(access, [contact()])
        with pytest.raises(AudienceGone):
            await listmonk.read_changes(access, since_ms=None, token=None)
        assert server.people == {}
        server.token = "another"
        with pytest.raises(WrongCredentials):
            await listmonk.check(access)

    using(test)


def test_changes_are_read_page_by_page() -> None:
    async def test(server: ListmonkServer, listmonk: Listmonk, access: PlatformAccess) -> None:
        for number in range(101):
            server.add(f"p{number}@example.org", attribs={"ref": f"c{number}"}, name="Ana")
        server.add("elsewhere@example.org", "")
        server.add("left@example.org", "unsubscribed", subscription_updated_at=LATELY)
        server.add("blocked@example.org", status="blocklisted", updated_at=LATELY)
        token, seen = None, []
        while True:
            page = await listmonk.read_changes(access, since_ms=None, token=token)
            seen += page.changes
            token = page.next_token
            if token is None:
                break
        assert len(server.seen) == 3
        assert len({each.email for each in seen}) == len(seen) == 103
        assert (seen[7].kind, seen[7].code, seen[7].name) == (ChangeKind.JOINED, "c7", "Ana")
        assert seen[7].created_ms == 1_793_516_400_123
        since_ms = 1_794_000_000_000  # November 6
        later = await listmonk.read_changes(access, since_ms=since_ms, token=None)
        assert [(each.kind, each.email) for each in later.changes] == [
            (ChangeKind.LEFT, "left@example.org"),
            (ChangeKind.LEFT, "blocked@example.org"),
        ]
        assert later.next_token is None
        with pytest.raises(ForgedHook):
            listmonk.verify_hook(access, IncomingHook(headers={}, body=b""), now_s=NOW_S)

    using(test, code_field="ref")


def test_the_python_client_accepts_the_stand_in() -> None:
    async def test(server: ListmonkServer, listmonk: Listmonk, access: PlatformAccess) -> None:
        def use() -> None:
            client.set_url_base(server.url)
            assert client.login(USER, TOKEN)
            assert [each.name for each in client.lists()] == ["Readers", "Customers"]
            made = client.create_subscriber(
                "a@example.org", "Ana", {LIST}, pre_confirm=True, attribs={"rh_code": "k3x9"}
            )
            assert made.lists[0]["subscription_status"] == "confirmed"
            found = client.subscriber_by_email("a@example.org")
            assert found and found.id == made.id and found.attribs == {"rh_code": "k3x9"}

        await asyncio.to_thread(use)

    using(test)
