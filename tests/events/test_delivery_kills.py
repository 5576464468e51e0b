"""Real `honeyguide work` processes killed without a goodbye: every event arrives, few twice, and
those under the same id.
"""

import asyncio
import collections
import random
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.support.dispatcher import (
    Office,
    Receiver,
    ReceiverThread,
    Request,
    after,
    office,
    receiving,
    reply,
    run,
)
from tests.support.process import Serving, migrated, new_account
from tests.support.workers import Worker

WORKERS = 2
# What one process can have sent without having noted it: four in flight, and the outcomes of a
# transaction that is under way.
PER_KILL = 30


class Crew:
    """Some workers, of which one dies and is replaced now and then."""

    def __init__(self, database_url: str, dice: random.Random) -> None:
        self._url, self._dice = database_url, dice
        self.workers = [Worker(database_url) for _ in range(WORKERS)]
        self.kills = 0

    def kill_one(self) -> None:
        place = self._dice.randrange(WORKERS)
        self.workers[place].kill()
        self.workers[place] = Worker(self._url)
        self.kills += 1


@contextmanager
def crew(database_url: str, seed: int) -> Iterator[Crew]:
    working = Crew(database_url, random.Random(seed))
    try:
        yield working
    finally:
        for worker in working.workers:
            worker.kill()


async def after_a_moment(
    receiver: Receiver, writer: asyncio.StreamWriter, request: Request
) -> None:
    await asyncio.sleep(0.01)
    writer.write(reply(200))


async def waiting_in(post: Office) -> int:
    return sum(
        row["status"] != "delivered" and row["account_id"] == post.account_id
        for row in (await post.tables())["delivery"]
    )


async def killing(post: Office, events: int, kills: int) -> None:
    dice = random.Random(kills)
    async with receiving(after_a_moment) as receiver:
        hook = await post.webhook(receiver.url)
        await post.emit_to(hook, count=events)
        steps = sorted(dice.sample(range(1, events), kills))
        with crew(post.database_url, seed=kills) as working:
            while steps or len(set(receiver.ids)) < events or await waiting_in(post):
                await asyncio.sleep(0.05)
                if steps and len(set(receiver.ids)) >= steps[0]:
                    steps.pop(0)
                    await asyncio.to_thread(working.kill_one)
        counts = collections.Counter(receiver.ids)
        written = {
            row["id"]: row["body"]
            for row in (await post.tables())["event"]
            if row["account_id"] == post.account_id
        }
        assert len(written) == events
        assert set(counts) == set(written), "none is lost and none is made up"
        assert all(request.body.decode() == written[request.id] for request in receiver.requests)
        twice = sum(counts.values()) - events
        assert working.kills == kills
        assert twice <= PER_KILL * kills, f"{twice} duplicates after {kills} kills"


def test_a_thousand_events_survive_workers_that_are_killed(engine: str) -> None:
    async def scenario() -> None:
        async with office(engine) as post:
            await killing(post, 1_000, 6)

    run(scenario(), 120)


@pytest.mark.long
def test_ten_thousand_events_survive_workers_that_are_killed(engine: str) -> None:
    async def scenario() -> None:
        async with office(engine) as post:
            await killing(post, 10_000, 40)

    run(scenario(), 900)


def test_a_worker_asked_to_stop_finishes_what_is_in_flight_and_gives_the_rest_back(
    engine: str,
) -> None:
    async def scenario() -> None:
        gate = asyncio.Event()
        slow = after(gate)
        async with office(engine) as post, receiving(slow) as receiver:
            hook = await post.webhook(receiver.url)
            await post.emit_to(hook, count=10)
            worker = Worker(post.database_url)
            try:
                while receiver.in_flight < 4:
                    assert worker.process.poll() is None, worker.output
                    await asyncio.sleep(0.01)
                stopping = asyncio.create_task(asyncio.to_thread(worker.stop))
                while "Stopping" not in worker.output:
                    await asyncio.sleep(0.01)
                gate.set()
                assert await stopping == 0, worker.output
            finally:
                worker.process.kill()
            assert (
                sorted(row.status for row, _ in await post.log(hook))
                == ["delivered"] * 4 + ["pending"] * 6
            )
            rows = [
                row for row in (await post.tables())["delivery"] if row["webhook_id"] == hook.id
            ]
            assert {row["lease_token"] for row in rows} == {None}

    run(scenario(), 60)


def test_a_commit_in_one_process_wakes_the_worker_in_another_at_once() -> None:
    """On PostgreSQL: `serve --no-work` takes the signup, `work` tells of it, woken by NOTIFY and
    not by a look at the clock.
    """
    url = migrated("postgres")
    account = new_account(url)
    with ExitStack() as stack:
        receiver = stack.enter_context(ReceiverThread())
        server = stack.enter_context(Serving(url, "--no-work"))
        worker = Worker(url)
        stack.callback(worker.kill)
        call = server.caller(account.key)
        assert (
            call("POST", "/v2/webhooks", {"url": receiver.url, "new_referral": True}).status == 201
        )
        ann = call("POST", f"{account.v1}/subscribers", {"email": "ann@example.org"}).json()[
            "subscriber"
        ]
        took = []
        for n in range(21):
            signup = {"email": f"reader{n}@example.org", "referrer_code": ann["ref_code"]}
            assert call("POST", f"{account.v1}/subscribers", signup).status == 201
            answered = time.monotonic()
            while len(receiver.requests) <= n:
                assert time.monotonic() - answered < 30, worker.output
                time.sleep(0.001)
            took.append(receiver.requests[-1].at_s - answered)
        assert statistics.median(took[1:]) < 0.1
