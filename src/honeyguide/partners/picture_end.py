"""Where a PNG or JPEG ends, found by walking its parts, not by searching for its last bytes, which
a thumbnail has too.

What follows is not part of the picture: another file that rides along (a polyglot), or padding.
"""

from __future__ import annotations

import re

PNG, JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"

_PADDING = b"\0\t\n\r "
"""Cameras pad with zeros and scripts add a line break: honest, and nothing can be hidden in it."""

# The next marker as the decoder finds it: 0xFF followed by a zero, a restart or a fill byte belongs
# to the pixels.
_JPEG_MARKER = re.compile(rb"\xff([\x02-\xcf\xd8-\xfe])")
_SOI, _EOI = b"\xd8", b"\xd9"


def end_of(data: bytes) -> int | None:
    """How many bytes the picture has; None if it does not end. Every step moves forward by four
    bytes or more."""
    return _end_of_png(data) if data.startswith(PNG) else _end_of_jpeg(data)


def has_more_behind(data: bytes, end: int) -> bool:
    return bool(data[end:].strip(_PADDING))


def _end_of_png(data: bytes) -> int | None:
    at = len(PNG)
    while at + 12 <= len(data):  # a chunk: length, name, body, checksum
        if data[at + 4 : at + 8] == b"IEND":
            return at + 12  # it has no body, whatever its length says
        at += 12 + int.from_bytes(data[at : at + 4])
    return None


def _end_of_jpeg(data: bytes) -> int | None:
    at = 2
    while found := _JPEG_MARKER.search(data, at):
        at = found.end()
        if found[1] == _EOI:
            return at
        length = int.from_bytes(data[at : at + 2])  # counts itself
        if found[1] == _SOI or length < 2:
            return None
        at += length
    return None
