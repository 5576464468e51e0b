"""A name server on a real UDP socket, which knows the records that a test gives it. Nobody may keep
its answers, so that a test can change a record."""

from __future__ import annotations

import ipaddress
import struct
import threading
from socketserver import BaseRequestHandler, ThreadingUDPServer
from typing import Any

from honeyguide.events.name_servers import SystemLookup
from tests.support.service import Service

TXT, A, AAAA, CNAME, MX = 16, 1, 28, 5, 15
NO_ERROR, SERVER_FAILURE, NO_SUCH_NAME = 0, 2, 3


class NameServer:
    """`texts`, `addresses` and `exchangers` are by name. A name in `broken` gets a server failure,
    one in `silent` no answer, one in `garbled` bytes that are no record."""

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}
        self.addresses: dict[str, list[str]] = {}
        self.exchangers: dict[str, list[tuple[int, str]]] = {}
        self.garbled: set[str] = set()
        self.broken: set[str] = set()
        self.silent: set[str] = set()
        self.asked: list[str] = []

    def __enter__(self) -> NameServer:
        names = self

        class Handler(BaseRequestHandler):
            def handle(self) -> None:
                data, socket = self.request
                if (answer := names.answer(data)) is not None:
                    socket.sendto(answer, self.client_address)

        self._server = ThreadingUDPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def lookup(self, **options: Any) -> SystemLookup:
        port = self._server.server_address[1]
        return SystemLookup(nameservers=["127.0.0.1"], udp_port=port, tcp_port=port, **options)

    def answer(self, question: bytes) -> bytes | None:
        name, end = _name(question, 12)
        (kind,) = struct.unpack_from(">H", question, end)
        self.asked.append(name)
        if name in self.silent:
            return None
        data = self._data(name, kind)
        known = any(name in each for each in (self.texts, self.addresses, self.exchangers))
        known = known or name in self.garbled
        code = SERVER_FAILURE if name in self.broken else NO_ERROR if known else NO_SUCH_NAME
        head = question[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, len(data), 0, 0)
        records = b"".join(
            b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(each)) + each for each in data
        )
        return head + question[12 : end + 4] + records

    def _data(self, name: str, kind: int) -> list[bytes]:
        if name in self.broken:
            return []
        if name in self.garbled:
            return [b"\x00\x01\xff\xff\xff"]
        if kind == MX:
            found = self.exchangers.get(name, [])
            return [struct.pack(">H", priority) + _wire(host) for priority, host in found]
        if kind == TXT:
            return [_strings(text.encode()) for text in self.texts.get(name, [])]
        version = {A: 4, AAAA: 6}.get(kind)
        addresses = [ipaddress.ip_address(each) for each in self.addresses.get(name, [])]
        return [each.packed for each in addresses if each.version == version]


def use_name_server(service: Service, names: NameServer) -> None:
    """Lets a running service ask this name server and no other."""
    service.services.outbound.resolver.names = names.lookup(timeout=0.2)


def _name(message: bytes, at: int) -> tuple[str, int]:
    labels = []
    while length := message[at]:
        labels.append(message[at + 1 : at + 1 + length].decode("ascii", "replace"))
        at += 1 + length
    return ".".join(labels).lower(), at + 1


def _wire(name: str) -> bytes:
    labels = [label.encode() for label in name.split(".") if label]
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\x00"


def _strings(text: bytes) -> bytes:
    """A TXT record is made of strings of at most 255 bytes."""
    parts = [text[start : start + 255] for start in range(0, len(text), 255)] or [b""]
    return b"".join(bytes([len(part)]) + part for part in parts)
