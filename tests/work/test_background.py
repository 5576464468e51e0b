"""Background work never ends: a loop that fails is tried again, counted and named, and disturbs no
other. Every task in the source is such a loop, or somebody waits for it.
"""

import ast
import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from honeyguide.api.readiness import Readiness
from honeyguide.kernel import background
from honeyguide.kernel.background import Background, LoopHealth
from honeyguide.kernel.errors import Unavailable
from honeyguide.store import Tx
from honeyguide.subscribers import clicks
from tests.laws.test_architecture import MODULES
from tests.support.stores import OpenStore

# Every place that starts a task, and why it cannot end unnoticed.
STARTERS = {
    "app.py": "all loops of the process; each is supervised",
    "cli/server.py": "all loops of the process; each is supervised",
    "events/dispatcher.py": "a sender: it logs what fails and goes on with the next delivery",
    "events/outbound.py": "a lookup that its callers wait for",
    "integrations/write_order.py": "writes of contacts, which their batch waits for",
    "integrations/worker.py": "one integration: it logs what fails, and its lease ends",
    "kernel/background.py": "the supervisor itself",
    "pages/readers/reader_services.py": "what follows an answer: it logs what fails",
    "store/coalescer.py": "a batch: its callers get the error, and the next caller starts another",
    "store/postgres.py": "the listener, which is supervised",
    "store/scrubber.py": "it logs what fails, and the next erasure starts it again",
    "store/sqlite.py": "a group of writes: its callers get the error",
    "work/loop.py": "a job and its lease, which the job's loop waits for",
}
_STARTS = {"create_task", "ensure_future"}


def starters(source: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr in _STARTS for node in ast.walk(source)
    )


def test_every_task_is_supervised_or_waited_for() -> None:
    assert {module.path for module in MODULES if starters(module.tree)} == STARTERS.keys()
    assert starters(ast.parse("import asyncio\nasyncio.create_task(run())"))


class Trying:
    """A loop that fails as told, then runs well."""

    def __init__(self, name: str, *errors: BaseException) -> None:
        self.name = name
        self.errors = list(errors)
        self.begun = self.steps = self.ended = 0

    def begin(self) -> None:
        self.begun += 1

    async def step(self) -> None:
        self.steps += 1
        if self.errors:
            raise self.errors.pop(0)

    async def rest(self) -> None:
        await asyncio.sleep(0.001)

    async def end(self) -> None:
        self.ended += 1


@pytest.fixture
def short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "FIRST_DELAY_S", 0.001)
    monkeypatch.setattr(background, "LONGEST_DELAY_S", 0.004)


async def run_until(loops: Background, is_done: Callable[[], bool]) -> None:
    running = asyncio.create_task(loops.run())
    async with asyncio.timeout(20):
        while not is_done():
            assert not running.done(), running
            await asyncio.sleep(0.001)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert running.cancelled()


@pytest.mark.usefixtures("short_delays")
def test_a_loop_that_fails_is_tried_again_and_disturbs_no_other() -> None:
    bad, good = Trying("bad", ValueError("x"), KeyError("y")), Trying("good")
    loops = Background()
    loops.add(bad, good)
    asyncio.run(run_until(loops, lambda: bad.steps > 5 and good.steps > 5))
    assert (bad.begun, bad.ended) == (good.begun, good.ended) == (1, 1)
    assert loops.health == [LoopHealth("bad", 2, 0, "KeyError"), LoopHealth("good")]


@pytest.mark.usefixtures("short_delays")
def test_a_task_that_was_cancelled_beneath_a_loop_does_not_end_it() -> None:
    """A loop that waits for a task of its own gets that task's CancelledError."""
    loop, loops = Trying("torn", asyncio.CancelledError()), Background()
    loops.add(loop)
    asyncio.run(run_until(loops, lambda: loop.steps > 5))
    assert loops.health[0].failures == 1


