"""Multipart bodies and pictures that are hard to read."""

from collections.abc import Iterator

import httpx

from tests.support.hostile_logos import png
from tests.support.large_requests import Sent


def multiparts(method: str, path: str, names: list[str], limit: int) -> Iterator[Sent]:
    """Many parts, long names of parts, and files that are no pictures and no lists."""
    head = {"content-type": b"multipart/form-data; boundary=x"}
    for unit in (
        b'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n\r\n',
        b"--x\r\n\r\n",
        b"\r\n--",
        b'--x\r\ncontent-disposition: form-data; name="a"; filename="a"\r\n\r\nx\r\n',
        b'--x\r\ncontent-disposition: form-data; name="' + b"\\" * 60_000 + b'"\r\n\r\n\r\n',
        b"--x\r\n" + b"a: b\r\n" * 60_000,
    ):
        yield Sent(method, path, head, unit * max(1, (limit - 100) // len(unit)) + b"--x--\r\n")
    for name in names:
        for content in (b"\x89PNG\r\n\x1a\n" + b"\0" * (limit - 1000), picture_bomb(limit)):
            yield one_file(method, path, {}, name, content)


def one_file(method: str, path: str, fields: dict[str, str], name: str, content: bytes) -> Sent:
    request = httpx.Request(method, "http://x", data=fields, files={name: ("a.csv", content)})
    return Sent(
        method, path, {"content-type": request.headers["content-type"].encode()}, request.read()
    )


def picture_bomb(limit: int) -> bytes:
    return png(8_000, 8_000)[: limit - 1000]
