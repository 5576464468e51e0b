"""The filled databases, kept in a folder so that an interrupted bench goes on where it stopped.

`state.json` there names the campaigns of each finished database and all finished measurements.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bench.people import Campaign
from bench.scale import fill
from bench.scale.expressions import Sizes
from tests.support.postgres import PostgresServer

# WAL is needed for nothing but a crash, and filling writes each row once.
SETTINGS = {
    "shared_buffers": "1GB",
    "max_wal_size": "4GB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "checkpoint_timeout": "15min",
}


class KeptPostgres(PostgresServer):
    """Its data outlives it, in a folder of ours; a link leads there from its own home, which does
    not."""

    start_limit_s = 900.0  # after a crash it reads gigabytes of its log

    def __init__(self, data: Path) -> None:
        super().__init__(**SETTINGS)
        self._data = data

    def _initdb(self) -> None:
        if not (self._data / "PG_VERSION").exists():
            super()._initdb()
            shutil.move(self.home / "data", self._data)
        (self.home / "data").symlink_to(self._data)

    def stop(self) -> None:
        if os.getpid() == self._owner:
            self._halt("fast")
        super().stop()


class State(msgspec.Struct):
    campaigns: dict[str, dict[str, Campaign]] = {}
    figures: dict[str, float] = {}


class Folder:
    """The databases and what was measured on them."""

    def __init__(self, path: Path, postgres: PostgresServer | None) -> None:
        self.path = path
        self.postgres = postgres
        self._file = path / "state.json"
        self.state = State()
        self.load()

    def load(self) -> None:
        if self._file.exists():
            self.state = msgspec.json.decode(self._file.read_bytes(), type=State)

    def url(self, engine: str, sizes: Sizes) -> str:
        if engine == "sqlite":
            return f"sqlite:///{self.path / _name(sizes)}.db"
        assert self.postgres is not None
        return self.postgres.url(_name(sizes))

    def database(self, engine: str, sizes: Sizes, say: fill.Say) -> dict[str, Campaign]:
        """Its campaigns by name. One that was not finished is filled again."""
        name = f"{engine} {_name(sizes)}"
        if name not in self.state.campaigns:
            self._make_empty(engine, sizes)
            self.state.campaigns[name] = fill.make(self.url(engine, sizes), sizes, say)
            self.save()
        return self.state.campaigns[name]

    def _make_empty(self, engine: str, sizes: Sizes) -> None:
        if engine == "sqlite":
            for file in self.path.glob(f"{_name(sizes)}.db*"):
                file.unlink()
            return
        assert self.postgres is not None
        self.postgres.drop_database(_name(sizes))
        self.postgres.create_database(_name(sizes))

    def figure(self, name: str, measure: Callable[[], float]) -> float:
        """Measured once, and kept."""
        if name not in self.state.figures:
            self.state.figures[name] = measure()
            self.save()
        return self.state.figures[name]

    def save(self) -> None:
        draft = self._file.with_suffix(".draft")
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(self.state)))
        draft.replace(self._file)


def _name(sizes: Sizes) -> str:
    return f"scale_{sizes.subscribers}"


@contextmanager
def opened(path: Path, *, with_postgres: bool) -> Iterator[Folder]:
    path.mkdir(parents=True, exist_ok=True)
    os.chmod(path, 0o755)  # PostgreSQL runs as somebody else
    if not with_postgres:
        yield Folder(path, None)
        return
    with KeptPostgres(path / "postgres") as server:
        yield Folder(path, server)
