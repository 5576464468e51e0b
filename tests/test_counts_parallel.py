"""Counts stay exact while many processes sign up, refer, confirm, unsubscribe and delete, readers page, and the fold runs."""

from __future__ import annotations

import asyncio
import functools
import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from honeyguide.kernel.ids import new_code, new_id
from honeyguide.store import Tx
from tests.support.process import (
    COMMAND,
    Answer,
    Caller,
    Credentials,
    Serving,
    environment,
    fresh,
    new_account,
)
from tests.support.service import ENGINES
from tests.support.stores import OpenStore, statement

STAR = 1_000  # from here on a subscriber's referrals are kept in runs


@dataclass
class Crowd:
    """Clients of several servers that change one campaign all at once, and what they heard."""

    ports: list[int]
    alice: Credentials
    statuses: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    done: threading.Event = field(default_factory=threading.Event)

    def call(self, number: int) -> Caller:
        return Caller(self.ports[number % len(self.ports)], self.alice.key)

    def note(self, method: str, answer: Answer) -> None:
        self.statuses[f"{method} {answer.status}"] += 1
        if answer.status >= 500:
            self.complaints.append(answer.json()["error"])

    def change(self, number: int, steps: int) -> None:
        dice, call = random.Random(number), self.call(number)
        path = f"{self.alice.v1}/subscribers"
        mine: list[tuple[str, str]] = []
        for step in range(steps):
            what = dice.random()
            if what < 0.6 or not mine:
                body: dict[str, Any] = {"email": f"reader{number}-{step}@example.org"}
                if self.codes and dice.random() < 0.7:
                    # Mostly the same few: their rows are the hot ones.
                    body["referrer_code"] = self.codes[
                        min(int(dice.expovariate(0.5)), len(self.codes) - 1)
                    ]
                if dice.random() < 0.3:
                    body["created_at"] = (
                        f"20{dice.randint(10, 25)}-0{dice.randint(1, 9)}-11T10:00:00Z"
                    )
                answer = call("POST", path, body)
                self.note("POST", answer)
                if answer.status == 201:
                    subscriber = answer.json()["subscriber"]
                    mine.append((subscriber["uuid"], subscriber["ref_code"]))
                    if dice.random() < 0.3:
                        self.codes.append(subscriber["ref_code"])
            elif what < 0.75:
                status = dice.choice(["confirmed", "unsubscribed"])
                answer = call(
                    "PUT", f"{path}/{dice.choice(mine)[0]}", {"status": status, "name": f"n{step}"}
                )
                self.note("PUT", answer)
            else:
                uuid, _ = mine.pop(dice.randrange(len(mine)))
                answer = call("DELETE", f"{path}/{uuid}")
                self.note("DELETE", answer)

    def read(self, number: int) -> None:
        """Pages through lists while they change: never an error, never a page that contradicts itself."""
        dice, call = random.Random(number), self.call(number)
        while not self.done.is_set():
            kind, per_page, page = (
                dice.choice(["all", "referrals", "advocates"]),
                dice.choice([5, 50, 200]),
                dice.randint(1, 8),
            )
            answer = call(
                "GET", f"{self.alice.v1}/subscribers?type={kind}&per_page={per_page}&page={page}"
            )
            self.note("GET", answer)
            body = answer.json()
            rows, total = body["subscribers"], body["meta"]["total_subscribers"]
            # Page and total are of one snapshot, so the page's length follows from the total.
            assert len(rows) == max(0, min(per_page, total - (page - 1) * per_page)), (
                kind,
                per_page,
                page,
                total,
                len(rows),
            )
            assert len({row["uuid"] for row in rows}) == len(rows)
            assert [row["created_at"] for row in rows] == sorted(
                (row["created_at"] for row in rows), reverse=True
            )
            self.done.wait(0.01)  # the processors are for the writers

    def run(self, changers: int, steps: int, readers: int = 2) -> None:
        with ThreadPoolExecutor(changers + readers) as pool:
            reading = [pool.submit(self.read, number) for number in range(readers)]
            changing = [pool.submit(self.change, number, steps) for number in range(changers)]
            try:
                for future in changing:
                    future.result()
            finally:
                self.done.set()
            for future in reading:
                future.result()
        self.done.clear()


