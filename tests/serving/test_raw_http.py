"""HTTP that no honest client speaks, and some that honest ones do: lengths that lie, framing that
can be read in two ways, heads and bodies that never end, wishes for another protocol. Each has its
one status, and whoever comes next is answered as before. What is decided before a request reaches
the store is tried on one engine; what is stored or not, on both.
"""

import asyncio
import re
import socket
import time

import pytest

from honeyguide import http_server
from honeyguide.api import transport
from honeyguide.http_server import HEAD_LIMIT
from tests.api.test_raw_bytes import GOOD, expect, post
from tests.support import raw
from tests.support.loop_steps import LoopSteps
from tests.support.service import ONE_ENGINE, Member

MB = 1024 * 1024


def head(member: Member, *lines: str, method: str = "POST") -> bytes:
    first = f"{method} {member.v1}/subscribers HTTP/1.1"
    return "\r\n".join(
        (first, "Host: localhost", f"X-Api-Key: {member.key}", *lines, "", "")
    ).encode("latin-1")


@ONE_ENGINE
def test_a_body_over_the_limit_is_a_413_however_it_is_announced(ana: Member) -> None:
    big = b'{"email":"ana@example.org","x":"' + b"x" * (2 * MB) + b'"}'
    expect(post(ana, big), 413)
    expect(raw.send(ana.service, head(ana, f"Content-Length: {11 * MB}")), 413)
    expect(raw.send(ana.service, head(ana, f"Content-Length: {10**18}")), 413)
    chunk = b"%x\r\n" % len(big) + big + b"\r\n"
    expect(raw.send(ana.service, head(ana, "Transfer-Encoding: chunked"), chunk, b"0\r\n\r\n"), 413)
    assert ana.total() == 0


@ONE_ENGINE
def test_a_client_that_sends_all_of_a_refused_body_can_read_the_answer(ana: Member) -> None:
    """As a proxy does: were the connection reset meanwhile, it would answer 502."""
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", ana.service.port), timeout=20) as connection:
            connection.sendall(head(ana, f"Content-Length: {30 * MB}"))
            for _ in range(30):
                connection.sendall(b"x" * MB)
            with connection.makefile("rb") as answer:
                assert answer.read().startswith(b"HTTP/1.1 413 ")


@ONE_ENGINE
def test_a_refused_body_without_end_is_cut_off(
    ana: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "DISCARD_S", 0.3)
    with socket.create_connection(("127.0.0.1", ana.service.port), timeout=20) as connection:
        connection.sendall(head(ana, f"Content-Length: {10**18}"))
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            _send_without_end(connection)


def _send_without_end(connection: socket.socket) -> None:
    give_up = time.monotonic() + 20
    while time.monotonic() < give_up:
        connection.sendall(b"x" * MB)


def test_a_length_that_promises_too_little_cuts_the_body(ana: Member) -> None:
    expect(raw.send(ana.service, head(ana, "Content-Length: 5", "Connection: close"), GOOD), 400)
    assert ana.total() == 0


def test_a_length_that_promises_too_much_stores_nothing(
    ana: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (
        raw.send(ana.service, head(ana, "Content-Length: 500"), GOOD, half_close=True).status == 0
    )
    monkeypatch.setattr(transport, "BODY_S", 0.3)
    began = time.monotonic()
    expect(raw.send(ana.service, head(ana, "Content-Length: 500"), GOOD), 408)
    assert time.monotonic() - began < 5
    assert ana.total() == 0


@ONE_ENGINE
def test_a_body_that_trickles_in_is_a_408_and_the_end_of_its_connection(
    ana: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "BODY_S", 0.3)
    answer = raw.trickle(ana.service, head(ana, "Content-Length: 10000"), seconds=10)
    expect(answer, 408)
    assert answer.headers["connection"] == "close"


@ONE_ENGINE
def test_a_length_that_is_no_number_or_said_twice_is_a_400(ana: Member) -> None:
    for length in ("x", "-5", "1e3", "27, 27", "27\r\nContent-Length: 5", str(10**30), "0x1b"):
        expect(raw.send(ana.service, head(ana, f"Content-Length: {length}"), GOOD), 400)
    assert ana.total() == 0


def test_a_chunked_body_is_taken(ana: Member) -> None:
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in GOOD) + b"0\r\n\r\n"
    expect(raw.send(ana.service, head(ana, "Transfer-Encoding: chunked"), chunks), 201)


@ONE_ENGINE
@pytest.mark.parametrize(
    "chunks",
    [b"zz\r\n" + GOOD, b"-1\r\n", b"1b" + GOOD, b"ffffffffffffffffff\r\nx", b"1b\n" + GOOD],
)
def test_odd_chunks_are_a_400(ana: Member, chunks: bytes) -> None:
    expect(
        raw.send(ana.service, head(ana, "Transfer-Encoding: chunked"), chunks + b"\r\n0\r\n\r\n"),
        400,
    )
    assert ana.total() == 0


