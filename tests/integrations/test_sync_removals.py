"""Contacts that an older version wrote before they confirmed: the page lists them and offers to
remove them there, once, on every platform; here they stay as they are.
"""

import asyncio
import re
from typing import Any

import pytest

from honeyguide.events import signature
from honeyguide.integrations import integrations, removing
from honeyguide.integrations.buttondown import Buttondown
from honeyguide.integrations.kit import Kit
from honeyguide.integrations.mailchimp import Mailchimp
from honeyguide.integrations.mailerlite import MailerLite
from honeyguide.integrations.reports import ChangeKind, IncomingHook
from honeyguide.kernel.paging import Page
from tests.integrations.test_sync_confirmation import forget_confirmations, pass_nights
from tests.support.integrations import Synced
from tests.support.platforms.cases import CASES
from tests.support.platforms.generic import GenericTool
from tests.support.service import ENGINES, Service, until
from tests.support.stores import statement
from tests.support.synced_platform import BesidePlatform, OpenPlatform
from tests.support.web import operator, text_of

EACH_ENGINE = pytest.mark.parametrize("engine", ENGINES)
NAMES = ("ada", "bea", "cleo")


async def write_unconfirmed(synced: Synced) -> None:
    """As an older version did."""
    for name in NAMES:
        await synced.join(f"{name}@example.org", origin="signup")
    await synced.join("dora@example.org", origin="import")
    await synced.sync()
    await forget_confirmations(synced)
    is_confirmed = statement("UPDATE subscriber SET must_confirm = 0 WHERE origin = 'import'")
    await synced.store.write(lambda tx: tx.run(is_confirmed))


async def listed(synced: Synced) -> list[str]:
    integration = await synced.integration()
    rows, total = await synced.store.read(removing.page_of, integration, Page(1, 50))
    assert len(rows) == total
    return sorted(each.email for each in rows)


async def remove(synced: Synced) -> int:
    return await synced.make(removing.remove_batch)


async def status_of(synced: Synced, name: str) -> str:
    found = await synced.find(f"{name}@example.org")
    assert found is not None
    return found.status


def tool_contact(tool: GenericTool, name: str) -> dict[str, Any]:
    [found] = [each for each in tool.contacts.values() if each["email"] == f"{name}@example.org"]
    return found


def state_there(on: BesidePlatform, name: str) -> Any:
    if isinstance(on.server, GenericTool):
        return tool_contact(on.server, name)["status"]
    return on.case.state(on.case.find(on.server, f"{name}@example.org"))


def fields_there(on: BesidePlatform, name: str) -> dict[str, Any]:
    if isinstance(on.server, GenericTool):
        fields: dict[str, Any] = tool_contact(on.server, name)["fields"]
        return fields
    return on.case.fields(on.case.find(on.server, f"{name}@example.org")) if on.case.code else {}


@EACH_ENGINE
async def test_they_are_listed_and_removed_there_once_and_stay_here(
    open_platform: OpenPlatform,
) -> None:
    for key in CASES:
        async with open_platform(key) as on:
            await on.connect_quietly(adds_existing=True)
            await write_unconfirmed(on.synced)
            await pass_nights(on.synced)
            assert await listed(on.synced) == [f"{name}@example.org" for name in NAMES]
            assert (await remove(on.synced), await remove(on.synced)) == (3, 0)
            assert await listed(on.synced) == []
            await on.synced.sync()
            gone = on.case.unsubscribed if on.case.active else "unsubscribed"
            for name in NAMES:
                assert state_there(on, name) == gone
                fields = fields_there(on, name)
                assert not any(value for key, value in fields.items() if "rh" in key.lower())
            assert state_there(on, "dora") != gone
            # The platform reports that they left, which is our own doing.
            asked = sum(each.method != "GET" for each in on.server.seen)
            await pass_nights(on.synced)
            assert sum(each.method != "GET" for each in on.server.seen) == asked
            assert [await status_of(on.synced, name) for name in NAMES] == ["active"] * 3
            # Leaving and erasing still work, and say nothing twice.
            await on.synced.change("bea@example.org", status="unsubscribed")
            await on.synced.erase("cleo@example.org")
            await on.synced.sync()
            assert state_there(on, "bea") == gone
            # Who confirms is never unsubscribed here for it.
            await on.synced.change("ada@example.org", status="confirmed")
            await pass_nights(on.synced)
            assert await status_of(on.synced, "ada") == "confirmed"
            failed = await on.synced.store.read(
                integrations.failed_writes, await on.synced.integration(), most=9
            )
            reasons = [each.reason or "" for each in failed]
            if isinstance(on.platform, Mailchimp | Kit | Buttondown | MailerLite):
                assert state_there(on, "ada") == gone
                assert any("removed from" in each for each in reasons)
            else:
                assert state_there(on, "ada") != gone, reasons
                ada, fields = await on.synced.find("ada@example.org"), fields_there(on, "ada")
                assert ada is not None and (not fields or ada.ref_code in fields.values())
                assert not any("removed" in each for each in reasons)


