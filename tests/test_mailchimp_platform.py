"""Mailchimp against a strict stand-in, which its own Python client accepts too."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from mailchimp_marketing import Client

from honeyguide.integrations.mailchimp import Mailchimp
from honeyguide.integrations.platform import (
    ChangeKind,
    ContactStatus,
    IncomingHook,
    PlatformAccess,
    WriteResult,
)
from honeyguide.integrations.problems import (
    AudienceGone,
    FieldsGone,
    ForgedHook,
    Unexpected,
    WrongCredentials,
)
from tests.support.platforms.mailchimp import KEY, LIST, MailchimpServer
from tests.support.platforms.stand_in import access_to, contact, drop, garbage, status

NOW_S = 1_800_000_000
Test = Callable[[MailchimpServer, Mailchimp, PlatformAccess], Awaitable[None]]


def using(test: Test, *, key: str = KEY, **options: Any) -> None:
    async def run() -> None:
        server = MailchimpServer()
        server.tags |= {"RH_CODE", "RH_TOTREF"}
        async with server.serving():
            mailchimp = Mailchimp(f"{server.url}/3.0")
            options.setdefault("audience_id", LIST)
            async with access_to(mailchimp, {"api_key": key}, **options) as access:
                await test(server, mailchimp, access)

    asyncio.run(run())


def results(outcomes: Any) -> list[WriteResult]:
    return [each.result for each in outcomes]


def test_connecting_names_the_account_the_audiences_and_creates_the_fields() -> None:
    async def test(server: MailchimpServer, mailchimp: Mailchimp, access: PlatformAccess) -> None:
        server.tags = {"FNAME", "RH_CODE"}
        assert await mailchimp.check(access) == "The Morning Wax"
        [audience] = await mailchimp.audiences(access)
        assert (audience.id, audience.name, audience.subscribers) == (LIST, "Readers", 0)
        assert await mailchimp.ensure_fields(access) == 1
        assert server.tags == {"FNAME", "RH_CODE", "RH_TOTREF"}
        assert await mailchimp.ensure_fields(access) == 0

    using(test)


def test_writing_never_makes_anybody_active_again() -> None:
    async def test(server: MailchimpServer, mailchimp: Mailchimp, access: PlatformAccess) -> None:
        left = server.add("reader2@example.org", "unsubscribed")
        bounced = server.add("reader3@example.org", "cleaned")
        archived = server.add("reader4@example.org", "archived")
        known = server.add("reader5@example.org", "subscribed")
        contacts = [contact(n) for n in range(1, 6)] + [contact(6, may_add=False)]
        outcomes = await mailchimp.write_many(access, contacts)
        assert results(outcomes) == [
            WriteResult.WRITTEN,
            WriteResult.LEFT,
            WriteResult.LEFT,
            WriteResult.LEFT,
            WriteResult.WRITTEN,
            WriteResult.ABSENT,
        ]
        assert (left.status, bounced.status, archived.status) == (
            "unsubscribed",
            "cleaned",
            "archived",
        )
        assert known.fields == {"RH_CODE": "code5", "RH_TOTREF": "3"}
        assert len(server.members) == 5
        assert outcomes[4].remote_id == known.contact_id

    using(test)


def test_unsubscribed_erased_and_renamed() -> None:
    async def test(server: MailchimpServer, mailchimp: Mailchimp, access: PlatformAccess) -> None:
        one, two = server.add("reader1@example.org"), server.add("old@example.org")
        three = server.add("reader3@example.org", RH_CODE="code3")
        server.add("taken@example.org")
        outcomes = await mailchimp.write_many(
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
                    remote_id=three.contact_id,
                ),
                contact(4, status=ContactStatus.UNSUBSCRIBED, may_add=False),
                contact(5, email="taken@example.org", old_email="reader2@example.org"),
            ],
        )
        assert results(outcomes)[:4] == [
            WriteResult.WRITTEN,
            WriteResult.WRITTEN,
            WriteResult.WRITTEN,
            WriteResult.ABSENT,
        ]
        assert one.status == "unsubscribed" and two.email == "reader2@example.org"
        assert three.fields == {"RH_CODE": "", "RH_TOTREF": ""} and three.status == "subscribed"

    using(test)


def test_one_bad_address_costs_nobody_else() -> None:
    async def test(server: MailchimpServer, mailchimp: Mailchimp, access: PlatformAccess) -> None:
        bad = contact(2, email="fake@example.org")
        outcomes = await mailchimp.write_many(access, [contact(1), bad, contact(3)])
        assert results(outcomes) == [
            WriteResult.WRITTEN,
            WriteResult.REFUSED,
            WriteResult.WRITTEN,
        ]
        assert outcomes[1].reason == "Mailchimp does not accept this address."

    using(test)


def test_no_more_than_ten_requests_at_once() -> None:
    async def test(server: MailchimpServer, mailchimp: Mailchimp, access: PlatformAccess) -> None:
        server.pause_s = 0.01
        outcomes = await mailchimp.write_many(access, [contact(n) for n in range(1, 60)])
        assert set(results(outcomes)) == {WriteResult.WRITTEN}
        assert 1 < server.most_at_once <= 10

    using(test)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (status(429), WriteResult.LATER),
        (status(503, retry_after="60"), WriteResult.LATER),
        (status(403, "<html>Forbidden</html>"), WriteResult.LATER),
        ((drop, drop), WriteResult.LATER),  # the HTTP client tries once more by itself
        (status(403, '{"title": "User action not permitted"}'), WrongCredentials),
        (status(401), WrongCredentials),
        (garbage, Unexpected),
    ],
)
def test_what_goes_wrong_is_one_sentence(fault: Any, expected: Any) -> None:
    async def test(server: MailchimpServer, mailchimp: Mailchimp, access: PlatformAccess) -> None:
        server.fail(*(fault if isinstance(fault, tuple) else (fault,)))
        if isinstance(expected, WriteResult):
            [outcome] = await mailchimp.write_many(access, [contact()])
            assert outcome.result == expected and outcome.reason.endswith(".")
        else:
            with pytest.raises(expected) as raised:
                await mailchimp.write_many(access, [contact()])
            assert raised.value.reason.endswith(".")
        assert results(await mailchimp.write_many(access, [contact()])) == [WriteResult.WRITTEN]

    using(test)


def test_a_deleted_field_audience_or_key_is_named() -> None:
    async def test(server: MailchimpServer, mailchimp: Mailchimp, access: PlatformAccess) -> None:
        server.tags.discard("RH_TOTREF")
        with pytest.raises(FieldsGone):
            await mailchimp.write_many(access, [contact()])
        server.is_deleted = True
        for call in (
            mailchimp.write_many(access, [contact()]),
            mailchimp.ensure_fields(access),
            mailchimp.read_changes(access, since_ms=None, token=None),
        ):
            with pytest.raises(AudienceGone):
                await call
        server.key = "revoked-us19"
        with pytest.raises(WrongCredentials):
            await mailchimp.check(access)

    using(test)


@pytest.mark.parametrize("key", ["0123456789abcdef", "abc-evil.example.org/", "abc-us19@evil"])
def test_a_key_without_a_server_is_not_sent_anywhere(key: str) -> None:
    async def test(server: MailchimpServer, mailchimp: Mailchimp, access: PlatformAccess) -> None:
        with pytest.raises(WrongCredentials, match="ends with a dash"):
            await mailchimp.check(access)
        assert server.seen == []

    using(test, key=key)


def test_changes_are_read_page_by_page() -> None:
    async def test(server: MailchimpServer, mailchimp: Mailchimp, access: PlatformAccess) -> None:
        for number in range(1201):
            server.add(f"p{number}@example.org", REF=f"c{number}")
        server.add("left@example.org", "unsubscribed")
        server.add("bounced@example.org", "cleaned")
        server.add("gone@example.org", "archived")
        server.add("unconfirmed@example.org", "pending")
        token, seen = None, []
        while True:
            page = await mailchimp.read_changes(access, since_ms=None, token=token)
            seen += page.changes
            token = page.next_token
            if token is None:
                break
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

    using(test, code_field="REF")


def test_a_webhook_has_our_key_and_is_checked_with_mailchimp() -> None:
    async def test(server: MailchimpServer, mailchimp: Mailchimp, access: PlatformAccess) -> None:
        kept = await mailchimp.add_hook(access, "https://refer.example.org/hooks/1")
        [made] = server.webhooks.values()
        assert made["sources"]["api"] is False
        query = dict(parse_qsl(urlsplit(made["url"]).query))
        async with access_to(
            mailchimp, {**access.credentials, **kept}, audience_id=LIST
        ) as connected:

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
            for said, kind in (
                ({"email": "in@example.org"}, ChangeKind.JOINED),
                ({"email": "out@example.org"}, ChangeKind.LEFT),
                ({"email": "nobody@example.org"}, ChangeKind.DELETED),
                (
                    {"new_email": "new@example.org", "old_email": "was@example.org"},
                    ChangeKind.CHANGED_ADDRESS,
                ),
            ):
                [change] = await mailchimp.understand_hook(connected, hook(**said))
                assert change.kind == kind
            assert change.old_email == "was@example.org"
            assert await mailchimp.understand_hook(connected, hook()) == []
            nonsense = IncomingHook(headers={}, body=b"\xff", query=query)
            with pytest.raises(Unexpected):
                await mailchimp.understand_hook(connected, nonsense)
            await mailchimp.remove_hook(connected)
            await mailchimp.remove_hook(connected)
            assert server.webhooks == {}

    using(test)


def test_mailchimps_own_client_accepts_the_stand_in() -> None:
    async def test(server: MailchimpServer, mailchimp: Mailchimp, access: PlatformAccess) -> None:
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

    using(test)
