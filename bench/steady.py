"""A steady load: so many requests a second, whether or not the earlier ones were answered. A
request's latency counts from the moment at which it was due, so a pause of the service shows in
full.

Run by `steady` and `start` as `python -m bench.steady`, in a process of its own.
"""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import time
from array import array
from collections import deque
from collections.abc import Iterator

import msgspec
import uvloop

from bench.answers import AnswerReader

TICK_S = 0.001
PATIENCE_S = 30.0


class Stream(msgspec.Struct, frozen=True):
    """One kind of request. With `number_from` each is formatted with a number of its own
    (`%012d`).
    """

    name: str
    per_second: float
    requests: list[bytes]
    expect: int
    number_from: int | None = None


class Load(msgspec.Struct, frozen=True):
    port: int
    streams: list[Stream]
    seconds: float
    connections: int = 64


class Latencies(msgspec.Struct, frozen=True):
    due: int
    sent: int
    median_ms: float
    p99_ms: float
    longest_ms: float
    unexpected: int
    # How late the load generator itself was at most: it shares the machine.
    late_ms: float


class _Source:
    def __init__(self, stream: Stream) -> None:
        self.expect = b"HTTP/1.1 %d" % stream.expect
        self.interval_s = 1 / stream.per_second
        self.requests: Iterator[bytes] = itertools.cycle(stream.requests)
        if stream.number_from is not None:
            numbers = itertools.count(stream.number_from)
            self.requests = (one % next(numbers) for one in itertools.cycle(stream.requests))
        self.due = 0
        self.sent = 0
        self.unexpected = 0
        self.first_wrong = b""
        self.late_s = 0.0
        self.latencies = array("f")


class _Connection(asyncio.Protocol):
    def __init__(self, idle: deque[_Connection]) -> None:
        self._idle = idle
        self._reader = AnswerReader()
        self._source: _Source | None = None
        self._due = 0.0

    def connection_made(self, transport: asyncio.WriteTransport) -> None:  # type: ignore[override]
        self._transport = transport
        self._idle.append(self)

    def send(self, source: _Source, due: float) -> None:
        self._source, self._due = source, due
        source.sent += 1
        self._transport.write(next(source.requests))

    def data_received(self, data: bytes) -> None:
        got = self._reader.add(data)
        if got is None:
            return
        source, self._source = self._source, None
        assert source is not None
        source.latencies.append(time.perf_counter() - self._due)
        if not got.startswith(source.expect):
            source.unexpected += 1
            source.first_wrong = source.first_wrong or got
        self._idle.append(self)

    def connection_lost(self, error: Exception | None) -> None:
        if self._source is not None:
            self._source.unexpected += 1


async def _send_all(load: Load) -> dict[str, Latencies]:
    loop = asyncio.get_running_loop()
    idle: deque[_Connection] = deque()
    for _ in range(load.connections):
        await loop.create_connection(lambda: _Connection(idle), "127.0.0.1", load.port)
    sources = {stream.name: _Source(stream) for stream in load.streams}
    waiting: deque[tuple[float, _Source]] = deque()
    began = time.perf_counter()
    next_due = dict.fromkeys(sources, began)
    while (now := time.perf_counter()) < began + load.seconds:
        for name, source in sources.items():
            source.late_s = max(source.late_s, now - next_due[name])
            while next_due[name] <= now:
                waiting.append((next_due[name], source))
                source.due += 1
                next_due[name] += source.interval_s
        while waiting and idle:
            due, source = waiting.popleft()
            idle.popleft().send(source, due)
        await asyncio.sleep(TICK_S)
    deadline = time.perf_counter() + PATIENCE_S
    while len(idle) < load.connections and time.perf_counter() < deadline:
        await asyncio.sleep(0.01)
    return {name: _latencies(source) for name, source in sources.items()}


def _latencies(source: _Source) -> Latencies:
    if source.first_wrong:
        print(source.first_wrong[:2000].decode("latin-1"), file=sys.stderr)
    found = sorted(source.latencies) or [0.0]
    return Latencies(
        due=source.due,
        sent=source.sent,
        median_ms=found[len(found) // 2] * 1000,
        p99_ms=found[int(len(found) * 0.99)] * 1000,
        longest_ms=found[-1] * 1000,
        unexpected=source.unexpected + source.sent - len(source.latencies),
        late_ms=source.late_s * 1000,
    )


class Running:
    """A load that goes on beside the caller."""

    def __init__(self, load: Load, core: int | None) -> None:
        command = [sys.executable, "-m", "bench.steady"]
        if core is not None:
            command = ["taskset", "-c", str(core), *command]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.msgpack.encode(load))
        self._process.stdin.close()
        self._process.stdin = None

    @property
    def is_over(self) -> bool:
        return self._process.poll() is not None

    def result(self, *, may_fail: bool = False) -> dict[str, Latencies]:
        """Waits for the end. An answer with another status than expected spoils the run, unless
        some may fail."""
        output, _ = self._process.communicate()
        if self._process.returncode:
            raise RuntimeError("the load generator failed")
        found = msgspec.msgpack.decode(output, type=dict[str, Latencies])
        for name, latencies in found.items():
            if latencies.unexpected and not may_fail:
                raise RuntimeError(
                    f"{latencies.unexpected} of {latencies.sent} answers to {name} were unexpected"
                )
        return found


if __name__ == "__main__":
    asked = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Load)
    sys.stdout.buffer.write(msgspec.msgpack.encode(uvloop.run(_send_all(asked))))
