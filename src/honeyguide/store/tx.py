"""The face of a transaction, the same on both engines, and what a store promises. Domain code sees this and no driver."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from honeyguide.kernel.errors import Unavailable
from honeyguide.store.statements import Statement

R = TypeVar("R")
T = TypeVar("T")
P = ParamSpec("P")


class Again(Exception):
    """The unit of work met a collision that a second run will not meet (a drawn code that was taken, a deadlock)."""


class LockWait(Unavailable):
    """Another transaction kept a row locked for longer than we wait."""


class Taken(Exception):
    """A unique index refused a row, and nobody said what that means."""

    def __init__(self, constraint: str) -> None:
        super().__init__(f"{constraint} is taken")
        self.constraint = constraint


Refusals = Mapping[str, Exception | type[Exception]]


class Tx(Protocol):
    """What a unit of work may do. `taken` says what a refusal by a unique index means, by the index's name."""

    @property
    def engine(self) -> str: ...

    async def one(
        self, statement: Statement[R], /, taken: Refusals | None = None, **params: Any
    ) -> R | None:
        """The first row, or None."""
        ...

    async def all(
        self, statement: Statement[R], /, taken: Refusals | None = None, **params: Any
    ) -> list[R]: ...

    async def run(
        self, statement: Statement[Any], /, taken: Refusals | None = None, **params: Any
    ) -> int:
        """Runs it now and tells how many rows it touched."""
        ...

    async def put(
        self, statement: Statement[Any], /, taken: Refusals | None = None, **params: Any
    ) -> None:
        """A write whose result nobody needs: it happens before anything asked later, and by the commit at the latest."""
        ...

    async def flush(self) -> None:
        """Sends what was put so far, so that a refusal is raised here and not at the commit."""
        ...

    def wake(self, topic: str) -> None:
        """After the commit, tell this topic's listeners, here and in every other process."""
        ...

    def scrub(self) -> None:
        """After the commit, remove what this deleted from the database's files too, where the engine leaves that to us."""
        ...


Work = Callable[[Tx], Awaitable[T]]
Unit = Callable[Concatenate[Tx, P], Awaitable[T]]


def bind(unit: Unit[P, T], args: Any, kwargs: Any) -> Work[T]:
    """The unit of work with everything but the transaction filled in."""
    return (lambda tx: unit(tx, *args, **kwargs)) if args or kwargs else unit


class Store(Protocol):
    """Runs a unit of work, `unit(tx, *args, **kwargs)`, in a transaction of its own."""

    @property
    def engine(self) -> str: ...

    @property
    def engine_name(self) -> str:
        """The engine's name as people write it."""
        ...

    @property
    def is_shared(self) -> bool:
        """Whether other server processes may use the same database."""
        ...

    @property
    def path(self) -> Path | None:
        """The file of a database that only one server process uses."""
        ...

    def read(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        """Quick reads; each statement sees the newest commit."""
        ...

    async def snapshot(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Reads that all see the same moment."""
        ...

    async def slow_snapshot(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """The same for reads that take seconds: nobody else's requests wait for them."""
        ...

    async def write(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """One transaction, on disk when this returns; run again when it met a collision."""
        ...

    async def write_snapshot(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """A write whose statements all see the same moment."""
        ...

    def listen(self, topic: str, callback: Callable[[], None]) -> None: ...

    async def close(self) -> None: ...


def refusal(constraint: str, taken: Refusals | None) -> Exception:
    """What the violation of this unique index is to be called."""
    meaning = (taken or {}).get(constraint)
    if meaning is None:
        return Taken(constraint)
    return meaning if isinstance(meaning, Exception) else meaning()
