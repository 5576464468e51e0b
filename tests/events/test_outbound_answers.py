"""Whatever a receiver answers, an attempt costs some seconds and some kilobytes, and is told in
plain words.
"""

import asyncio
import gzip
import socket
import struct
import time
from email.utils import formatdate

import pytest

from honeyguide.events.outbound import Outbound, retry_after_s
from tests.events.test_addresses import LAX
from tests.support.receivers import listening, post, run


async def endless(server, writer):
    await server.send(writer, b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
    while server.sent < 100_000_000:
        await server.send(writer, b"x" * 65536)


async def test_an_endless_body_is_cut_and_its_status_counts():
    async with listening(endless) as server:
        answer = await post(Outbound(LAX), f"http://127.0.0.1:{server.port}/")
        assert (answer.status, answer.error_kind, answer.body) == (200, "", "x" * 1024)
        assert (
            answer.latency_ms < 2000 and server.sent < 20_000_000
        )  # what the kernel's buffers took, not what was read


async def in_small_pieces(server, writer):
    await server.send(writer, b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
    while server.sent < 1_000_000:
        await server.send(writer, b"x" * 600)
        await asyncio.sleep(0.001)


async def test_a_body_in_small_pieces_is_read_for_20_kilobytes_and_kept_for_one():
    async with listening(in_small_pieces) as server:
        answer = await post(Outbound(LAX), f"http://127.0.0.1:{server.port}/")
        assert (answer.status, answer.error_kind, answer.body) == (200, "", "x" * 1024)
        assert 20 * 1024 < server.sent < 500_000


async def stalling(server, writer):
    await server.send(writer, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart")
    await asyncio.sleep(20)


async def breaking(server, writer):
    await server.send(writer, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart")
    await asyncio.sleep(0.05)
    await reset(server, writer)


@pytest.mark.parametrize("answering", [stalling, breaking])
async def test_a_body_that_stalls_or_breaks_leaves_the_status_standing(answering):
    async with listening(answering) as server:
        answer = await post(Outbound(LAX, total_s=0.3), f"http://127.0.0.1:{server.port}/")
        assert (answer.status, answer.error_kind, answer.body) == (200, "", "part")
        assert answer.latency_ms < 5000


def test_a_gzip_bomb_is_never_inflated():
    bomb = gzip.compress(b"boom" * 4_000_000)  # under 20 KB on the wire
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n\r\n".encode()
    )

    async def scenario():
        async with listening(head + bomb) as server:
            answer = await post(Outbound(LAX), f"http://127.0.0.1:{server.port}/")
            assert answer.status == 200
            assert len(answer.body) <= 1024 and "boom" * 10 not in answer.body

    run(scenario)


async def endless_headers(server, writer):
    await server.send(writer, b"HTTP/1.1 200 OK\r\n")
    while server.sent < 100_000_000:
        await server.send(writer, b"X-Filler: " + b"x" * 4000 + b"\r\n")


async def one_endless_header(server, writer):
    await server.send(writer, b"HTTP/1.1 200 OK\r\nX-Filler: ")
    while server.sent < 100_000_000:
        await server.send(writer, b"x" * 4000)


async def noise(server, writer):
    await server.send(writer, b"SSH-2.0-OpenSSH_9.9\r\n\r\n")


@pytest.mark.parametrize("answering", [endless_headers, one_endless_header, noise])
async def test_headers_without_end_and_noise_are_refused_early(answering):
    async with listening(answering) as server:
        answer = await post(Outbound(LAX, total_s=5), f"http://127.0.0.1:{server.port}/")
        assert (answer.status, answer.error_kind) == (None, "protocol")
        assert server.sent < 20_000_000


async def trickled_headers(server, writer):
    await server.send(writer, b"HTTP/1.1 200 OK\r\n")
    for _ in range(100):
        await server.send(writer, b"X: y\r\n")
        await asyncio.sleep(0.1)


async def forever_continuing(server, writer):
    for _ in range(100):
        await server.send(writer, b"HTTP/1.1 100 Continue\r\n\r\n")
        await asyncio.sleep(0.1)


async def silence(server, writer):
    await asyncio.sleep(20)


@pytest.mark.parametrize("answering", [trickled_headers, forever_continuing, silence])
async def test_an_answer_that_takes_too_long_is_a_timeout(answering):
    async with listening(answering) as server:
        answer = await post(Outbound(LAX, total_s=0.3), f"http://127.0.0.1:{server.port}/")
        assert (answer.status, answer.error_kind, answer.error) == (
            None,
            "timeout",
            "No response within 0.3 seconds.",
        )
        assert 250 <= answer.latency_ms < 5000


async def test_a_host_that_never_accepts_is_a_timeout():
    with (
        socket.socket() as full
    ):  # a queue of one, taken: further connections hang as behind a black hole
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        fillers = [socket.socket() for _ in range(3)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
        answer = await post(
            Outbound(LAX, connect_s=0.2), f"http://127.0.0.1:{full.getsockname()[1]}/"
        )
        assert (answer.status, answer.error_kind) == (
            None,
            "timeout",
        ) and answer.latency_ms < 2000
        for filler in fillers:
            filler.close()


async def reset(server, writer):
    writer.get_extra_info("socket").setsockopt(
        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
    )
    writer.transport.abort()


async def hang_up(server, writer):
    writer.close()


@pytest.mark.parametrize("answering", [reset, hang_up])
async def test_a_connection_that_breaks_before_the_answer_is_told(answering):
    async with listening(answering) as server:
        answer = await post(Outbound(LAX), f"http://127.0.0.1:{server.port}/")
        assert (answer.status, answer.error_kind) == (None, "connect") and answer.error
        assert len(server.requests) == 1


async def test_a_closed_port_is_told():
    async with listening() as server:
        pass
    answer = await post(Outbound(LAX), f"http://localhost:{server.port}/")
    assert (answer.status, answer.error_kind) == (None, "connect")


def test_the_answer_is_kept_as_safe_text():
    body = "ä\0\x1b[31m\r\n\t<b>".encode() + b"\xff" + b"y" * 3000

    async def scenario():
        async with listening(
            b"HTTP/1.1 503 No\r\nRetry-After: 7\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        ) as server:
            answer = await post(Outbound(LAX), f"http://127.0.0.1:{server.port}/")
            assert (answer.status, answer.error, answer.retry_after_s) == (503, None, 7)
            assert answer.body.startswith("ä[31m\r\n\t<b>\ufffdyyy") and len(answer.body) <= 1024

    run(scenario)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("0", 0),
        ("7", 7),
        ("99999999", 99_999_999),
        ("123456789", 123_456_789),
        ("1234567890", 999_999_999),
        ("9" * 5000, 999_999_999),
        ("-1", None),
        ("1.5", None),
        ("٧", None),
        ("soon", None),
        ("", None),
        ("Fri, 99 Foo 2026 00:00:00 GMT", None),
        ("Mon, 01 Jan 0001 00:00:00 GMT", 0),
    ],
)
def test_retry_after_in_seconds(value, seconds):
    assert retry_after_s(value, time.time()) == seconds


def test_retry_after_as_a_date():
    now = 1_800_000_000
    assert retry_after_s(formatdate(now + 90, usegmt=True), now) == 90
    assert retry_after_s(formatdate(now - 90, usegmt=True), now) == 0
    assert retry_after_s(formatdate(now + 90).replace("-0000", ""), now) == 90


def test_retry_after_as_a_date_is_counted_from_now():
    until = formatdate(time.time() + 3600, usegmt=True)
    answering = f"HTTP/1.1 503 Later\r\nRetry-After: {until}\r\nContent-Length: 0\r\n\r\n".encode()

    async def scenario():
        async with listening(answering) as server:
            answer = await post(Outbound(LAX), f"http://127.0.0.1:{server.port}/")
            assert answer.status == 503 and 3500 < answer.retry_after_s <= 3600

    run(scenario)
