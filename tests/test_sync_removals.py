"""Contacts that an older version wrote before they confirmed: the page lists them and offers to
remove them there, once, on every platform; here they stay as they are.
"""

from __future__ import annotations

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
from tests.support.integrations import Synced, with_tool
from tests.support.platforms.case import PlatformCase
from tests.support.platforms.generic import GenericTool
from tests.support.service import ENGINES, Service, until
from tests.support.stores import statement
from tests.support.web import operator, text_of
from tests.test_sync_confirmation import (
    Connect,
    forget_confirmations,
    on_every_platform,
    pass_nights,
)

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


def state_there(case: PlatformCase, server: Any, name: str) -> Any:
    if isinstance(server, GenericTool):
        [state] = [
            each["status"]
            for each in server.contacts.values()
            if each["email"] == f"{name}@example.org"
        ]
        return state
    return case.state(case.find(server, f"{name}@example.org"))


def fields_there(case: PlatformCase, server: Any, name: str) -> dict[str, Any]:
    if isinstance(server, GenericTool):
        return next(
            each["fields"]
            for each in server.contacts.values()
            if each["email"] == f"{name}@example.org"
        )
    return case.fields(case.find(server, f"{name}@example.org")) if case.code else {}


@EACH_ENGINE
def test_they_are_listed_and_removed_there_once_and_stay_here(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(synced: Synced, connect: Connect, case: PlatformCase, server: Any) -> None:
        await connect()
        await write_unconfirmed(synced)
        await pass_nights(synced)
        assert await listed(synced) == [f"{name}@example.org" for name in NAMES]
        assert (await remove(synced), await remove(synced)) == (3, 0)
        assert await listed(synced) == []
        await synced.sync()
        gone = case.unsubscribed if case.active else "unsubscribed"
        for name in NAMES:
            assert state_there(case, server, name) == gone
            assert not any(
                value
                for key, value in fields_there(case, server, name).items()
                if "rh" in key.lower()
            )
        assert state_there(case, server, "dora") != gone
        # The platform reports that they left, which is our own doing.
        asked = sum(each.method != "GET" for each in server.seen)
        await pass_nights(synced)
        assert sum(each.method != "GET" for each in server.seen) == asked
        assert [await status_of(synced, name) for name in NAMES] == ["active"] * 3
        # Leaving and erasing still work, and say nothing twice.
        await synced.change("bea@example.org", status="unsubscribed")
        await synced.erase("cleo@example.org")
        await synced.sync()
        assert state_there(case, server, "bea") == gone
        # Who confirms is never unsubscribed here for it.
        await synced.change("ada@example.org", status="confirmed")
        await pass_nights(synced)
        assert await status_of(synced, "ada") == "confirmed"
        failed = await synced.store.read(
            integrations.failed_writes, await synced.integration(), most=9
        )
        reasons = [each.reason or "" for each in failed]
        if isinstance(case.platform(server), Mailchimp | Kit | Buttondown | MailerLite):
            assert state_there(case, server, "ada") == gone
            assert any("removed from" in each for each in reasons)
        else:
            assert state_there(case, server, "ada") != gone, reasons
            ada, fields = await synced.find("ada@example.org"), fields_there(case, server, "ada")
            assert ada is not None and (not fields or ada.ref_code in fields.values())
            assert not any("removed" in each for each in reasons)

    on_every_platform(engine, monkeypatch, test)


@EACH_ENGINE
def test_a_removal_wakes_the_worker(engine: str) -> None:
    async def test(synced: Synced, tool: GenericTool) -> None:
        await write_unconfirmed(synced)
        woken = asyncio.Event()
        synced.store.listen(integrations.TOPIC, woken.set)
        if engine == "postgres":  # it wakes everybody once it listens
            await asyncio.wait_for(woken.wait(), 10)
            woken.clear()
        assert await remove(synced) == 3
        await asyncio.wait_for(woken.wait(), 10)

    with_tool(engine, test)


@EACH_ENGINE
@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (ChangeKind.LEFT, "active"),
        (ChangeKind.DELETED, "active"),
        (ChangeKind.BOUNCED, "unsubscribed"),
    ],
)
def test_what_the_platform_says_after_a_removal_is_no_news(
    engine: str, kind: ChangeKind, status: str
) -> None:
    async def test(synced: Synced, tool: GenericTool) -> None:
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

    with_tool(engine, test)


@EACH_ENGINE
def test_who_left_or_was_erased_is_not_offered_for_removal(engine: str) -> None:
    async def test(synced: Synced, tool: GenericTool) -> None:
        await write_unconfirmed(synced)
        await synced.change("ada@example.org", status="unsubscribed")
        await synced.erase("cleo@example.org")
        assert await listed(synced) == ["bea@example.org"]
        assert await remove(synced) == 1

    with_tool(engine, test)


def tool_event(tool: GenericTool, content: Any) -> IncomingHook:
    sent = tool.signed(content, at_s=1_794_744_000)
    return IncomingHook(headers=sent["headers"], body=sent["content"])


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
