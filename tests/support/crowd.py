"""Clients that change one campaign at the same time, and a recount of all it counts."""

import random
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from tests.support.process import (
    Answer,
    Caller,
    Credentials,
)
from tests.support.stores import OpenStore

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
        own: list[tuple[str, str]] = []
        for step in range(steps):
            what = dice.random()
            if what < 0.6 or not own:
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
                    own.append((subscriber["uuid"], subscriber["ref_code"]))
                    if dice.random() < 0.3:
                        self.codes.append(subscriber["ref_code"])
            elif what < 0.75:
                status = dice.choice(["confirmed", "unsubscribed"])
                answer = call(
                    "PUT", f"{path}/{dice.choice(own)[0]}", {"status": status, "name": f"n{step}"}
                )
                self.note("PUT", answer)
            else:
                uuid, _ = own.pop(dice.randrange(len(own)))
                answer = call("DELETE", f"{path}/{uuid}")
                self.note("DELETE", answer)

    def read(self, number: int) -> None:
        """Pages through lists while they change: never an error, never a page that contradicts
        itself.
        """
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
    """The API against a recount of the raw rows: every total, every page, every count, the kept
    sums.
    """
    with OpenStore(engine, url) as raw:
        rows = raw.ask(
            "SELECT id, erased_ms IS NULL, referrer_id, referrer_code, referral_status, created_ms,"
            " referrals_verified, referrals_pending, referrals_rejected, is_advocate FROM "
            "subscriber"
        )
        negative = raw.ask(
            "SELECT list, n FROM listing_run WHERE n < 0 UNION ALL SELECT list, n FROM listing "
            "WHERE n < 0"
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
