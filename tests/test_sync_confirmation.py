"""Nobody who still has to confirm their address reaches an email platform, on any platform and on
any path: not when they join, not in a first sync, not at night, not when they leave or are erased.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from honeyguide.integrations import contacts, integrations, reading
from honeyguide.integrations.platform import ContactStatus
from honeyguide.referrals.campaigns import CampaignSettings
from honeyguide.store import Store
from tests.support.integrations import Synced, connect_case, connect_tool, newsletter, with_tool
from tests.support.platforms.case import PlatformCase
from tests.support.platforms.cases import CASES
from tests.support.platforms.generic import GenericTool
from tests.support.service import ENGINES
from tests.support.stores import OpenStore, statement

EACH_ENGINE = pytest.mark.parametrize("engine", ENGINES)
ADA = "ada@example.org"
NOT_CONFIRMED = statement(
    "UPDATE subscriber SET must_confirm = 1 WHERE campaign_id = :id", "changes subscriber"
)
QUEUED = statement("SELECT COUNT(*) AS n FROM integration_subscriber WHERE due_ms IS NOT NULL")
KEPT = statement("SELECT COUNT(*) AS n FROM integration_subscriber")
Connect = Callable[[], Awaitable[None]]
Test = Callable[[Synced, Connect, PlatformCase, Any], Awaitable[None]]


@pytest.mark.parametrize(
    ("must_confirm", "was_written", "status", "may_write"),
    [
        (False, False, ContactStatus.ACTIVE, True),
        (False, False, ContactStatus.UNSUBSCRIBED, True),
        (False, False, ContactStatus.ERASED, True),
        (False, True, ContactStatus.ACTIVE, True),
        (False, True, ContactStatus.UNSUBSCRIBED, True),
        (False, True, ContactStatus.ERASED, True),
        (True, False, ContactStatus.ACTIVE, False),
        (True, False, ContactStatus.UNSUBSCRIBED, False),
        (True, False, ContactStatus.ERASED, False),
        (True, True, ContactStatus.ACTIVE, False),
        (True, True, ContactStatus.UNSUBSCRIBED, True),
        (True, True, ContactStatus.ERASED, True),
    ],
)
def test_what_may_be_written_about_whom(
    must_confirm: bool, was_written: bool, status: ContactStatus, may_write: bool
) -> None:
    decided = contacts.may_write(status, must_confirm=must_confirm, was_written=was_written)
    assert decided == may_write


async def ask_for_confirmation(synced: Synced) -> None:
    chosen = CampaignSettings(needs_confirmation=True)
    await synced.configure(chosen)


async def forget_confirmations(synced: Synced) -> None:
    """As if everybody had joined while confirmation was needed, in an older version."""
    tenant = synced.tenant
    await synced.store.write(lambda tx: tx.run(NOT_CONFIRMED, id=tenant.campaign_id))


def on_every_platform(engine: str, monkeypatch: pytest.MonkeyPatch, test: Test) -> None:
    """Nothing is connected yet. A failure names the platform."""

    async def run(store: Store) -> None:
        for key, case in CASES.items():
            server = case.server()
            async with server.serving(), newsletter(store, f"{key}@example.org") as synced:
                connect = partial(
                    connect_case, monkeypatch, synced, key, case, server, adds_existing=True
                )
                try:
                    await test(synced, connect, case, server)
                except AssertionError as error:
                    raise AssertionError(f"{key}: {error}") from error

    with OpenStore(engine) as opened:
        opened.run(run(opened.store))


def mentions(server: Any, email: str) -> list[str]:
    """Requests that name somebody, also as Mailchimp does."""
    needles = (email, email.replace("@", "%40"), hashlib.md5(email.encode()).hexdigest())
    return [
        f"{each.method} {each.path}"
        for each in server.seen
        if any(needle in each.path or needle.encode() in each.body for needle in needles)
    ]


async def pass_nights(synced: Synced) -> None:
    for _ in range(2):
        await synced.sync()
        synced.pass_a_day()
    await synced.sync()


async def count(synced: Synced, counted: Any) -> int:
    found = await synced.store.read(lambda tx: tx.one(counted))
    return int(found[0])


def is_there(case: PlatformCase, server: Any, email: str) -> bool:
    if isinstance(server, GenericTool):
        return any(
            each["email"] == email and each["status"] == "active"
            for each in server.contacts.values()
        )
    return case.find(server, email) is not None


@EACH_ENGINE
def test_who_has_not_confirmed_is_added_nowhere_until_they_do(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(synced: Synced, connect: Connect, case: PlatformCase, server: Any) -> None:
        await ask_for_confirmation(synced)
        await synced.join(ADA, origin="signup")
        await connect()
        for name, origin in (("bea", "signup"), ("cleo", "magic"), ("dora", "embed")):
            await synced.join(f"{name}@example.org", origin=origin)
        await synced.join("eve@example.org", origin="api", status="confirmed")
        await synced.change("bea@example.org", name="Bea")
        await pass_nights(synced)
        assert is_there(case, server, "eve@example.org")
        for name in ("ada", "bea", "cleo", "dora"):
            assert mentions(server, f"{name}@example.org") == []
        assert await count(synced, QUEUED) == 0
        integration = await synced.integration()
        assert (integration.synced, integration.failures) == (1, 0)
        assert integration.first_sync_ms is not None
        for name in ("ada", "dora"):
            await synced.change(f"{name}@example.org", status="confirmed")
        await synced.sync()
        assert is_there(case, server, ADA) and is_there(case, server, "dora@example.org")
        assert mentions(server, "cleo@example.org") == []

    on_every_platform(engine, monkeypatch, test)


@EACH_ENGINE
def test_nothing_is_said_about_who_leaves_or_is_erased_before_they_confirm(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(synced: Synced, connect: Connect, case: PlatformCase, server: Any) -> None:
        await ask_for_confirmation(synced)
        await connect()
        before = await count(synced, KEPT)
        for name in ("ada", "bea"):
            await synced.join(f"{name}@example.org", origin="signup")
        await synced.sync()
        await synced.change(ADA, status="unsubscribed")
        await synced.erase("bea@example.org")
        await pass_nights(synced)
        assert not any(each.method != "GET" for each in server.seen)
        assert mentions(server, ADA) == mentions(server, "bea@example.org") == []
        assert await count(synced, KEPT) == before

    on_every_platform(engine, monkeypatch, test)


@EACH_ENGINE
def test_whom_the_platform_knows_already_is_left_alone_until_they_confirm(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(synced: Synced, connect: Connect, case: PlatformCase, server: Any) -> None:
        if case.active is None:
            return  # it keeps no list
        people = {
            name: case.active(server, f"{name}@example.org")
            for name in ("ada", "bea", "cleo", "dora")
        }
        on_list = case.state(people["ada"])
        await ask_for_confirmation(synced)
        for name in people:
            await synced.join(f"{name}@example.org", origin="signup")
        await connect()
        await pass_nights(synced)
        await synced.change("bea@example.org", status="unsubscribed")
        await pass_nights(synced)
        await synced.erase("cleo@example.org")
        await synced.sync()
        assert not any(each.method != "GET" for each in server.seen)
        assert await count(synced, QUEUED) == 0
        await synced.change("dora@example.org", status="confirmed")
        await synced.sync()
        dora = await synced.find("dora@example.org")
        assert dora is not None
        if case.code:
            assert case.fields(people["dora"])[case.code] == dora.ref_code
            assert not case.fields(people["ada"]).get(case.code)
        assert [case.state(each) for each in people.values()] == [on_list] * 4
        found = await synced.find(ADA)
        assert found is not None and found.status == "active"

    on_every_platform(engine, monkeypatch, test)


@EACH_ENGINE
def test_who_was_written_by_an_older_version_still_leaves_there(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(synced: Synced, connect: Connect, case: PlatformCase, server: Any) -> None:
        await connect()
        for name in ("ada", "bea", "cleo"):
            await synced.join(f"{name}@example.org", origin="signup")
        await synced.sync()
        bea = await synced.find("bea@example.org")
        assert bea is not None
        await forget_confirmations(synced)
        server.seen.clear()
        await synced.change("cleo@example.org", email="moved@example.org")
        await synced.join("dan@example.org", bea.ref_code, status="confirmed")
        await pass_nights(synced)
        assert mentions(server, "dan@example.org") and not mentions(server, "moved@example.org")
        assert (await synced.integration()).missing == 0
        await synced.change(ADA, status="unsubscribed")
        await synced.erase("bea@example.org")
        await synced.sync()
        if isinstance(server, GenericTool):
            states = [each["status"] for each in server.contacts.values()]
            assert sorted(states) == ["active", "active", "erased", "unsubscribed"]
            assert is_there(case, server, "cleo@example.org")
            return
        assert case.state(case.find(server, ADA)) == case.unsubscribed
        assert case.state(case.find(server, "cleo@example.org")) != case.unsubscribed
        if case.code:
            assert not case.fields(case.find(server, "bea@example.org")).get(case.code)

    on_every_platform(engine, monkeypatch, test)


@EACH_ENGINE
def test_who_was_queued_by_an_older_version_is_not_written(engine: str) -> None:
    """As after an upgrade with a backlog."""

    async def test(synced: Synced, tool: GenericTool) -> None:
        await synced.make(integrations.set_status, integrations.PAUSED)
        await synced.join(ADA, origin="signup")
        queue = statement(
            "INSERT INTO integration_subscriber (integration_id, subscriber_id, account_id, due_ms)"
            " SELECT i.id, s.id, s.account_id, 0 FROM integration AS i, subscriber AS s",
            "adds integration_subscriber",
        )
        await synced.store.write(lambda tx: tx.run(queue))
        await forget_confirmations(synced)
        await synced.wait_over()
        await pass_nights(synced)
        assert tool.seen == [] and await count(synced, QUEUED) == 0
        await synced.change(ADA, status="confirmed")
        await synced.sync()
        [ada] = tool.contacts.values()
        assert (ada["email"], ada["may_add"]) == (ADA, True)

    with_tool(engine, test)


@EACH_ENGINE
def test_a_first_sync_does_not_wait_for_confirmations(engine: str) -> None:
    async def test(synced: Synced, tool: GenericTool) -> None:
        await ask_for_confirmation(synced)
        for number in range(3):
            await synced.join(f"reader{number}@example.org", origin="signup")
        await synced.change("reader0@example.org", status="confirmed")
        await synced.change("reader1@example.org", status="unsubscribed")
        assert await synced.store.read(integrations.count_to_write, synced.tenant) == 1
        await connect_tool(synced, tool)
        await synced.sync()
        assert len(tool.contacts) == (await synced.integration()).synced == 1

    with_tool(engine, test, unconnected=True)


@EACH_ENGINE
def test_unconfirmed_people_whom_the_operator_deleted_there_raise_no_alarm(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were written by an older version. Nothing is asked about them, so nobody is told that
    they are missing, every night again."""
    monkeypatch.setattr(reading, "MOST_MISSING", 1)
    case = CASES["ghost"]

    async def run(store: Store) -> None:
        server = case.server()
        async with server.serving(), newsletter(store) as synced:
            await connect_case(monkeypatch, synced, "ghost", case, server)
            for number in range(3):
                await synced.join(f"reader{number}@example.org", origin="signup")
            await synced.sync()
            await forget_confirmations(synced)
            server.members.clear()
            await pass_nights(synced)
            assert (await synced.integration()).missing == 0
            for number in range(3):
                found = await synced.find(f"reader{number}@example.org")
                assert found is not None and found.status == "active"

    with OpenStore(engine) as opened:
        opened.run(run(opened.store))
