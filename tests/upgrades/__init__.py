"""A database of the previous main on each engine, for tests that upgrade it; `make.py` makes them
anew.
"""

from __future__ import annotations

import contextlib
import lzma
from pathlib import Path

import apsw

from tests.support.postgres import shared_server
from tests.support.process import fresh

FOLDER = Path(__file__).parent
COMMIT = (FOLDER / "commit.txt").read_text(encoding="utf-8").strip()
SQLITE, POSTGRES = FOLDER / "previous.db.xz", FOLDER / "previous.postgres.sql.xz"


def previous_database(engine: str) -> str:
    """A copy of its own, as the code of `COMMIT` left it."""
    url = fresh(engine)
    if engine == "sqlite":
        Path(url.removeprefix("sqlite:///")).write_bytes(lzma.decompress(SQLITE.read_bytes()))
    else:
        dump = lzma.decompress(POSTGRES.read_bytes()).decode()
        shared_server().execute(dump, url.rpartition("/")[2])
    return url


def connect_sqlite(url: str) -> contextlib.closing[apsw.Connection]:
    return contextlib.closing(apsw.Connection(url.removeprefix("sqlite:///")))
