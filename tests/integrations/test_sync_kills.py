"""Real `honeyguide work` processes killed without a goodbye while they sync: in the end the
platform has what we have, nobody who left is active, and no more was written than what changed and
what was in flight.
"""

import asyncio
import random
from typing import Any

import pytest
from aiohttp import web

from honeyguide.events import signature
from honeyguide.integrations import integrations
from honeyguide.integrations.generic import Generic
from honeyguide.kernel.clock import system_clock
from honeyguide.store.tx import Tx
from honeyguide.subscribers.subscribers import Subscriber
from tests.support.integrations import Synced, connect_tool
from tests.support.platforms.generic import GenericTool
from tests.support.service import ENGINES
from tests.support.stores import statement
from tests.support.workers import Worker

pytestmark = pytest.mark.parametrize("engine", ENGINES)
BATCH = Generic.about.limits.per_batch
# What the change of one subscriber may write: them, and whoever referred them.
PER_CHANGE = 2
LEASE_ENDS = statement("UPDATE integration SET leased_until_ms = 0", "changes integration")
A_MINUTE_PASSES = statement(
    "UPDATE integration_subscriber SET synced_ms = synced_ms - 60000, due_ms = CASE WHEN due_ms > "
    "60000 THEN due_ms - 60000 ELSE due_ms END",
    "changes integration_subscriber",
)


class DeadlyTool(GenericTool):
    """Asks for the death of the worker when a batch comes: before it is taken, before it is
    answered, or just after."""

    def __init__(self, dice: random.Random, moments: list[str]) -> None:
        super().__init__(signature.new_secret())
        self.dice = dice
        self.moments = moments
        self.killing = asyncio.Event()
        self.killed = asyncio.Event()

    async def take(self, request: web.Request) -> web.StreamResponse:
        moment = self.moments.pop(0) if self.moments else ""
        if moment == "before":
            await self._kill()
            return web.Response(status=503)
        answer = await super().take(request)
        if moment == "while":
            await self._kill()
        elif moment == "after":
            pause_s = self.dice.uniform(0, 0.02)
            asyncio.get_running_loop().call_later(pause_s, self.killing.set)
        return answer

    async def _kill(self) -> None:
        self.killing.set()
        await self.killed.wait()


class Killed:
    """A newsletter that lives on while its workers die."""

    def __init__(self, url: str, synced: Synced, tool: DeadlyTool) -> None:
        self.url = url
        self.synced = synced
        self.tool = tool
        self.left: set[str] = set()
        self.kills = 0
        self.changes = 0

    async def begin(self, size: int) -> None:
        self.synced.now_ms = system_clock()
        zelda = await self.synced.join("zelda@example.org")

        async def join(numbers: range) -> None:
            for number in numbers:
                status = "unsubscribed" if number % 50 == 0 else "active"
                code = zelda.ref_code if number % 10 == 0 else None
                await self.synced.join(f"reader{number}@example.org", code, status=status)

        await asyncio.gather(*(join(range(at, size, 50)) for at in range(50)))
        await connect_tool(self.synced, self.tool, adds_existing=True)

    async def sync_and_kill(self) -> None:
        """One worker after the other, until everything is written."""
        while True:
            self.tool.killing.clear()
            self.tool.killed.clear()
            worker = await asyncio.to_thread(Worker, self.url, secret_key="ab" * 32)
            try:
                async with asyncio.timeout(180):
                    while not self.tool.killing.is_set() and not await self.is_quiet():
                        await asyncio.sleep(0.02)
            except TimeoutError:
                raise AssertionError(f"nothing happens: {worker.output}") from None
            finally:
                await asyncio.to_thread(worker.kill)
                self.tool.killed.set()
            if not self.tool.killing.is_set():
                return
            self.kills += 1
            await self.live()
            await self.synced.store.write(lambda tx: tx.run(LEASE_ENDS))
            await self.synced.store.write(lambda tx: tx.run(A_MINUTE_PASSES))

    async def is_quiet(self) -> bool:
        """The first sync is done, and nothing waits."""
        integration = await self.synced.integration()
        backlog = await self.synced.store.read(integrations.backlog, integration)
        [(waiting,)] = await self._ask(
            "SELECT (SELECT COUNT(*) FROM subscriber_change) + (SELECT COUNT(*) FROM "
            "integration_event WHERE due_ms IS NOT NULL)"
        )
        assert backlog.failed == 0 and integration.status == "active", integration.problem
        return integration.first_sync_ms is not None and backlog.due == 0 and waiting == 0

    async def live(self) -> None:
        """While no worker is alive, somebody joins, moves, leaves here and leaves there."""
        self.synced.now_ms = system_clock()
        number = self.kills
        someone = await self._anyone()
        await self.synced.join(f"friend{number}@example.org", someone.ref_code)
        someone = await self._anyone()
        await self.synced.change(someone.id, email=f"moved{number}@example.org")
        someone = await self._anyone()
        await self.synced.change(someone.id, status="unsubscribed")
        self.left.add(someone.id)
        self.changes += 3
        known = sorted(id_ for id_ in self.tool.contacts if id_ not in self.left)
        if known:
            await self._leave_there(self.tool.dice.choice(known))

    async def _anyone(self) -> Subscriber:
        while True:
            number = self.tool.dice.randrange(1, 120)
            found = await self.synced.find(f"reader{number}@example.org")
            if found is not None and found.status == "active":
                return found

    async def _leave_there(self, subscriber_id: str) -> None:
        contact = self.tool.contacts.pop(subscriber_id)
        self.tool.refuses[contact["email"]] = {"result": "left"}
        event = {"type": "left", "email": contact["email"], "id": subscriber_id}
        await self.synced.receive(self.tool.hook(event, at_s=system_clock() // 1000))
        self.left.add(subscriber_id)
        self.changes += 1

    async def check(self, size: int) -> None:
        rows = await self._ask(
            "SELECT id, email, ref_code, referrals_verified, status FROM subscriber"
        )
        ours = {row[0]: row[1:4] for row in rows if row[4] != "unsubscribed"}
        there = {
            id_: (each["email"], each["fields"]["RH_CODE"], int(each["fields"]["RH_TOTREF"]))
            for id_, each in self.tool.contacts.items()
            if each["status"] == "active"
        }
        assert there == ours
        assert not self.left & set(ours)
        most = size + PER_CHANGE * self.changes + BATCH * self.kills
        assert self.tool.writes <= most, (self.tool.writes, self.changes, self.kills)

    async def _ask(self, sql: str) -> list[tuple[Any, ...]]:
        async def find(tx: Tx) -> list[tuple[Any, ...]]:
            return await tx.all(statement(sql))

        return await self.synced.store.read(find)


async def kill_workers(
    url: str, synced: Synced, size: int, dice: random.Random, moments: list[str]
) -> None:
    tool = DeadlyTool(dice, moments)
    async with tool.serving():
        killed = Killed(url, synced, tool)
        await killed.begin(size)
        await killed.sync_and_kill()
        await killed.check(size + 1)
        assert killed.kills and not tool.moments


async def test_a_small_sync_survives_a_worker_that_is_killed(
    database_url: str, synced: Synced
) -> None:
    await kill_workers(database_url, synced, 120, random.Random(20), ["before", "while"])


@pytest.mark.long
@pytest.mark.timeout(1800)
async def test_a_sync_of_ten_thousand_survives_workers_that_are_killed(
    database_url: str, synced: Synced
) -> None:
    dice = random.Random(20)
    moments = dice.choices(["before", "while", "after", "never"], k=40)
    await kill_workers(database_url, synced, 10_000, dice, moments)
