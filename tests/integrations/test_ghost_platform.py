"""Ghost, by a strict stand-in: labels, newsletters, webhooks, and no echo of our own writes."""

import asyncio
from typing import Any

import msgspec
import pytest

from honeyguide.integrations.about import Limits, SyncField
from honeyguide.integrations.ghost import HOOK_SECRET, Ghost
from honeyguide.integrations.platform import Audience, ContactStatus, PlatformAccess, WriteResult
from honeyguide.integrations.problems import ForgedHook, TryLater, Unexpected, WrongCredentials
from honeyguide.integrations.reports import ChangeKind, IncomingHook
from tests.support import npm_clients
from tests.support.integrations import Synced
from tests.support.platforms.case import Opened
from tests.support.platforms.cases import results
from tests.support.platforms.ghost import KEY, NEWSLETTER, GhostServer, signed
from tests.support.platforms.stand_in import contact, status
from tests.support.service import ENGINES

VALUES = {
    SyncField.REFERRALS: "3",
    SyncField.IS_REFERRED: "YES",
    SyncField.LAST_REWARD: "Mug",
}

PLATFORM = "ghost"


def with_credentials(access: PlatformAccess, **more: str) -> PlatformAccess:
    return msgspec.structs.replace(access, credentials={**access.credentials, **more})


def labels_of(member: dict[str, Any]) -> list[str]:
    return [each["name"] for each in member["labels"]]


async def test_the_key_is_checked_and_active_newsletters_are_listed(on_platform: Opened) -> None:
    _, ghost, access = on_platform
    access = msgspec.structs.replace(access, field_names={})
    assert await ghost.check(access) == "Wax"
    assert [each.id for each in await ghost.audiences(access)] == ["n1", "n3"]
    assert await ghost.ensure_fields(access) == 0


async def test_a_wrong_key_is_wrong_credentials(on_platform: Opened) -> None:
    _, ghost, access = on_platform
    for key in (KEY[:-2] + "00", "0" * 24 + KEY[24:], "no key", ""):
        with pytest.raises(WrongCredentials):
            await ghost.check(with_credentials(access, admin_api_key=key))


async def test_labels_are_written_and_other_labels_stay(on_platform: Opened) -> None:
    server, ghost, access = on_platform
    access = msgspec.structs.replace(access, field_names={})
    ada = server.join("reader1@example.org", labels=[{"name": "VIP"}, {"name": "Reward: Hat"}])
    both = [contact(1, values=VALUES), contact(2, values={SyncField.REFERRALS: "0"})]
    outcomes = await ghost.write_many(access, both)
    assert results(outcomes) == [WriteResult.WRITTEN] * 2
    assert outcomes[0].remote_id == ada["id"]
    assert labels_of(ada) == ["VIP", "Advocate", "Referred", "Reward: Mug"]
    added = server.members[outcomes[1].remote_id or ""]
    assert added["newsletters"] == [NEWSLETTER] and labels_of(added) == []
    requests = len(server.seen)
    await ghost.write_many(access, [contact(1, values=VALUES, remote_id=ada["id"])])
    assert [each.method for each in server.seen[requests:]] == ["GET"]  # nothing to change


async def test_labels_are_taken_away_and_quotes_are_found(on_platform: Opened) -> None:
    server, ghost, access = on_platform
    access = msgspec.structs.replace(access, field_names={})
    quoted = server.join("o'brien+x@example.org")
    erased = server.join("reader5@example.org", labels=[{"name": "Advocate"}])
    gone = contact(5, email="", status=ContactStatus.ERASED, remote_id=erased["id"], values={})
    both = [contact(4, email=quoted["email"], status=ContactStatus.UNSUBSCRIBED), gone]
    assert results(await ghost.write_many(access, both)) == [WriteResult.WRITTEN] * 2
    assert quoted["newsletters"] == [] and erased["labels"] == []
    assert erased["email"] == "reader5@example.org"  # the contact itself is theirs
    moved = contact(5, email="new@example.org", old_email="reader5@example.org")
    await ghost.write_many(access, [moved])
    assert erased["email"] == "new@example.org"


async def test_pages_are_read_and_what_went_wrong_is_said(on_platform: Opened) -> None:
    server, ghost, access = on_platform
    access = msgspec.structs.replace(access, field_names={})
    for number in range(150):
        server.join(f"reader{number}@example.org")
    members = list(server.members.values())
    members[0]["newsletters"] = []
    members[1]["email_suppression"] = {"suppressed": True, "info": None}
    first = await ghost.read_changes(access, since_ms=None, token=None)
    rest = await ghost.read_changes(access, since_ms=1, token=first.next_token)
    assert (len(first.changes), len(rest.changes), rest.next_token) == (100, 50, None)
    assert [each.kind for each in first.changes[:3]] == [
        ChangeKind.LEFT,
        ChangeKind.BOUNCED,
        ChangeKind.JOINED,
    ]
    server.fail(status(200, '{"members": []}'), status(503))
    with pytest.raises(TryLater):
        await ghost.write_many(access, [contact(1), contact(2)])


