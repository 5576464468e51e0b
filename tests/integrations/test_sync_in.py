"""What a platform says about its subscribers is applied here, once, and makes nobody active who
left.
"""

from typing import Any

import pytest

from honeyguide.integrations import incoming, integrations
from honeyguide.integrations.generic import Generic
from honeyguide.integrations.reports import ChangeKind, ChangePage, PlatformChange
from honeyguide.kernel.clock import DAY_MS, MINUTE_MS
from honeyguide.rewards.rewards import NewReward
from honeyguide.screening import evidence
from honeyguide.store.tx import Tx, timed
from honeyguide.subscribers import hub
from tests.support.changes import SITE
from tests.support.integrations import Synced
from tests.support.platforms.generic import GenericTool
from tests.support.readings import reads
from tests.support.service import ENGINES
from tests.support.stores import statement

pytestmark = pytest.mark.parametrize("engine", ENGINES)


async def says(synced: Synced, tool: GenericTool, **event: Any) -> bool:
    """Their tool posts an event, and the worker applies it. False if it came before."""
    hook = tool.hook(event, at_s=synced.now_ms // 1000)
    stored = await synced.receive(hook, str(synced.now_ms // 1000))
    await synced.sync()
    return stored


async def status_of(synced: Synced, email: str) -> str | None:
    found = await synced.find(email)
    return found.status if found else None


async def test_somebody_who_joins_there_gets_a_code_here_and_there(
    synced: Synced, tool: GenericTool
) -> None:
    zelda = await synced.join("zelda@example.org")
    await synced.sync()
    synced.pass_a_minute()
    event = {"type": "joined", "email": "ada@example.org", "name": "Ada"}
    assert await says(synced, tool, **event, code=zelda.ref_code)
    ada = await synced.find("ada@example.org")
    assert ada is not None and ada.name == "Ada" and ada.referrer_id == zelda.id
    assert tool.contacts[ada.id]["fields"]["RH_CODE"] == ada.ref_code
    assert tool.contacts[ada.id]["may_add"] is False  # they are there already
    assert tool.contacts[zelda.id]["fields"]["RH_TOTREF"] == "1"
    integration = await synced.integration()
    assert integration.last_in_kind == "joined"
    # The same webhook again is recognized; the same news in another one changes nothing.
    requests = len(tool.seen)
    assert not await says(synced, tool, **event, code=zelda.ref_code)
    assert await says(synced, tool, **event)
    assert len(tool.seen) == requests
    contents = "SELECT COUNT(*) FROM integration_event WHERE content IS NOT NULL"
    assert await _ask(synced, contents) == 0


async def _ask(synced: Synced, sql: str) -> Any:
    async def find(tx: Tx) -> Any:
        found = await tx.one(statement(sql))
        return found[0] if found else None

    return await synced.store.read(find)


@pytest.mark.parametrize("kind", ["left", "bounced", "deleted"])
async def test_who_left_bounced_or_was_deleted_there_is_unsubscribed_here(
    synced: Synced, tool: GenericTool, kind: str
) -> None:
    await synced.join("ada@example.org")
    await synced.sync()
    requests = len(tool.seen)
    await says(synced, tool, type=kind, email="ada@example.org")
    assert await status_of(synced, "ada@example.org") == "unsubscribed"
    assert len(tool.seen) == requests  # no echo
    # Not even if the platform says that they are there again.
    await says(synced, tool, type="joined", email="ada@example.org")
    await says(synced, tool, type="confirmed", email="ada@example.org")
    assert await status_of(synced, "ada@example.org") == "unsubscribed"
    assert len(tool.seen) == requests
    await says(synced, tool, type=kind, email="nobody@example.org")
    assert await synced.find("nobody@example.org") is None


async def test_who_comes_back_here_is_not_made_active_there(
    synced: Synced, tool: GenericTool
) -> None:
    ada = await synced.join("ada@example.org")
    await synced.sync()
    await says(synced, tool, type="left", email="ada@example.org")
    tool.refuses = {"ada@example.org": {"result": "left"}}
    synced.pass_a_minute()
    await synced.change("ada@example.org", status="confirmed")  # their own confirmation
    await synced.sync()
    assert await status_of(synced, "ada@example.org") == "confirmed"
    [failed] = await synced.store.read(
        integrations.failed_writes, await synced.integration(), most=10
    )
    assert failed.subscriber_id == ada.id and "Only they themselves" in (failed.reason or "")
    # Once they are back there too, they are in sync again.
    tool.refuses = {}
    await says(synced, tool, type="joined", email="ada@example.org")
    assert tool.contacts[ada.id]["status"] == "active"
    assert (await synced.store.read(integrations.backlog, await synced.integration())) == (
        0,
        0,
        0,
    )


@pytest.mark.parametrize("result", ["left", "absent"])
async def test_who_left_there_without_a_webhook_is_found_by_the_next_write(
    synced: Synced, tool: GenericTool, result: str
) -> None:
    zelda = await synced.join("zelda@example.org")
    await synced.sync()
    synced.pass_a_minute()
    tool.refuses = {"zelda@example.org": {"result": result}}
    await synced.join("ada@example.org", zelda.ref_code)
    await synced.sync()
    assert await status_of(synced, "zelda@example.org") == "unsubscribed"
    synced.pass_a_minute()
    await synced.sync()
    assert (await synced.store.read(integrations.backlog, await synced.integration())) == (
        0,
        0,
        0,
    )


async def test_a_changed_address_and_a_confirmation_are_taken_over(
    synced: Synced, tool: GenericTool
) -> None:
    ada = await synced.join("ada@example.org")
    await synced.join("eve@example.org")
    await synced.sync()
    requests = len(tool.seen)
    moved = {"type": "changed_address", "old_email": "ada@example.org"}
    await says(synced, tool, **moved, email="ada@example.com")
    found = await synced.find("ada@example.com")
    assert found is not None and found.id == ada.id
    assert len(tool.seen) == requests
    await says(synced, tool, type="changed_address", id=ada.id, email="eve@example.org")
    assert await synced.find("ada@example.com") is not None  # somebody else has it
    await says(synced, tool, type="confirmed", email="eve@example.org")
    assert await status_of(synced, "eve@example.org") == "confirmed"
    await says(synced, tool, type="joined", email="not an address")
    await says(synced, tool, type="confirmed", email="bob@example.org")
    assert await status_of(synced, "bob@example.org") == "confirmed"


async def test_a_sign_of_life_there_speaks_for_them_here(synced: Synced, tool: GenericTool) -> None:
    ada = await synced.join("ada@example.org")
    eve = await synced.join("eve@example.org")
    await synced.sync()
    await says(synced, tool, type="left", email="eve@example.org")
    for email in ("ada@example.org", "eve@example.org", "new@example.org"):
        await says(synced, tool, type="engaged", email=email)
    new = await synced.find("new@example.org")
    assert new is not None and new.status == "active"
    codes = {
        each.id: [
            item.code
            for item in await synced.store.read(
                reads(evidence.of_subscriber, synced.tenant), each.id
            )
        ]
        for each in (ada, eve, new)
    }
    assert codes == {ada.id: ["active_on_platform"], eve.id: [], new.id: []}
    assert await status_of(synced, "eve@example.org") == "unsubscribed"


async def test_an_address_that_was_changed_here_is_not_changed_back_by_old_news(
    synced: Synced, tool: GenericTool
) -> None:
    ada = await synced.join("ada@example.org")
    await synced.sync()
    synced.pass_a_minute()
    await synced.change("ada@example.org", email="ada@example.com")
    await says(synced, tool, type="joined", id=ada.id, email="ada@example.org")
    assert await status_of(synced, "ada@example.com") == "active"
    written = tool.contacts[ada.id]
    assert (written["email"], written["old_email"]) == ("ada@example.com", "ada@example.org")


async def test_a_late_webhook_does_not_bring_back_somebody_who_was_erased(
    synced: Synced, tool: GenericTool
) -> None:
    await synced.join("ada@example.org")
    await synced.sync()
    event = {"type": "joined", "email": "ada@example.org"}
    await synced.receive(tool.hook(event, at_s=synced.now_ms // 1000))
    await synced.erase("ada@example.org")
    await synced.sync()
    assert await synced.find("ada@example.org") is None
    synced.now_ms += 1  # but who joins after that, joins
    await says(synced, tool, **event, name="Ada")
    assert await synced.find("ada@example.org") is not None


async def test_nonsense_is_dropped_and_delays_nothing(synced: Synced, tool: GenericTool) -> None:
    await says(synced, tool, type="sneezed")
    await says(synced, tool, type="joined", email="ada@example.org")
    assert await synced.find("ada@example.org") is not None
    assert (await synced.integration()).status == "active"
    for tries in range(incoming.EVENT_TRIES):  # it is tried, and given up in the end
        synced.now_ms += 2**tries * MINUTE_MS
        await synced.sync()
    synced.now_ms += incoming.KEPT_MS + DAY_MS
    await synced.store.write(timed(incoming.purge, synced.now_ms))
    assert await _ask(synced, "SELECT COUNT(*) FROM integration_event") == 0


async def test_a_webhook_waits_out_a_pause_of_weeks(synced: Synced, tool: GenericTool) -> None:
    """The platform does not send it again. After 30 days it goes: somebody in it may have been
    erased."""
    for name in ("ada", "eve"):
        await synced.join(f"{name}@example.org")
    await synced.sync()
    await synced.make(integrations.set_status, integrations.PAUSED)
    synced.pass_a_minute()
    await says(synced, tool, type="left", email="ada@example.org")
    synced.now_ms += 29 * DAY_MS
    await synced.store.write(timed(incoming.purge, synced.now_ms))
    await synced.wait_over()
    await synced.sync()
    assert await status_of(synced, "ada@example.org") == "unsubscribed"
    await synced.make(integrations.set_status, integrations.PAUSED)
    await says(synced, tool, type="left", email="eve@example.org")
    synced.now_ms += 31 * DAY_MS
    await synced.store.write(timed(incoming.purge, synced.now_ms))
    assert await _ask(synced, "SELECT COUNT(*) FROM integration_event") == 0


async def test_the_list_that_is_there_already_is_an_import_and_nobody_is_emailed(
    synced: Synced, tool: GenericTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: list[PlatformChange] = []

    async def read_changes(
        self: Generic, access: Any, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        return ChangePage(changes=there, seen=[], next_token=None)

    monkeypatch.setattr(Generic, "read_changes", read_changes)
    zelda = await synced.join("zelda@example.org")
    tells = "UPDATE campaign SET sends_friend_joined = 1, sends_one_more = 1"
    await synced.store.write(lambda tx: tx.run(statement(tells, "changes campaign")))
    mug = NewReward("Mug", 1, "coupon", coupon_code="MUG")
    await synced.offer(mug)
    for name, kind in (("ada", ChangeKind.JOINED), ("eve", ChangeKind.CONFIRMED)):
        email = f"{name}@example.org"
        there.append(PlatformChange(kind=kind, email=email, code=zelda.ref_code))
    await synced.sync()
    for name in ("ada", "eve"):
        found = await synced.find(f"{name}@example.org")
        assert found is not None and found.origin == "import"  # counted apart on the overview
        assert found.referrer_id == zelda.id
    found = await synced.find("zelda@example.org")
    assert found is not None and found.referrals_verified == 2
    assert fields_there(tool, zelda.id)["RH_COUPON"] == "MUG"
    assert await _ask(synced, "SELECT COUNT(*) FROM letter") == 0
    assert await _ask(synced, "SELECT COUNT(*) FROM notice") == 0
    joined_ms = synced.now_ms
    there[:] = [
        PlatformChange(
            kind=ChangeKind.JOINED,
            email=f"{name}@example.org",
            code=zelda.ref_code,
            created_ms=created_ms,
        )
        for name, created_ms in (("new", joined_ms), ("missed", joined_ms - 2 * DAY_MS))
    ]
    synced.pass_a_day()
    await synced.sync()
    for name, origin in (("new", "platform"), ("missed", "import")):
        found = await synced.find(f"{name}@example.org")
        assert found is not None and found.origin == origin


def fields_there(tool: GenericTool, subscriber_id: str) -> dict[str, str]:
    fields: dict[str, str] = tool.contacts[subscriber_id]["fields"]
    return fields


async def test_the_list_is_read_when_it_is_connected_and_every_night(
    synced: Synced, tool: GenericTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: list[PlatformChange] = [
        PlatformChange(kind=ChangeKind.JOINED, email=f"reader{n}@example.org", remote_id=f"r{n}")
        for n in range(5)
    ]
    asked: list[tuple[int | None, str | None]] = []

    async def read_changes(
        self: Generic, access: Any, *, since_ms: int | None, token: str | None
    ) -> ChangePage:
        asked.append((since_ms, token))
        at = int(token or 0)
        page = there[at : at + 2]
        following = str(at + 2) if at + 2 < len(there) else None
        return ChangePage(changes=page, seen=[], next_token=following)

    monkeypatch.setattr(Generic, "read_changes", read_changes)
    await synced.join("reader1@example.org", status="unsubscribed")
    await synced.sync()
    assert asked == [(None, None), (None, "2"), (None, "4")]
    assert len(tool.contacts) == 4  # all but the one who left here
    assert await status_of(synced, "reader1@example.org") == "unsubscribed"
    there[0] = PlatformChange(kind=ChangeKind.LEFT, email="reader0@example.org", remote_id="r0")
    there[3] = PlatformChange(
        kind=ChangeKind.CHANGED_ADDRESS, email="reader3@example.com", remote_id="r3"
    )
    await synced.sync()
    assert len(asked) == 3
    requests = len(tool.seen)
    synced.pass_a_day()
    await synced.sync()
    assert len(asked) == 6
    assert await status_of(synced, "reader0@example.org") == "unsubscribed"
    assert await status_of(synced, "reader3@example.com") == "active"
    # Nothing of this is written back but the private link, which ended with the address.
    moved = await synced.find("reader3@example.com")
    assert moved is not None and len(tool.seen) == requests + 1
    assert fields_there(tool, moved.id)["RH_HUBLINK"] == hub.link(SITE, moved)
