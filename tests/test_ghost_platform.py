"""Ghost, by a strict stand-in: labels, newsletters, webhooks, and no echo of our own writes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from honeyguide.integrations.ghost import HOOK_SECRET, Ghost
from honeyguide.integrations.platform import (
    ChangeKind,
    ContactStatus,
    IncomingHook,
    PlatformAccess,
    SyncField,
    WriteResult,
)
from honeyguide.integrations.problems import (
    ForgedHook,
    TryLater,
    Unexpected,
    WrongCredentials,
)
from honeyguide.store import Store
from tests.support.integrations import newsletter
from tests.support.platforms.ghost import KEY, NEWSLETTER, OTHER, GhostServer, signed
from tests.support.platforms.stand_in import access_to, contact, drop, garbage, status
from tests.support.service import ENGINES
from tests.support.stores import OpenStore

GHOST = Ghost()
VALUES = {
    SyncField.REFERRALS: "3",
    SyncField.IS_REFERRED: "YES",
    SyncField.LAST_REWARD: "Mug",
}


def using(test: Callable[[GhostServer, PlatformAccess], Awaitable[None]], key: str = KEY) -> None:
    async def run() -> None:
        server = GhostServer()
        async with server.serving():
            credentials = {"url": f"{server.url}/", "admin_api_key": key, HOOK_SECRET: "s3"}
            async with access_to(GHOST, credentials, audience_id="n1", field_names={}) as access:
                await test(server, access)

    asyncio.run(run())


def labels_of(member: dict[str, Any]) -> list[str]:
    return [each["name"] for each in member["labels"]]


def test_the_key_is_checked_and_active_newsletters_are_listed() -> None:
    async def test(server: GhostServer, access: PlatformAccess) -> None:
        assert await GHOST.check(access) == "Wax"
        assert [each.id for each in await GHOST.audiences(access)] == ["n1", "n3"]
        assert await GHOST.ensure_fields(access) == 0

    using(test)


@pytest.mark.parametrize("key", [KEY[:-2] + "00", "0" * 24 + KEY[24:], "no key", ""])
def test_a_wrong_key_is_wrong_credentials(key: str) -> None:
    async def test(server: GhostServer, access: PlatformAccess) -> None:
        with pytest.raises(WrongCredentials):
            await GHOST.check(access)

    using(test, key=key)


def test_labels_are_written_and_other_labels_stay() -> None:
    async def test(server: GhostServer, access: PlatformAccess) -> None:
        ada = server.join("reader1@example.org", labels=[{"name": "VIP"}, {"name": "Reward: Hat"}])
        both = [contact(1, values=VALUES), contact(2, values={SyncField.REFERRALS: "0"})]
        outcomes = await GHOST.write_many(access, both)
        assert [each.result for each in outcomes] == [WriteResult.WRITTEN] * 2
        assert outcomes[0].remote_id == ada["id"]
        assert labels_of(ada) == ["VIP", "Advocate", "Referred", "Reward: Mug"]
        added = server.members[outcomes[1].remote_id or ""]
        assert added["newsletters"] == [NEWSLETTER] and labels_of(added) == []
        requests = len(server.seen)
        await GHOST.write_many(access, [contact(1, values=VALUES, remote_id=ada["id"])])
        assert [each.method for each in server.seen[requests:]] == ["GET"]  # nothing to change

    using(test)


def test_nobody_who_left_is_made_active_and_nobody_unwanted_is_added() -> None:
    async def test(server: GhostServer, access: PlatformAccess) -> None:
        left = server.join("reader1@example.org")
        server.change(left, newsletters=[OTHER])
        taken = server.join("o'brien+x@example.org")
        erased = server.join("reader5@example.org", labels=[{"name": "Advocate"}])
        outcomes = await GHOST.write_many(
            access,
            [
                contact(1),
                contact(2, may_add=False),
                contact(3, email="nobody@example.invalid"),
                contact(4, email=taken["email"], status=ContactStatus.UNSUBSCRIBED),
                contact(
                    5, email="", status=ContactStatus.ERASED, remote_id=erased["id"], values={}
                ),
                contact(6, remote_id="gone"),
            ],
        )
        assert [each.result for each in outcomes] == [
            WriteResult.LEFT,
            WriteResult.ABSENT,
            WriteResult.REFUSED,
            WriteResult.WRITTEN,
            WriteResult.WRITTEN,
            WriteResult.WRITTEN,
        ]
        assert left["newsletters"] == [OTHER]
        assert taken["newsletters"] == [] and erased["labels"] == []
        assert erased["email"] == "reader5@example.org"  # the contact itself is theirs
        moved = contact(5, email="new@example.org", old_email="reader5@example.org")
        await GHOST.write_many(access, [moved])
        assert erased["email"] == "new@example.org"

    using(test)


def test_pages_are_read_and_what_went_wrong_is_said() -> None:
    async def test(server: GhostServer, access: PlatformAccess) -> None:
        for number in range(150):
            server.join(f"reader{number}@example.org")
        members = list(server.members.values())
        members[0]["newsletters"] = []
        members[1]["email_suppression"] = {"suppressed": True, "info": None}
        first = await GHOST.read_changes(access, since_ms=None, token=None)
        rest = await GHOST.read_changes(access, since_ms=1, token=first.next_token)
        assert (len(first.changes), len(rest.changes), rest.next_token) == (100, 50, None)
        assert [each.kind for each in first.changes[:3]] == [
            ChangeKind.LEFT,
            ChangeKind.BOUNCED,
            ChangeKind.JOINED,
        ]
        for fault, error in (
            (status(429, retry_after="9"), TryLater),
            (status(503), TryLater),
            (drop, TryLater),
            (garbage, Unexpected),
            (status(403), WrongCredentials),
            (status(301, location="https://example.org/ghost/"), WrongCredentials),
        ):
            server.fail(fault, fault)  # a GET that was dropped is sent once more by the client
            with pytest.raises(error):
                await GHOST.read_changes(access, since_ms=None, token=None)
            server.faults.clear()
        server.fail(status(200, '{"members": []}'), status(503))
        with pytest.raises(TryLater):
            await GHOST.write_many(access, [contact(1), contact(2)])

    using(test)


def test_webhooks_are_created_verified_understood_and_removed() -> None:
    async def test(server: GhostServer, access: PlatformAccess) -> None:
        kept = await GHOST.add_hook(access, "https://refer.example.org/hooks/k")
        assert [each["event"] for each in server.webhooks.values()] == [
            "member.added",
            "member.edited",
            "member.deleted",
        ]
        assert {each["secret"] for each in server.webhooks.values()} == {kept[HOOK_SECRET]}
        now_ms = 1_800_000_000_000
        good = signed({"member": {}}, "s3", at_ms=now_ms)
        GHOST.verify_hook(access, good, now_s=now_ms // 1000 + 299)
        for wrong in (
            signed({"member": {}}, "another", at_ms=now_ms),
            signed({"member": {}}, "s3", at_ms=now_ms - 301_000),
            IncomingHook(headers=good.headers, body=b"{}"),
            IncomingHook(headers={}, body=good.body),
        ):
            with pytest.raises(ForgedHook):
                GHOST.verify_hook(access, wrong, now_s=now_ms // 1000)
        ada = server.join("ada@example.org", "Ada")
        server.change(ada, newsletters=[])
        server.change(ada, newsletters=[NEWSLETTER], email="ada@example.com")
        server.delete(ada)
        told = [
            (await GHOST.understand_hook(access, signed(each, "s3")))[0] for each in server.outbox
        ]
        assert [each.kind for each in told] == [
            ChangeKind.JOINED,
            ChangeKind.LEFT,
            ChangeKind.CHANGED_ADDRESS,
            ChangeKind.DELETED,
        ]
        assert {each.remote_id for each in told} == {ada["id"]}
        assert told[2].old_email == "ada@example.org"
        for nonsense in ({}, {"member": 7}, {"member": {"current": {}, "previous": {}}}, []):
            with pytest.raises(Unexpected):
                await GHOST.understand_hook(access, signed(nonsense, "s3"))

    using(test)


@pytest.mark.parametrize("engine", ENGINES)
def test_both_sides_agree_and_our_own_writes_do_not_come_back(engine: str) -> None:
    """A member added there gets a code here; a referral here becomes a label there; who leaves
    there leaves here; and the worker ends although Ghost reports every write."""

    async def run(store: Store) -> None:
        server = GhostServer()
        async with server.serving(), newsletter(store) as synced:
            await synced.connect(
                "ghost",
                {"url": server.url, "admin_api_key": KEY, HOOK_SECRET: "s3"},
                field_names={},
                audience=(await _audience(server)),
            )

            async def settle() -> int:
                """Until Ghost has nothing more to say. Returns how many webhooks it sent."""
                for sent in range(100):
                    await synced.sync()
                    if not server.outbox:
                        return sent
                    await synced.receive(signed(server.outbox.pop(0), "s3"))
                raise AssertionError("an echo")

            ada = server.join("ada@example.org", "Ada")
            await settle()
            found = await synced.find("ada@example.org")
            assert found is not None and found.name == "Ada"
            await synced.join("eve@example.org", found.ref_code)
            await settle()
            assert labels_of(ada) == ["Advocate"]
            [eve] = [m for m in server.members.values() if m["email"] == "eve@example.org"]
            assert labels_of(eve) == ["Referred"]
            writes = sum(each.method in ("POST", "PUT") for each in server.seen)
            assert writes == 2
            server.change(ada, newsletters=[])
            server.delete(eve)
            await settle()
            for email in ("ada@example.org", "eve@example.org"):
                person = await synced.find(email)
                assert person is not None and person.status == "unsubscribed"
            assert ada["newsletters"] == []
            assert sum(each.method in ("POST", "PUT") for each in server.seen) == writes

    with OpenStore(engine) as opened:
        opened.run(run(opened.store))


async def _audience(server: GhostServer) -> Any:
    credentials = {"url": server.url, "admin_api_key": KEY}
    async with access_to(GHOST, credentials) as access:
        return (await GHOST.audiences(access))[0]
