"""A platform that reports more lists than anybody can choose from: the first 500 are shown, and the
event loop never stops for long.
"""

import asyncio
import json
import re
import time
from typing import Any

import pytest

from honeyguide.events.outbound import Outbound
from honeyguide.integrations import connecting
from honeyguide.integrations.http import MOST_READ
from honeyguide.integrations.platform import MOST_AUDIENCES, WriteResult
from tests.support.effort import least_effort
from tests.support.loop_steps import MOST_EFFORT
from tests.support.platforms import listmonk
from tests.support.platforms.cases import CASES, results
from tests.support.platforms.stand_in import FREE, contact, pass_on, status
from tests.support.service import ENGINES, Service
from tests.support.web import operator, text_of

MANY = 130_000
# Where the answer has its lists, and what one of them has besides the name.
ENVELOPES: dict[str, tuple[str, dict[str, Any]]] = {
    "ghost": ('{"newsletters":%s}', {"id": "n"}),
    "mailchimp": ('{"lists":%s}', {"id": "n", "stats": {}}),
    "beehiiv": ('{"data":%s}', {"id": "n"}),
    "listmonk": ('{"data":{"results":%s}}', {"id": 7}),
    "brevo": ('{"lists":%s,"count":130000}', {"id": 7}),
}
# How many requests are made before the lists are asked for.
CHECKS = {"ghost": 2}


def many_lists(key: str, count: int = MANY) -> str:
    envelope, one = ENVELOPES[key]
    one = json.dumps({**one, "name": "The list"}, separators=(",", ":"))
    answer = envelope % f"[{','.join([one] * count)}]"
    assert len(answer) < MOST_READ
    return answer


@pytest.fixture
def steps_s(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The CPU time of each step of the event loop."""
    taken: list[float] = []
    run_handle = asyncio.Handle._run

    def timed(self: asyncio.Handle) -> None:
        began_s = time.thread_time()
        run_handle(self)
        taken.append(time.thread_time() - began_s)

    monkeypatch.setattr(asyncio.Handle, "_run", timed)
    return taken


@pytest.mark.parametrize("key", ENVELOPES)
def test_too_many_lists_are_cut_without_a_freeze(key: str, steps_s: list[float]) -> None:
    case = CASES[key]
    server = case.server()

    async def connect() -> connecting.FoundAudiences:
        outbound = Outbound(FREE)
        try:
            return await connecting.audiences(
                case.platform(server), outbound, case.credentials(server)
            )
        finally:
            await outbound.close()

    def longest_step_s() -> float:
        server.fail(*[pass_on] * CHECKS.get(key, 1), status(200, many_lists(key)))
        steps_s.clear()
        found = asyncio.run(connect())
        assert len(found.audiences) == MOST_AUDIENCES and found.has_more
        return max(steps_s)

    with server.serving_apart():
        assert least_effort(longest_step_s, MOST_EFFORT) < MOST_EFFORT


@pytest.mark.parametrize("key", ["listmonk", "brevo"])
@pytest.mark.parametrize(("count", "has_more"), [(500, False), (501, True)])
async def test_five_hundred_lists_are_not_too_many(key: str, count: int, has_more: bool) -> None:
    async with CASES[key].open() as (server, platform, access):
        server.lists = {number: f"List {number}" for number in range(1, count + 1)}
        found = await connecting.audiences(platform, access.http._outbound, access.credentials)
        assert (len(found.audiences), found.has_more) == (500, has_more)
        assert len(server.seen) <= 2 + 500 // 50  # Brevo's pages have fifty


@pytest.mark.parametrize("key", ["mailchimp", "listmonk", "brevo"])
async def test_a_list_that_comes_after_the_first_five_hundred_is_not_deleted(key: str) -> None:
    """Somebody whom the platform does not know: then the module looks whether the list is there."""
    async with CASES[key].open() as (server, platform, access):
        if key != "mailchimp":
            server.lists = dict.fromkeys(range(1000, 1600), "Other") | server.lists
        if key == "brevo":
            server.add("reader1@example.org", lists=())
        outcomes = await platform.write_many(access, [contact(1, may_add=False)])
        assert results(outcomes) == [WriteResult.ABSENT]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_page_says_that_there_are_more_and_keeps_the_list_in_use(engine: str) -> None:
    server = listmonk.ListmonkServer()
    with Service(engine, secret_key="ab" * 32) as service, server.serving_apart():
        alice = operator(service)
        key = {"url": server.url, "username": listmonk.USER, "token": listmonk.TOKEN}
        page = alice.web.post("/integrations/listmonk", **key).text
        assert "more than 500" not in text_of(page)
        sealed = re.search(r'name="sealed" value="([^"]+)"', page)
        assert sealed
        chosen = {"sealed": sealed[1], "audience": str(listmonk.LIST)}
        assert alice.web.post("/integrations/listmonk", **chosen).status_code == 303
        others = {number: f"Other {number}" for number in range(1000, 3000)}
        server.lists = {**others, **server.lists}
        page = alice.web.post("/integrations/listmonk", **key).text
        assert "listmonk has more than 500 lists. The first 500 are shown." in text_of(page)
        assert page.count('name="audience"') == 501
        assert re.search(rf'value="{listmonk.LIST}"\s+checked', page)
        sealed = re.search(r'name="sealed" value="([^"]+)"', page)
        assert sealed
        answer = alice.web.post("/integrations/listmonk", **chosen | {"sealed": sealed[1]})
        assert answer.status_code == 303
        assert "The new key works" in text_of(alice.web.get("/integrations").text)
