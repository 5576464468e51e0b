"""Mailchimp against a strict stand-in, which its own Python client accepts too."""

import asyncio
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec
import pytest
from mailchimp_marketing import Client

from honeyguide.integrations.platform import WriteResult
from honeyguide.integrations.problems import ForgedHook, Unexpected, WrongCredentials
from honeyguide.integrations.reports import ChangeKind, IncomingHook
from tests.support.platforms.case import Opened
from tests.support.platforms.cases import read_all, results
from tests.support.platforms.mailchimp import KEY, LIST
from tests.support.platforms.stand_in import access_to, contact

NOW_S = 1_800_000_000

PLATFORM = "mailchimp"


async def test_connecting_names_the_account_the_audiences_and_creates_the_fields(
    on_platform: Opened,
) -> None:
    server, mailchimp, access = on_platform
    server.tags = {"FNAME", "RH_CODE"}
    assert await mailchimp.check(access) == "The Morning Wax"
    [audience] = await mailchimp.audiences(access)
    assert (audience.id, audience.name, audience.subscribers) == (LIST, "Readers", 0)
    assert await mailchimp.ensure_fields(access) == 1
    assert server.tags == {"FNAME", "RH_CODE", "RH_TOTREF"}
    assert await mailchimp.ensure_fields(access) == 0


async def test_no_more_than_ten_requests_at_once(on_platform: Opened) -> None:
    server, mailchimp, access = on_platform
    server.pause_s = 0.01
    outcomes = await mailchimp.write_many(access, [contact(n) for n in range(1, 60)])
    assert set(results(outcomes)) == {WriteResult.WRITTEN}
    assert 1 < server.most_at_once <= 10


async def test_a_key_without_a_server_is_not_sent_anywhere(on_platform: Opened) -> None:
    server, mailchimp, access = on_platform
    for key in ("0123456789abcdef", "abc-evil.example.org/", "abc-us19@evil"):
        wrong = msgspec.structs.replace(access, credentials={"api_key": key})
        with pytest.raises(WrongCredentials, match="ends with a dash"):
            await mailchimp.check(wrong)
    assert server.seen == []


async def test_changes_are_read_page_by_page(on_platform: Opened) -> None:
    server, mailchimp, access = on_platform
    access = msgspec.structs.replace(access, code_field="REF")
    for number in range(1201):
        server.add(f"p{number}@example.org", REF=f"c{number}")
    server.add("left@example.org", "unsubscribed")
    server.add("bounced@example.org", "cleaned")
    server.add("gone@example.org", "archived")
    server.add("unconfirmed@example.org", "pending")
    seen = await read_all(mailchimp, access)
    assert len(server.seen) == 3
    assert len({each.email for each in seen}) == len(seen) == 1204
    assert seen[7].kind == ChangeKind.JOINED and seen[7].code == "c7"
    assert [each.kind for each in seen[-3:]] == [
        ChangeKind.LEFT,
        ChangeKind.BOUNCED,
        ChangeKind.DELETED,
    ]
    later = await mailchimp.read_changes(access, since_ms=NOW_S * 1000, token=None)
    assert (later.changes, later.next_token) == ([], None)


async def test_a_webhook_has_our_key_and_is_checked_with_mailchimp(on_platform: Opened) -> None:
    server, mailchimp, access = on_platform
    kept = await mailchimp.add_hook(access, "https://refer.example.org/hooks/1")
    [made] = server.webhooks.values()
    assert made["sources"]["api"] is False
    query = dict(parse_qsl(urlsplit(made["url"]).query))
    async with access_to(mailchimp, {**access.credentials, **kept}, audience_id=LIST) as connected:

        def hook(**data: str) -> IncomingHook:
            body = urlencode({"type": "any", **{f"data[{k}]": v for k, v in data.items()}})
            return IncomingHook(headers={}, body=body.encode(), query=query)

        mailchimp.verify_hook(connected, hook(), now_s=NOW_S)
        for wrong in ({}, {"hook_key": "x"}, {"hook_key": query["hook_key"] + "ü"}):
            forged = IncomingHook(headers={}, body=b"", query=wrong)
            with pytest.raises(ForgedHook):
                mailchimp.verify_hook(connected, forged, now_s=NOW_S)
        server.add("in@example.org")
        server.add("out@example.org", "unsubscribed")
        server.add("new@example.org")
        # The body claims that somebody joined; Mailchimp knows that they left.
        for body, kind in (
            ({"email": "in@example.org"}, ChangeKind.JOINED),
            ({"email": "out@example.org"}, ChangeKind.LEFT),
            ({"email": "nobody@example.org"}, ChangeKind.DELETED),
            (
                {"new_email": "new@example.org", "old_email": "was@example.org"},
                ChangeKind.CHANGED_ADDRESS,
            ),
        ):
            [change] = await mailchimp.understand_hook(connected, hook(**body))
            assert change.kind == kind
        assert change.old_email == "was@example.org"
        assert await mailchimp.understand_hook(connected, hook()) == []
        nonsense = IncomingHook(headers={}, body=b"\xff", query=query)
        with pytest.raises(Unexpected):
            await mailchimp.understand_hook(connected, nonsense)
        await mailchimp.remove_hook(connected)
        await mailchimp.remove_hook(connected)
        assert server.webhooks == {}


async def test_mailchimps_own_client_accepts_the_stand_in(on_platform: Opened) -> None:
    server, _, _ = on_platform
    client = Client({"api_key": KEY})
    client.api_client.host = f"{server.url}/3.0"

    def use() -> None:
        assert client.lists.get_all_lists()["lists"][0]["id"] == LIST
        body = {
            "email_address": "a@example.org",
            "status_if_new": "subscribed",
            "merge_fields": {"RH_CODE": "k3x9"},
        }
        made = client.lists.set_list_member(LIST, "a@example.org", body)
        assert made["status"] == "subscribed"
        client.lists.update_list_member(LIST, made["id"], {"status": "unsubscribed"})
        assert client.lists.get_list_member(LIST, made["id"])["status"] == "unsubscribed"

    await asyncio.to_thread(use)
