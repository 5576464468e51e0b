"""Files of subscribers: reads the lines of a CSV file, and writes those that were refused."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import NamedTuple, NoReturn

import msgspec

from honeyguide.kernel.errors import Invalid
from honeyguide.kernel.spreadsheets import csv_text, unguarded

# Lines imported in one transaction, and their characters: few enough not to slow down others.
PART = 100
PART_CHARACTERS = 128 * 1024
MOST_BYTES = 20 * 1024 * 1024
MOST_COLUMNS = 200
# Of one line, and of a column's name, which a page shows once for every field.
MOST_CHARACTERS = 256 * 1024
NAME_LIMIT = 255
# A line of nothing but so many addresses is a list of people, not one person.
FEWEST_ADDRESSES = 3
ONE_LINE = "The file has many addresses on one line. Put each address on a line of its own."
NOT_CSV = "This file is not a CSV file. Export your list as CSV and upload that."
OPEN_QUOTE = (
    "A quotation mark is opened and never closed, so the file can’t be divided into lines from "
    "there on. Look at line {number}, close it or delete it, and upload the file again."
)
# Comes after the last line. It can’t be in a file: control characters like this one are dropped.
_END = "\x00"
_SPREADSHEET = "This file is a spreadsheet. Open it, save it as CSV, and upload that file."
_PICTURE = "This file is a picture. Export your list as CSV and upload that."
_OTHER_FILES = (
    (b"PK\x03\x04", _SPREADSHEET),
    (b"\xd0\xcf\x11\xe0", _SPREADSHEET),
    ((b"\x89PNG", b"\xff\xd8\xff", b"GIF8"), _PICTURE),
    (b"%PDF", "This file is a PDF document. Export your list as CSV and upload that."),
)


class ImportLine(NamedTuple):
    number: int
    cells: list[str]


class RefusedLine(NamedTuple):
    line: int
    sentence: str
    content: str


def csv_of_refused(columns: list[str], refused: Iterable[RefusedLine]) -> str:
    """The refused lines as a CSV file, each with its number and the reason. Once corrected, it can
    be imported again."""
    rows: list[list[str | int]] = [[*columns, "line", "why"]]
    for each in refused:
        cells = msgspec.json.decode(each.content, type=list[str])
        rows.append(
            [*cells[: len(columns)], *[""] * (len(columns) - len(cells)), each.line, each.sentence]
        )
    return csv_text(rows)


def read(data: bytes, *, any_size: bool = False) -> tuple[list[str], list[ImportLine]]:
    """The header and the lines of a CSV file, whatever its separator and encoding."""
    if len(data) > MOST_BYTES and not any_size:
        refuse_size(MOST_BYTES)
    lines = _lines(_text(data).replace("\x00", ""))
    if not lines:
        raise Invalid("The file is empty.")
    # A line may be longer than the heading; its extra cells are columns too.
    width = max(len(line.cells) for line in lines)
    if any("@" in cell for cell in lines[0].cells):
        # No header: the first line is a person already.
        place = next(n for n, cell in enumerate(lines[0].cells) if "@" in cell)
        return [("email" if n == place else f"column {n + 1}") for n in range(width)], lines
    heading = [name[:NAME_LIMIT] for name in lines[0].cells]
    return [*heading, *(f"column {n + 1}" for n in range(len(heading), width))], lines[1:]


def refuse_size(most_bytes: int) -> NoReturn:
    limit = most_bytes // 1024 // 1024
    if most_bytes > MOST_BYTES:
        raise Invalid(
            "The file is larger than {limit} MB. Split it into several files.", limit=limit
        )
    raise Invalid(
        "The file is larger than {limit} MB. Import it with `honeyguide import` on the server.",
        limit=limit,
    )


def _lines(text: str) -> list[ImportLine]:
    separator = max(",;\t|", key=text.partition("\n")[0].count)
    rows = csv.reader(_physical_lines(text), delimiter=separator)
    lines = []
    first, following = 1, 1
    row: list[str] = []
    try:
        for row in rows:
            if row == [_END]:
                break
            first, following = following, rows.line_num + 1
            if any(cell.strip() for cell in row):
                _check_row(row, rows.line_num)
                lines.append(ImportLine(rows.line_num, [_cleaned(cell) for cell in row]))
    except csv.Error:
        raise Invalid(NOT_CSV) from None
    if row != [_END]:
        # The rest of the file is in one cell, with everybody in it.
        raise Invalid(OPEN_QUOTE, number=first)
    return lines


def _physical_lines(text: str) -> Iterator[str]:
    """Refuses a long line before it is parsed: one call of the parser must not take long."""
    for number, line in enumerate(io.StringIO(text), 1):
        if len(line) > MOST_CHARACTERS:
            _refuse_long(line, number)
        yield line
    yield _END


def _check_row(row: list[str], number: int) -> None:
    filled = [cell for cell in row if cell.strip()]
    if len(filled) >= FEWEST_ADDRESSES and all("@" in cell for cell in filled):
        raise Invalid(ONE_LINE)
    if len(row) > MOST_COLUMNS:
        raise Invalid(
            "Line {number} has more than {most} columns. Delete those that you don’t need.",
            number=number,
            most=MOST_COLUMNS,
        )
    if sum(map(len, row)) > MOST_CHARACTERS:
        _refuse_long("", number)


def _refuse_long(line: str, number: int) -> NoReturn:
    if line.count("@") > MOST_COLUMNS:
        raise Invalid(ONE_LINE)
    raise Invalid(
        "Line {number} is longer than {most} KB. Delete the columns that you don’t need.",
        number=number,
        most=MOST_CHARACTERS // 1024,
    )


def _text(data: bytes) -> str:
    """The file as text. Common other kinds of file are refused by name, because people upload those
    by mistake."""
    for begins, sentence in _OTHER_FILES:
        if data.startswith(begins):
            raise Invalid(sentence)
    try:
        text = data.decode("utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
    if text.count("\x00") > len(text) // 100:
        raise Invalid(NOT_CSV)
    return text


def _cleaned(cell: str) -> str:
    return unguarded(cell.strip()).strip()


def parts(lines: Iterable[ImportLine]) -> Iterator[list[ImportLine]]:
    batch: list[ImportLine] = []
    characters = 0
    for line in lines:
        batch.append(line)
        characters += sum(map(len, line.cells))
        if len(batch) == PART or characters > PART_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
