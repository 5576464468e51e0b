"""Schema changes, each applied once, in order: `NNNN_name.sql` for both engines, `.sqlite.sql` or
`.postgres.sql` for one. On SQLite an upgrade is one transaction. On PostgreSQL each migration is
one, to keep its locks for a short time while older code serves; while it waits for a lock others
wait behind it, so it gives up soon and tries again.

`schema_migration` records each with the SHA-256 of its file, so that a file changed later is
noticed. Versions before this one recorded the name only; the next run adds the rest.

The version of the code is the number of its newest migration. A file says `-- works-with: 0014` if
code of version 0014 and later still works after it; without that line, no older code does. This is
recorded too, so that older code can read it and knows whether it may run.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import asyncpg

from honeyguide.kernel.errors import Unavailable
from honeyguide.store.pool import CONNECT_S, DOWN_ERRORS, NO_CONNECTION
from honeyguide.store.sqlite import connect

FOLDER = Path(__file__).parent / "migrations"
_LOCK = 5_417_001  # any number, the same everywhere: two processes must not migrate at once
# How long to wait for another process that migrates, and to let others wait behind a migration.
OTHER_PROCESS_S = 600.0
LOCK_S = 2.0
ATTEMPTS = 10
PAUSE_S = 1.0
SQLITE_LOCK_S = 30.0
_TABLE = "CREATE TABLE IF NOT EXISTS schema_migration (name TEXT PRIMARY KEY)"
_COLUMNS = ("checksum", "works_with")
_APPLIED = "SELECT name, checksum, works_with FROM schema_migration ORDER BY name DESC"
_WORKS_WITH = re.compile(r"^-- works-with: (\d{4})$", re.MULTILINE)
_POSTGRES = (
    (re.compile(r"\bINTEGER\b"), "BIGINT"),
    (re.compile(r"\bBLOB\b"), "BYTEA"),
    (re.compile(r"\bTEXT\b"), 'TEXT COLLATE "C"'),
    (re.compile(r"\)\s*STRICT\b"), ")"),
)


@dataclass(frozen=True)
class Migration:
    name: str
    sql: str
    checksum: str
    works_with: str

    @property
    def number(self) -> str:
        return self.name[:4]


@dataclass(frozen=True)
class Applied:
    """A row of `schema_migration`. Versions that recorded only names left the rest empty."""

    name: str
    checksum: str | None = None
    works_with: str | None = None


def migrations(engine: str) -> list[Migration]:
    found = []
    for path in sorted(FOLDER.glob("*.sql")):
        name, _, only = path.name.removesuffix(".sql").partition(".")
        if only and only != engine:
            continue
        text = sql = path.read_text(encoding="utf-8")
        if engine == "postgres" and not only:
            for pattern, replacement in _POSTGRES:
                sql = pattern.sub(replacement, sql)
        checksum = hashlib.sha256(text.encode()).hexdigest()
        stated = _WORKS_WITH.search(text)
        works_with = stated[1] if stated else name[:4]
        found.append(Migration(f"{name}.{only}" if only else name, sql, checksum, works_with))
    return sorted(
        found, key=lambda migration: (migration.name.split(".")[0], "." in migration.name)
    )


def _pending(applied: list[Applied], known: list[Migration]) -> list[Migration]:
    """The migrations to run. An error if this version and the database do not fit together."""
    version = max(migration.number for migration in known)
    checksums = {migration.name: migration.checksum for migration in known}
    for row in applied:
        if row.name not in checksums:
            if row.works_with is None or row.works_with > version:
                raise Unavailable(
                    "The database was upgraded by a newer version of Honeyguide ({name}), "
                    "with which this one does not work. Upgrade this one too.",
                    name=row.name,
                )
        elif row.checksum not in (None, checksums[row.name]):
            raise Unavailable(
                "The migration {name} was changed after it was applied to this database. "
                "Install this version again to restore the file; "
                "a change to the schema needs a new migration.",
                name=row.name,
            )
    names = {row.name for row in applied}
    return [migration for migration in known if migration.name not in names]


def _unrecorded(applied: list[Applied], known: list[Migration]) -> list[Migration]:
    """Migrations of which an earlier version recorded only the name."""
    names = {row.name for row in applied if row.checksum is None}
    return [migration for migration in known if migration.name in names]


def migrate_sqlite(path: Path) -> list[str]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = connect(path)
        connection.set_busy_timeout(int(SQLITE_LOCK_S * 1000))
    except (apsw.Error, OSError) as error:
        raise Unavailable(
            "The database file {path} cannot be opened: {error}. Check HONEYGUIDE_DATABASE_URL.",
            path=path,
            error=error,
        ) from error
    try:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("BEGIN IMMEDIATE")
        done = _upgrade_sqlite(connection)
        connection.execute("COMMIT")
        return done
    except apsw.BusyError as error:
        raise Unavailable(
            "The database file {path} was not upgraded, because another process has it locked. "
            "Stop that process, then try again.",
            path=path,
        ) from error
    except apsw.Error as error:
        raise Unavailable(
            "The database file {path} could not be migrated: {error}.", path=path, error=error
        ) from error
    finally:
        connection.close()


def _upgrade_sqlite(connection: apsw.Connection) -> list[str]:
    """All of it in the caller's transaction."""
    connection.execute(_TABLE)
    columns = {row[1] for row in connection.execute("PRAGMA table_info(schema_migration)")}
    for column in _COLUMNS:
        if column not in columns:
            connection.execute(f"ALTER TABLE schema_migration ADD COLUMN {column} TEXT")
    applied = [Applied(*row) for row in connection.execute(_APPLIED)]
    known = migrations("sqlite")
    pending = _pending(applied, known)
    for migration in pending:
        connection.execute(migration.sql)
    for migration in (*_unrecorded(applied, known), *pending):
        connection.execute(
            "INSERT OR REPLACE INTO schema_migration (name, checksum, works_with) VALUES (?, ?, ?)",
            (migration.name, migration.checksum, migration.works_with),
        )
    return [migration.name for migration in pending]


