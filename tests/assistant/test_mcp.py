"""`honeyguide mcp`, asked by the SDK's own client, over standard input and output, and directly."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from honeyguide.accounts import keys
from honeyguide.accounts.permissions import Right
from honeyguide.assistant.account_api import AccountApi, ApiRefused
from honeyguide.assistant.tools import TOOLS, AssistantTool, tools_for
from tests.support import prizes
from tests.support.partner_network import join, offer
from tests.support.postgres import free_port
from tests.support.process import COMMAND, command, environment
from tests.support.service import ONE_ENGINE, Member, until
from tests.support.shipments import ADDRESS, claim

# Loading the SDK takes a second, and only the tests of this file need it, not who collects them.
if TYPE_CHECKING:
    from mcp import Client, StdioServerParameters
    from mcp.types import CallToolResult

GUIDE = Path(__file__).parents[2] / "docs" / "mcp.md"
NETWORK = "203.0.113.9"


def over_stdio(url: str, key: str, *arguments: str) -> StdioServerParameters:
    from mcp import StdioServerParameters

    env = environment(api_url=url, api_key=key)
    return StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "mcp", *arguments], env=env
    )


@asynccontextmanager
async def direct(url: str, key: str) -> AsyncIterator[Client]:
    """The same server in this process, with all tools."""
    from mcp import Client

    from honeyguide.assistant.server import make_server

    async with (
        AccountApi.opened(url, key) as api,
        Client(make_server(api, tools_for(may_write=True))) as client,
    ):
        yield client


def text_of(result: CallToolResult) -> str:
    from mcp.types import TextContent

    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


async def ask(client: Client, tool: str, **given: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, given)
    assert not result.is_error, text_of(result)
    return json.loads(text_of(result))  # type: ignore[no-any-return]


async def refused(client: Client, tool: str, **given: Any) -> str:
    result = await client.call_tool(tool, given)
    assert result.is_error, text_of(result)
    return text_of(result)


@pytest.fixture
def busy(alice: Member, bob: Member) -> Member:
    """An account that has something for every tool."""
    prizes.offer(alice, kind="physical")
    claim(alice, "ana@example.org")
    alice.put(f"{alice.v1}/settings", {"screening": "strong"})
    ann = alice.subscribe("ann@example.org", name="Ann Dahl", ip_address=NETWORK)
    alice.subscribe("near@gmail.com", referrer_code=ann["ref_code"], ip_address=NETWORK)
    join(bob, offer(alice))
    join(alice, offer(bob))
    hook = {"url": f"http://127.0.0.1:{free_port()}/hook", "new_referral": True}
    made = alice.post("/v2/webhooks", hook).json()["webhook"]
    assert alice.post(f"/v2/webhooks/{made['uuid']}/test", {}).status_code < 300
    deliveries = f"/v2/webhooks/{made['uuid']}/deliveries"
    until(lambda: bool(alice.get(deliveries).json()["deliveries"][0]["attempts"]))
    return alice


@ONE_ENGINE
async def test_every_tool_that_reads_answers_over_stdio(busy: Member, bob: Member) -> None:
    from mcp import Client

    from honeyguide.assistant.server import INSTRUCTIONS

    async with Client(over_stdio(busy.service.url, busy.key)) as client:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == [t.name for t in TOOLS if not t.is_write]
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in listed)
        assert client.instructions == INSTRUCTIONS
        overview = await ask(client, "overview")
        assert (overview["subscribers"], overview["advocates"]) == (busy.total(), 1)
        assert (overview["referrals_to_review"], overview["rewards_to_send"]) == (1, 1)
        assert overview["own_partner_programs"] == 1
        (found,) = (await ask(client, "find_subscribers", text="dahl"))["subscribers"]
        ann = (await ask(client, "get_subscriber", subscriber=found["email"]))["subscriber"]
        assert ann["uuid"] == found["uuid"] and ann["referral_programs"][0]["status"] == "active"
        assert NETWORK not in json.dumps(ann)
        (waiting,) = (await ask(client, "referrals_to_review"))["referrals"]
        why = await ask(client, "explain_referral", subscriber=waiting["subscriber_uuid"])
        assert why["referral"]["explanation"] == waiting["explanation"]
        (mug,) = (await ask(client, "rewards_to_send"))["shipments"]
        assert mug["subscriber"]["email"] == "ana@example.org"
        assert ADDRESS["line1"] not in json.dumps(mug)
        (program,) = (await ask(client, "partner_programs"))["partner_programs"]
        spend = (await ask(client, "program_spend", program=program["uuid"]))["spend"]
        assert spend["total_budget"] == program["total_budget"]
        network = await ask(client, "search_network", search="Wax", min_cpa=1, sort="cpa")
        names = [found["name"] for found in network["partner_programs"]]
        assert len(names) >= 2 and all("Wax" in name for name in names)
        assert "earnings" in await ask(client, "earnings", month="2026-01")
        assert (await ask(client, "payouts"))["payouts"] == []
        failed = await ask(client, "failed_deliveries")
        assert failed["failed_deliveries"][0]["attempts"] >= 1 and failed["webhooks"] == 1
        # What writes is not merely hidden.
        decide = {"status": "verified", "subscribers": [waiting["subscriber_uuid"]]}
        assert "no tool" in await refused(client, "decide_referrals", **decide)
        assert busy.subscriber("near@gmail.com")["referral_status"] == "pending"


@asynccontextmanager
async def started(url: str, key: str) -> AsyncIterator[Client]:
    from mcp import Client

    async with Client(over_stdio(url, key, "--write")) as client:
        yield client


@ONE_ENGINE
@pytest.mark.parametrize("connected", [direct, pytest.param(started, marks=pytest.mark.long)])
async def test_with_write_it_decides_sends_and_resends(
    busy: Member, connected: Callable[[str, str], AbstractAsyncContextManager[Client]]
) -> None:
    async with connected(busy.service.url, busy.key) as client:
        assert len((await client.list_tools()).tools) == len(TOOLS)
        decide = {"status": "verified", "subscribers": ["near@gmail.com"], "reason": "A neighbor"}
        (decided,) = (await ask(client, "decide_referrals", **decide))["decisions"]
        assert decided["ok"] and busy.subscriber("near@gmail.com")["referral_status"] == "verified"
        (mug,) = (await ask(client, "rewards_to_send"))["shipments"]
        sent = await ask(client, "mark_reward_sent", shipment=mug["uuid"], tracking_note="RR 1")
        assert (sent["shipment"]["status"], sent["shipment"]["tracking_note"]) == ("sent", "RR 1")
        (failed, *_) = (await ask(client, "failed_deliveries"))["failed_deliveries"]
        given = {"webhook": failed["webhook_uuid"], "delivery": failed["uuid"]}
        assert (await ask(client, "resend_delivery", **given))["delivery"]["status"] == "pending"


VALUES: dict[str, Any] = {"page": 2, "month": "2026-01", "min_cpa": 7, "status": "rejected"}


@ONE_ENGINE
@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool.parameters], ids=lambda t: t.name)
async def test_whatever_a_tool_takes_is_asked_for(tool: AssistantTool, alice: Member) -> None:
    """Words that nothing is called: most of the answers are refusals."""
    given = {
        name: VALUES.get(name, [f"x-{name}"] if schema["type"] == "array" else f"x-{name}")
        for name, schema in tool.parameters.items()
    }
    asked: list[str] = []

    async def note_address(session: Any, context: Any, started: Any) -> None:
        asked.append(str(started.url))

    async def note_body(session: Any, context: Any, sent: Any) -> None:
        asked.append(sent.chunk.decode())

    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(note_address)
    trace.on_request_chunk_sent.append(note_body)
    headers = {"X-Api-Key": alice.key}
    async with aiohttp.ClientSession(headers=headers, trace_configs=[trace]) as http:
        with contextlib.suppress(ApiRefused):
            await tool.run(AccountApi(alice.service.url, http), given)
    for name, value in given.items():
        if name == "page":
            assert any("page=2&" in f"{each}&".replace("per_page", "") for each in asked), asked
        else:
            (text,) = value if isinstance(value, list) else (value,)
            assert any(str(text) in each for each in asked), (name, asked)


async def test_the_key_follows_no_redirect() -> None:
    seen: list[str | None] = []

    async def keep(request: web.Request) -> web.Response:
        seen.append(request.headers.get("X-Api-Key"))
        return web.json_response({"campaigns": []})

    other = web.Application()
    other.router.add_get("/{path:.*}", keep)
    async with TestServer(other) as elsewhere:

        async def redirect(request: web.Request) -> web.Response:
            raise web.HTTPTemporaryRedirect(str(elsewhere.make_url("/v1/campaigns")))

        moved = web.Application()
        moved.router.add_route("*", "/{path:.*}", redirect)
        async with (
            TestServer(moved) as server,
            AccountApi.opened(str(server.make_url("")).rstrip("/"), "a secret key") as api,
        ):
            with pytest.raises(ApiRefused, match="307"):
                await api.get("/v1/campaigns")
            with pytest.raises(ApiRefused, match="307"):
                await api.post("/v1/campaigns", {})
    assert seen == []


@ONE_ENGINE
async def test_the_key_decides_what_the_tools_can_do(busy: Member, bob: Member) -> None:
    reader = busy.make(keys.create, name="scoped", scopes=(Right.READ,))
    async with direct(busy.service.url, reader) as client:
        assert (await ask(client, "overview"))["advocates"] == 1
        decide = {"status": "verified", "subscribers": ["near@gmail.com"]}
        sentence = await refused(client, "decide_referrals", **decide)
        assert "scope" in sentence and "subscribers" in sentence
        assert busy.subscriber("near@gmail.com")["referral_status"] == "pending"
    async with direct(busy.service.url, bob.key) as client:
        assert "no such subscriber" in await refused(
            client, "get_subscriber", subscriber="ann@example.org"
        )
        assert (await ask(client, "find_subscribers", text="dahl"))["subscribers"] == []
    async with direct(busy.service.url, "hg_wrong") as client:
        assert "API key" in await refused(client, "overview")


@ONE_ENGINE
async def test_what_is_wrong_is_said_in_a_sentence(alice: Member) -> None:
    async with direct(alice.service.url, alice.key) as client:
        assert "'text' is a required property" in await refused(client, "find_subscribers")
        assert "'x' was unexpected" in await refused(client, "overview", x=1)
        for odd in ("..", ".", ""):
            assert "cannot be looked up" in await refused(client, "get_subscriber", subscriber=odd)
        # It stays one part of the path, whatever is in it.
        for odd in ("../campaigns", "a?b=c", "a/../../x#y"):
            sentence = await refused(client, "explain_referral", subscriber=odd)
            assert "no such subscriber" in sentence, sentence
        assert "month" in await refused(client, "earnings", month="May")
    async with direct(f"http://127.0.0.1:{free_port()}", alice.key) as client:
        sentence = await refused(client, "overview")
        assert "does not answer at http://127.0.0.1:" in sentence and "running" in sentence
    async with direct(f"{alice.service.url}/login", alice.key) as client:
        assert "The link may be wrong" in await refused(client, "overview")


def test_the_command_says_what_is_missing() -> None:
    for given, sentence in (
        ({}, "Set HONEYGUIDE_API_URL to the address"),
        ({"api_url": "ftp://x"}, "HONEYGUIDE_API_URL must be an address"),
        ({"api_url": "https://news.example.org"}, "Set HONEYGUIDE_API_KEY to an API key"),
    ):
        done = command("mcp", **given)
        assert done.returncode == 1 and done.stderr.startswith(sentence), done.stderr
        assert len(done.stderr.splitlines()) == 1 and not done.stdout


def test_without_the_extra_the_command_says_how_to_install_it() -> None:
    code = (
        "import sys; sys.modules['mcp'] = None; sys.argv = ['honeyguide', 'mcp']; "
        "from honeyguide.cli import main; main()"
    )
    env = environment(api_url="https://news.example.org", api_key="hg_x")
    arguments = [sys.executable, "-c", code]
    done = subprocess.run(arguments, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "pip install 'honeyguide[mcp]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1 and not done.stdout


def test_the_guide_lists_every_tool_and_whether_it_writes() -> None:
    rows = re.findall(r"^\| `(\w+)` \|.*\| (yes|) *\|$", GUIDE.read_text(), re.MULTILINE)
    assert rows == [(tool.name, "yes" if tool.is_write else "") for tool in TOOLS]
