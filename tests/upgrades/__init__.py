"""Databases of version 0.3.0 on each engine, for tests that upgrade them.

`make.py` makes the previous one. The early one is small: the demo of the first versions, which
0.3.0 upgraded.
"""

import contextlib
import lzma
from pathlib import Path

import apsw

from tests.support.postgres import shared_server
from tests.support.process import fresh

FOLDER = Path(__file__).parent
COMMIT = (FOLDER / "commit.txt").read_text(encoding="utf-8").strip()
SQLITE, POSTGRES = FOLDER / "previous.db.xz", FOLDER / "previous.postgres.sql.xz"
EARLY = {"sqlite": FOLDER / "early.db.xz", "postgres": FOLDER / "early.postgres.sql.xz"}


def previous_database(engine: str) -> str:
    """A copy of its own, as the code of `COMMIT` left it."""
    return _copy(engine, SQLITE if engine == "sqlite" else POSTGRES)


def early_database(engine: str) -> str:
    return _copy(engine, EARLY[engine])


def _copy(engine: str, packed: Path) -> str:
    url = fresh(engine)
    content = lzma.decompress(packed.read_bytes())
    if engine == "sqlite":
        Path(url.removeprefix("sqlite:///")).write_bytes(content)
    else:
        shared_server().execute(content.decode(), url.rpartition("/")[2])
    return url


def connect_sqlite(url: str) -> contextlib.closing[apsw.Connection]:
    return contextlib.closing(apsw.Connection(url.removeprefix("sqlite:///")))
