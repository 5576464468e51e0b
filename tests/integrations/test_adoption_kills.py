"""Real `honeyguide work` processes killed without a goodbye while they read what another tool
wrote, adopt it and write: not one write before the answer, nobody's code or count lost or doubled,
and codes in the platform as they were.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from honeyguide.integrations import adoption, connecting, integrations
from honeyguide.integrations.integrations import Integration, NewIntegration
from honeyguide.integrations.platform import Audience
from honeyguide.kernel.clock import system_clock
from tests.support.integrations import KEYS, NAMES, Synced
from tests.support.platforms import listmonk
from tests.support.platforms.stand_in import drop, pass_on
from tests.support.service import ENGINES
from tests.support.stores import statement
from tests.support.trade import SITE
from tests.support.workers import Worker

PEOPLE = 230  # more than are adopted at once
CREDENTIALS = {"username": listmonk.USER, "token": listmonk.TOKEN}
LEASE_ENDS = statement(
    "UPDATE integration SET leased_until_ms = 0, next_call_ms = 0", "changes integration"
)
ADOPTED = statement(
    "SELECT c.code, s.adjustments, (SELECT COUNT(*) FROM adjustment AS a WHERE a.subscriber_id = "
    "s.id) AS rows FROM subscriber AS s JOIN subscriber_code AS c ON c.subscriber_id = s.id "
    "ORDER BY c.code",
    "reads subscriber, reads subscriber_code, reads adjustment",
)


class Killer:
    """Kills the worker at one of its requests, or a moment after it began."""

    def __init__(self, url: str, synced: Synced, server: listmonk.ListmonkServer) -> None:
        self.url, self.synced, self.server = url, synced, server
        self.at_request = 0
        self.killing, self.killed = asyncio.Event(), asyncio.Event()
        server.before = self._answer

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.at_request -= 1
        if self.at_request != 0:
            return await pass_on(request)
        self.killing.set()
        await self.killed.wait()
        return await drop(request)

    async def work(
        self, is_done: Callable[[Integration], bool], *, at_request: int = 0, after_s: float = 110
    ) -> bool:
        """One worker's life. Tells whether it was done before it was killed."""
        self.at_request = at_request
        self.killing.clear()
        self.killed.clear()
        worker = await asyncio.to_thread(Worker, self.url, secret_key="ab" * 32)
        asyncio.get_running_loop().call_later(after_s, self.killing.set)
        try:
            async with asyncio.timeout(120):
                while not self.killing.is_set():
                    if is_done(await self.synced.integration()):
                        return True
                    await asyncio.sleep(0.02)
            return False
        finally:
            await asyncio.to_thread(worker.kill)
            self.killed.set()
            await self.synced.store.write(lambda tx: tx.run(LEASE_ENDS))


async def connect(synced: Synced, server: listmonk.ListmonkServer) -> None:
    new = NewIntegration(
        platform="listmonk",
        credentials={"url": server.url, **CREDENTIALS},
        audience=Audience(id=str(listmonk.LIST), name="The list"),
        field_names=NAMES,
        code_field="",
        adds_existing=True,
        hook_key="hook",
    )
    platform = integrations.platform_of("listmonk")
    set_up, _ = await connecting.set_up(platform, synced.outbound, SITE, new)
    await synced.make(integrations.connect, KEYS, set_up)


def planted(server: listmonk.ListmonkServer) -> dict[str, tuple[str, str]]:
    for number in range(PEOPLE):
        person = server.add(f"reader{number}@example.org")
        person["attribs"].update(rh_code=f"Old_{number:03}", rh_totref=str(number % 4))
    return codes_there(server)


def codes_there(server: listmonk.ListmonkServer) -> dict[str, tuple[str, str]]:
    return {
        each["email"]: (each["attribs"]["rh_code"], each["attribs"]["rh_totref"])
        for each in server.people.values()
    }


def writes(server: listmonk.ListmonkServer) -> list[Any]:
    return [each for each in server.seen if each.method != "GET"]


@pytest.mark.long
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("engine", ENGINES)
async def test_adopting_survives_workers_that_are_killed(
    database_url: str, synced: Synced, times: int
) -> None:
    dice, server = random.Random(36), listmonk.ListmonkServer()
    async with server.serving():
        synced.now_ms = system_clock()
        before = planted(server)
        await connect(synced, server)
        killer = Killer(database_url, synced, server)

        async def until(is_done: Callable[[Integration], bool], kills: list[Any]) -> None:
            lives: list[Callable[[], Awaitable[bool]]] = [
                lambda kill=kill: killer.work(is_done, **kill)  # type: ignore[misc]
                for kill in [*kills, {}]
            ]
            for life in lives:
                if await life():
                    return
            raise AssertionError("it is never done")

        await until(lambda found: found.adoption == "asked", [{"at_request": 1}])
        assert writes(server) == []
        await synced.make(adoption.answer, "adopt")
        kills: list[Any] = [{"after_s": dice.uniform(1.5, 4)} for _ in range(times)]
        kills += [{"at_request": dice.randrange(5, 60)} for _ in range(times)]
        await until(lambda found: found.first_sync_ms is not None, kills)
        assert codes_there(server) == before
        rows = await synced.store.read(lambda tx: tx.all(ADOPTED))
        counts = [(f"Old_{n:03}", n % 4, int(n % 4 > 0)) for n in range(PEOPLE)]
        assert [tuple(row) for row in rows] == counts
        assert writes(server)
