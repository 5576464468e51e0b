"""Receivers on real sockets that misbehave as told; only DNS is faked."""

import asyncio
import errno
import itertools
import random
import ssl
from contextlib import asynccontextmanager

import pytest

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Server:
    def __init__(self, answer, tls=None):
        self.answer, self.tls = answer, tls
        self.connections, self.requests, self.sent, self.port = 0, [], 0, 0

    async def serve(self, reader, writer):
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = [
                    int(line[15:])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length:")
                ]
                self.requests.append(head + await reader.readexactly(sum(length)))
                if callable(self.answer):
                    await self.answer(self, writer)
                else:
                    writer.write(self.answer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ssl.SSLError):
            pass
        finally:
            writer.close()

    async def send(self, writer, data):
        writer.write(data)
        await writer.drain()
        self.sent += len(data)


@asynccontextmanager
async def listening(answer=OK, tls=None, host="127.0.0.1"):
    """On a port that the strict policy takes, so that the port is never the reason for a
    refusal.
    """
    server = Server(answer, tls)
    while not server.port:
        try:
            port = random.randrange(8100, 9000)
            listener = await asyncio.start_server(server.serve, host, port, ssl=tls)
            server.port = port
        except OSError as error:
            if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                # Nobody can listen there, so nothing can get through; that such addresses are
                # refused is tested as text.
                pytest.skip(
                    f"this machine has no address {host}; tests/events/test_addresses.py holds "
                    f"the rule without dialling"
                )
    yield server
    listener.close()


def run(scenario):
    async def bounded():
        async with asyncio.timeout(30):
            await scenario()

    asyncio.run(bounded())


def resolving_to(*answers):
    """A name server that gives these answers in turn and then its last one for ever."""
    turns = itertools.chain(answers, itertools.repeat(answers[-1]))

    async def lookup(host):
        return next(turns)

    return lookup


async def post(outbound, url, body=b"{}", headers=None):
    try:
        return await outbound.post(url, body, headers or {})
    finally:
        await outbound.close()
