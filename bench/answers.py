"""Reading HTTP answers, as cheaply as a load generator must."""

from __future__ import annotations


class AnswerReader:
    """Puts together the answer of one request, which may arrive in parts."""

    def __init__(self) -> None:
        self._got = b""

    def add(self, data: bytes) -> bytes | None:
        """The whole answer, once it is there."""
        got = self._got + data if self._got else data
        head = got.find(b"\r\n\r\n")
        if head >= 0:
            at = got.find(b"content-length: ", 0, head) + 16
            length = head + 4 + int(got[at : got.find(b"\r", at)])
        if head < 0 or len(got) < length:
            self._got = got
            return None
        self._got = b""
        return got
