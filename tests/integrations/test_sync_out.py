"""What changes here is written to the platform: coalesced, in batches, once, and with nobody made
active who left.
"""

import json
from typing import Any

import pytest
from aiohttp import web

from honeyguide.integrations import disconnecting, integrations, outgoing
from honeyguide.kernel.clock import HOUR_MS
from honeyguide.kernel.paging import Page
from honeyguide.mail import notifications
from honeyguide.partners import ledger_check
from honeyguide.rewards.rewards import NewReward
from honeyguide.signups import privacy
from honeyguide.store.tx import timed
from tests.support.integrations import Synced, connect_tool, replace_key
from tests.support.platforms.generic import GenericTool
from tests.support.platforms.stand_in import drop, status
from tests.support.readings import changes_of, reads, reads_account
from tests.support.service import ENGINES
from tests.support.stores import statement
from tests.support.trade import SITE

pytestmark = pytest.mark.parametrize("engine", ENGINES)


def fields_of(tool: GenericTool, email: str) -> dict[str, Any]:
    [found] = [each for each in tool.contacts.values() if each["email"] == email]
    return found["fields"]


async def test_a_first_sync_writes_everybody_and_then_only_what_changes(
    synced: Synced, new_tool: GenericTool
) -> None:
    zelda = await synced.join("zelda@example.org")
    await synced.offer(NewReward("Mug", 2, "coupon", coupon_code="MUG"))
    await synced.join("ada@example.org", zelda.ref_code)
    for number in range(120):
        await synced.join(f"reader{number}@example.org")
    synced.now_ms += 1
    await connect_tool(synced, new_tool)
    await synced.sync()
    assert len(new_tool.contacts) == new_tool.writes == 122
    assert len(new_tool.seen) == 2  # batches of a hundred
    first = await synced.integration()
    assert first.first_sync_ms == synced.now_ms and first.synced == 122
    assert not any(each["may_add"] for each in new_tool.contacts.values())
    written = fields_of(new_tool, "zelda@example.org")
    assert written["RH_CODE"] == zelda.ref_code
    assert written["RH_REFLINK"] == f"{SITE.base_url}/r/{zelda.ref_code}"
    assert (written["RH_TOTREF"], written["RH_NEXTREW"], written["RH_MISSING"]) == (
        "1",
        "Mug",
        "1",
    )
    assert (written["RH_ISREF"], fields_of(new_tool, "ada@example.org")["RH_ISREF"]) == (
        "NO",
        "YES",
    )
    # What changes afterwards is written, and the new ones may be added.
    synced.pass_a_minute()
    for number in range(10):
        await synced.join(f"friend{number}@example.org", zelda.ref_code)
    await synced.sync()
    assert new_tool.writes == 122 + 11 and len(new_tool.seen) == 3
    written = fields_of(new_tool, "zelda@example.org")
    assert (written["RH_TOTREF"], written["RH_COUPON"]) == ("11", "MUG")
    [friend] = [c for c in new_tool.contacts.values() if c["email"] == "friend3@example.org"]
    assert friend["may_add"] is True
    await synced.sync()
    assert len(new_tool.seen) == 3  # nothing left to say


async def test_a_subscriber_is_written_at_most_once_a_minute(
    synced: Synced, tool: GenericTool
) -> None:
    zelda = await synced.join("zelda@example.org")
    await synced.sync()
    synced.now_ms += HOUR_MS
    tool.seen.clear()
    for number in range(10):
        await synced.join(f"friend{number}@example.org", zelda.ref_code)
        await synced.sync()
        synced.now_ms += 6_000
    # The first referral leaves at once, the other nine together, a minute later.
    await synced.sync()
    await synced.sync()
    about_zelda = [
        each["fields"]["RH_TOTREF"]
        for request in tool.seen
        for each in json.loads(request.body)["subscribers"]
        if each["email"] == "zelda@example.org"
    ]
    assert about_zelda == ["1", "10"]
    # Leaving and erasure do not wait.
    await synced.change("zelda@example.org", status="unsubscribed")
    await synced.sync()
    assert tool.contacts[zelda.id]["status"] == "unsubscribed"
    await synced.erase("zelda@example.org")
    await synced.sync()
    assert tool.contacts[zelda.id]["status"] == "erased"


async def test_a_first_sync_is_finished_though_the_worker_died_after_the_last_write(
    synced: Synced, tool: GenericTool
) -> None:
    await synced.join("ada@example.org")
    await synced.sync()
    died = statement("UPDATE integration SET first_sync_ms = NULL", "changes integration")
    await synced.store.write(lambda tx: tx.run(died))
    await synced.sync()
    assert (await synced.integration()).first_sync_ms == synced.now_ms
    assert tool.writes == 1


