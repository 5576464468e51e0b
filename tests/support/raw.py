"""Bytes on a socket, as no HTTP library would send them, and whatever comes back."""

import json
import socket
import time
from dataclasses import dataclass, field
from typing import Any

from tests.support.service import Member, Service


@dataclass
class Answer:
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> Any:
        return json.loads(self.body)


def send(service: Service, *parts: bytes, half_close: bool = False, timeout: float = 20) -> Answer:
    """Sends all parts on one connection and reads one answer; status 0 when the server just hung
    up.
    """
    with socket.create_connection(("127.0.0.1", service.port), timeout=timeout) as connection:
        try:
            for part in parts:
                connection.sendall(part)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it may refuse before it has heard everything
        return _read(connection)


def trickle(service: Service, head: bytes, *, seconds: float) -> Answer:
    """A byte of the body now and then, as long as anybody listens; status 0 when they still do
    after that time.
    """
    with socket.create_connection(("127.0.0.1", service.port), timeout=seconds) as connection:
        connection.sendall(head)
        connection.settimeout(0.05)
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up:
            try:
                connection.sendall(b" ")
                connection.recv(1, socket.MSG_PEEK)
            except TimeoutError:
                continue
            except (BrokenPipeError, ConnectionResetError):
                pass
            connection.settimeout(seconds)
            return _read(connection)
    return Answer(0)


def _read(connection: socket.socket) -> Answer:
    received = b""
    while True:
        head, found, body = received.partition(b"\r\n\r\n")
        if (
            found
            and (answer := _parsed(head)) is not None
            and len(body) >= int(answer.headers.get("content-length", "0"))
        ):
            answer.body = body
            return answer
        try:
            more = connection.recv(65536)
        except ConnectionResetError:
            more = b""
        if not more:
            return Answer(0, body=received)
        received += more


def _parsed(head: bytes) -> Answer:
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.split(":", 1) for line in lines)
    return Answer(
        int(first.split(" ")[1]), {name.strip().lower(): value.strip() for name, value in pairs}
    )


def request(
    member: Member,
    method: str,
    path: str,
    body: bytes | None = None,
    *,
    headers: dict[str, str] | None = None,
    **how: Any,
) -> Answer:
    """A well-formed request whose body may be anything; `headers` replace ours, an empty one leaves
    it out.
    """
    given = {"Host": "localhost", "X-Api-Key": member.key}
    if body is not None:
        given |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    given |= headers or {}
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items() if value != "")
    return send(
        member.service,
        f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode("latin-1"),
        body or b"",
        **how,
    )
