"""Notes that survive a killed process: each is one write to the end of a file. Nothing is synced,
so a power cut may lose them.
"""

from __future__ import annotations

import errno
import os
import struct
from contextlib import suppress
from io import FileIO
from pathlib import Path

from honeyguide.kernel.errors import Unavailable

_NOTE = struct.Struct("<36sq")  # a uuid and a time


class Journal:
    """Notes in order of writing. A file of twice `keep_ms` is renamed to `<path>.old` and a new one
    begins. What it replaces is older than `keep_ms`, even if the clock was set back by as much.
    """

    def __init__(self, path: Path, *, keep_ms: int) -> None:
        self._path, self._old = path, path.with_name(f"{path.name}.old")
        self._span_ms = 2 * keep_ms
        self._file: FileIO | None = None
        self._began_ms = 0  # 0 for an empty file

    def recall(self) -> dict[str, list[int]]:
        """All times there are, by uuid."""
        found: dict[str, list[int]] = {}
        for path in (self._old, self._path):
            notes = []
            with suppress(OSError):
                content = path.read_bytes()
                notes = [*_NOTE.iter_unpack(content[: _whole(len(content))])]
            for uuid, at_ms in notes:
                found.setdefault(uuid.decode("latin-1"), []).append(at_ms)
            self._began_ms = notes[0][1] if notes else 0
        return found

    def note(self, uuid: str, at_ms: int) -> None:
        try:
            if self._file is None or abs(at_ms - self._began_ms) >= self._span_ms:
                self._file = self._open(at_ms)
            if self._file.write(_NOTE.pack(uuid.encode(), at_ms)) != _NOTE.size:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self._file, self._began_ms = None, 0
            raise Unavailable(
                "The rate-limit journal cannot be written: {error}.", error=error.strerror
            ) from error

    def _open(self, at_ms: int) -> FileIO:
        if self._began_ms and abs(at_ms - self._began_ms) >= self._span_ms:
            self._path.replace(self._old)
            self._began_ms = 0
        self._began_ms = self._began_ms or at_ms
        file = FileIO(self._path, "ab")
        file.truncate(_whole(file.tell()))
        return file


def _whole(size: int) -> int:
    """Without a note that was cut short, which would shift those after it."""
    return size - size % _NOTE.size