SMUGGLED: dict[str, tuple[str, ...]] = {
    "length and chunks": ("Content-Length: 27", "Transfer-Encoding: chunked"),
    "chunks and length": ("Transfer-Encoding: chunked", "Content-Length: 27"),
    "an unknown coding": ("Transfer-Encoding: xchunked", "Content-Length: 27"),
    "chunks not last": ("Transfer-Encoding: chunked, identity",),
    "a folded header": ("X-Folded: a", " b", "Content-Length: 27"),
    "a space before the colon": ("X-Api-Key : x", "Content-Length: 27"),
    "a header without a colon": ("Nonsense", "Content-Length: 27"),
    "a NUL in a header": ("X-A: a\x00b", "Content-Length: 27"),
    "a bare CR in a header": ("X-A: a\rb", "Content-Length: 27"),
    "an empty header name": (": x", "Content-Length: 27"),
}


@ONE_ENGINE
@pytest.mark.parametrize("lines", SMUGGLED.values(), ids=SMUGGLED)
def test_ambiguous_framing_is_a_400_and_closes(ana: Member, lines: tuple[str, ...]) -> None:
    answer = raw.send(ana.service, head(ana, *lines), GOOD)
    expect(answer, 400)
    assert answer.headers["connection"] == "close"
    assert ana.total() == 0


@ONE_ENGINE
def test_bare_line_feeds_are_a_400_and_close(ana: Member) -> None:
    answer = raw.send(ana.service, head(ana, "Content-Length: 27").replace(b"\r\n", b"\n"), GOOD)
    expect(answer, 400)
    assert answer.headers["connection"] == "close"


