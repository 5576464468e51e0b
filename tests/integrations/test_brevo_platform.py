"""Brevo against a strict stand-in, which its own Python client accepts too."""

import asyncio
import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest
from brevo import Brevo as BrevoClient

from honeyguide.integrations.platform import ContactStatus, WriteResult
from honeyguide.integrations.problems import ForgedHook, Unexpected
from honeyguide.integrations.reports import ChangeKind, IncomingHook
from tests.support.platforms.brevo import KEY, LIST, OTHER_LIST
from tests.support.platforms.case import Opened
from tests.support.platforms.cases import read_all, results
from tests.support.platforms.stand_in import access_to, contact, status

NOW_S = 1_800_000_000

PLATFORM = "brevo"


async def test_connecting_names_the_lists_and_creates_the_attributes(on_platform: Opened) -> None:
    server, brevo, access = on_platform
    server.attributes.discard("RH_TOTREF")
    server.lists |= {number: f"List {number}" for number in range(9, 70)}
    server.add("one@example.org")
    assert await brevo.check(access) == "The Morning Wax"
    audiences = await brevo.audiences(access)
    assert len(audiences) == 63
    assert (audiences[0].id, audiences[0].name, audiences[0].subscribers) == ("7", "Readers", 1)
    assert await brevo.ensure_fields(access) == 1
    assert "RH_TOTREF" in server.attributes
    assert await brevo.ensure_fields(access) == 0


async def test_writing_never_makes_anybody_active_again(on_platform: Opened) -> None:
    server, brevo, access = on_platform
    left = server.add("reader2@example.org", has_left=True)
    left_list = server.add("reader3@example.org", lists=())
    left_list["listUnsubscribed"] = [LIST]
    known = server.add("reader4@example.org")
    customer = server.add("reader5@example.org", lists=(OTHER_LIST,))
    other = server.add("reader6@example.org", lists=(OTHER_LIST,))
    taken_off = server.add("reader7@example.org", lists=())
    contacts = [contact(n) for n in range(1, 6)]
    contacts += [
        contact(6, may_add=False),
        contact(7, remote_id=str(taken_off["id"])),
        contact(8, may_add=False),
        contact(9, remote_id="999"),  # deleted there
    ]
    outcomes = await brevo.write_many(access, contacts)
    assert results(outcomes) == [
        WriteResult.WRITTEN,
        WriteResult.LEFT,
        WriteResult.LEFT,
        WriteResult.WRITTEN,
        WriteResult.WRITTEN,
        WriteResult.ABSENT,
        WriteResult.ABSENT,
        WriteResult.ABSENT,
        WriteResult.ABSENT,
    ]
    assert left["emailBlacklisted"] and left["attributes"] == {}
    assert left_list["listIds"] == taken_off["listIds"] == []
    assert known["attributes"] == {"RH_CODE": "code4", "RH_TOTREF": "3"}
    assert customer["listIds"] == [OTHER_LIST, LIST] and other["listIds"] == [OTHER_LIST]
    added = server.by_email("reader1@example.org")
    assert added and added["listIds"] == [LIST] and len(server.people) == 7
    assert outcomes[0].remote_id == str(added["id"])
    assert outcomes[3].remote_id == str(known["id"])
    assert outcomes[5].remote_id is None


async def test_unsubscribed_erased_and_renamed(on_platform: Opened) -> None:
    server, brevo, access = on_platform
    one, two = server.add("reader1@example.org"), server.add("old@example.org")
    three = server.add("reader3@example.org", RH_CODE="code3")
    server.add("taken@example.org")
    five, six = server.add("five@example.org"), server.add("six@example.org", has_left=True)
    again = server.add("reader8@example.org")
    customer = server.add("reader9@example.org", lists=(OTHER_LIST,))
    erased = {"status": ContactStatus.ERASED, "email": "", "may_add": False, "values": {}}
    outcomes = await brevo.write_many(
        access,
        [
            contact(1, status=ContactStatus.UNSUBSCRIBED, may_add=False),
            contact(2, old_email="old@example.org"),
            contact(3, remote_id=str(three["id"]), **erased),
            contact(4, status=ContactStatus.UNSUBSCRIBED, may_add=False),
            contact(5, email="taken@example.org", old_email=five["email"]),
            # A new address would subscribe them again.
            contact(6, old_email="six@example.org"),
            contact(7, **erased),
            # The address was written before; Brevo refuses a contact's own address.
            contact(8, old_email="before@example.org", remote_id=str(again["id"])),
            contact(9, status=ContactStatus.UNSUBSCRIBED, may_add=False),
        ],
    )
    assert results(outcomes) == [
        WriteResult.WRITTEN,
        WriteResult.WRITTEN,
        WriteResult.WRITTEN,
        WriteResult.ABSENT,
        WriteResult.REFUSED,
        WriteResult.LEFT,
        WriteResult.ABSENT,
        WriteResult.WRITTEN,
        WriteResult.ABSENT,
    ]
    assert not customer["emailBlacklisted"]
    assert one["emailBlacklisted"] and two["email"] == "reader2@example.org"
    assert three["attributes"] == {"RH_CODE": "", "RH_TOTREF": ""}
    assert not three["emailBlacklisted"]
    assert (six["email"], six["emailBlacklisted"]) == ("six@example.org", True)


