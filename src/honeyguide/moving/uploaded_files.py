"""A file of subscribers as it is uploaded: a CSV file or an archive of several, the tool that it is
from, and what its columns and dates mean. Nothing is stored here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.kernel.errors import Invalid
from honeyguide.moving import archives, import_files, sources
from honeyguide.moving.archives import ArchivedFile
from honeyguide.moving.import_dates import DateOrder
from honeyguide.moving.import_files import MOST_BYTES, MOST_COLUMNS, ImportLine
from honeyguide.moving.imported_line import LineFormat
from honeyguide.moving.source_columns import FILE_NAME, STATUS_BY_FILE
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
        return read_archive(archives.open_archive(data, most_bytes=most_bytes))
    if status_of_file(name) is not None:
        return read_archive([ArchivedFile(name, data)])
    return import_files.read(data, any_size=True)


def find_source(key: str) -> ImportSource:
    """`ANY` if there is no such tool, as for what came from an API."""
    return next((source for source in ImportSource if source == key), ImportSource.ANY)


def line_format(
    source: ImportSource, header: Sequence[str], mapping: dict[str, int], dates: DateOrder
) -> LineFormat:
    places = sources.note_places(source, header, mapping)
    return LineFormat(mapping, dates, [(header[place], place) for place in places])


def read_archive(files: Sequence[ArchivedFile]) -> tuple[list[str], list[ImportLine]]:
    """The header and the lines of a list in several files: Mailchimp puts those who left into files
    of their own, and only the name of a file says so. Columns of the same name are the same column.
    Two more say which file a line is from and which status that means. Lines are numbered on from
    file to file, so that each number is one line."""
    places: dict[tuple[str, int], int] = {}
    tables = []
    for file in files:
        header, lines = import_files.read(file.data, any_size=True)
        if lines and not any("@" in cell for line in lines for cell in line.cells):
            raise Invalid(
                "{name} has no email addresses. Unpack the archive and upload the CSV file with "
                "your subscribers.",
                name=file.name,
            )
        own_places = []
        for n, name in enumerate(header):
            # A name can be there twice in one file, and then it is two columns.
            key = (name, header[:n].count(name))
            own_places.append(places.setdefault(key, len(places)))
        tables.append((file.name, own_places, lines))
    header = [name for name, _ in places]
    if len(header) + 2 > MOST_COLUMNS:
        raise Invalid(
            "The files in this archive have more than {most} columns. Unpack it and upload the "
            "files one by one.",
            most=MOST_COLUMNS - 2,
        )
    joined: list[ImportLine] = []
    for name, own_places, lines in tables:
        before = joined[-1].number if joined else 0
        added = [name, status_of_file(name) or ""]
        for line in lines:
            cells = [""] * len(header)
            for place, cell in zip(own_places, line.cells, strict=False):
                cells[place] = cell
            joined.append(ImportLine(before + line.number, cells + added))
    return [*header, FILE_NAME, STATUS_BY_FILE], joined
