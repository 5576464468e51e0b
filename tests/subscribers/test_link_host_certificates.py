"""`doctor` warns of a link host whose certificate is about to end, while its links still work."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from honeyguide.events.outbound import Outbound, OutboundPolicy
from honeyguide.operating.doctor import link_hosts
from honeyguide.operating.doctor.results import CheckResult, HealthLevel
from honeyguide.subscribers.link_host_rules import ROBOTS
from tests.support.certificates import certified

HOST = "go.x.example"
POLICY = OutboundPolicy(https_only=False, loopback_ok=True)


async def here(host: str) -> Sequence[str]:
    return ["127.0.0.1"]


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A link host's file for robots; nothing to who only looks at the certificate."""
    if await reader.readline():
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(ROBOTS)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + ROBOTS)
        await writer.drain()
    writer.close()


def asked(offered: str, ends_in: timedelta) -> CheckResult:
    server_tls, client_tls = certified(offered, datetime.now(UTC) + ends_in)

    async def ask() -> CheckResult:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=server_tls)
        port = server.sockets[0].getsockname()[1]
        outbound = Outbound(POLICY, lookup=here, tls=client_tls)
        async with server:
            try:
                return await link_hosts.ask(outbound, f"https://refer.example:{port}", [HOST])
            finally:
                await outbound.close()

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("offered", "days", "level", "says"),
    [
        (HOST, 60, HealthLevel.OK, "All answer"),
        (HOST, 5.5, HealthLevel.WARNING, f"about to end: {HOST}: 5 days left."),
        ("other.example", 60, HealthLevel.WARNING, "Links do not work on"),
    ],
)
def test_a_certificate_that_ends_soon_is_a_warning(
    offered: str, days: float, level: HealthLevel, says: str
) -> None:
    result = asked(offered, timedelta(days=days))
    assert result.level is level and says in result.message, result
