"""Identifiers: UUIDv7 text for rows, short codes for links. Neither contains anything personal."""

from __future__ import annotations

import os
import re
import time

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)

# No 0/o, 1/l/i or u/v: a code survives being read aloud or copied by hand. 29 characters to the 8th
# power make 5e11 codes.
ALPHABET = "23456789abcdefghjkmnpqrstwxyz"
CODE_LENGTH = 8
_CHARACTER_OF = bytes(ord(ALPHABET[byte % len(ALPHABET)]) for byte in range(256))
_SPILL = bytes(range(256 - 256 % len(ALPHABET), 256))

_last_ms = 0
_sequence = 0


def new_id() -> str:
    """A UUIDv7. Within this process each is larger than the last, even in one millisecond, so that
    ties sort by creation."""
    global _last_ms, _sequence
    ms = time.time_ns() // 1_000_000
    noise = int.from_bytes(os.urandom(8), "big")
    if ms > _last_ms:
        _last_ms = ms
        # Ten random bits leave room to count up within the millisecond.
        _sequence = noise >> 54 & 0x3FF
    else:
        _sequence += 1
        if _sequence > 0xFFF:
            _last_ms += 1
            _sequence = 0
    text = f"{_last_ms:012x}7{_sequence:03x}{0x8000000000000000 | noise & 0x3FFFFFFFFFFFFFFF:016x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def is_id(text: str) -> bool:
    return _UUID.fullmatch(text) is not None


def lowercase_id(text: str) -> str:
    """A UUID may be written in any case but is stored in lower case. Other text is returned
    unchanged."""
    lowered = text.lower()
    return lowered if is_id(lowered) else text


def new_code(length: int = CODE_LENGTH) -> str:
    """Random characters of the alphabet. Bytes past its last whole multiple are drawn again, so
    that no character is more likely."""
    code = ""
    while len(code) < length:
        code += os.urandom(length + 4).translate(_CHARACTER_OF, _SPILL).decode()
    return code[:length]
