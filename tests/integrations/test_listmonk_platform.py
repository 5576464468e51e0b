"""listmonk against a strict stand-in, which the Python client for listmonk accepts too."""

import asyncio

import listmonk as client
import msgspec
import pytest

from honeyguide.integrations.platform import WriteResult
from honeyguide.integrations.problems import ForgedHook, WrongCredentials
from honeyguide.integrations.reports import ChangeKind, IncomingHook
from tests.support.platforms.case import Opened
from tests.support.platforms.cases import read_all, results
from tests.support.platforms.listmonk import LATELY, LIST, TOKEN, USER
from tests.support.platforms.stand_in import contact

NOW_S = 1_800_000_000

PLATFORM = "listmonk"


async def test_connecting_names_the_lists_and_needs_every_permission(on_platform: Opened) -> None:
    server, listmonk, access = on_platform
    assert await listmonk.check(access) == ""
    found = await listmonk.audiences(access)
    assert [(each.id, each.name) for each in found] == [("3", "Readers"), ("4", "Customers")]
    assert await listmonk.ensure_fields(access) == 0
    server.may_query = False
    with pytest.raises(WrongCredentials, match="permission"):
        await listmonk.check(access)


async def test_writing_never_makes_anybody_active_again(on_platform: Opened) -> None:
    server, listmonk, access = on_platform
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
    # Known for other purposes: with an ID, the next write would take them for deleted.
    assert outcomes[6].remote_id is None


async def test_only_new_subscribers_are_asked_to_confirm(on_platform: Opened) -> None:
    server, listmonk, access = on_platform
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


async def test_changes_are_read_page_by_page(on_platform: Opened) -> None:
    server, listmonk, access = on_platform
    access = msgspec.structs.replace(access, code_field="ref")
    for number in range(101):
        server.add(f"p{number}@example.org", attribs={"ref": f"c{number}"}, name="Ana")
    server.add("elsewhere@example.org", "")
    server.add("left@example.org", "unsubscribed", subscription_updated_at=LATELY)
    server.add("blocked@example.org", status="blocklisted", updated_at=LATELY)
    seen = await read_all(listmonk, access)
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


async def test_the_python_client_accepts_the_stand_in(on_platform: Opened) -> None:
    server, _, _ = on_platform

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