@ONE_ENGINE
@pytest.mark.parametrize(
    "start",
    [
        b"\x16\x03\x01\x02\x00\x01",
        b"GET\r\n\r\n",
        b"\x00" * 100,
        b"GET / HTTP/9.9\r\n\r\n",
        b"BREW /v1/campaigns HTTP/1.1\r\n\r\n",
        b"GET /v1/caf\xc3\xa9 HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_what_is_not_http_is_a_400(ana: Member, start: bytes) -> None:
    expect(raw.send(ana.service, start), 400)


@ONE_ENGINE
@pytest.mark.parametrize("path", ["/v1/campaigns", "/login", "/healthz"])
@pytest.mark.parametrize(
    "lines", ["", "Host: localhost\r\nHost: localhost\r\n", "Host: localhost\r\nhost: other\r\n"]
)
def test_a_request_names_exactly_one_host_or_is_a_400(ana: Member, path: str, lines: str) -> None:
    rest = f"{lines}X-Api-Key: {ana.key}\r\n\r\n"
    answer = raw.send(ana.service, f"GET {path} HTTP/1.1\r\n{rest}".encode())
    expect(answer, 400)
    assert answer.headers["connection"] == "close" and "Host" in answer.json()["error"]


@ONE_ENGINE
def test_a_request_of_the_time_before_hosts_is_served(ana: Member) -> None:
    expect(
        raw.send(
            ana.service, f"GET /v1/campaigns HTTP/1.0\r\nX-Api-Key: {ana.key}\r\n\r\n".encode()
        ),
        200,
    )


@ONE_ENGINE
def test_a_body_behind_headers_without_a_host_is_not_read(ana: Member) -> None:
    whole = head(ana, f"Content-Length: {len(GOOD)}").replace(b"Host: localhost\r\n", b"") + GOOD
    expect(raw.send(ana.service, whole), 400)
    expect(
        raw.send(
            ana.service,
            whole.replace(
                b"Content-Length", b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length"
            ),
        ),
        400,
    )
    assert ana.total() == 0


@ONE_ENGINE
def test_headers_without_end_are_a_400(ana: Member) -> None:
    expect(raw.send(ana.service, head(ana, "X-A: " + "a" * HEAD_LIMIT * 8, method="GET")), 400)
    many = (f"X-{n}: {n}" for n in range(HEAD_LIMIT // 2))
    expect(raw.send(ana.service, head(ana, *many, method="GET")), 400)


@ONE_ENGINE
def test_the_limit_holds_for_headers_in_one_piece(ana: Member) -> None:
    """The server reads up to 256 KB at once."""
    for size in (HEAD_LIMIT, 2 * HEAD_LIMIT, 200 * 1024):
        answer = raw.send(ana.service, head(ana, "X-A: " + "a" * size, method="GET"))
        expect(answer, 400)
        assert "larger than 64 KB" in answer.json()["error"]
    short = "X-A: " + "a" * (HEAD_LIMIT - 1024)
    assert raw.send(ana.service, head(ana, short, method="GET")).status == 200
    path = f"{ana.v1}?x={'a' * HEAD_LIMIT}"
    assert raw.request(ana, "GET", path).status == 400


@ONE_ENGINE
def test_headers_that_trickle_are_a_408(ana: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "HEAD_S", 0.5)
    whole = head(ana, method="GET")
    with socket.create_connection(("127.0.0.1", ana.service.port), timeout=20) as connection:
        connection.sendall(whole)  # a first request that is in time changes nothing for the second
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        time.sleep(0.7)
        began = time.monotonic()
        for byte in whole[:8]:
            connection.sendall(bytes([byte]))
            time.sleep(0.05)
        late = connection.recv(65536)
        assert 0.3 < time.monotonic() - began < 5
        assert (
            late.startswith(b"HTTP/1.1 408 ")
            and b'"code": "timeout"' in late
            and connection.recv(1) == b""
        )
    expect(raw.send(ana.service, whole[:30], whole[30:]), 200)


@ONE_ENGINE
def test_a_connection_that_says_nothing_is_closed(
    ana: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = http_server.Protocol.connection_made

    def hurried(protocol: http_server.Protocol, transport: asyncio.Transport) -> None:
        protocol.timeout_keep_alive = 0
        made(protocol, transport)

    monkeypatch.setattr(http_server.Protocol, "connection_made", hurried)
    with socket.create_connection(("127.0.0.1", ana.service.port), timeout=20) as connection:
        assert connection.recv(1) == b""


@ONE_ENGINE
def test_a_body_on_a_get_is_ignored(ana: Member) -> None:
    for body in (GOOD, b"\xff", b"[" * 1000):
        expect(raw.request(ana, "GET", "/v1/campaigns", body), 200)
    expect(
        raw.request(ana, "GET", "/v1/campaigns", b"x", headers={"Content-Type": "text/plain"}), 200
    )
    expect(raw.request(ana, "DELETE", f"{ana.v1}/subscribers/nobody", b"\xff"), 404)


H2C = (
    "Connection: Upgrade, HTTP2-Settings",
    "Upgrade: h2c",
    "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
)


@ONE_ENGINE
@pytest.mark.parametrize(
    "wish", [H2C, ("Connection: upgrade", "Upgrade: websocket"), ("Upgrade: h2c, h3", H2C[0])]
)
def test_a_wish_for_another_protocol_costs_no_body(ana: Member, wish: tuple[str, ...]) -> None:
    whole = head(ana, *wish, "Content-Length: 27") + GOOD
    answer = raw.send(ana.service, whole)
    expect(answer, 201)
    assert answer.json()["subscriber"]["email"] == "ana@example.org"
    ana.delete(f"{ana.v1}/subscribers/ana@example.org")
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in GOOD) + b"0\r\n\r\n"
    expect(raw.send(ana.service, head(ana, *wish, "Transfer-Encoding: chunked"), chunks), 201)
    expect(raw.send(ana.service, head(ana, *wish, method="GET")), 200)
    assert ana.total() == 1


@ONE_ENGINE
def test_after_a_wish_for_another_protocol_a_body_is_no_request(ana: Member) -> None:
    """However it is cut into packets, with another request behind it on the same connection."""
    forged = b"PUT %s HTTP/1.1\r\nX-Api-Key: %s\r\n\r\n" % (ana.v1.encode(), ana.key.encode())
    whole = head(ana, *H2C, f"Content-Length: {len(forged)}") + forged
    last = head(ana, "Connection: close", method="GET")
    for at in (
        30,
        len(whole) - len(forged) - 1,
        len(whole) - len(forged),
        len(whole) - 1,
        len(whole),
    ):
        with socket.create_connection(("127.0.0.1", ana.service.port), timeout=20) as connection:
            for part in (whole[:at], whole[at:] + last):
                connection.sendall(part)
                time.sleep(0.05)
            received = b"".join(iter(lambda: connection.recv(65536), b""))
        assert re.findall(rb"HTTP/1\.1 (\d+)", received) == [b"400", b"200"]


@ONE_ENGINE
def test_hundreds_of_wishes_in_one_packet_are_answered_one_by_one(ana: Member) -> None:
    wish, count = (
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
        850,
    )
    assert len(wish) * count < HEAD_LIMIT
    with socket.create_connection(("127.0.0.1", ana.service.port), timeout=20) as connection:
        connection.sendall(
            wish * count + b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        )
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    assert received.count(b"HTTP/1.1 200 OK") == count + 1


def test_two_requests_sent_at_once_are_answered_in_turn(ana: Member) -> None:
    request = head(ana, "Content-Length: 27") + GOOD
    expect(raw.send(ana.service, request + request), 201)
    assert ana.total() == 1


@ONE_ENGINE
@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=b"]
)
def test_a_million_form_fields_are_refused_in_a_moment(ana: Member, kind: str) -> None:
    fields = b"&".join([b"a=1"] * 500_000)
    with LoopSteps(ana.service) as steps:
        for body, status in ((fields, 415), (fields + b"&" + fields, 413)):
            steps.judge(
                kind,
                lambda body=body, status=status: expect(
                    post(ana, body, headers={"Content-Type": kind}), status
                ),
            )
    assert steps.slow == [] and ana.total() == 0
