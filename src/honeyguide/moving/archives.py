"""Zip archives of CSV files, as Mailchimp exports a list. Nothing is written to disk, and no size
that the archive claims is believed.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from typing import NamedTuple

from honeyguide.kernel.errors import Invalid
from honeyguide.moving.import_files import MOST_BYTES

MOST_FILES = 20
# CSV files of people shrink to a tenth or so; a bomb to a thousandth.
MOST_RATIO = 100
# Below this, even a bomb does no harm.
HARMLESS_BYTES = 1024 * 1024
_BEGINS = b"PK\x03\x04"
_DIRECTORY_ENTRY = b"PK\x01\x02"
# Besides the CSV files, some archives have a folder and hidden files for each.
_MOST_ENTRIES = 4 * MOST_FILES
_CHUNK = 64 * 1024
_ENCRYPTED = 0x1 | 0x40
# The other methods decompress a whole chunk at a time, however large it gets.
_METHODS = frozenset([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError),
    *(NotImplementedError, RuntimeError, ValueError),
)
_HIDDEN = re.compile(r"(^|/)(__MACOSX/|\.)")
_UNPACK = "Unpack it and upload the CSV file with your subscribers."
_TOO_MANY = f"This zip archive has more than {{most}} files. {_UNPACK}"
_NESTED = f"This zip archive has another zip archive in it. {_UNPACK}"
_OTHER_FILES = f"This zip archive has files other than CSV files. {_UNPACK}"
_PASSWORD = f"This zip archive has a password. {_UNPACK}"
_UNUSUAL = f"This zip archive is compressed in an unusual way. {_UNPACK}"
_BOMB = f"A file in this zip archive is compressed too much. {_UNPACK}"


class ArchivedFile(NamedTuple):
    name: str
    data: bytes


def is_archive(data: bytes) -> bool:
    return data.startswith(_BEGINS)


def open_archive(data: bytes, *, most_bytes: int = MOST_BYTES) -> list[ArchivedFile]:
    """The CSV files in a zip archive, in its order. Everything else is refused with a sentence."""
    # Counted first: reading the directory of a million files takes long.
    if data.count(_DIRECTORY_ENTRY) > _MOST_ENTRIES:
        raise Invalid(_TOO_MANY, most=MOST_FILES)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [entry for entry in archive.infolist() if not _is_skipped(entry)]
            _check(entries)
            return _read_all(archive, entries, most_bytes)
    except _BROKEN:
        raise Invalid("This zip archive is damaged. Download it again.") from None


def _is_skipped(entry: zipfile.ZipInfo) -> bool:
    """Folders, and what macOS adds to archives. A hostile path is not skipped but refused."""
    if _is_hostile(entry):
        return False
    return entry.is_dir() or _HIDDEN.search(entry.filename) is not None


def _is_hostile(entry: zipfile.ZipInfo) -> bool:
    path = entry.orig_filename
    return (
        path.startswith("/")
        or ".." in path.split("/")
        or any(character in "\\:" or ord(character) < ord(" ") for character in path)
    )


def _check(entries: list[zipfile.ZipInfo]) -> None:
    if any(entry.filename == "[Content_Types].xml" for entry in entries):
        raise Invalid("This file is a spreadsheet. Open it, save it as CSV, and upload that file.")
    if len(entries) > MOST_FILES:
        raise Invalid(_TOO_MANY, most=MOST_FILES)
    for entry in entries:
        if _is_hostile(entry):
            raise Invalid(
                "This zip archive has a file with an unsafe path. Upload only archives that you "
                "exported yourself."
            )
        name = entry.filename.casefold()
        if name.endswith(".zip"):
            raise Invalid(_NESTED)
        if not name.endswith(".csv"):
            raise Invalid(_OTHER_FILES)
        if entry.flag_bits & _ENCRYPTED:
            raise Invalid(_PASSWORD)
        if entry.compress_type not in _METHODS:
            raise Invalid(_UNUSUAL)
    if not entries:
        raise Invalid("This zip archive has no CSV file.")


def _read_all(
    archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo], most_bytes: int
) -> list[ArchivedFile]:
    files = []
    left = most_bytes
    for entry in entries:
        content = _read(archive, entry, left)
        if content is None:
            raise Invalid(
                "The files in this zip archive are larger than {limit} MB. Unpack it and import "
                "them with `honeyguide import` on the server.",
                limit=most_bytes // 1024 // 1024,
            )
        if content.startswith(_BEGINS):
            raise Invalid(_NESTED)
        left -= len(content)
        files.append(ArchivedFile(entry.filename, content))
    return files


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most_bytes: int) -> bytes | None:
    """What the file holds; None if it is more than that."""
    content = bytearray()
    with archive.open(entry) as file:
        while chunk := file.read(_CHUNK):
            content += chunk
            if len(content) > max(HARMLESS_BYTES, MOST_RATIO * entry.compress_size):
                raise Invalid(_BOMB)
            if len(content) > most_bytes:
                return None
    return bytes(content)
