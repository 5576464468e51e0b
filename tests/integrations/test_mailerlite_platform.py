"""MailerLite against a strict stand-in, which its own Python client accepts too."""

import asyncio
from typing import Any

import msgspec
import pytest
from mailerlite import Client

from honeyguide.integrations.platform import WriteResult
from honeyguide.integrations.problems import ForgedHook, Unexpected
from honeyguide.integrations.reports import ChangeKind, IncomingHook
from tests.support.platforms.case import Opened
from tests.support.platforms.cases import read_all, results
from tests.support.platforms.mailerlite import KEY, signed
from tests.support.platforms.stand_in import access_to, contact, status

NOW_S = 1_800_000_000

PLATFORM = "mailerlite"


async def test_connecting_creates_the_fields_that_are_missing(on_platform: Opened) -> None:
    server, mailerlite, access = on_platform
    server.fields.pop("rh_code")
    server.add("one@example.org")
    assert await mailerlite.check(access) == ""
    [audience] = await mailerlite.audiences(access)
    assert (audience.name, audience.subscribers) == ("All subscribers", 1)
    # The other one is there, with the key that MailerLite made from capitals.
    assert await mailerlite.ensure_fields(access) == 1
    assert server.fields["rh_code"] == "rh_code"
    assert await mailerlite.ensure_fields(access) == 0


async def test_writing_never_makes_anybody_active(on_platform: Opened) -> None:
    server, mailerlite, access = on_platform
    for number, state in ((2, "unsubscribed"), (3, "bounced"), (4, "junk"), (5, "active")):
        server.add(f"reader{number}@example.org", state)
    waiting = server.add("reader6@example.org", "unconfirmed")
    left = server.add("reader7@example.org", "unsubscribed")
    contacts = [contact(n) for n in range(1, 7)]
    contacts += [contact(7, remote_id=left["id"]), contact(8, may_add=False)]
    # Deleted there after we learned the ID: not added again.
    contacts += [contact(9, remote_id="999")]
    outcomes = await mailerlite.write_many(access, contacts)
    assert results(outcomes) == [
        WriteResult.WRITTEN,
        WriteResult.LEFT,
        WriteResult.LEFT,
        WriteResult.LEFT,
        WriteResult.WRITTEN,
        WriteResult.WRITTEN,
        WriteResult.LEFT,
        WriteResult.ABSENT,
        WriteResult.ABSENT,
    ]
    assert [person["status"] for person in server.people.values()] == [
        "unsubscribed",
        "bounced",
        "junk",
        "active",
        "unconfirmed",
        "unsubscribed",
        "active",
    ]
    known, added = (
        server.by_email("reader5@example.org"),
        server.by_email("reader1@example.org"),
    )
    assert known and added and waiting["fields"]["rh_code"] == "code6"
    assert known["fields"] == {"name": None, "rh_code": "code5", "r_h__t_o_t_r_e_f": "3"}
    assert outcomes[4].remote_id == known["id"]
    assert added["fields"]["name"] == "Reader 1"


async def test_somebody_who_leaves_while_we_write_stays_away(on_platform: Opened) -> None:
    server, mailerlite, access = on_platform
    # The look finds nobody; then they sign up and leave before we add them.
    left = server.add("reader1@example.org", "unsubscribed")
    server.fail(server.list_fields, status(404))
    [outcome] = await mailerlite.write_many(access, [contact(1)])
    assert (outcome.result, outcome.remote_id) == (WriteResult.LEFT, left["id"])
    assert left["status"] == "unsubscribed"


async def test_changes_are_read_page_by_page(on_platform: Opened) -> None:
    server, mailerlite, access = on_platform
    access = msgspec.structs.replace(access, code_field="Referral code")
    for number in range(201):
        server.add(f"p{number}@example.org", referral_code=f"c{number}")
    for state in ("unsubscribed", "junk", "bounced", "unconfirmed"):
        server.add(f"{state}@example.org", state)
    seen = await read_all(mailerlite, access, NOW_S)
    assert len(server.seen) == 3
    assert len({each.email for each in seen}) == len(seen) == 204
    assert (seen[7].kind, seen[7].code) == (ChangeKind.JOINED, "c7")
    assert seen[7].created_ms == 1793520000000
    assert [each.kind for each in seen[-3:]] == [
        ChangeKind.LEFT,
        ChangeKind.COMPLAINED,
        ChangeKind.BOUNCED,
    ]


