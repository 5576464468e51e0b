"""Notes that survive a killed process without a system call each: they are written to memory-mapped
files. Nothing is synced, so a power cut may lose them.
"""

from __future__ import annotations

import mmap
import struct
from contextlib import suppress
from pathlib import Path

from honeyguide.kernel.errors import Unavailable

# A uuid and a time. Zeros are the end: a note that a kill cut short has no time yet.
_NOTE = struct.Struct("<36sq")
_NOTES_PER_FILE = 20_000
_SIZE = _NOTES_PER_FILE * _NOTE.size
# After a failure (a full disk) the next try waits this long.
_PAUSE_MS = 10_000


class Journal:
    """Notes in order of writing, in files `<path>.1`, `<path>.2`, …. A file is deleted once all its
    notes are older than `keep_ms`.
    """

    def __init__(self, path: Path, *, keep_ms: int) -> None:
        self._path = path
        self._keep_ms = keep_ms
        self._full: list[tuple[Path, int]] = []  # with the time of its last note
        self._pages: mmap.mmap | None = None
        self._at = _SIZE
        self._number = 0
        self._not_before_ms = 0

    def recall(self) -> dict[str, list[int]]:
        """Everything there is, by uuid; the last file is written on."""
        found: dict[str, list[int]] = {}
        files = [
            file
            for file in self._path.parent.glob(f"{self._path.name}.*")
            if file.suffix[1:].isdigit()
        ]
        for number, file in sorted((int(file.suffix[1:]), file) for file in files):
            try:
                content = file.read_bytes()
            except OSError:
                continue
            end, last_ms = 0, 0
            for uuid, at_ms in _NOTE.iter_unpack(
                content[: len(content) // _NOTE.size * _NOTE.size]
            ):
                if not at_ms:
                    break
                found.setdefault(uuid.decode("latin-1"), []).append(at_ms)
                end, last_ms = end + _NOTE.size, at_ms
            self._number, self._at = number, end
            self._full.append((file, last_ms))
        if self._full and self._at < _SIZE:
            with suppress(
                OSError, ValueError
            ):  # not a file of ours, or not ours to write: the next note begins a new one
                self._pages = _mapped(self._full[-1][0])
                self._full.pop()
        return found

    def note(self, uuid: str, at_ms: int) -> None:
        if self._at >= _SIZE or self._pages is None:
            self._turn(at_ms)
        assert self._pages is not None
        _NOTE.pack_into(self._pages, self._at, uuid.encode(), at_ms)
        self._at += _NOTE.size

    def _turn(self, at_ms: int) -> None:
        """Start a new file, filled with zeros: a full disk must show now, not at a later write."""
        if at_ms < self._not_before_ms <= at_ms + _PAUSE_MS:
            raise Unavailable("The rate-limit journal cannot be written.")
        if self._pages is not None:
            self._full.append((self._file(self._number), at_ms))
            self._pages = None
        unready, file = self._path.with_name(f"{self._path.name}.new"), self._file(self._number + 1)
        try:
            for old, last_ms in [*self._full]:
                if last_ms < at_ms - self._keep_ms:
                    old.unlink(missing_ok=True)
                    self._full.remove((old, last_ms))
            unready.write_bytes(bytes(_SIZE))
            unready.rename(file)
            self._pages = _mapped(file)
        except OSError as error:
            self._not_before_ms = at_ms + _PAUSE_MS
            raise Unavailable(
                "The rate-limit journal cannot be written: {error}.", error=error.strerror
            ) from error
        self._number += 1
        self._at = 0

    def _file(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")


def _mapped(file: Path) -> mmap.mmap:
    with file.open("r+b") as opened:
        return mmap.mmap(opened.fileno(), _SIZE)