def every_page(call: Caller, path: str, per_page: int = 200) -> tuple[list[dict[str, Any]], int]:
    rows: list[dict[str, Any]] = []
    glue = "&" if "?" in path else "?"
    page = 1
    while True:
        answer = call("GET", f"{path}{glue}per_page={per_page}&page={page}")
        assert answer.status == 200, answer
        body = answer.json()
        rows += body["subscribers"]
        if page >= body["meta"]["total_pages"]:
            return rows, body["meta"]["total_subscribers"]
        page += 1


def assert_exact(call: Caller, alice: Credentials, engine: str, url: str) -> None:
    """The API against a recount of the raw rows: every total, every page, every count, the kept sums."""
    with OpenStore(engine, url) as raw:
        rows = raw.ask(
            "SELECT id, erased_ms IS NULL, referrer_id, referrer_code, referral_status, created_ms,"
            " referrals_verified, referrals_pending, referrals_rejected, is_advocate FROM subscriber"
        )
        negative = raw.ask(
            "SELECT list, n FROM listing_run WHERE n < 0 UNION ALL SELECT list, n FROM listing WHERE n < 0"
        )
    assert negative == []
    alive = {row[0]: row for row in rows if row[1]}
    tally: Counter[tuple[str, str]] = Counter((row[2], row[4]) for row in alive.values() if row[2])
    for row in rows:
        counted = tuple(tally[row[0], status] for status in ("verified", "pending", "rejected"))
        assert row[6:9] == counted, row
        assert row[9] == (counted[0] > 0)
    order = sorted(alive.values(), key=lambda row: (row[5], row[0]), reverse=True)
    lists: dict[str, Callable[[Any], bool]] = {
        "all": lambda row: True,
        "referrals": lambda row: row[3] is not None,
        "advocates": lambda row: bool(row[9]),
    }
    for kind, belongs in lists.items():
        expected = [row[0] for row in order if belongs(row)]
        for per_page in (200, 77) if len(expected) < STAR else (200,):
            listed, total = every_page(call, f"{alice.v1}/subscribers?type={kind}", per_page)
            assert total == len(expected)
            assert [row["uuid"] for row in listed] == expected
    best = sorted(
        {row[2] for row in alive.values() if row[2] in alive},
        key=lambda who: -tally[who, "verified"],
    )[:3]
    for who in best:
        assert (
            call("GET", f"{alice.v1}/subscribers/{who}").json()["subscriber"]["referrals_count"]
            == tally[who, "verified"]
        )
        listed, total = every_page(call, f"{alice.v1}/subscribers/{who}/referrals")
        assert [row["uuid"] for row in listed] == [row[0] for row in order if row[2] == who]
        assert total == len(listed)


