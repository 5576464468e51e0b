"""Ten times as many writers as keep the service busy: some are shed, whoever is let in is quick,
nothing acknowledged is lost, and memory stays what it was.
"""

import asyncio
import itertools
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from honeyguide.api.handler import MOST_WRITING
from tests.support.process import Credentials, Serving, migrated, new_account
from tests.support.service import ENGINES

WRITERS = 10 * 64
LOAD_S = 4.0
# Whoever is refused does not wait for the database, so that is how long the machine takes. Whoever
# is let in waits for the few dozen before them besides.
MOST_TIMES = 10
GROWN_MB = 40


class Answered(NamedTuple):
    outcome: int | str  # the status, or the error code of a 500
    seconds: float


async def write_and_write(
    port: int, alice: Credentials, numbers: Iterator[int], seconds: float, ready: asyncio.Barrier
) -> list[Answered]:
    """One client that never waits between its requests, not even when it is told to."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answered = []
    await ready.wait()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        body = json.dumps({"email": f"reader{next(numbers)}@example.org"}).encode()
        began = time.monotonic()
        writer.write(
            f"POST {alice.v1}/subscribers HTTP/1.1\r\nHost: x\r\nX-Api-Key: {alice.key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        answer = json.loads(await reader.readexactly(length))
        outcome = answer["code"] if head[9:12] == b"500" else int(head[9:12])
        answered.append(Answered(outcome, time.monotonic() - began))
    writer.close()
    return answered


async def crowd(
    port: int, alice: Credentials, writers: int, seconds: float, numbers: Iterator[int]
) -> list[Answered]:
    ready = asyncio.Barrier(writers)  # all begin at once
    each = await asyncio.gather(
        *(write_and_write(port, alice, numbers, seconds, ready) for _ in range(writers))
    )
    return [one for answered in each for one in answered]


def resident_mb(pid: int) -> float:
    line = next(
        line
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("VmRSS")
    )
    return int(line.split()[1]) / 1024


def slowest_s(answered: list[Answered], outcome: int | str) -> float:
    """Of all with this outcome but one in a hundred."""
    seconds = sorted(one.seconds for one in answered if one.outcome == outcome)
    return seconds[int(len(seconds) * 0.99)]


@pytest.mark.long  # how quick it is shows on a machine that does nothing else
@pytest.mark.parametrize("engine", ENGINES)
def test_ten_times_too_many_are_shed_and_the_others_served_well(engine: str) -> None:
    assert WRITERS > 2 * MOST_WRITING
    url = migrated(engine)
    alice = new_account(url)
    with Serving(url) as server:
        numbers = itertools.count(1)
        warm = asyncio.run(crowd(server.port, alice, 64, 1.0, numbers))
        before_mb = resident_mb(server.process.pid)
        answered = warm + asyncio.run(crowd(server.port, alice, WRITERS, LOAD_S, numbers))
        outcomes = Counter(one.outcome for one in answered)
        assert set(outcomes) == {201, "overloaded"}, outcomes
        assert slowest_s(answered, 201) < MOST_TIMES * slowest_s(answered, "overloaded")
        assert resident_mb(server.process.pid) - before_mb < GROWN_MB
        total = server.caller(alice.key)("GET", f"{alice.v1}/subscribers?per_page=1").json()[
            "meta"
        ]["total_subscribers"]
        assert total == outcomes[201]