async def test_leaving_a_new_address_and_an_erasure_are_written(
    synced: Synced, tool: GenericTool
) -> None:
    ada = await synced.join("ada@example.org")
    await synced.sync()
    synced.pass_a_minute()
    await synced.change("ada@example.org", email="ada@example.com")
    await synced.sync()
    assert tool.contacts[ada.id]["email"] == "ada@example.com"
    assert tool.contacts[ada.id]["old_email"] == "ada@example.org"
    synced.pass_a_minute()
    await synced.change("ada@example.com", status="unsubscribed")
    await synced.sync()
    assert tool.contacts[ada.id]["status"] == "unsubscribed"
    assert tool.contacts[ada.id]["may_add"] is False
    writes = tool.writes
    await synced.make(integrations.set_status, integrations.PAUSED)
    await synced.erase("ada@example.com")
    state = await synced.store.read(reads(integrations.state_of, synced.tenant), ada.id)
    assert state is not None and state.written is None  # at once, though nothing is sent
    await synced.make(integrations.set_status, integrations.ACTIVE)
    await synced.sync()
    assert await synced.store.read(reads(integrations.state_of, synced.tenant), ada.id) is None
    erased = tool.contacts[ada.id]
    assert (erased["status"], erased["email"]) == ("erased", "")
    assert set(erased["fields"].values()) == {""} and tool.writes == writes + 1
    assert (await synced.integration()).synced == 0


async def test_the_export_of_a_person_says_what_was_written_where_but_no_secret(
    synced: Synced, tool: GenericTool
) -> None:
    ada = await synced.join("ada@example.org")
    await synced.sync()
    exported = await synced.store.read(reads(privacy.export_person, synced.tenant), ada)
    [platform] = exported["email_platforms"]
    assert (platform["platform"], platform["id_there"]) == ("generic", ada.id)
    assert platform["fields"]["RH_CODE"] == ada.ref_code
    assert tool.secret not in str(exported)


async def test_somebody_who_left_before_they_were_written_is_never_written(
    synced: Synced, tool: GenericTool
) -> None:
    await synced.join("gone@example.org", status="unsubscribed")
    await synced.sync()
    assert tool.contacts == {} and (await synced.integration()).first_sync_ms is not None


async def test_one_refused_subscriber_is_given_up_with_the_reason_and_can_be_retried(
    synced: Synced, tool: GenericTool
) -> None:
    tool.refuses = {"ada@exmaple.org": {"result": "refused", "reason": "Is it a typo?"}}
    ada = await synced.join("ada@exmaple.org")
    await synced.join("eve@example.org")
    await synced.sync()
    integration = await synced.integration()
    assert [each["email"] for each in tool.contacts.values()] == ["eve@example.org"]
    [failed] = await synced.store.read(integrations.failed_writes, integration, most=10)
    assert (failed.subscriber_id, failed.reason) == (ada.id, "Is it a typo?")
    assert await synced.store.read(integrations.backlog, integration) == (0, 1, 1)
    requests = len(tool.seen)
    await synced.sync()
    assert len(tool.seen) == requests
    tool.refuses = {}
    assert await synced.store.write(changes_of(integrations.retry_failed, synced.tenant)) == 1
    await synced.sync()
    assert len(tool.contacts) == 2
    assert await synced.store.read(integrations.backlog, integration) == (0, 0, 0)


async def test_one_that_fails_again_and_again_is_given_up_in_the_end(
    synced: Synced, tool: GenericTool
) -> None:
    tool.refuses = {"ada@example.org": {"result": "later", "reason": "Busy."}}
    await synced.join("ada@example.org")
    for _ in range(len(outgoing.RETRY_MS) + 3):
        await synced.sync()
        synced.now_ms += 9 * HOUR_MS
    assert len(tool.seen) == len(outgoing.RETRY_MS) + 1
    [failed] = await synced.store.read(
        integrations.failed_writes, await synced.integration(), most=10
    )
    assert failed.reason == "Busy."


async def test_a_platform_in_trouble_is_left_alone_for_a_while_and_nothing_is_lost(
    synced: Synced, tool: GenericTool
) -> None:
    await synced.join("ada@example.org")
    tool.fail(status(503), drop, status(429, retry_after="600"))
    for expected in ("status 503", "could not be reached", "slow down"):
        await synced.sync()
        integration = await synced.integration()
        assert integration.status == "active" and expected in (integration.problem or "")
        assert tool.contacts == {}
        await synced.wait_over()
    assert integration.next_call_ms - (integration.problem_ms or 0) == 600_000
    await synced.sync()
    assert len(tool.contacts) == 1 and (await synced.integration()).problem is None


async def test_who_leaves_while_nobody_knows_whether_they_were_written_is_not_active_there(
    synced: Synced, tool: GenericTool
) -> None:
    async def is_taken_but_not_answered(request: web.Request) -> web.StreamResponse:
        await tool.take(request)
        return await drop(request)

    ada = await synced.join("ada@example.org")
    eve = await synced.join("eve@example.org")
    tool.fail(is_taken_but_not_answered)
    await synced.sync()
    assert tool.contacts[ada.id]["status"] == "active"
    assert "could not be reached" in ((await synced.integration()).problem or "")
    await synced.change("ada@example.org", status="unsubscribed")
    await synced.change("eve@example.org", email="eve@example.com")
    await synced.wait_over()
    await synced.sync()
    assert tool.contacts[ada.id]["status"] == "unsubscribed"
    assert tool.contacts[eve.id]["email"] == "eve@example.com"
    assert tool.contacts[eve.id]["old_email"] == "eve@example.org"
    assert (await synced.integration()).synced == 2


