"""What goes wrong with a platform is a sentence on the dashboard, nothing is lost, and after the
repair the sync goes on.
"""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from honeyguide.events import signature
from honeyguide.integrations import integrations
from honeyguide.integrations.brevo import Brevo
from honeyguide.integrations.platform import Audience
from honeyguide.integrations.platforms import PLATFORMS
from honeyguide.kernel.clock import MINUTE_MS
from tests.support.integrations import NAMES, Synced, replace_key
from tests.support.platforms.brevo import KEY, LIST, BrevoServer
from tests.support.platforms.generic import GenericTool
from tests.support.platforms.stand_in import status
from tests.support.service import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)


@pytest.fixture
async def brevo(synced: Synced, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[BrevoServer]:
    """Three subscribers are written to a list there."""
    server = BrevoServer()
    server.attributes |= set(NAMES.values())
    async with server.serving():
        monkeypatch.setitem(PLATFORMS, "brevo", Brevo(server.url))
        await synced.connect(
            "brevo",
            {"api_key": KEY},
            audience=Audience(id=str(LIST), name="Readers"),
            field_names=NAMES,
        )
        for name in ("ada", "eve", "zelda"):
            await synced.join(f"{name}@example.org")
        await synced.sync()
        assert {each["email"] for each in server.people.values()} == {
            "ada@example.org",
            "eve@example.org",
            "zelda@example.org",
        }
        synced.now_ms += 1
        yield server


async def codes_of(synced: Synced, server: BrevoServer) -> tuple[dict[str, str], dict[str, str]]:
    """The codes by address, here and there."""
    emails = [each["email"] for each in server.people.values()]
    here = [await synced.find(email) for email in emails]
    there = {each["email"]: each["attributes"].get("RH_CODE") for each in server.people.values()}
    return {each.email: each.ref_code for each in here if each}, there


async def problem_of(synced: Synced) -> str:
    return (await synced.integration()).problem or ""


async def test_a_key_that_is_revoked_in_mid_sync_loses_nobody(
    synced: Synced, tool: GenericTool
) -> None:
    async def takes_the_last_batch(request: web.Request) -> web.StreamResponse:
        answer = await tool.take(request)
        tool.secret = signature.new_secret()
        return answer

    for number in range(105):
        await synced.join(f"reader{number}@example.org")
    tool.fail(takes_the_last_batch)
    await synced.sync()
    assert len(tool.contacts) == 100 and (await synced.integration()).status == "failed"
    assert "does not accept the key" in await problem_of(synced)
    await replace_key(synced, tool)
    await synced.sync()
    assert len(tool.contacts) == tool.writes == 105
    assert (await synced.integration()).first_sync_ms is not None


async def test_garbage_is_a_sentence_and_is_tried_again(synced: Synced, tool: GenericTool) -> None:
    await synced.join("ada@example.org")
    garbage = status(200, '{"results": "what?"}')
    tool.fail(garbage, garbage)
    for failures in (1, 2):
        await synced.sync()
        integration = await synced.integration()
        assert "sent an answer that we do not understand" in await problem_of(synced)
        assert (integration.status, integration.failures) == ("active", failures)
        assert (await synced.store.read(integrations.backlog, integration)).due == 1
        await synced.wait_a_bit()
        synced.now_ms += 5 * MINUTE_MS
    await synced.sync()
    assert len(tool.contacts) == 1 and await problem_of(synced) == ""


async def test_after_a_field_was_deleted_there_everybody_gets_it_again(
    synced: Synced, brevo: BrevoServer
) -> None:
    zelda = await synced.find("zelda@example.org")
    assert zelda is not None
    brevo.attributes.discard("RH_CODE")
    for person in brevo.people.values():
        del person["attributes"]["RH_CODE"]
    synced.pass_a_minute()
    await synced.join("bob@example.org", zelda.ref_code)
    await synced.sync()
    here, there = await codes_of(synced, brevo)
    assert len(there) == 4 and here == there
    integration = await synced.integration()
    assert (integration.fields_ms, integration.problem) == (synced.now_ms, None)
    requests = len(brevo.seen)
    await synced.sync()
    assert len(brevo.seen) == requests