async def test_webhooks_are_created_verified_understood_and_removed(on_platform: Opened) -> None:
    server, ghost, unconnected = on_platform
    unconnected = msgspec.structs.replace(unconnected, field_names={})
    access = with_credentials(unconnected, **{HOOK_SECRET: "s3"})
    kept = await ghost.add_hook(access, "https://refer.example.org/hooks/k")
    assert [each["event"] for each in server.webhooks.values()] == [
        "member.added",
        "member.edited",
        "member.deleted",
    ]
    assert {each["secret"] for each in server.webhooks.values()} == {kept[HOOK_SECRET]}
    now_ms = 1_800_000_000_000
    good = signed({"member": {}}, "s3", at_ms=now_ms)
    ghost.verify_hook(access, good, now_s=now_ms // 1000 + 299)
    for wrong in (
        signed({"member": {}}, "another", at_ms=now_ms),
        signed({"member": {}}, "s3", at_ms=now_ms - 301_000),
        IncomingHook(headers=good.headers, body=b"{}"),
        IncomingHook(headers={}, body=good.body),
    ):
        with pytest.raises(ForgedHook):
            ghost.verify_hook(access, wrong, now_s=now_ms // 1000)
    ada = server.join("ada@example.org", "Ada")
    server.change(ada, newsletters=[])
    server.change(ada, newsletters=[NEWSLETTER], email="ada@example.com")
    server.delete(ada)
    changes = [
        (await ghost.understand_hook(access, signed(each, "s3")))[0] for each in server.outbox
    ]
    assert [each.kind for each in changes] == [
        ChangeKind.JOINED,
        ChangeKind.LEFT,
        ChangeKind.CHANGED_ADDRESS,
        ChangeKind.DELETED,
    ]
    assert {each.remote_id for each in changes} == {ada["id"]}
    assert changes[2].old_email == "ada@example.org"
    for nonsense in ({}, {"member": 7}, {"member": {"current": {}, "previous": {}}}, []):
        with pytest.raises(Unexpected):
            await ghost.understand_hook(access, signed(nonsense, "s3"))


@pytest.mark.parametrize("engine", ENGINES)
async def test_both_sides_agree_and_our_own_writes_do_not_come_back(
    synced: Synced, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A member added there gets a code here; a referral here becomes a label there; who leaves
    there leaves here; and the worker ends although Ghost reports every write."""
    no_pace = Limits(per_batch=20, requests_per_batch=40)
    monkeypatch.setattr(Ghost, "about", msgspec.structs.replace(Ghost.about, limits=no_pace))
    server = GhostServer()

    async def settle() -> int:
        """Until Ghost has nothing more to say. Returns how many webhooks it sent."""
        for sent in range(100):
            await synced.sync()
            if not server.outbox:
                return sent
            await synced.receive(signed(server.outbox.pop(0), "s3"))
        raise AssertionError("an echo")

    async with server.serving():
        await synced.connect(
            "ghost",
            {"url": server.url, "admin_api_key": KEY, HOOK_SECRET: "s3"},
            field_names={},
            audience=Audience(id=NEWSLETTER["id"], name=NEWSLETTER["name"]),
        )
        ada = server.join("ada@example.org", "Ada")
        await settle()
        found = await synced.find("ada@example.org")
        assert found is not None and found.name == "Ada"
        synced.pass_a_minute()
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


@pytest.mark.long
async def test_ghosts_own_client_accepts_the_stand_in(on_platform: Opened) -> None:
    server, *_ = on_platform
    await asyncio.to_thread(npm_clients.run, "ghost.cjs", server.url, KEY)


async def test_a_member_whose_address_bounces_has_left(on_platform: Opened) -> None:
    """Even if the newsletter is still theirs; and not even those return whom we took off."""
    server, ghost, access = on_platform
    member = server.join("reader1@example.org")
    member["email_suppression"] = {"suppressed": True, "info": None}
    back = contact(1, may_return=True)
    for each in (contact(1), back):
        assert results(await ghost.write_many(access, [each])) == [WriteResult.LEFT]
    member["newsletters"] = []
    assert results(await ghost.write_many(access, [back])) == [WriteResult.LEFT]
    assert member["labels"] == member["newsletters"] == []