async def test_a_new_address_is_added_if_the_old_one_was_never_written(
    synced: Synced, tool: GenericTool
) -> None:
    tool.fail(status(503))
    ada = await synced.join("ada@example.org")
    await synced.sync()
    await synced.change("ada@example.org", email="ada@example.com")
    await synced.wait_over()
    tool.refuses = {"ada@example.com": {"result": "absent"}}  # nobody has the old address there

    async def knows_nobody(request: web.Request) -> web.StreamResponse:
        answer = await tool.take(request)
        tool.refuses = {}
        return answer

    tool.fail(knows_nobody)
    await synced.sync()
    written = tool.contacts[ada.id]
    assert (written["may_add"], written["old_email"]) == (True, None)
    assert await synced.store.read(integrations.backlog, await synced.integration()) == (
        0,
        0,
        0,
    )


async def test_a_revoked_key_stops_the_integration_until_it_is_replaced(
    synced: Synced, tool: GenericTool
) -> None:
    await synced.join("ada@example.org")
    await synced.sync()
    tool.secret, old = "whsec_" + "A" * 43 + "=", tool.secret
    eve = await synced.join("eve@example.org")
    await synced.sync()
    integration = await synced.integration()
    assert integration.status == "failed"
    assert "does not accept the key" in (integration.problem or "")
    shown = await synced.store.read(
        reads_account(notifications.page_of, synced.tenant.account_id), Page(1, 10)
    )
    [stopped] = [each.notification for each in shown]
    assert stopped.sentence == "Your own tool: sync has stopped"
    assert stopped.link == "/integrations" and shown[0].email is not None
    assert "does not accept the key" in (shown[0].text or "")
    assert old not in integration.credentials and tool.secret not in integration.credentials
    requests = len(tool.seen)
    await synced.sync()
    assert len(tool.seen) == requests
    await replace_key(synced, tool)
    await synced.sync()
    assert tool.contacts[eve.id]["email"] == "eve@example.org"


async def test_while_it_is_paused_changes_wait(synced: Synced, tool: GenericTool) -> None:
    await synced.make(integrations.set_status, integrations.PAUSED)
    await synced.join("ada@example.org")
    await synced.sync()
    assert tool.seen == []
    await synced.make(integrations.set_status, integrations.ACTIVE)
    await synced.sync()
    assert len(tool.contacts) == 1


async def test_disconnecting_erases_the_key_at_once_and_the_rest_in_batches(
    synced: Synced, tool: GenericTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disconnecting, "BATCH", 2)
    kept = (
        "SELECT (SELECT COUNT(*) FROM integration_subscriber), (SELECT COUNT(*) FROM "
        "integration_event), (SELECT COUNT(*) FROM subscriber_change), (SELECT COUNT(*) FROM "
        "integration), (SELECT COUNT(*) FROM disconnected_integration)"
    )

    async def look() -> tuple[int, ...]:
        [row] = await synced.store.read(lambda tx: tx.all(statement(kept)))
        return tuple(row)

    async def delete() -> bool:
        return await synced.store.write(timed(disconnecting.delete_batch, synced.now_ms))

    for number in range(5):
        await synced.join(f"reader{number}@example.org")
    await synced.sync()
    await synced.receive(tool.hook({"type": "left", "email": "x@example.org"}, at_s=1))
    await synced.join("eve@example.org")
    await synced.make(disconnecting.disconnect)
    assert await look() == (5, 1, 1, 0, 1)  # the key was in the row that is gone
    findings, _ = await synced.store.slow_snapshot(ledger_check.verify)
    assert not any(finding.broken for finding in findings)
    requests = len(tool.seen)
    await synced.join("bob@example.org")
    await synced.sync()
    assert len(tool.seen) == requests
    assert await delete() and await look() == (3, 0, 0, 0, 1)
    await connect_tool(synced, tool)  # another one can be connected meanwhile
    await synced.join("ida@example.org")
    while await delete():
        pass
    assert await look() == (0, 0, 1, 1, 0)  # and what changed since then is kept
    await synced.sync()
    assert len(tool.contacts) == 8


async def test_two_workers_never_serve_one_integration_at_once(
    synced: Synced, tool: GenericTool
) -> None:
    for number in range(30):
        await synced.join(f"reader{number}@example.org")
    other = synced.new_worker()
    for _ in range(3):
        await synced.worker.begin_due()
        await other.begin_due()
        await synced.worker.finish()
        await other.finish()
    assert tool.writes == len(tool.contacts) == 30
