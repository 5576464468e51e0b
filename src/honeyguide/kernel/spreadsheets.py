"""CSV that is safe to open in a spreadsheet: text that would run as a formula gets an apostrophe in
front.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV. Numbers are written as they are."""
    out = io.StringIO()
    csv.writer(out).writerows([_guarded(cell) for cell in row] for row in rows)
    return out.getvalue()


def _guarded(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) else cell


def unguarded(cell: str) -> str:
    """A cell of a file that may be ours, without the apostrophe that `csv_text` added."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA_STARTS) else cell
