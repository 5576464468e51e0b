"""Schema changes, each applied once, in order, in a transaction: `NNNN_name.sql` for both engines,
`.sqlite.sql` or `.postgres.sql` for one.

`schema_migration` records each with the SHA-256 of its file, so that a file changed later is
noticed. Versions before this one recorded the name only; the next run adds the rest.
"""

from __future__ import annotations

import hashlib
import re
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
_TABLE = "CREATE TABLE IF NOT EXISTS schema_migration (name TEXT PRIMARY KEY)"
_COLUMNS = ("checksum",)
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


@dataclass(frozen=True)
class Applied:
    """A row of `schema_migration`; a version that recorded only names left the rest empty."""

    name: str
    checksum: str | None = None


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
        found.append(Migration(f"{name}.{only}" if only else name, sql, checksum))
    return sorted(
        found, key=lambda migration: (migration.name.split(".")[0], "." in migration.name)
    )


def _pending(applied: list[Applied], known: list[Migration]) -> list[Migration]:
    """The migrations to run. An error if this version and the database do not fit together."""
    checksums = {migration.name: migration.checksum for migration in known}
    unknown = [row.name for row in applied if row.name not in checksums]
    if unknown:
        raise Unavailable(
            "The database was upgraded by a newer version of Honeyguide ({newest}). "
            "Upgrade this one too.",
            newest=max(unknown),
        )
    for row in applied:
        if row.checksum not in (None, checksums[row.name]):
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
    applied = [Applied(*row) for row in connection.execute("SELECT * FROM schema_migration")]
    known = migrations("sqlite")
    pending = _pending(applied, known)
    for migration in pending:
        connection.execute(migration.sql)
    for migration in (*_unrecorded(applied, known), *pending):
        connection.execute(
            "INSERT OR REPLACE INTO schema_migration (name, checksum) VALUES (?, ?)",
            (migration.name, migration.checksum),
        )
    return [migration.name for migration in pending]


async def migrate_postgres(url: str) -> list[str]:
    try:
        connection = await asyncpg.connect(url, timeout=CONNECT_S)
    except (*DOWN_ERRORS, asyncpg.PostgresError, ValueError) as error:
        raise Unavailable(NO_CONNECTION, error=str(error) or "timed out") from error
    try:
        async with connection.transaction():
            return await _upgrade_postgres(connection)
    except (*DOWN_ERRORS, asyncpg.PostgresError) as error:
        raise Unavailable("The database could not be migrated: {error}.", error=error) from error
    finally:
        connection.terminate()


async def _upgrade_postgres(connection: Any) -> list[str]:
    await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
    await connection.execute(_TABLE)
    for column in _COLUMNS:
        await connection.execute(
            f"ALTER TABLE schema_migration ADD COLUMN IF NOT EXISTS {column} TEXT"
        )
    applied = [Applied(*row) for row in await connection.fetch("SELECT * FROM schema_migration")]
    known = migrations("postgres")
    pending = _pending(applied, known)
    for migration in pending:
        await connection.execute(migration.sql)
    for migration in (*_unrecorded(applied, known), *pending):
        await connection.execute(
            "INSERT INTO schema_migration (name, checksum) VALUES ($1, $2) "
            "ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum",
            migration.name,
            migration.checksum,
        )
    return [migration.name for migration in pending]
