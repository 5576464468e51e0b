"""A file of subscribers as it is uploaded: a CSV file or an archive of several, the tool that it is
from, and what its columns and dates mean. Nothing is stored here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel.errors import Invalid
from honeyguide.moving import archived_lists, archives, import_files, sources
from honeyguide.moving.archives import ArchivedFile
from honeyguide.moving.import_dates import DateOrder
from honeyguide.moving.import_files import MOST_BYTES, ImportLine
from honeyguide.moving.imported_line import LineFormat
from honeyguide.moving.source_words import status_of_file
from honeyguide.moving.sources import ImportSource

# With the command line. More than this would not fit into the memory of a small server.
MOST_COMMAND_BYTES = 512 * 1024 * 1024


class UploadedFile(NamedTuple):
    header: list[str]
    lines: list[ImportLine]
    source: ImportSource
    mapping: dict[str, int]
    dates: DateOrder


def read(
    data: bytes, name: str, *, most_bytes: int = MOST_BYTES, source: ImportSource | None = None
) -> UploadedFile:
    """Reads a file from whatever tool. For a thread: 20 MB take seconds."""
    header, lines = _table(data, name, most_bytes)
    if not lines:
        raise Invalid("The file has a header row but no subscribers.")
    return understand(header, lines, source or sources.recognize(header, lines))


def understand(
    header: list[str], lines: Sequence[ImportLine], source: ImportSource
) -> UploadedFile:
    """What the columns and dates mean if the file is from there."""
    mapping = sources.columns(source, header, lines)
    dates = sources.dates(source, lines, mapping.get("created_at"))
    return UploadedFile(header, list(lines), source, mapping, dates)


def _table(data: bytes, name: str, most_bytes: int) -> tuple[list[str], list[ImportLine]]:
    if len(data) > most_bytes:
        import_files.refuse_size(most_bytes)
    if archives.is_archive(data):
        return archived_lists.read(archives.open_archive(data, most_bytes=most_bytes))
    if status_of_file(name) is not None:
        return archived_lists.read([ArchivedFile(name, data)])
    return import_files.read(data, any_size=True)


def find_source(key: str) -> ImportSource:
    """`ANY` if there is no such tool, as for what came from an API."""
    return next((source for source in ImportSource if source == key), ImportSource.ANY)


def line_format(
    source: ImportSource, header: Sequence[str], mapping: dict[str, int], dates: DateOrder
) -> LineFormat:
    places = sources.note_places(source, header, mapping)
    return LineFormat(mapping, dates, [(header[place], place) for place in places])
