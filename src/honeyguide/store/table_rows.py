"""Reads whole tables of either engine, all of them at one moment: for `honeyguide copy`. A table is
read by a cursor, a few thousand rows at a time, so that it may be larger than the memory.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import apsw
import asyncpg

from honeyguide.kernel.errors import Unavailable
from honeyguide.store import sqlite_path
from honeyguide.store.connections import DOWN_ERRORS, connect_once
from honeyguide.store.sqlite import connect

# A copy takes as long as it takes. Requests are planned without sequential scans; this is not one.
COPY_SETTINGS = {
    "application_name": "honeyguide copy",
    "timezone": "UTC",
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "lock_timeout": "10000",
    "jit": "off",
}
_COLUMNS = """
SELECT t.relname, a.attname, COALESCE(array_position(i.indkey::INT2[], a.attnum), -1)
FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_index i ON i.indrelid = t.oid AND i.indisprimary
WHERE t.relkind = 'r' AND t.relnamespace = current_schema()::REGNAMESPACE
ORDER BY t.relname, a.attnum
"""

Row = tuple[Any, ...]


class TableShape(NamedTuple):
    columns: tuple[str, ...]
    key: tuple[str, ...]


class TableRows(NamedTuple):
    """The rows of a table, as both engines can have them, in the order of their key. With `summed`
    columns, the rows of one key are added up.
    """

    table: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    summed: tuple[str, ...] = ()


class RowCursor(Protocol):
    async def fetch(self, most: int) -> list[Row]:
        """The next rows; none at the end."""
        ...


class Tables(Protocol):
    """The tables of one database, all read at the same moment."""

    async def shapes(self) -> dict[str, TableShape]: ...

    async def migrations(self) -> set[str]:
        """The names of those that were applied."""
        ...

    async def count(self, rows: TableRows) -> int: ...

    async def open(self, rows: TableRows) -> RowCursor: ...


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _select(rows: TableRows) -> str:
    # Text is compared by its bytes in both engines, so both have the same order.
    selected = [
        f"CAST(SUM({quoted(each)}) AS BIGINT)" if each in rows.summed else quoted(each)
        for each in rows.columns
    ]
    plain = [quoted(each) for each in rows.columns if each not in rows.summed]
    groups = f" GROUP BY {', '.join(plain)}" if rows.summed else ""
    order = ", ".join(quoted(each) for each in rows.key)
    return f"SELECT {', '.join(selected)} FROM {quoted(rows.table)}{groups} ORDER BY {order}"


def _count(rows: TableRows) -> str:
    return (
        f"SELECT COUNT(*) FROM ({_select(rows)}) AS found"
        if rows.summed
        else (f"SELECT COUNT(*) FROM {quoted(rows.table)}")
    )


class SqliteTables:
    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    async def shapes(self) -> dict[str, TableShape]:
        found: dict[str, TableShape] = {}
        tables: list[Any] = self._connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        for (table,) in tables:
            columns: list[Any] = self._connection.execute(
                "SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", (table,)
            ).fetchall()
            key = sorted((place, name) for name, place in columns if place)
            found[table] = TableShape(
                tuple(name for name, _ in columns), tuple(name for _, name in key)
            )
        return found

    async def migrations(self) -> set[str]:
        return {row[0] for row in self._connection.execute("SELECT name FROM schema_migration")}

    async def count(self, rows: TableRows) -> int:
        return int(self._connection.execute(_count(rows)).get)

    async def open(self, rows: TableRows) -> RowCursor:
        return _SqliteCursor(self._connection.execute(_select(rows)))


class _SqliteCursor:
    def __init__(self, cursor: Iterator[Row]) -> None:
        self._cursor = cursor

    async def fetch(self, most: int) -> list[Row]:
        return list(islice(self._cursor, most))


class PostgresTables:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def shapes(self) -> dict[str, TableShape]:
        columns: dict[str, list[str]] = {}
        keys: dict[str, list[tuple[int, str]]] = {}
        for table, column, place in await self._connection.fetch(_COLUMNS):
            columns.setdefault(table, []).append(column)
            keys.setdefault(table, []).extend([(place, column)] if place >= 0 else [])
        return {
            table: TableShape(tuple(names), tuple(name for _, name in sorted(keys[table])))
            for table, names in columns.items()
        }

    async def migrations(self) -> set[str]:
        return {row[0] for row in await self._connection.fetch("SELECT name FROM schema_migration")}

    async def count(self, rows: TableRows) -> int:
        return int(await self._connection.fetchval(_count(rows)))

    async def open(self, rows: TableRows) -> RowCursor:
        return _PostgresCursor(await self._connection.cursor(_select(rows)))


class _PostgresCursor:
    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    async def fetch(self, most: int) -> list[Row]:
        return [tuple(row) for row in await self._cursor.fetch(most)]


@asynccontextmanager
async def opened_tables(url: str) -> AsyncIterator[Tables]:
    """The tables as they are now, whatever others write meanwhile. Nothing is changed."""
    path = sqlite_path(url)
    if path is not None:
        with _opened_sqlite(path) as connection:
            yield SqliteTables(connection)
        return
    connection = await connect_once(url, server_settings=COPY_SETTINGS)
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            yield PostgresTables(connection)
    except (*DOWN_ERRORS, asyncpg.PostgresError) as error:
        raise Unavailable("The database cannot be read: {error}.", error=error) from error
    finally:
        connection.terminate()


@contextmanager
def _opened_sqlite(path: Path) -> Iterator[apsw.Connection]:
    try:
        with closing(connect(path)) as connection:
            # What it sorts may be large.
            connection.execute("PRAGMA query_only = ON; PRAGMA temp_store = FILE").fetchall()
            connection.execute("BEGIN; SELECT count(*) FROM sqlite_schema").fetchall()
            yield connection
    except apsw.Error as error:
        raise Unavailable(
            "The database file {path} cannot be read: {error}.", path=path, error=error
        ) from error