class Deaf(Trying):
    """A loop that loses one cancellation, as `asyncio.wait_for` could before Python 3.12."""

    async def rest(self) -> None:
        with contextlib.suppress(*[asyncio.CancelledError] if self.steps == 1 else []):
            await asyncio.sleep(600)


def test_a_loop_that_loses_its_cancellation_ends_nevertheless() -> None:
    loop, loops = Deaf("deaf"), Background()
    loops.add(loop)

    async def run() -> None:
        running = asyncio.create_task(loops.run())
        while loop.steps == 0:
            await asyncio.sleep(0.001)
        running.cancel()
        await asyncio.wait({running}, timeout=30)
        ended.append(loop.ended)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    ended: list[int] = []
    asyncio.run(run())
    assert (loop.steps, ended) == (1, [1])


@pytest.mark.usefixtures("short_delays")
def test_a_database_that_is_away_is_no_failure_of_the_loop(caplog: Any) -> None:
    loop, loops = Trying("waiting", *[Unavailable("Away.") for _ in range(12)]), Background()
    loops.add(loop)
    asyncio.run(run_until(loops, lambda: loop.steps > 14))
    assert loops.health == [LoopHealth("waiting")]
    assert {record.levelname for record in caplog.records} == {"WARNING"}


@pytest.mark.usefixtures("short_delays")
def test_after_ten_failures_in_a_row_the_process_is_not_ready(opened: OpenStore) -> None:
    loop, loops = Trying("sort letters", *[ValueError()] * 100_000), Background()
    loops.add(loop)
    ready = Readiness(opened.store, loops, lambda: False, lambda: 0.0)
    found: list[str | None] = []

    async def fail_then_recover() -> None:
        running = asyncio.create_task(loops.run())
        while not loops.failing:
            await asyncio.sleep(0.001)
        problem = await ready.problem()
        found.append(str(problem))
        assert problem is not None and problem.code == "background_work"
        loop.errors.clear()
        while loops.failing:
            await asyncio.sleep(0.001)
        assert await ready.problem() is None
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    opened.run(fail_then_recover())
    assert found == ["Background work keeps failing: sort letters. The log has the details."]


def test_the_waits_grow_and_stay_below_half_a_minute() -> None:
    delays = [background._delay_s(n, background.LONGEST_DELAY_S) for n in range(1, 100)]
    assert delays[:4] == [0.5, 1.0, 2.0, 4.0] and sum(delays[:4]) < 10
    assert set(delays[6:]) == {30.0}


def _click(account_id: str, code: str) -> clicks.Click:
    return clicks.Click(account_id, "target", code, 3_600_000, f"visitor of {code}", 0, "")


def test_a_click_that_cannot_be_written_costs_no_other(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter, write = clicks.ClickCounter(opened.store), clicks.count_clicks

    async def refuse_bad(tx: Tx, some: Any) -> int:
        assert "bad" not in [each.code for each in some]
        return await write(tx, some)

    monkeypatch.setattr(clicks, "count_clicks", refuse_bad)
    opened.account_with_key()
    ((account_id,),) = opened.ask("SELECT id FROM account")
    for code in ("good", "bad", "better"):
        counter.add(_click(account_id, code))
    for _ in range(clicks.MOST_TRIES):
        with pytest.raises(AssertionError):
            opened.run(counter.flush())
    opened.run(counter.flush())  # by now it is given up
    found = opened.ask("SELECT code, n FROM click_day WHERE code <> '' ORDER BY code")
    assert found == [("better", 1), ("good", 1)]


def test_two_flushes_at_once_count_a_click_once(opened: OpenStore) -> None:
    counter = clicks.ClickCounter(opened.store)
    opened.account_with_key()
    ((account_id,),) = opened.ask("SELECT id FROM account")
    counter.add(_click(account_id, "good"))

    async def flush_twice() -> None:
        await asyncio.gather(counter.flush(), counter.flush())

    opened.run(flush_twice())
    assert opened.ask("SELECT n FROM click_day WHERE code <> ''") == [(1,)]
