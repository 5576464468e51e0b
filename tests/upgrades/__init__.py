"""Databases of version 0.3.0 on each engine, for tests that upgrade them; `make.py` makes them."""

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
    content = lzma.decompress((SQLITE if engine == "sqlite" else POSTGRES).read_bytes())
    if engine == "sqlite":
        Path(url.removeprefix("sqlite:///")).write_bytes(content)
    else:
        shared_server().execute(content.decode(), url.rpartition("/")[2])
    return url


def connect_sqlite(url: str) -> contextlib.closing[apsw.Connection]:
    return contextlib.closing(apsw.Connection(url.removeprefix("sqlite:///")))
