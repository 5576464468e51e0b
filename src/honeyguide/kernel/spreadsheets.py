"""CSV that is safe to open in a spreadsheet: text that would run as a formula gets an apostrophe in
front.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable

_FORMULA_STARTS = ("=", "+", "-", "@", "\u2212")  # the last is the minus sign of typography
# Spreadsheets drop these before they look at a cell, or take what comes next for another cell.
_SKIPPED = " \t\r\n\v\f\u00a0\u200b\u200e\u200f\u2060\u3000\ufeff"


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV. Numbers are written as they are."""
    out = io.StringIO()
    csv.writer(out).writerows([_guarded(cell) for cell in row] for row in rows)
    return out.getvalue()


def _guarded(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and _needs_guard(cell) else cell


def _needs_guard(text: str) -> bool:
    """Also a text that looks guarded, or it would lose its own apostrophe when it is read."""
    return _may_run(text.lstrip("'"))


def _may_run(text: str) -> bool:
    if text.startswith(("\t", "\r", "\n")):
        return True
    # Full-width, small and raised signs are signs too: East Asian versions type them.
    first = text.lstrip(_SKIPPED)[:1]
    return unicodedata.normalize("NFKC", first).startswith(_FORMULA_STARTS)


def unguarded(cell: str) -> str:
    """A cell of a file that may be ours, without the apostrophe that `csv_text` added."""
    return cell[1:] if cell.startswith("'") and _needs_guard(cell[1:]) else cell