def event(person: dict[str, Any], name: str, **changes: Any) -> dict[str, Any]:
    return {**person, **changes, "event": f"subscriber.{name}", "account_id": 0}


def delivered(*events: dict[str, Any], secret: str) -> IncomingHook:
    return IncomingHook(**signed({"events": list(events), "total": len(events)}, secret))


async def test_a_webhook_has_a_signature(on_platform: Opened) -> None:
    server, mailerlite, access = on_platform
    kept = await mailerlite.add_hook(access, "https://refer.example.org/hooks/1")
    joined = event(server.add("one@example.org"), "created")
    async with access_to(mailerlite, {**access.credentials, **kept}) as connected:
        good = delivered(joined, secret=kept["hook_secret"])
        mailerlite.verify_hook(connected, good, now_s=NOW_S)
        for wrong in (
            delivered(joined, secret="other"),
            IncomingHook(headers={}, body=good.body),
            IncomingHook(headers=good.headers, body=b"{}"),
            IncomingHook(headers={"signature": "ü"}, body=good.body),
        ):
            with pytest.raises(ForgedHook):
                mailerlite.verify_hook(connected, wrong, now_s=NOW_S)
        with pytest.raises(ForgedHook):  # no secret was kept
            mailerlite.verify_hook(access, delivered(joined, secret=""), now_s=NOW_S)
        await mailerlite.remove_hook(connected)
        await mailerlite.remove_hook(connected)
        assert server.webhooks == {}
    with pytest.raises(Unexpected, match="twice a day"):
        await mailerlite.add_hook(access, "http://127.0.0.1/hooks/1")


async def test_a_webhook_is_understood(on_platform: Opened) -> None:
    server, mailerlite, access = on_platform
    person = server.add("one@example.org")
    many = delivered(
        event(person, "created"),
        event(person, "created", status="unconfirmed"),
        event(person, "active"),
        event(person, "unsubscribed", status="unsubscribed"),
        event(person, "spam_reported", status="junk"),
        event(person, "bounced", status="bounced"),
        event(person, "deleted", deleted_at="2026-11-16T10:00:00.000000Z"),
        {"type": "subscriber.added_to_group", "subscriber": person},
        {"id": "1", "event": "campaign.sent", "account_id": 0},
        secret="any",
    )
    assert [each.kind for each in await mailerlite.understand_hook(access, many)] == [
        ChangeKind.JOINED,
        ChangeKind.JOINED,
        ChangeKind.LEFT,
        ChangeKind.COMPLAINED,
        ChangeKind.BOUNCED,
        ChangeKind.DELETED,
    ]
    alone = IncomingHook(**signed(event(person, "created"), "any"))
    [change] = await mailerlite.understand_hook(access, alone)
    assert (change.email, change.remote_id) == ("one@example.org", person["id"])
    for nonsense in (b"[]", b'{"event": "subscriber.created"}', b'{"events": 7}'):
        with pytest.raises(Unexpected):
            await mailerlite.understand_hook(access, IncomingHook(headers={}, body=nonsense))


async def test_mailerlites_own_client_accepts_the_stand_in(on_platform: Opened) -> None:
    server, _, _ = on_platform
    client = Client({"api_key": KEY})
    client.api_client.HOST = f"{server.url}/"

    def use() -> None:
        assert client.fields.create("My Field", "text")["data"]["key"] == "my_field"
        assert client.fields.list(limit=100)["data"][-1]["name"] == "My Field"
        made = client.subscribers.create("a@example.org", fields={"my_field": "k3x9"})
        assert made["data"]["fields"]["my_field"] == "k3x9"
        client.subscribers.update("a@example.org", status="unsubscribed")
        assert client.subscribers.get("a@example.org")["data"]["status"] == "unsubscribed"
        assert client.subscribers.count() == {"total": 1}
        assert len(client.subscribers.list(limit=10)["data"]) == 1
        hook = client.webhooks.create(["subscriber.created"], "https://example.org", "Hook")
        assert client.webhooks.delete(int(hook["data"]["id"]))

    await asyncio.to_thread(use)
