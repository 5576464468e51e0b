"""Nobody who still has to confirm their address reaches an email platform, on any platform and on
any path: not when they join, not in a first sync, not at night, not when they leave or are erased.
"""

import hashlib
from typing import Any

import pytest

from honeyguide.integrations import contacts, integrations, reading
from honeyguide.integrations.platform import ContactStatus
from honeyguide.subscribers.campaigns import CampaignSettings
from tests.support.integrations import Synced, connect_tool
from tests.support.platforms.cases import CASES, WITH_LISTS
from tests.support.platforms.generic import GenericTool
from tests.support.readings import reads
from tests.support.service import ENGINES
from tests.support.stores import statement
from tests.support.synced_platform import BesidePlatform, OpenPlatform

EACH_ENGINE = pytest.mark.parametrize("engine", ENGINES)
ADA = "ada@example.org"
NOT_CONFIRMED = statement(
    "UPDATE subscriber SET must_confirm = 1 WHERE campaign_id = :id", "changes subscriber"
)
QUEUED = statement("SELECT COUNT(*) AS n FROM integration_subscriber WHERE due_ms IS NOT NULL")
KEPT = statement("SELECT COUNT(*) AS n FROM integration_subscriber")


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


def is_there(on: BesidePlatform, email: str) -> bool:
    if isinstance(on.server, GenericTool):
        return any(
            each["email"] == email and each["status"] == "active"
            for each in on.server.contacts.values()
        )
    return on.case.find(on.server, email) is not None


@EACH_ENGINE
async def test_who_has_not_confirmed_is_added_nowhere_until_they_do(
    open_platform: OpenPlatform,
) -> None:
    for key in CASES:
        async with open_platform(key) as on:
            await ask_for_confirmation(on.synced)
            await on.synced.join(ADA, origin="signup")
            await on.connect_quietly(adds_existing=True)
            for name, origin in (("bea", "signup"), ("cleo", "magic"), ("dora", "embed")):
                await on.synced.join(f"{name}@example.org", origin=origin)
            await on.synced.join("eve@example.org", origin="api", status="confirmed")
            await on.synced.change("bea@example.org", name="Bea")
            await pass_nights(on.synced)
            assert is_there(on, "eve@example.org")
            for name in ("ada", "bea", "cleo", "dora"):
                assert mentions(on.server, f"{name}@example.org") == []
            assert await count(on.synced, QUEUED) == 0
            integration = await on.synced.integration()
            assert (integration.synced, integration.failures) == (1, 0)
            assert integration.first_sync_ms is not None
            for name in ("ada", "dora"):
                await on.synced.change(f"{name}@example.org", status="confirmed")
            await on.synced.sync()
            assert is_there(on, ADA) and is_there(on, "dora@example.org")
            assert mentions(on.server, "cleo@example.org") == []


@EACH_ENGINE
async def test_nothing_is_said_about_who_leaves_or_is_erased_before_they_confirm(
    open_platform: OpenPlatform,
) -> None:
    for key in CASES:
        async with open_platform(key) as on:
            await ask_for_confirmation(on.synced)
            await on.connect_quietly(adds_existing=True)
            before = await count(on.synced, KEPT)
            for name in ("ada", "bea"):
                await on.synced.join(f"{name}@example.org", origin="signup")
            await on.synced.sync()
            await on.synced.change(ADA, status="unsubscribed")
            await on.synced.erase("bea@example.org")
            await pass_nights(on.synced)
            assert not any(each.method != "GET" for each in on.server.seen)
            assert mentions(on.server, ADA) == mentions(on.server, "bea@example.org") == []
            assert await count(on.synced, KEPT) == before


