"""A receiver that costs next to nothing: a POST is answered 200 and noted with its moment; GET
/notes/N waits until there are N and hands them over.

Run as `python -m bench.sink PORT`.
"""

from __future__ import annotations

import asyncio
import sys
import time

import msgspec
import uvloop

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
arrived: list[tuple[str, float]] = []
asked: list[tuple[int, asyncio.WriteTransport]] = []


class Sink(asyncio.Protocol):
    def __init__(self) -> None:
        self._got = b""

    def connection_made(self, transport: asyncio.WriteTransport) -> None:  # type: ignore[override]
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._got += data
        while (head := self._got.find(b"\r\n\r\n")) >= 0:
            lower = self._got[:head].lower()
            whole = head + 4 + int(_header(lower, b"content-length") or 0)
            if len(self._got) < whole:
                return
            self._got = self._got[whole:]
            if lower.startswith(b"get /notes/"):
                asked.append((int(lower[11:].split(b" ", 1)[0]), self._transport))
            else:
                if lower.startswith(b"post"):
                    arrived.append((_header(lower, b"webhook-id").decode(), time.monotonic()))
                self._transport.write(OK)
        hand_over()


def hand_over() -> None:
    if asked and len(arrived) >= asked[0][0]:
        _, transport = asked.pop(0)
        body = msgspec.json.encode(arrived)
        arrived.clear()
        transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


def _header(lower: bytes, name: bytes) -> bytes:
    at = lower.find(b"\r\n" + name + b":")
    return b"" if at < 0 else lower[at + len(name) + 3 :].split(b"\r\n", 1)[0].strip()


async def main(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Sink, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))
