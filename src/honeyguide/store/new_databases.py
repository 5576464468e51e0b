"""A new database that is filled with the rows of another one: `honeyguide copy`. It is there when
`keep` returns and not before, whenever the process dies: an SQLite file is made in a workspace and
then moved into place, and on PostgreSQL everything, tables included, is one transaction.

Triggers would count everything again, foreign keys would demand an order, and indexes are quicker
to build at once. So all three are taken away and put back when the rows are there. An ordinary
database user may do this with its own tables; it could not switch off foreign keys.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeVar

import apsw
import asyncpg

from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.errors import Invalid, Unavailable
from honeyguide.store import open_store, sqlite_path
from honeyguide.store.batches import Batches
from honeyguide.store.connections import DOWN_ERRORS
from honeyguide.store.copy_checks import connect_to_target
from honeyguide.store.migrate import create_schema, migrate_sqlite
from honeyguide.store.pool import SLOW_COMMAND_S, SLOW_SETTINGS, PooledConnection
from honeyguide.store.postgres_tx import PostgresTx
from honeyguide.store.replacing import move_into_place, reserved
from honeyguide.store.sqlite import connect
from honeyguide.store.table_rows import PostgresTables, Row, SqliteTables, TableRows, Tables, quoted
from honeyguide.store.tx import Tx
from honeyguide.store.watch import StoreWatch
from honeyguide.store.workspace import workspace

T = TypeVar("T")

_OURS = "connamespace = current_schema()::REGNAMESPACE"
_FOREIGN_KEYS = (
    "SELECT conrelid::REGCLASS::TEXT, quote_ident(conname), pg_get_constraintdef(oid) "
    f"FROM pg_constraint WHERE contype = 'f' AND {_OURS} ORDER BY 1, 2"
)
_INDEXES = (
    "SELECT indexrelid::REGCLASS::TEXT, pg_get_indexdef(indexrelid) "
    "FROM pg_index JOIN pg_class ON pg_class.oid = indrelid "
    "WHERE relnamespace = current_schema()::REGNAMESPACE AND indexrelid NOT IN "
    f"(SELECT conindid FROM pg_constraint WHERE contype IN ('p', 'u', 'x') AND {_OURS}) ORDER BY 1"
)
_WITH_TRIGGERS = (
    "SELECT DISTINCT tgrelid::REGCLASS::TEXT FROM pg_trigger JOIN pg_class "
    "ON pg_class.oid = tgrelid WHERE NOT tgisinternal "
    "AND relnamespace = current_schema()::REGNAMESPACE ORDER BY 1"
)
_SEQUENCES = (
    "SELECT attrelid::REGCLASS::TEXT, quote_ident(attname), "
    "pg_get_serial_sequence(attrelid::REGCLASS::TEXT, attname) FROM pg_attribute "
    "JOIN pg_class ON pg_class.oid = attrelid WHERE attidentity <> '' "
    "AND relnamespace = current_schema()::REGNAMESPACE ORDER BY 1"
)


class NewDatabase(Tables, Protocol):
    async def insert(self, rows: TableRows, found: list[Row]) -> None: ...

    async def finish(self) -> None:
        """All rows are there: put back what was taken away for them."""
        ...

    async def read(self, unit: Callable[[Tx], Awaitable[T]]) -> T: ...

    async def keep(self) -> None: ...


@asynccontextmanager
async def new_database(url: str) -> AsyncIterator[NewDatabase]:
    """Empty tables, which are gone at the end unless they were kept."""
    path = sqlite_path(url)
    if path is None:
        connection = await connect_to_target(url)
        try:
            yield await _begin(connection)
        except (*DOWN_ERRORS, asyncpg.PostgresError) as error:
            raise Unavailable("The copy failed: {why}.", why=_why(error)) from error
        finally:
            connection.terminate()
        return
    with reserved(url), workspace(path.parent) as folder:
        try:
            with closing(_NewSqlite(folder / "copy.db", url)) as target:
                yield target
        except apsw.Error as error:
            raise Unavailable("The copy failed: {why}.", why=_why(error)) from error


class _NewSqlite(SqliteTables):
    def __init__(self, path: Path, url: str) -> None:
        migrate_sqlite(path)
        super().__init__(connect(path))
        self._path = path
        self._url = url
        # If we die, the file is worth nothing anyway.
        self._connection.execute(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; "
            "PRAGMA temp_store = FILE"
        ).fetchall()
        self._connection.execute("BEGIN")
        # In this order, because the order of triggers on one table follows it.
        self._taken_away: list[Any] = self._connection.execute(
            "SELECT type, name, sql FROM sqlite_schema "
            "WHERE type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY rowid"
        ).fetchall()
        for kind, name, _ in self._taken_away:
            self._connection.execute(f"DROP {kind} {quoted(str(name))}")

    async def insert(self, rows: TableRows, found: list[Row]) -> None:
        names = ", ".join(map(quoted, rows.columns))
        values = ", ".join("?" * len(rows.columns))
        sql = f"INSERT INTO {quoted(rows.table)} ({names}) VALUES ({values})"
        try:
            self._connection.executemany(sql, found)
        except apsw.Error as error:
            _refuse(rows.table, _why(error))

    async def finish(self) -> None:
        for _, _, sql in self._taken_away:
            self._connection.execute(sql)
        wrong = self._connection.execute("PRAGMA foreign_key_check").fetchall()
        if wrong:
            _refuse(str(wrong[0][0]), f"a row of {wrong[0][2]} that it refers to is missing")
        self._connection.execute("COMMIT")

    async def read(self, unit: Callable[[Tx], Awaitable[T]]) -> T:
        store = await open_store(f"sqlite:///{self._path}")
        try:
            return await store.slow_snapshot(unit)
        finally:
            await store.close()

    async def keep(self) -> None:
        self.close()
        await move_into_place(self._url, f"sqlite:///{self._path}", "copy", keeps_old=False)

    def close(self) -> None:
        self._connection.close()


async def _begin(connection: Any) -> _NewPostgres:
    transaction = connection.transaction()
    await transaction.start()
    await create_schema(connection)
    keys = [tuple(row) for row in await connection.fetch(_FOREIGN_KEYS)]
    indexes = [tuple(row) for row in await connection.fetch(_INDEXES)]
    for table, name, _ in keys:
        await connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    for name, _ in indexes:
        await connection.execute(f"DROP INDEX {name}")
    tables = [row[0] for row in await connection.fetch(_WITH_TRIGGERS)]
    for table in tables:
        await connection.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    put_back = [
        *(definition for _, definition in indexes),
        *(f"ALTER TABLE {table} ADD CONSTRAINT {name} {sql}" for table, name, sql in keys),
        *(f"ALTER TABLE {table} ENABLE TRIGGER USER" for table in tables),
    ]
    return _NewPostgres(connection, transaction, put_back)


class _NewPostgres(PostgresTables):
    def __init__(self, connection: Any, transaction: Any, put_back: list[str]) -> None:
        super().__init__(connection)
        self._transaction = transaction
        self._put_back = put_back

    async def insert(self, rows: TableRows, found: list[Row]) -> None:
        try:
            await self._connection.copy_records_to_table(
                rows.table, records=found, columns=rows.columns
            )
        except (asyncpg.DataError, asyncpg.IntegrityConstraintViolationError) as error:
            _refuse(rows.table, _why(error))

    async def finish(self) -> None:
        for sql in self._put_back:
            try:
                await self._connection.execute(sql)
            except asyncpg.IntegrityConstraintViolationError as error:
                _refuse(str(error.table_name), _why(error))
        for table, column, sequence in await self._connection.fetch(_SEQUENCES):
            await self._connection.execute(
                f"SELECT setval('{sequence}', MAX({column})) FROM {table} HAVING COUNT(*) > 0"
            )
        await self._connection.execute("ANALYZE")

    async def read(self, unit: Callable[[Tx], Awaitable[T]]) -> T:
        await self._connection.execute(SLOW_SETTINGS)
        connection = _OwnConnection(self._connection)
        return await unit(
            PostgresTx(connection, Batches(_not_batched, StoreWatch()), None, system_clock())
        )

    async def keep(self) -> None:
        await self._transaction.commit()


class _OwnConnection(PooledConnection):
    """A connection that belongs to nobody's pool."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.timeout_s = SLOW_COMMAND_S
        self.has_begun = True


async def _not_batched(_use: Any) -> NoReturn:
    raise AssertionError("a transaction that has begun sends its statements itself")


def _why(error: Exception) -> str:
    """Without the details, in which PostgreSQL quotes the row."""
    return str(error).partition("\n")[0].rstrip(".")


def _refuse(table: str, why: str) -> NoReturn:
    raise Invalid(
        "The table {table} cannot be copied: {why}. Nothing was written.", table=table, why=why
    )