@contextmanager
def working(url: str, many: int) -> Iterator[None]:
    """`honeyguide work`, several times, beside the servers."""
    with ExitStack() as stack:
        crew = [
            subprocess.Popen(
                [*COMMAND, "work"],
                env=environment(database_url=url),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for _ in range(many)
        ]
        for worker in crew:
            stack.callback(_stop, worker)
        for worker in crew:
            assert worker.stdout is not None and worker.stdout.readline().startswith(
                b"Running background jobs"
            ), worker.communicate()
        yield
        assert all(worker.poll() is None for worker in crew), "a worker died"


def _stop(worker: subprocess.Popen[bytes]) -> None:
    worker.send_signal(signal.SIGINT)
    _, said = worker.communicate(timeout=20)
    assert b"Traceback" not in said and b"failed" not in said, said.decode()


def test_four_processes_and_two_workers_on_postgres_count_exactly():
    url = fresh("postgres")
    alice = new_account(url)
    with ExitStack() as stack:
        servers = [
            Serving(url, *(() if number == 0 else ("--no-work",)), pool_size=5)
            for number in range(4)
        ]
        for server in servers:
            stack.callback(server.__exit__, None, None, None)
            server.start(wait=False)
        for server in servers:
            server.wait_for()
        stack.enter_context(working(url, 2))
        crowd = Crowd([server.port for server in servers], alice)
        crowd.run(changers=8, steps=40)
        assert_heard_no_error(crowd)
        assert_exact(servers[1].caller(alice.key), alice, "postgres", url)
        assert all("Traceback" not in server.said for server in servers)
        with OpenStore("postgres", url) as raw:  # each would have cost somebody a second
            assert raw.ask(
                "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
            ) == [(0,)]


def test_one_process_and_many_connections_on_sqlite_count_exactly():
    url = fresh("sqlite")
    alice = new_account(url)
    with Serving(url) as server:
        crowd = Crowd([server.port], alice)
        crowd.run(changers=8, steps=40)
        assert_heard_no_error(crowd)
        assert_exact(server.caller(alice.key), alice, "sqlite", url)
        assert "Traceback" not in server.said


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
def test_a_longer_crowd_counts_exactly(engine):
    url = fresh(engine)
    alice = new_account(url)
    with ExitStack() as stack:
        servers = [
            stack.enter_context(Serving(url, pool_size=5))
            for _ in range(4 if engine == "postgres" else 1)
        ]
        crowd = Crowd([server.port for server in servers], alice)
        for _ in range(3):
            crowd.run(changers=12, steps=500)
            assert_exact(servers[0].caller(alice.key), alice, engine, url)
        assert_heard_no_error(crowd)


def assert_heard_no_error(crowd: Crowd) -> None:
    assert set(crowd.statuses) <= {"POST 201", "POST 400", "PUT 200", "DELETE 200", "GET 200"}, (
        crowd.statuses,
        crowd.complaints,
    )
    assert (
        crowd.statuses["GET 200"] > 20
        and crowd.statuses["DELETE 200"] > 20
        and crowd.statuses["PUT 200"] > 20
    )


def test_erasing_somebody_whose_code_is_just_being_used_locks_nobody_out():
    """The eraser holds the row, others wait to be counted on it, and it must not have to wait for them in turn."""
    url = fresh("postgres")
    alice = new_account(url)
    with Serving(url) as server, OpenStore("postgres", url) as raw, ThreadPoolExecutor(4) as pool:
        path = f"{alice.v1}/subscribers"
        star = server.caller(alice.key)("POST", path, {"email": "star@example.org"}).json()[
            "subscriber"
        ]
        waiting = statement(
            "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        signups: list[Future[Answer]] = []

        async def erase(tx: Tx) -> None:
            assert not signups, "a deadlock made it run again"
            await tx.all(
                statement("SELECT id FROM subscriber WHERE id = :id FOR NO KEY UPDATE"),
                id=star["uuid"],
            )
            for number in range(4):
                body = {"email": f"reader{number}@example.org", "referrer_code": star["ref_code"]}
                signups.append(pool.submit(server.caller(alice.key), "POST", path, body))
            while len(await raw.store.read(lambda tx: tx.all(waiting))) < 4:
                await asyncio.sleep(0.005)
            gone = (
                "UPDATE subscriber SET email = NULL, email_key = NULL, erased_ms = 1 WHERE id = :id"
            )
            await tx.run(statement(gone), id=star["uuid"])

        raw.run(raw.store.write(erase))
        assert [signup.result().status for signup in signups] == [201] * 4
        assert raw.ask(
            "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        ) == [(0,)]


def test_parallel_signups_of_one_email_make_one_subscriber():
    for engine in ENGINES:
        url = fresh(engine)
        alice = new_account(url)
        with Serving(url) as server, ThreadPoolExecutor(8) as pool:

            def sign_up(number: int, server: Serving = server, alice: Credentials = alice) -> int:
                body = {
                    "email": f"Ana{number // 8}@Example.org"
                    if number % 2
                    else f"ana{number // 8}@example.org"
                }
                return server.caller(alice.key)("POST", f"{alice.v1}/subscribers", body).status

            assert Counter(pool.map(sign_up, range(64))) == {201: 8, 400: 56}
            assert_exact(server.caller(alice.key), alice, engine, url)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_star_s_list_is_exact_below_at_and_above_the_threshold_and_back(engine):
    url = fresh(engine)
    alice = new_account(url)
    path = f"{alice.v1}/subscribers"
    with Serving(url, pool_size=5) as server:
        call = server.caller(alice.key)
        star = call("POST", path, {"email": "star@example.org"}).json()["subscriber"]
        _bring(engine, url, alice, star, STAR - 20)
        assert_star(call, alice, star, STAR - 20)
        crowd = Crowd([server.port], alice, codes=[star["ref_code"]])
        with ThreadPoolExecutor(8) as pool:
            # Over the threshold by parallel signups, with deletions among them, then back under it and over it again.
            grown = list(pool.map(lambda n: _refer(crowd, star, n), range(60)))
            assert_star(call, alice, star, STAR + 40)
            gone = [uuid for uuid in grown if uuid][:50]
            assert set(
                pool.map(lambda uuid: crowd.call(0)("DELETE", f"{path}/{uuid}").status, gone)
            ) == {200}
            assert_star(call, alice, star, STAR - 10)
            list(pool.map(lambda n: _refer(crowd, star, n), range(100, 120)))
        assert_star(call, alice, star, STAR + 10)
        # Well past two runs, so that the list is cut; deep pages are then found by the cuts.
        _bring(engine, url, alice, star, 2_500)
        wait_for_cuts(engine, url, star)
        assert_star(call, alice, star, STAR + 2_510)
        for row in every_page(call, f"{path}/{star['uuid']}/referrals")[0][::50]:
            assert call("DELETE", f"{path}/{row['uuid']}").status == 200
        assert_star(call, alice, star, STAR + 2_510 - 71)
        assert_exact(call, alice, engine, url)


def _refer(crowd: Crowd, star: dict[str, Any], number: int) -> str:
    body: dict[str, Any] = {"email": f"late{number}@example.org", "referrer_code": star["ref_code"]}
    if number % 3 == 0:
        body["created_at"] = "2015-05-05T05:05:05Z"
    answer = crowd.call(number)("POST", f"{crowd.alice.v1}/subscribers", body)
    assert answer.status == 201, answer
    return str(answer.json()["subscriber"]["uuid"])


def _bring(engine: str, url: str, alice: Credentials, star: dict[str, Any], many: int) -> None:
    """Referrals written straight into the table; its triggers count them as they count any other. Many share a moment."""
    insert = statement(
        """INSERT INTO subscriber (
            id, account_id, campaign_id, email, email_key, person_key, ref_code, referrer_code, referrer_id, origin, created_ms,
            received_ms
        ) VALUES (
            :id, :account_id, :campaign_id, :email, :email, :email, :code, :referrer_code, :referrer_id, 'x', :created_ms, 1
        )"""
    )

    async def work(tx: Tx, begin: int) -> None:
        for number in range(begin, min(begin + 200, many)):
            await tx.put(
                insert,
                id=new_id(),
                account_id=alice.account_id,
                campaign_id=alice.campaign_id,
                code=new_code(),
                email=f"{new_id()}@example.org",
                referrer_code=star["ref_code"],
                referrer_id=star["uuid"],
                created_ms=1_700_000_000_000 + number // 7,
            )

    with OpenStore(engine, url) as raw:
        for begin in range(0, many, 200):
            raw.run(raw.store.write(functools.partial(work, begin=begin)))


def wait_for_cuts(engine: str, url: str, star: dict[str, Any]) -> None:
    deadline = time.monotonic() + 30
    with OpenStore(engine, url) as raw:
        while True:
            runs = raw.ask(
                "SELECT COUNT(*) FROM listing_run WHERE list = :list",
                list=f"{star['uuid']}/brought",
            )[0][0]
            notes = raw.ask("SELECT COUNT(*) FROM count_note")[0][0]
            if runs >= 3 and notes == 0:
                return
            assert time.monotonic() < deadline, f"never cut: {runs} runs, {notes} notes"
            time.sleep(0.05)


def assert_star(call: Caller, alice: Credentials, star: dict[str, Any], brought: int) -> None:
    for per_page in (200, 73) if brought > STAR else (200,):
        rows, total = every_page(call, f"{alice.v1}/subscribers/{star['uuid']}/referrals", per_page)
        assert total == brought
        assert len(rows) == len({row["uuid"] for row in rows}) == brought
        keys = [(row["created_at"], row["uuid"]) for row in rows]
        assert keys == sorted(keys, reverse=True)
    assert (
        call("GET", f"{alice.v1}/subscribers/{star['uuid']}").json()["subscriber"][
            "referrals_count"
        ]
        == brought
    )
