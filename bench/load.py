"""The load: one process, raw keep-alive connections, requests made beforehand. Light enough to keep
a no-op server busy.

Run by `drive` as `python -m bench.load`, so that the load has a core to itself.
"""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import time
from collections.abc import Iterator

import msgspec
import uvloop

from bench.answers import AnswerReader

WARM_S = 0.2
PATIENCE_S = 30  # for the first answer


class Job(msgspec.Struct, frozen=True):
    """`requests` are sent in turn; with `number_from` each is formatted with a number of its own
    (`%012d`).
    """

    port: int
    requests: list[bytes]
    expect: int
    connections: int
    seconds: float
    number_from: int | None = None


class Driven(msgspec.Struct, frozen=True):
    rate: float
    median_ms: float
    p99_ms: float
    unexpected: int
    sent: int


class _Tally:
    def __init__(self, job: Job) -> None:
        self.requests: Iterator[bytes] = itertools.cycle(job.requests)
        if job.number_from is not None:
            numbers = itertools.count(job.number_from)
            self.requests = (request % next(numbers) for request in itertools.cycle(job.requests))
        self.expect = b"HTTP/1.1 %d" % job.expect
        self.open = True
        self.sent = 0
        self.unexpected = 0
        self.first_wrong = b""
        self.latencies: list[float] = []


class _Connection(asyncio.Protocol):
    def __init__(self, tally: _Tally) -> None:
        self._tally = tally
        self._reader = AnswerReader()
        self._began = 0.0
        self.closed = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.WriteTransport) -> None:  # type: ignore[override]
        self._transport = transport
        self._ask()

    def _ask(self) -> None:
        self._tally.sent += 1
        self._began = time.perf_counter()
        self._transport.write(next(self._tally.requests))

    def data_received(self, data: bytes) -> None:
        got = self._reader.add(data)
        if got is None:
            return
        tally = self._tally
        tally.latencies.append(time.perf_counter() - self._began)
        if not got.startswith(tally.expect):
            tally.unexpected += 1
            tally.first_wrong = tally.first_wrong or got
        if tally.open:
            self._ask()
        else:
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if self._tally.open:
            self._tally.unexpected += 1
        if not self.closed.done():
            self.closed.set_result(None)


async def _drive(job: Job) -> Driven:
    tally = _Tally(job)
    loop = asyncio.get_running_loop()
    made = [
        await loop.create_connection(lambda: _Connection(tally), "127.0.0.1", job.port)
        for _ in range(job.connections)
    ]
    await asyncio.sleep(min(WARM_S, job.seconds / 4))
    tally.latencies.clear()
    began = time.perf_counter()
    await asyncio.sleep(job.seconds)
    # On a busy machine the first answer can take longer than a quick bench measures.
    while not tally.latencies and time.perf_counter() - began < PATIENCE_S:
        await asyncio.sleep(0.05)
    took, latencies = time.perf_counter() - began, sorted(tally.latencies)
    tally.open = False
    await asyncio.wait([connection.closed for _, connection in made], timeout=10)
    if tally.first_wrong:
        print(tally.first_wrong[:2000].decode("latin-1"), file=sys.stderr)
    if not latencies:
        return Driven(0, 0, 0, tally.unexpected, tally.sent)
    median, p99 = latencies[len(latencies) // 2], latencies[int(len(latencies) * 0.99)]
    return Driven(len(latencies) / took, median * 1000, p99 * 1000, tally.unexpected, tally.sent)


def drive(job: Job) -> Driven:
    return drive_all([job])[0]


def drive_all(jobs: list[Job]) -> list[Driven]:
    """Runs the jobs at once in a process of their own; an answer with another status than expected
    spoils the run, loudly.
    """
    done = subprocess.run(
        [sys.executable, "-m", "bench.load"],
        input=msgspec.msgpack.encode(jobs),
        stdout=subprocess.PIPE,
        check=True,
    )
    all_driven = msgspec.msgpack.decode(done.stdout, type=list[Driven])
    for job, driven in zip(jobs, all_driven, strict=True):
        if driven.unexpected or not driven.rate:
            raise RuntimeError(
                f"{driven.unexpected} of {driven.sent} answers were not {job.expect}"
            )
    return all_driven


async def _drive_all(jobs: list[Job]) -> list[Driven]:
    return await asyncio.gather(*map(_drive, jobs))


def request(method: str, path: str, key: str, body: bytes = b"") -> bytes:
    """As a client sends it. With a body that is formatted later, `%012d` counts as the twelve
    digits it becomes.
    """
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: {key}\r\n"
    if body:
        length = len(body.replace(b"%012d", b"0" * 12))
        head += f"Content-Type: application/json\r\nContent-Length: {length}\r\n"
    return head.encode() + b"\r\n" + body


if __name__ == "__main__":
    asked = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=list[Job])
    sys.stdout.buffer.write(msgspec.msgpack.encode(uvloop.run(_drive_all(asked))))
