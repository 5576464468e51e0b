"""Random joins, leaves, referrals and address changes on both sides, with webhooks that come late
or never: once it is quiet, both sides agree, nobody who left is active, and nothing is written back
to where it came from. With confirmations required, nobody is there before they confirm, unless they
joined there by themselves.
"""

import asyncio
import re
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from honeyguide.integrations import ghost
from honeyguide.integrations.ghost import HOOK_SECRET
from honeyguide.integrations.platform import Audience
from honeyguide.kernel.clock import DAY_MS, MINUTE_MS
from honeyguide.store import Store
from honeyguide.subscribers.campaigns import CampaignSettings
from tests.support.integrations import Synced, newsletter
from tests.support.platforms.ghost import KEY, NEWSLETTER, GhostServer, signed
from tests.support.platforms.stand_in import Answer
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.support.trade import NOON_MS

POLL_MS = 11 * MINUTE_MS
PEOPLE = st.integers(0, 5)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "join here",
                "join there",
                "confirm here",
                "leave here",
                "leave there",
                "delete there",
                "move here",
                "move there",
                "refer",
                "deliver",
                "lose",
                "sync",
                "a day passes",
            ]
        ),
        PEOPLE,
        PEOPLE,
    ),
    max_size=25,
)


class Ghost(GhostServer):
    """Knows what we wrote, and what changed since when."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = NOON_MS
        self.echoes: list[dict[str, Any]] = []

    async def add(self, request: web.Request) -> web.StreamResponse:
        return await self._ours(super().add, request)

    async def edit(self, request: web.Request) -> web.StreamResponse:
        return await self._ours(super().edit, request)

    async def _ours(self, write: Answer, request: web.Request) -> web.StreamResponse:
        before = len(self.outbox)
        answer = await write(request)
        self.echoes += self.outbox[before:]
        return answer

    def _tell(self, member: dict[str, Any], previous: dict[str, Any]) -> None:
        member["updated_ms"] = self.now_ms
        super()._tell(member, previous)

    async def browse(self, request: web.Request) -> web.StreamResponse:
        since = re.search(r"updated_at:>='(.+)'", request.query.get("filter", ""))
        if since is None:
            return await super().browse(request)
        at = datetime.strptime(since[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
        everybody = self.members
        self.members = {
            id_: each
            for id_, each in everybody.items()
            if each["updated_ms"] >= at.timestamp() * 1000
        }
        try:
            return await super().browse(request)
        finally:
            self.members = everybody

    def writes(self) -> int:
        """How often we asked about one member or wrote one."""
        return sum(not re.search(r"/members/\?.*limit=", each.path) for each in self.seen)


class BothSides:
    """Six people, each with the address they have now; who left stays away. A platform that
    `is_polled` sends no webhooks."""

    def __init__(self, synced: Synced, server: Ghost, *, is_polled: bool) -> None:
        self.is_polled = is_polled
        self.synced = synced
        self.server = server
        self.emails = [f"person{number}@example.org" for number in range(6)]
        self.left: set[int] = set()
        self.deleted: set[int] = set()
        self.moved: set[int] = set()
        self.unsubscribed: set[int] = set()
        self.joined_there: set[int] = set()
        self.left_unconfirmed: set[int] = set()
        self.moves = 0

    def member(self, number: int) -> dict[str, Any] | None:
        found = [m for m in self.server.members.values() if m["email"] == self.emails[number]]
        return found[0] if found else None

    async def watch(self) -> None:
        """Who is unsubscribed here stays so, not only in the end."""
        for number, email in enumerate(self.emails):
            found = await self.synced.find(email)
            if found is not None and found.status == "unsubscribed":
                self.unsubscribed.add(number)
            assert found is None or number not in self.unsubscribed or found.status != "active"
            if found is not None and found.must_confirm and number not in self.joined_there:
                assert self.member(number) is None, "written before they confirmed"

    async def step(self, what: str, number: int, other: int) -> None:
        await self.watch()
        here = await self.synced.find(self.emails[number])
        there = self.member(number)
        is_new = here is None and number not in self.deleted
        if what == "join here" and is_new:
            await self.synced.join(self.emails[number])
        elif what == "refer" and is_new and other != number:
            referrer = await self.synced.find(self.emails[other])
            await self.synced.join(self.emails[number], referrer.ref_code if referrer else None)
        elif what == "join there" and there is None and number not in self.left | self.moved:
            self.server.join(self.emails[number])
            self.joined_there.add(number)
        elif what == "confirm here" and here is not None and here.status == "active":
            await self.synced.change(self.emails[number], status="confirmed")
        elif what == "leave here" and here is not None and here.status != "unsubscribed":
            await self.synced.change(self.emails[number], status="unsubscribed")
            self.left.add(number)
            if here.must_confirm:
                self.left_unconfirmed.add(number)
        elif what == "leave there" and there is not None:
            self.server.change(there, newsletters=[])
            self.left.add(number)
        elif what == "delete there" and there is not None:
            self.server.delete(there)
            self.left.add(number)
            self.deleted.add(number)
        elif what.startswith("move"):
            await self._move(what, number, here, there)
        elif what == "deliver":
            await self.deliver()
        elif what == "lose":
            self.lose()
        elif what == "sync":
            await self.synced.sync()
        elif what == "a day passes" and not self.is_polled:
            self.pass_time()

    async def _move(self, what: str, number: int, here: Any, there: Any) -> None:
        """After both sides are quiet, because who changes an address on both sides at once gets
        one of the two."""
        await self.settle()
        here, there = await self.synced.find(self.emails[number]), self.member(number)
        if here is not None and here.must_confirm:
            return
        self.moves += 1
        moved = f"moved{self.moves}@example.org"
        if what == "move here" and here is not None and number not in self.left:
            await self.synced.change(self.emails[number], email=moved)
        elif what == "move there" and there is not None and number not in self.left:
            self.server.change(there, email=moved)
        else:
            return
        self.emails[number] = moved
        self.moved.add(number)
        if what == "move there":
            await self.settle()

    async def deliver(self) -> bool:
        """Delivers the next webhook. Tells whether it is about something that we wrote."""
        if not self.server.outbox:
            return False
        event = self.server.outbox.pop(0)
        await self.synced.receive(signed(event, "s3"))
        return any(event is each for each in self.server.echoes)

    def lose(self) -> None:
        """The next webhook never comes."""
        if self.server.outbox:
            self.server.outbox.pop(0)

    def pass_time(self, *, is_night: bool = False) -> None:
        """A day, after which everything is read, or the time after which changes are read."""
        self.synced.now_ms += POLL_MS if self.is_polled and not is_night else DAY_MS + 1
        self.server.now_ms = self.synced.now_ms
        if self.is_polled:
            self.server.outbox.clear()

    async def settle(self) -> None:
        """Until every webhook is delivered, and through the night, which finds those that were
        lost."""
        if not self.is_polled:
            await self._deliver_all()
        for is_night in (False, True):
            self.pass_time(is_night=is_night)
            await self._deliver_all()

    async def _deliver_all(self) -> None:
        for _ in range(200):
            await self.synced.sync()
            if not self.server.outbox:
                return
            is_echo, asked = await self.deliver(), self.server.writes()
            await self.synced.sync()
            await self.watch()
            assert not is_echo or self.server.writes() == asked, "what we wrote is written again"
        raise AssertionError("it never gets quiet")

    async def check_quiet(self) -> None:
        """Another night finds nothing to do."""
        asked = self.server.writes()
        self.pass_time()
        await self.synced.sync()
        assert self.server.writes() == asked and not self.server.outbox

    async def check(self) -> None:
        for number, email in enumerate(self.emails):
            here, there = await self.synced.find(email), self.member(number)
            if number in self.left:
                assert here is None or here.status == "unsubscribed", (number, email)
                if number in self.left_unconfirmed:
                    continue  # nothing is said about them, whatever they are there
                assert there is None or not there["newsletters"], (number, email)
                continue
            if here is not None and here.must_confirm:
                assert (there is not None) == (number in self.joined_there), (number, email)
                continue
            assert (here is None) == (there is None), (number, email)
            assert here is not None or number not in self.moved, (number, email)
            if here is not None and there is not None:
                assert here.status != "unsubscribed" and there["newsletters"] == [NEWSLETTER]
                labels = {each["name"] for each in there["labels"]}
                assert ("Advocate" in labels) == (here.referrals_verified > 0)
                assert ("Referred" in labels) == (here.referrer_code is not None)


async def live_and_agree(
    store: Store,
    already: int,
    steps: list[tuple[str, int, int]],
    email: str,
    *,
    is_polled: bool,
    needs_confirmation: bool = False,
) -> None:
    """`already` are on the list there before it is connected."""
    server = Ghost()
    for number in range(already):
        server.join(f"person{number}@example.org")
    server.outbox.clear()
    async with server.serving(), newsletter(store, email) as synced:
        await synced.connect(
            "ghost",
            {"url": server.url, "admin_api_key": KEY, HOOK_SECRET: "s3"},
            field_names={},
            audience=Audience(id="n1", name="The Morning Wax"),
        )
        chosen = CampaignSettings(needs_confirmation=needs_confirmation)
        await synced.configure(chosen)
        both = BothSides(synced, server, is_polled=is_polled)
        both.joined_there |= set(range(already))
        for step in steps:
            await both.step(*step)
        async with asyncio.timeout(120):
            await both.settle()
        await both.check()
        await both.check_quiet()


@pytest.fixture
def has_pages(is_polled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ghost, "PER_PAGE", 2)  # several pages
    if is_polled:
        about = msgspec.structs.replace(ghost.Ghost.about, poll_every_s=POLL_MS // 1000)
        monkeypatch.setattr(ghost.Ghost, "about", about)


@pytest.mark.usefixtures("has_pages")
@pytest.mark.parametrize("is_polled", [False, True], ids=["webhooks", "polled"])
@pytest.mark.parametrize("engine", ENGINES)
async def test_who_joined_and_left_here_before_the_first_write_is_active_nowhere(
    store: Store, is_polled: bool
) -> None:
    """What the random test once found. `test_sync_leaves.py` has it for every platform."""
    steps = [("join here", 0, 0), ("leave here", 0, 0)]
    await live_and_agree(store, 1, steps, "wax@example.org", is_polled=is_polled)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("has_pages")
@pytest.mark.parametrize("is_polled", [False, True], ids=["webhooks", "polled"])
@pytest.mark.parametrize("engine", ENGINES)
def test_once_it_is_quiet_both_sides_agree(engine: str, is_polled: bool) -> None:
    """Hypothesis calls no `async def`, so each example runs on the loop of the store."""
    numbers = iter(range(1_000_000))
    with OpenStore(engine) as opened:

        @settings(
            max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), database=None
        )
        @given(PEOPLE, STEPS, st.booleans())
        def agree(
            already: int, steps: list[tuple[str, int, int]], needs_confirmation: bool
        ) -> None:
            email = f"wax{next(numbers)}@example.org"
            opened.run(
                live_and_agree(
                    opened.store,
                    already,
                    steps,
                    email,
                    is_polled=is_polled,
                    needs_confirmation=needs_confirmation,
                )
            )

        agree()
