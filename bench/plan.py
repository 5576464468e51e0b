"""How much to measure, and the databases to measure on."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench.report import console
from tests.support.postgres import PostgresServer

ENGINES = ("sqlite", "postgres")


@dataclass(frozen=True)
class Size:
    rows: int = 1_000_000  # people in the big campaigns
    people: int = 10_000  # people in the campaign under load
    keys: int = 5_000  # API keys taken in turn where the default limit is on
    rounds: int = 5
    seconds: float = 1.5  # of load for each figure in each round
    connections: int = 32
    samples: int = 40  # requests per figure and round where latency is measured
    minutes: float = 0.0  # of steady load; 0: as long as the bench wants by itself
    keep: str = ""  # folder for the databases of `small`, `scale` and `bloat`; default: temporary


QUICK = Size(rows=1_000, people=500, keys=100, rounds=1, seconds=0.05, samples=3, minutes=0.05)


@dataclass(frozen=True)
class Bench:
    """What a bench works with; a fresh database is a line away."""

    size: Size
    engines: tuple[str, ...]
    folder: Path
    postgres: PostgresServer | None

    def database_url(self, engine: str, name: str) -> str:
        if engine == "sqlite":
            return f"sqlite:///{self.folder / name}.db"
        assert self.postgres is not None
        self.postgres.create_database(name)
        return self.postgres.url(name)


@contextmanager
def opened(size: Size, engines: tuple[str, ...]) -> Iterator[Bench]:
    with tempfile.TemporaryDirectory(prefix="honeyguide-bench-") as folder:
        if "postgres" not in engines:
            yield Bench(size, engines, Path(folder), None)
            return
        with PostgresServer() as server:
            yield Bench(size, engines, Path(folder), server)


def progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )
