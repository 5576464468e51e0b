"""Every background job runs once per interval and installation, and an idle installation writes
nothing for them.
"""

import asyncio
import itertools
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.errors import Unavailable
from honeyguide.store import Store, job_runs, sqlite_path
from honeyguide.work import loop
from honeyguide.work.items import Job
from tests.support.process import Serving, command, environment, migrated, new_account
from tests.support.service import ENGINES
from tests.support.starter import Command
from tests.support.stores import OpenStore, statement

# A process with one job, which notes when it begins and ends.
PROCESS = """
import asyncio, os, sys, time
from honeyguide.kernel.background import Background
from honeyguide.kernel.clock import system_clock
from honeyguide.store import job_runs, open_store
from honeyguide.work import loop
from honeyguide.work.items import Job

url, notes, every_ms, takes_s, lease_ms = sys.argv[1], sys.argv[2], *map(float, sys.argv[3:])
loop.LEASE_MS = int(lease_ms)

def note(word, claimed_ms):
    with open(notes, "a") as file:
        file.write(f"{word} {os.getpid()} {time.monotonic()} {claimed_ms}\\n")

async def batch(store, now_ms):
    claimed_ms = (await store.read(job_runs.find, "test")).started_ms
    note("begin", claimed_ms)
    await asyncio.sleep(takes_s)
    note("end", claimed_ms)
    return False

async def main():
    store = await open_store(url)
    background = Background()
    background.add(*loop.Loop(store, system_clock, (Job("test", int(every_ms), batch),)).loops())
    await background.run()

asyncio.run(main())
"""


class Note:
    def __init__(self, line: str) -> None:
        self.word, pid, at_s, claimed_ms = line.split()
        self.pid, self.at_s, self.claimed_ms = int(pid), float(at_s), int(claimed_ms)


class Processes:
    def __init__(self, engine: str, folder: Path) -> None:
        self.url, self._folder = migrated(engine), folder
        self._notes = folder / "notes"
        self.running: list[Command] = []

    def start(self, count: int, *, every_ms: int, takes_s: float, lease_ms: int = 60_000) -> None:
        arguments = [self.url, str(self._notes), str(every_ms), str(takes_s), str(lease_ms)]
        with open(self._folder / "said", "ab") as output:
            for _ in range(count):
                started = Command(
                    arguments, env=environment(), stdout=output, stderr=output, before=PROCESS
                )
                self.running.append(started)

    def notes(self, word: str) -> list[Note]:
        lines = self._notes.read_text().splitlines() if self._notes.exists() else []
        return [note for note in map(Note, lines) if note.word == word]

    def until(self, word: str, count: int, seconds: float = 30) -> list[Note]:
        give_up = time.monotonic() + seconds
        while len(found := self.notes(word)) < count:
            assert time.monotonic() < give_up, found
            time.sleep(0.01)
        return found


@contextmanager
def processes(engine: str, folder: Path) -> Iterator[Processes]:
    started = Processes(engine, folder)
    try:
        yield started
    finally:
        for process in started.running:
            process.kill()
            process.wait()


@pytest.mark.parametrize("engine", ENGINES)
def test_two_processes_run_a_job_once_per_interval(engine: str, tmp_path: Path) -> None:
    with processes(engine, tmp_path) as two:
        two.start(2, every_ms=400, takes_s=0)
        begun = two.until("begin", 8)
    # By the times that the claims wrote into the database, which no load on the machine moves.
    claimed = sorted(note.claimed_ms for note in begun)
    assert all(after - before >= 400 for before, after in itertools.pairwise(claimed)), claimed


@pytest.mark.parametrize("engine", ENGINES)
def test_a_killed_process_is_replaced(engine: str, tmp_path: Path) -> None:
    with processes(engine, tmp_path) as two:
        two.start(2, every_ms=200, takes_s=60, lease_ms=1_500)
        (first,) = two.until("begin", 1)
        (holder,) = [process for process in two.running if process.pid == first.pid]
        holder.kill()
        _, second = two.until("begin", 2, 10)
        assert second.pid != first.pid


@pytest.mark.parametrize("engine", ENGINES)
def test_a_job_longer_than_its_lease_does_not_overlap_itself(engine: str, tmp_path: Path) -> None:
    with processes(engine, tmp_path) as two:
        two.start(2, every_ms=100, takes_s=2, lease_ms=600)
        two.until("end", 2)
    noted = sorted([*two.notes("begin"), *two.notes("end")], key=lambda note: note.at_s)
    assert [note.word for note in noted][:4] == ["begin", "end", "begin", "end"]


@pytest.mark.parametrize("engine", ["postgres", pytest.param("sqlite", marks=pytest.mark.long)])
def test_an_idle_installation_writes_nothing(engine: str) -> None:
    url = migrated(engine)
    new_account(url)

    def writes() -> object:
        if (path := sqlite_path(url)) is not None:
            return file.execute("PRAGMA data_version").fetchall() if file else path
        return opened.ask(
            "SELECT tup_inserted + tup_updated + tup_deleted FROM pg_stat_database "
            "WHERE datname = current_database()"
        )

    path = sqlite_path(url)
    file = apsw.Connection(str(path)) if path else None
    with Serving(url), OpenStore(engine, url) as opened:
        give_up, seen = time.monotonic() + 60, None
        # Every job runs once at the start; from then on nothing changes for three seconds.
        while seen != (seen := writes()):
            assert time.monotonic() < give_up, "something is written all the time"
            time.sleep(3)
        names = {name for (name,) in opened.ask("SELECT name FROM job_lease WHERE started_ms > 0")}
        assert "check the ledger" in names


def test_the_command_lists_every_job(tmp_path: Path) -> None:
    url = migrated("sqlite")
    new_account(url)
    with Serving(url):
        give_up, rows = time.monotonic() + 30, []
        while not rows or any(row["last_looked"] is None for row in rows):
            assert time.monotonic() < give_up, rows
            done = command("jobs", "--json", database_url=url)
            assert done.returncode == 0, done.stderr
            rows = json.loads(done.stdout)
    assert {
        *("name", "interval_s", "last_run", "duration_ms", "result"),
        *("last_looked", "skipped"),
    } == set(rows[0])
    by_name = {row["name"]: row for row in rows}
    ledger, rewards = (
        by_name["check the ledger"],
        by_name["give added coupon codes to waiting advocates"],
    )
    assert ledger["result"] == "ok" and ledger["last_looked"] >= ledger["last_run"]
    assert rewards["last_run"] is None and rewards["last_looked"] is not None
    output = command("jobs", database_url=url).stdout
    assert "check the ledger" in output and "every   1 d" in output
    assert "no work yet" in output and "has not run yet" not in output
    assert len(output.splitlines()) == len(rows) > 10


def test_the_command_lists_what_a_job_skips() -> None:
    url = migrated("sqlite")
    new_account(url)
    with OpenStore("sqlite", url) as opened:
        opened.do(
            "INSERT INTO job_failure (job, item, failures, error, failed_ms, retry_ms) "
            "VALUES ('send emails', '01a1', 2, 'ValueError', 1, 60001)"
        )
        opened.do(
            "INSERT INTO job_lease (name, leased_until_ms, looked_ms) "
            "VALUES ('send emails', 0, :ms)",
            ms=system_clock(),
        )
    (row,) = [
        row
        for row in json.loads(command("jobs", "--json", database_url=url).stdout)
        if row["name"] == "send emails"
    ]
    assert row["skipped"] == [
        {
            "item": "01a1",
            "error": "ValueError",
            "failures": 2,
            "last_failed": "1970-01-01T00:00:00.001Z",
            "next_try": "1970-01-01T00:01:00.001Z",
        }
    ]
    assert "skipped 01a1: ValueError, failed 2 times" in command("jobs", database_url=url).stdout
    (check,) = [
        each
        for each in json.loads(command("doctor", "--json", database_url=url).stdout)["checks"]
        if each["name"] == "jobs"
    ]
    assert check["level"] == "warning" and "1 item is skipped" in check["message"]


def test_a_job_that_lost_its_lease_stops(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may have it by then."""
    monkeypatch.setattr(loop, "LEASE_MS", 300)
    begun, ended = [], []

    async def batch(store: Store, now_ms: int) -> bool:
        begun.append(now_ms)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(now_ms)
        return False

    async def lose() -> None:
        running = asyncio.create_task(loop.Loop(opened.store, system_clock, (job,)).once(job))
        while not begun:
            await asyncio.sleep(0.01)
        sql = "UPDATE job_lease SET token = 'of another process' WHERE name = 'test'"
        await opened.store.write(lambda tx: tx.run(statement(sql)))
        with pytest.raises(Unavailable):
            await asyncio.wait_for(running, 10)
        # What the other process has is left alone.
        found = await opened.store.read(job_runs.find, "test")
        assert ended == begun and found is not None and found.result is None

    job = Job("test", 1_000, batch)
    opened.run(lose())