async def test_somebody_who_appears_while_we_write_is_looked_at_again(on_platform: Opened) -> None:
    server, brevo, access = on_platform
    left = server.add("reader1@example.org", has_left=True)
    server.fail(server.list_attributes, status(404))
    assert results(await brevo.write_many(access, [contact(1)])) == [WriteResult.LATER]
    assert results(await brevo.write_many(access, [contact(1)])) == [WriteResult.LEFT]
    assert left["emailBlacklisted"]


async def test_changes_are_read_page_by_page(on_platform: Opened) -> None:
    server, brevo, access = on_platform
    access = msgspec.structs.replace(access, code_field="REF")
    for number in range(1001):
        server.add(f"p{number}@example.org", REF=f"c{number}", FIRSTNAME="Ada")
    server.add("left@example.org", has_left=True)
    server.add("elsewhere@example.org", lists=(OTHER_LIST,))
    server.add("", lists=(LIST,))["email"] = None  # a telephone number only
    seen = await read_all(brevo, access)
    assert len(server.seen) == 3
    assert len({each.email for each in seen}) == len(seen) == 1002
    assert (seen[7].kind, seen[7].code, seen[7].name) == (ChangeKind.JOINED, "c7", "Ada")
    assert seen[-1].kind == ChangeKind.LEFT
    later = await brevo.read_changes(access, since_ms=NOW_S * 1000, token=None)
    assert (later.changes, later.next_token) == ([], None)


async def test_a_webhook_has_our_key_and_is_checked_with_brevo(on_platform: Opened) -> None:
    server, brevo, access = on_platform
    kept = await brevo.add_hook(access, "https://refer.example.org/hooks/1")
    [made] = server.webhooks.values()
    query = dict(parse_qsl(urlsplit(made["url"]).query))
    credentials = {**access.credentials, **kept}

    def hook(event: str, email: Any, **more: str) -> IncomingHook:
        body = json.dumps({"id": 1, "event": event, "email": email, "ts": 1604937337})
        return IncomingHook(headers={}, body=body.encode(), query={**query, **more})

    server.add("in@example.org")
    server.add("out@example.org", has_left=True)
    server.add("customer@example.org", lists=(OTHER_LIST,))
    async with access_to(brevo, credentials, audience_id=str(LIST)) as connected:
        brevo.verify_hook(connected, hook("spam", ""), now_s=NOW_S)
        for wrong in ("", "x", query["hook_key"] + "ü"):
            with pytest.raises(ForgedHook):
                brevo.verify_hook(connected, hook("spam", "", hook_key=wrong), now_s=NOW_S)
        with pytest.raises(ForgedHook):  # no key was kept
            brevo.verify_hook(access, hook("spam", "", hook_key=""), now_s=NOW_S)
        # The body claims that somebody joined; Brevo knows that they left.
        for event, email, kind in (
            ("list_addition", "in@example.org", ChangeKind.JOINED),
            ("list_addition", "out@example.org", ChangeKind.LEFT),
            ("hard_bounce", "out@example.org", ChangeKind.BOUNCED),
            ("hardBounce", "in@example.org", ChangeKind.JOINED),
            ("contact_deleted", ["nobody@example.org"], ChangeKind.DELETED),
        ):
            [change] = await brevo.understand_hook(connected, hook(event, email))
            assert change.kind == kind
        elsewhere = hook("list_addition", "customer@example.org")
        assert await brevo.understand_hook(connected, elsewhere) == []
        with pytest.raises(Unexpected):
            await brevo.understand_hook(connected, IncomingHook(headers={}, body=b"[]"))
        await brevo.remove_hook(connected)
        await brevo.remove_hook(connected)
        assert server.webhooks == {}
    with pytest.raises(Unexpected, match="once an hour"):
        await brevo.add_hook(access, "http://127.0.0.1/hooks/1")


async def test_brevos_own_client_accepts_the_stand_in(on_platform: Opened) -> None:
    server, _, _ = on_platform
    client = BrevoClient(api_key=KEY, base_url=server.url)

    def use() -> None:
        assert client.account.get_account().company_name == "The Morning Wax"
        lists = client.contacts.get_lists(limit=50).lists
        assert lists and lists[0].name == "Readers"
        client.contacts.create_attribute("normal", "COLOR", type="text")
        assert "COLOR" in {each.name for each in client.contacts.get_attributes().attributes}
        made = client.contacts.create_contact(
            email="a@example.org",
            attributes={"RH_CODE": "k3x9"},
            list_ids=[LIST],
            update_enabled=False,
        )
        assert made and made.id
        client.contacts.update_contact(
            made.id, identifier_type="contact_id", email_blacklisted=True
        )
        found = client.contacts.get_contact_info("a@example.org", identifier_type="email_id")
        assert found.email_blacklisted and found.list_ids == [LIST]
        page = client.contacts.get_contacts_from_list(LIST, limit=500, sort="asc")
        assert [each.id for each in page.contacts] == [made.id]
        hook = client.webhooks.create_webhook(
            url="https://example.org", description="", type="marketing", events=["spam"]
        )
        client.webhooks.delete_webhook(hook.id)

    await asyncio.to_thread(use)