async def migrate_postgres(url: str) -> list[str]:
    settings = {"application_name": "honeyguide migrate", "lock_timeout": f"{LOCK_S}s"}
    try:
        connection = await asyncpg.connect(url, timeout=CONNECT_S, server_settings=settings)
    except (*DOWN_ERRORS, asyncpg.PostgresError, ValueError) as error:
        raise Unavailable(NO_CONNECTION, error=str(error) or "timed out") from error
    try:
        await _wait_for_other_processes(connection)
        return await _upgrade_postgres(connection)
    except (*DOWN_ERRORS, asyncpg.PostgresError) as error:
        raise Unavailable("The database could not be migrated: {error}.", error=error) from error
    finally:
        connection.terminate()


async def _wait_for_other_processes(connection: Any) -> None:
    """Take the lock that lets one process migrate at a time, until the connection ends."""
    give_up = time.monotonic() + OTHER_PROCESS_S
    while not await connection.fetchval("SELECT pg_try_advisory_lock($1)", _LOCK):
        if time.monotonic() > give_up:
            raise Unavailable(
                "Another process is still upgrading the database. "
                "Wait until it has finished, then try again."
            )
        await asyncio.sleep(0.1)


async def _upgrade_postgres(connection: Any) -> list[str]:
    found = await connection.fetch(
        "SELECT attname FROM pg_attribute "
        "WHERE attrelid = to_regclass('schema_migration') AND attnum > 0 AND NOT attisdropped"
    )
    missing = [column for column in _COLUMNS if column not in {row[0] for row in found}]
    if missing:
        await _retry("schema_migration", _add_columns, connection, missing)
    applied = [Applied(*row) for row in await connection.fetch(_APPLIED)]
    known = migrations("postgres")
    pending = _pending(applied, known)
    for migration in _unrecorded(applied, known):
        await _record(connection, migration)
    for migration in pending:
        await _retry(migration.name, _apply, connection, migration)
    return [migration.name for migration in pending]


async def _add_columns(connection: Any, columns: list[str]) -> None:
    async with connection.transaction():
        await connection.execute(_TABLE)
        for column in columns:
            await connection.execute(f"ALTER TABLE schema_migration ADD COLUMN {column} TEXT")


async def _apply(connection: Any, migration: Migration) -> None:
    async with connection.transaction():
        await connection.execute(migration.sql)
        await _record(connection, migration)


async def _retry(name: str, work: Callable[..., Awaitable[None]], *args: Any) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return await work(*args)
        except (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError) as error:
            if attempt == ATTEMPTS:
                raise Unavailable(
                    "The migration {name} was not applied: other sessions kept its tables locked, "
                    "{attempts} times in a row. End long transactions (see pg_stat_activity), "
                    "then run `honeyguide migrate` again.",
                    name=name,
                    attempts=ATTEMPTS,
                ) from error
        await asyncio.sleep(PAUSE_S)


async def _record(connection: Any, migration: Migration) -> None:
    await connection.execute(
        "INSERT INTO schema_migration (name, checksum, works_with) VALUES ($1, $2, $3) ON CONFLICT "
        "(name) DO UPDATE SET checksum = excluded.checksum, works_with = excluded.works_with",
        migration.name,
        migration.checksum,
        migration.works_with,
    )
