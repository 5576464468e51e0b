"""A unit of work on SQLite, and what its refusals mean."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import apsw

from honeyguide.kernel.errors import Unavailable
from honeyguide.store.facts import TableWrites
from honeyguide.store.statements import Statement
from honeyguide.store.tx import Refusals, Strength, refusal

R = TypeVar("R")

# The topic of `Tx.scrub`.
SCRUB = "scrub"

UNWRITABLE = "The database cannot be written to right now; try again in a moment."
_FAULTS = (
    apsw.FullError,
    apsw.IOError,
    apsw.ReadOnlyError,
    apsw.CantOpenError,
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.NoMemError,
    apsw.ProtocolError,
)


def trouble(error: Exception) -> Exception:
    """Errors that pass, or that the administrator can fix: the caller may try again."""
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return Unavailable("The database is locked by another process; try again in a moment.")
    return Unavailable(UNWRITABLE) if isinstance(error, _FAULTS) else error


# SQLite names an index on expressions, but only the columns of any other index.
_VIOLATED = re.compile(r"UNIQUE constraint failed: (?:index '(.+)'|(.+))").fullmatch


class SqliteTx:
    engine = "sqlite"

    def __init__(self, connection: apsw.Connection, unique: dict[str, str], now_ms: int) -> None:
        self._connection = connection
        self._unique = unique
        self.topics: set[str] = set()
        self.written = TableWrites()
        self.now_ms = now_ms

    def at(self, now_ms: int) -> SqliteTx:
        if now_ms == self.now_ms:
            return self
        same = SqliteTx.__new__(SqliteTx)  # each request makes one: `copy` takes five times as long
        same.__dict__.update(self.__dict__, now_ms=now_ms)
        return same

    def _rows(
        self, statement: Statement[Any], taken: Refusals | None, params: dict[str, Any]
    ) -> list[tuple[Any, ...]]:
        self.written.note(statement)
        params.setdefault("now_ms", self.now_ms)
        try:
            return self._connection.execute(
                statement.sqlite, statement.sqlite_values(params)
            ).fetchall()
        except apsw.ConstraintError as error:
            violated = _VIOLATED(str(error))
            if violated is None:
                raise
            raise refusal(
                violated[1] or self._unique.get(violated[2], violated[2]), taken
            ) from None
        except apsw.Error as error:
            raise trouble(error) from error

    async def one(
        self, statement: Statement[R], /, taken: Refusals | None = None, **params: Any
    ) -> R | None:
        rows = self._rows(statement, taken, params)
        return statement.rows.one(*rows[0]) if rows else None

    async def all(
        self, statement: Statement[R], /, taken: Refusals | None = None, **params: Any
    ) -> list[R]:
        return statement.rows.all(self._rows(statement, taken, params))

    async def lock(
        self, statement: Statement[R], _strength: Strength = "no key update", /, **params: Any
    ) -> list[R]:
        return await self.all(statement, **params)

    async def run(
        self, statement: Statement[Any], /, taken: Refusals | None = None, **params: Any
    ) -> int:
        self._rows(statement, taken, params)
        return self._connection.changes()

    async def put(
        self, statement: Statement[Any], /, taken: Refusals | None = None, **params: Any
    ) -> None:
        self._rows(statement, taken, params)

    async def flush(self) -> None:
        """Every put was sent when it was made."""

    def wake(self, topic: str) -> None:
        self.topics.add(topic)

    def scrub(self) -> None:
        self.topics.add(SCRUB)
