"""A list that comes as several files in one archive, read as one: Mailchimp puts those who left
into files of their own, and only the name of a file says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from honeyguide.kernel.errors import Invalid
from honeyguide.moving import import_files
from honeyguide.moving.archives import ArchivedFile
from honeyguide.moving.import_files import MOST_COLUMNS, ImportLine
from honeyguide.moving.source_columns import FILE_NAME, STATUS_BY_FILE
from honeyguide.moving.source_words import status_of_file


def read(files: Sequence[ArchivedFile]) -> tuple[list[str], list[ImportLine]]:
    """The header and the lines of all files. Columns of the same name are the same column. Two more
    say which file a line is from and which status that means. Lines are numbered on from file to
    file, so that each number is one line."""
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
