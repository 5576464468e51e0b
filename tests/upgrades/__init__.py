"""Databases of earlier mains on each engine, for tests that upgrade them.

`previous` is from the main before this one; `make.py` makes it anew. `early` is from commit
3416792, before shipments and integrations, and stays: an installation that skipped versions
upgrades too.
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
    return old_database("previous", engine)


def old_database(age: str, engine: str) -> str:
    """A copy of its own of the `early` or the `previous` database."""
    url = fresh(engine)
    packed = FOLDER / f"{age}.{'db' if engine == 'sqlite' else 'postgres.sql'}.xz"
    content = lzma.decompress(packed.read_bytes())
    if engine == "sqlite":
        Path(url.removeprefix("sqlite:///")).write_bytes(content)
    else:
        shared_server().execute(content.decode(), url.rpartition("/")[2])
    return url


def connect_sqlite(url: str) -> contextlib.closing[apsw.Connection]:
    return contextlib.closing(apsw.Connection(url.removeprefix("sqlite:///")))