@EACH_ENGINE
async def test_whom_the_platform_knows_already_is_left_alone_until_they_confirm(
    open_platform: OpenPlatform,
) -> None:
    for key in WITH_LISTS:
        async with open_platform(key) as on:
            assert on.case.active is not None
            people = {
                name: on.case.active(on.server, f"{name}@example.org")
                for name in ("ada", "bea", "cleo", "dora")
            }
            on_list = on.case.state(people["ada"])
            await ask_for_confirmation(on.synced)
            for name in people:
                await on.synced.join(f"{name}@example.org", origin="signup")
            await on.connect_quietly(adds_existing=True)
            await pass_nights(on.synced)
            await on.synced.change("bea@example.org", status="unsubscribed")
            await pass_nights(on.synced)
            await on.synced.erase("cleo@example.org")
            await on.synced.sync()
            assert not any(each.method != "GET" for each in on.server.seen)
            assert await count(on.synced, QUEUED) == 0
            await on.synced.change("dora@example.org", status="confirmed")
            await on.synced.sync()
            dora = await on.synced.find("dora@example.org")
            assert dora is not None
            if on.case.code:
                assert on.case.fields(people["dora"])[on.case.code] == dora.ref_code
                assert not on.case.fields(people["ada"]).get(on.case.code)
            assert [on.case.state(each) for each in people.values()] == [on_list] * 4
            found = await on.synced.find(ADA)
            assert found is not None and found.status == "active"


@EACH_ENGINE
async def test_who_was_written_by_an_older_version_still_leaves_there(
    open_platform: OpenPlatform,
) -> None:
    for key in CASES:
        async with open_platform(key) as on:
            await on.connect_quietly(adds_existing=True)
            for name in ("ada", "bea", "cleo"):
                await on.synced.join(f"{name}@example.org", origin="signup")
            await on.synced.sync()
            bea = await on.synced.find("bea@example.org")
            assert bea is not None
            await forget_confirmations(on.synced)
            on.server.seen.clear()
            await on.synced.change("cleo@example.org", email="moved@example.org")
            await on.synced.join("dan@example.org", bea.ref_code, status="confirmed")
            await pass_nights(on.synced)
            assert mentions(on.server, "dan@example.org")
            assert not mentions(on.server, "moved@example.org")
            assert (await on.synced.integration()).missing == 0
            await on.synced.change(ADA, status="unsubscribed")
            await on.synced.erase("bea@example.org")
            await on.synced.sync()
            if isinstance(on.server, GenericTool):
                states = [each["status"] for each in on.server.contacts.values()]
                assert sorted(states) == ["active", "active", "erased", "unsubscribed"]
                assert is_there(on, "cleo@example.org")
                continue
            ada, bea, cleo = (
                on.case.find(on.server, f"{name}@example.org") for name in ("ada", "bea", "cleo")
            )
            assert on.case.state(ada) == on.case.unsubscribed
            assert on.case.state(cleo) != on.case.unsubscribed
            if on.case.code:
                assert not on.case.fields(bea).get(on.case.code)


@EACH_ENGINE
async def test_who_was_queued_by_an_older_version_is_not_written(
    synced: Synced, tool: GenericTool
) -> None:
    """As after an upgrade with a backlog."""
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


@EACH_ENGINE
async def test_a_first_sync_does_not_wait_for_confirmations(
    synced: Synced, new_tool: GenericTool
) -> None:
    await ask_for_confirmation(synced)
    for number in range(3):
        await synced.join(f"reader{number}@example.org", origin="signup")
    await synced.change("reader0@example.org", status="confirmed")
    await synced.change("reader1@example.org", status="unsubscribed")
    assert await synced.store.read(reads(integrations.count_to_write, synced.tenant)) == 1
    await connect_tool(synced, new_tool)
    await synced.sync()
    assert len(new_tool.contacts) == (await synced.integration()).synced == 1


@EACH_ENGINE
async def test_unconfirmed_people_whom_the_operator_deleted_there_raise_no_alarm(
    open_platform: OpenPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were written by an older version. Nothing is asked about them, so nobody is told that
    they are missing, every night again."""
    monkeypatch.setattr(reading, "MOST_MISSING", 1)
    async with open_platform("ghost") as on:
        await on.connect_quietly()
        for number in range(3):
            await on.synced.join(f"reader{number}@example.org", origin="signup")
        await on.synced.sync()
        await forget_confirmations(on.synced)
        on.server.members.clear()
        await pass_nights(on.synced)
        assert (await on.synced.integration()).missing == 0
        for number in range(3):
            found = await on.synced.find(f"reader{number}@example.org")
            assert found is not None and found.status == "active"
