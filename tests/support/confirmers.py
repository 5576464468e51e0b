"""Processes that confirm referrals beside each other, each with a store of its own.

One brings in its readers, says that it is ready, waits for the word and confirms each of its
referrals `times` times, many at once, in an order of its own: one by one, or in groups, or taking
every other one back. What the store is too busy for is asked again, as a client would.
"""

import asyncio
import multiprocessing
import random
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from honeyguide.kernel.errors import Unavailable
from honeyguide.kernel.tenant import Tenant
from honeyguide.partners import reversal_reasons
from honeyguide.signups import group_decisions, reversals, signups
from honeyguide.signups.group_decisions import GroupDecision
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.store import Store, Tx, open_store

from .changes import changing
from .stores import statement
from .trade import SITE

ROBOT = reversal_reasons.parse("robot", None)
_REFERRAL = statement("SELECT id FROM partner_referral WHERE subscriber_id = :subscriber_id")
TOGETHER = 8
TRIES = 60


class Orders(NamedTuple):
    url: str
    account_id: str
    campaign_id: str
    arrive: list[
        tuple[str, str]
    ]  # (email, partner's code): readers to bring in first, who wait in their hold
    confirm: list[str]  # readers who are there already
    times: int
    seed: int
    now_ms: int
    direct_url: str = ""
    group: int = 1  # how many are decided together
    reverses_in: str = ""  # the program whose fees are taken back every other time


async def patiently(work: Callable[[], Awaitable[Any]]) -> Any:
    for _ in range(TRIES):
        try:
            return await work()
        except Unavailable:
            await asyncio.sleep(random.uniform(0, 0.05))
    raise AssertionError("the store stayed busy")


async def side_by_side(works: list[Callable[[], Awaitable[Any]]]) -> list[Any]:
    queue = list(enumerate(works))
    results: list[Any] = [None] * len(works)

    async def one_after_another() -> None:
        while queue:
            number, work = queue.pop()
            results[number] = await patiently(work)

    await asyncio.gather(*(one_after_another() for _ in range(TOGETHER)))
    return results


class Confirmer:
    def __init__(self, orders: Orders, store: Store) -> None:
        self.orders, self.store, self.site = orders, store, SITE
        self.owner = Tenant(orders.account_id, orders.campaign_id)

    def arriving(self, email: str, code: str) -> Callable[[], Awaitable[str]]:
        async def work(tx: Tx) -> str:
            new = NewSubscriber(email=email, referrer_code=code)
            return (await self._changing(signups.sign_up)(tx, new)).id

        return lambda: self.store.write(work)

    def confirming(self, subscriber_id: str) -> Callable[[], Awaitable[None]]:
        async def work(tx: Tx) -> None:
            await self._changing(signups.decide)(tx, subscriber_id, "verified")

        return lambda: self.store.write(work)

    def confirming_group(self, ids: list[str]) -> Callable[[], Awaitable[None]]:
        decision = GroupDecision("verified", ids)

        async def work(tx: Tx) -> None:
            for each in await self._changing(group_decisions.decide_many)(tx, decision):
                # The same referral may be in a group twice.
                assert each.status == "verified" or each.fault.code == "repeated", each

        return lambda: self.store.write(work)

    def reversing(self, *ids: str) -> Callable[[], Awaitable[None]]:
        """All at once. Those are refused for whom somebody else was faster."""

        async def work(tx: Tx) -> None:
            found = [await tx.all(_REFERRAL, subscriber_id=each) for each in ids]
            reverse = self._changing(reversals.reverse)
            await reverse(tx, self.orders.reverses_in, [each[0][0] for each in found], ROBOT)

        return lambda: self.store.write(work)

    def _changing(self, unit: Any) -> Any:
        return changing(unit, self.site, self.owner, self.orders.now_ms)


async def work(orders: Orders, line: Connection) -> None:
    store = await open_store(orders.url, pool_size=4, direct_url=orders.direct_url)
    confirmer = Confirmer(orders, store)
    readers = (
        await side_by_side([confirmer.arriving(*reader) for reader in orders.arrive])
        + orders.confirm
    )
    line.send("ready")
    await asyncio.to_thread(line.recv)
    requested = readers * orders.times
    random.Random(orders.seed).shuffle(requested)
    groups = [
        requested[start : start + orders.group] for start in range(0, len(requested), orders.group)
    ]
    works = [
        confirmer.confirming(*group) if orders.group == 1 else confirmer.confirming_group(group)
        for group in groups
    ]
    if orders.reverses_in:
        works[::2] = [confirmer.reversing(*group) for group in groups[::2]]
    await side_by_side(works)
    await store.close()
    line.send("done")


def main(orders: Orders, line: Connection) -> None:
    asyncio.run(work(orders, line))


# Processes of their own, forked from one that has imported everything and has nothing open.
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload([__name__])


class Process:
    """One of them, seen from the test."""

    def __init__(self, orders: Orders) -> None:
        self._line, far_end = _context.Pipe()
        self._process = _context.Process(target=main, args=(orders, far_end), daemon=True)
        self._process.start()
        far_end.close()

    def _hears(self, word: str) -> None:
        try:
            heard = self._line.recv()
        except EOFError:
            self._process.join(10)
            heard = f"nothing more, it ended with {self._process.exitcode}"
        assert heard == word

    def wait_until_ready(self) -> None:
        self._hears("ready")

    def go(self) -> None:
        self._line.send("go")

    def wait(self) -> None:
        self._hears("done")
        self._process.join(30)
        assert self._process.exitcode == 0

    def kill(self) -> bool:
        """As the kernel does it; whether it was still at work."""
        was_alive = self._process.is_alive()
        self._process.kill()
        self._process.join(30)
        return was_alive
