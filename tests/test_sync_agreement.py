"""Random joins, leaves, referrals and address changes on both sides: once it is quiet, both sides
agree, and nobody who left is active.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from honeyguide.integrations.ghost import HOOK_SECRET
from honeyguide.integrations.platform import Audience
from tests.support.integrations import Synced, newsletter
from tests.support.platforms.ghost import KEY, NEWSLETTER, GhostServer, signed
from tests.support.service import ENGINES
from tests.support.stores import OpenStore

PEOPLE = st.integers(0, 5)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "join here",
                "join there",
                "leave here",
                "leave there",
                "delete there",
                "move here",
                "move there",
                "refer",
                "deliver",
                "sync",
            ]
        ),
        PEOPLE,
        PEOPLE,
    ),
    max_size=25,
)


class BothSides:
    """Six people, each with the address they have now; who left stays away."""

    def __init__(self, synced: Synced, server: GhostServer) -> None:
        self.synced = synced
        self.server = server
        self.emails = [f"person{number}@example.org" for number in range(6)]
        self.left: set[int] = set()
        self.moves = 0

    def member(self, number: int) -> dict[str, Any] | None:
        found = [m for m in self.server.members.values() if m["email"] == self.emails[number]]
        return found[0] if found else None

    async def step(self, what: str, number: int, other: int) -> None:
        here = await self.synced.find(self.emails[number])
        there = self.member(number)
        if what == "join here" and here is None:
            await self.synced.join(self.emails[number])
        elif what == "refer" and here is None and other != number:
            referrer = await self.synced.find(self.emails[other])
            await self.synced.join(self.emails[number], referrer.ref_code if referrer else None)
        elif what == "join there" and there is None and number not in self.left:
            self.server.join(self.emails[number])
        elif what == "leave here" and here is not None and here.status != "unsubscribed":
            await self.synced.change(self.emails[number], status="unsubscribed")
            self.left.add(number)
        elif what == "leave there" and there is not None:
            self.server.change(there, newsletters=[])
            self.left.add(number)
        elif what == "delete there" and there is not None:
            self.server.delete(there)
            self.left.add(number)
        elif what.startswith("move"):
            await self._move(what, number, here, there)
        elif what == "deliver":
            await self.deliver()
        elif what == "sync":
            await self.synced.sync()

    async def _move(self, what: str, number: int, here: Any, there: Any) -> None:
        """After both sides are quiet, because who changes an address on both sides at once gets
        one of the two."""
        await self.settle()
        here, there = await self.synced.find(self.emails[number]), self.member(number)
        self.moves += 1
        moved = f"moved{self.moves}@example.org"
        if what == "move here" and here is not None and number not in self.left:
            await self.synced.change(self.emails[number], email=moved)
        elif what == "move there" and there is not None and number not in self.left:
            self.server.change(there, email=moved)
        else:
            return
        self.emails[number] = moved
        await self.settle()

    async def deliver(self) -> None:
        if self.server.outbox:
            await self.synced.receive(signed(self.server.outbox.pop(0), "s3"))

    async def settle(self) -> None:
        for _ in range(200):
            await self.synced.sync()
            if not self.server.outbox:
                return
            await self.deliver()
        raise AssertionError("it never gets quiet")

    async def check(self) -> None:
        for number, email in enumerate(self.emails):
            here, there = await self.synced.find(email), self.member(number)
            if number in self.left:
                assert here is None or here.status == "unsubscribed", (number, email)
                assert there is None or not there["newsletters"], (number, email)
                continue
            assert (here is None) == (there is None), (number, email)
            if here is not None and there is not None:
                assert here.status == "active" and there["newsletters"] == [NEWSLETTER]
                labels = {each["name"] for each in there["labels"]}
                assert ("Advocate" in labels) == (here.referrals_verified > 0)
                assert ("Referred" in labels) == (here.referrer_code is not None)


async def scenario(opened: OpenStore, steps: list[tuple[str, int, int]], email: str) -> None:
    server = GhostServer()
    async with server.serving(), newsletter(opened.store, email) as synced:
        await synced.connect(
            "ghost",
            {"url": server.url, "admin_api_key": KEY, HOOK_SECRET: "s3"},
            field_names={},
            audience=Audience(id="n1", name="The Morning Wax"),
        )
        both = BothSides(synced, server)
        for step in steps:
            await both.step(*step)
        async with asyncio.timeout(120):
            await both.settle()
        await both.check()


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
def test_once_it_is_quiet_both_sides_agree(engine: str) -> None:
    numbers = iter(range(1_000_000))
    with OpenStore(engine) as opened:

        @settings(
            max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), database=None
        )
        @given(STEPS)
        def agree(steps: list[tuple[str, int, int]]) -> None:
            opened.run(scenario(opened, steps, f"wax{next(numbers)}@example.org"))

        agree()
