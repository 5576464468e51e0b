"""beehiiv against a strict stand-in."""

import asyncio
import json
from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest

from honeyguide.integrations.platform import WriteResult
from honeyguide.integrations.problems import ForgedHook, TryLater, Unexpected
from honeyguide.integrations.reports import ChangeKind, IncomingHook
from tests.support import npm_clients
from tests.support.platforms.beehiiv import KEY, PUBLICATION
from tests.support.platforms.case import Opened
from tests.support.platforms.cases import read_all, results
from tests.support.platforms.stand_in import access_to, contact, status

NOW_S = 1_800_000_000

PLATFORM = "beehiiv"


async def test_connecting_names_the_publications_and_creates_the_fields(
    on_platform: Opened,
) -> None:
    server, beehiiv, access = on_platform
    server.fields = [f"field {number}" for number in range(11)] + ["RH_CODE"]
    assert await beehiiv.check(access) == "Wax & Co"
    [publication] = await beehiiv.audiences(access)
    assert (publication.id, publication.name) == (PUBLICATION, "The Morning Wax")
    assert await beehiiv.ensure_fields(access) == 1  # RH_CODE is on the second page
    assert server.fields[-1] == "RH_TOTREF"
    assert await beehiiv.ensure_fields(access) == 0


async def test_nobody_gets_a_welcome_email_and_who_paused_stays_paused(on_platform: Opened) -> None:
    server, beehiiv, access = on_platform
    paused = server.add("reader1@example.org", "paused")
    outcomes = await beehiiv.write_many(access, [contact(1), contact(2)])
    assert results(outcomes) == [WriteResult.WRITTEN] * 2
    assert paused["status"] == "paused" and paused["values"]["RH_CODE"] == "code1"
    [added] = [json.loads(seen.body) for seen in server.seen if seen.method == "POST"]
    assert added["reactivate_existing"] is False and added["send_welcome_email"] is False


async def test_what_was_written_before_the_limit_stays_written(on_platform: Opened) -> None:
    server, beehiiv, access = on_platform
    server.left_this_minute = 5  # the fields, and two requests for each new one
    outcomes = await beehiiv.write_many(access, [contact(n) for n in range(1, 5)])
    assert results(outcomes) == [WriteResult.WRITTEN] * 2 + [WriteResult.LATER] * 2
    assert len(server.seen) == 6  # nobody is tried after the one that had to wait
    with pytest.raises(TryLater) as waiting:
        await beehiiv.write_many(access, [contact(3)])
    assert waiting.value.after_s and 30 <= waiting.value.after_s <= 40
    server.left_this_minute = 9
    fake = contact(5, email="fake@example.org")
    outcomes = await beehiiv.write_many(access, [contact(3), fake, contact(4)])
    assert results(outcomes) == [
        WriteResult.WRITTEN,
        WriteResult.REFUSED,
        WriteResult.WRITTEN,
    ]


async def test_changes_are_read_page_by_page(on_platform: Opened) -> None:
    server, beehiiv, access = on_platform
    access = msgspec.structs.replace(access, code_field="REF")
    for number in range(201):
        server.add(f"p{number}@example.org", REF=f"c{number}")
    server.add("left@example.org", "inactive")
    server.add("bounced@example.org", "invalid")
    for state in ("pending", "validating", "needs_attention", "paused"):
        server.add(f"{state}@example.org", state)
    seen = await read_all(beehiiv, access)
    assert len(server.seen) == 3
    assert len({each.email for each in seen}) == len(seen) == 203
    assert (seen[7].kind, seen[7].code) == (ChangeKind.JOINED, "c7")
    assert seen[7].created_ms == 1_790_000_008_000
    assert [each.kind for each in seen[-2:]] == [ChangeKind.LEFT, ChangeKind.BOUNCED]
    later = await beehiiv.read_changes(access, since_ms=NOW_S * 1000, token=None)
    assert [each.kind for each in later.changes] == [ChangeKind.LEFT]
    assert later.next_token is None
    server.fail(status(200, '{"data": [], "page": 1, "total_pages": 2}'))
    with pytest.raises(Unexpected, match="the rest"):
        await beehiiv.read_changes(access, since_ms=None, token=None)


async def test_a_webhook_has_our_key_and_is_checked_with_beehiiv(on_platform: Opened) -> None:
    server, beehiiv, access = on_platform
    kept = await beehiiv.add_hook(access, "https://refer.example.org/hooks/1")
    [made] = server.webhooks.values()
    query = dict(parse_qsl(urlsplit(made["url"]).query))
    credentials = {**access.credentials, **kept}
    async with access_to(beehiiv, credentials, audience_id=PUBLICATION) as connected:

        def hook(email: str, event: str = "subscription.created") -> IncomingHook:
            body = {"event_type": event, "uid": "evt_1", "data": {"email": email}}
            return IncomingHook(headers={}, body=json.dumps(body).encode(), query=query)

        beehiiv.verify_hook(connected, hook(""), now_s=NOW_S)
        for wrong in ({}, {"hook_key": "x"}, {"hook_key": query["hook_key"] + "ü"}):
            forged = IncomingHook(headers={}, body=b"", query=wrong)
            with pytest.raises(ForgedHook):
                beehiiv.verify_hook(connected, forged, now_s=NOW_S)
        server.add("in+1@example.org")
        server.add("out@example.org", "inactive")
        server.add("waiting@example.org", "pending")
        # The body claims that all of them joined.
        for email, kinds in (
            ("in+1@example.org", [ChangeKind.JOINED]),
            ("out@example.org", [ChangeKind.LEFT]),
            ("nobody@example.org", [ChangeKind.DELETED]),
            ("waiting@example.org", []),
            ("", []),
        ):
            changes = await beehiiv.understand_hook(connected, hook(email))
            assert [each.kind for each in changes] == kinds
        assert await beehiiv.understand_hook(connected, hook("a@b.org", "post.sent")) == []
        nonsense = IncomingHook(headers={}, body=b"[]", query=query)
        with pytest.raises(Unexpected):
            await beehiiv.understand_hook(connected, nonsense)
        await beehiiv.remove_hook(connected)
        await beehiiv.remove_hook(connected)
        assert server.webhooks == {}
    with pytest.raises(Unexpected, match="https"):
        await beehiiv.add_hook(access, "http://127.0.0.1/hooks/1")


@pytest.mark.long
async def test_beehiivs_own_client_accepts_the_stand_in(on_platform: Opened) -> None:
    server, *_ = on_platform
    await asyncio.to_thread(npm_clients.run, "beehiiv.cjs", f"{server.url}/v2", KEY, PUBLICATION)