@EACH_ENGINE
async def test_a_removal_wakes_the_worker(synced: Synced, tool: GenericTool, engine: str) -> None:
    await write_unconfirmed(synced)
    woken = asyncio.Event()
    synced.store.listen(integrations.TOPIC, woken.set)
    if engine == "postgres":  # it wakes everybody once it listens
        await asyncio.wait_for(woken.wait(), 10)
        woken.clear()
    assert await remove(synced) == 3
    await asyncio.wait_for(woken.wait(), 10)


@EACH_ENGINE
@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (ChangeKind.LEFT, "active"),
        (ChangeKind.DELETED, "active"),
        (ChangeKind.BOUNCED, "unsubscribed"),
    ],
)
async def test_what_the_platform_says_after_a_removal_is_no_news(
    synced: Synced, tool: GenericTool, kind: ChangeKind, status: str
) -> None:
    await write_unconfirmed(synced)
    await remove(synced)
    await synced.sync()
    await synced.receive(tool_event(tool, {"type": kind, "email": "ada@example.org"}))
    await synced.sync()
    assert await status_of(synced, "ada") == status
    # Who joins there again, by their own wish, can leave there again.
    await synced.receive(tool_event(tool, {"type": "joined", "email": "bea@example.org"}))
    await synced.sync()
    await synced.receive(tool_event(tool, {"type": "left", "email": "bea@example.org"}))
    await synced.sync()
    assert await status_of(synced, "bea") == "unsubscribed"


@EACH_ENGINE
async def test_who_left_or_was_erased_is_not_offered_for_removal(
    synced: Synced, tool: GenericTool
) -> None:
    await write_unconfirmed(synced)
    await synced.change("ada@example.org", status="unsubscribed")
    await synced.erase("cleo@example.org")
    assert await listed(synced) == ["bea@example.org"]
    assert await remove(synced) == 1


def tool_event(tool: GenericTool, content: Any) -> IncomingHook:
    return tool.hook(content, at_s=1_794_744_000)


@EACH_ENGINE
def test_the_page_lists_them_and_asks_before_it_removes_them(engine: str) -> None:
    tool = GenericTool(signature.new_secret())
    with Service(engine, secret_key="ab" * 32) as service, tool.serving_apart():
        alice, other = operator(service), operator(service)

        def shown(path: str = "/integrations") -> str:
            return text_of(alice.web.get(path).text)

        page = alice.web.post("/integrations/generic", url=f"{tool.url}/hook", secret=tool.secret)
        sealed = re.search(r'name="sealed" value="([^"]+)"', page.text)
        assert sealed
        alice.web.post("/integrations/generic", sealed=sealed[1], audience="url")
        for number in range(60):
            alice.subscribe(f"reader{number}@example.org")
        until(lambda: len(tool.contacts) == 60 and "Everything is written" in shown())
        assert "have not confirmed" not in shown()
        unconfirmed = statement("UPDATE subscriber SET must_confirm = 1")
        service.write(lambda tx: tx.run(unconfirmed))
        assert "60 subscribers in Your own tool have not confirmed" in shown()
        assert "reader59@" in shown() and "reader9@" not in shown()
        assert "reader9@" in shown("/integrations?page=2")
        asked = alice.web.post("/integrations", do="remove_unconfirmed", ask="All of them are …")
        assert asked.status_code == 200 and tool.writes == 60  # it asks first
        for message in ("We are removing 60 of them there.", "There is nobody to remove."):
            done = alice.web.post("/integrations", do="remove_unconfirmed", sure="yes", ask="…")
            assert done.status_code == 303 and message in shown()
        until(lambda: tool.writes == 120)
        assert {each["status"] for each in tool.contacts.values()} == {"unsubscribed"}
        assert "have not confirmed" not in shown()
        answer = other.web.post("/integrations", do="remove_unconfirmed", sure="yes", ask="…")
        assert answer.status_code == 404
