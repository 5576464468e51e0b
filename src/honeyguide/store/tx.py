"""The interface of a transaction and of a store, for both engines. Domain code uses no driver."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar

from honeyguide.kernel.errors import Unavailable
from honeyguide.store.facts import TableWrites
from honeyguide.store.statements import Statement
from honeyguide.store.watch import PoolState, StoreWatch

R = TypeVar("R")
T = TypeVar("T")
P = ParamSpec("P")

# How PostgreSQL locks rows. The usual strength lets others still refer to the row.
Strength = Literal["no key update", "update", "share", "key share", "update skip locked"]


class Again(Exception):
    """Run the unit of work again: it hit a deadlock, or drew a code that was taken."""


class LockWait(Unavailable):
    """Another transaction kept a row locked for longer than we wait."""


class Taken(Exception):
    """A unique index refused a row, and the caller did not say what that means."""

    def __init__(self, constraint: str) -> None:
        super().__init__(f"{constraint} is taken")
        self.constraint = constraint


Refusals = Mapping[str, Exception | type[Exception]]


class Tx(Protocol):
    """What a unit of work may do. `taken` says which error a unique index's refusal means."""

    @property
    def engine(self) -> str: ...

    @property
    def written(self) -> TableWrites: ...

    @property
    def now_ms(self) -> int:
        """The time of the transaction. Statements bind it unless another is passed."""
        ...

    def at(self, now_ms: int) -> Tx:
        """The same transaction, at this time."""
        ...

    async def one(
        self, statement: Statement[R], /, taken: Refusals | None = None, **params: Any
    ) -> R | None:
        """The first row, or None."""
        ...

    async def all(
        self, statement: Statement[R], /, taken: Refusals | None = None, **params: Any
    ) -> list[R]: ...

    async def lock(
        self, statement: Statement[R], strength: Strength = "no key update", /, **params: Any
    ) -> list[R]:
        """The rows, locked until the transaction ends. SQLite has one writer at a time anyway."""
        ...

    async def run(
        self, statement: Statement[Any], /, taken: Refusals | None = None, **params: Any
    ) -> int:
        """Run it now and return how many rows it changed."""
        ...

    async def put(
        self, statement: Statement[Any], /, taken: Refusals | None = None, **params: Any
    ) -> None:
        """A write without a result. It runs before any later statement or the commit."""
        ...

    async def flush(self) -> None:
        """Sends what was put so far, so that a refusal is raised here and not at the commit."""
        ...

    def wake(self, topic: str) -> None:
        """After the commit, call this topic's listeners, here and in every other process."""
        ...

    def scrub(self) -> None:
        """After the commit, also remove deleted data from the database's files."""
        ...


Work = Callable[[Tx], Awaitable[T]]
Unit = Callable[Concatenate[Tx, P], Awaitable[T]]


def bind(unit: Unit[P, T], args: Any, kwargs: Any) -> Work[T]:
    """The unit of work with everything but the transaction filled in."""
    return (lambda tx: unit(tx, *args, **kwargs)) if args or kwargs else unit


def timed(unit: Unit[P, T], now_ms: int) -> Unit[P, T]:
    """The unit of work at this time, which need not be that of the store's clock."""

    def work(tx: Tx, /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        return unit(tx.at(now_ms), *args, **kwargs)

    return work


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
        """The same for reads that take seconds; other requests do not wait for them."""
        ...

    async def replica_snapshot(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """A slow snapshot, read from a replica if there is one that has all that was committed."""
        ...

    async def write(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """One transaction, on disk when this returns. It runs again after a collision."""
        ...

    async def write_snapshot(self, unit: Unit[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """A write whose statements all see the same moment."""
        ...

    def listen(self, topic: str, callback: Callable[[], None]) -> None: ...

    @property
    def watch(self) -> StoreWatch: ...

    def pools(self) -> list[PoolState]: ...

    async def close(self) -> None: ...


def refusal(constraint: str, taken: Refusals | None) -> Exception:
    """The error that a violation of this unique index means."""
    meaning = (taken or {}).get(constraint)
    if meaning is None:
        return Taken(constraint)
    return meaning if isinstance(meaning, Exception) else meaning()
