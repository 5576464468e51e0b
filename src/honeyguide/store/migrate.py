"""Schema changes, each applied once, in order, in a transaction: `NNNN_name.sql` for both engines,
`.sqlite.sql` or `.postgres.sql` for one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import apsw
import asyncpg

from honeyguide.kernel.errors import Unavailable
from honeyguide.store.pool import CONNECT_S, DOWN_ERRORS, NO_CONNECTION
from honeyguide.store.sqlite import connect

FOLDER = Path(__file__).parent / "migrations"
_LOCK = 5_417_001  # any number, the same everywhere: two processes must not migrate at once
_BOOK = "CREATE TABLE IF NOT EXISTS schema_migration (name TEXT PRIMARY KEY)"
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


def migrations(engine: str) -> list[Migration]:
    found = []
    for path in sorted(FOLDER.glob("*.sql")):
        name, _, only = path.name.removesuffix(".sql").partition(".")
        if only and only != engine:
            continue
        sql = path.read_text(encoding="utf-8")
        if engine == "postgres" and not only:
            for pattern, replacement in _POSTGRES:
                sql = pattern.sub(replacement, sql)
        found.append(Migration(f"{name}.{only}" if only else name, sql))
    return sorted(
        found, key=lambda migration: (migration.name.split(".")[0], "." in migration.name)
    )


def _refuse_newer(applied: set[str], known: list[Migration]) -> None:
    unknown = applied - {migration.name for migration in known}
    if unknown:
        raise Unavailable(
            "The database was upgraded by a newer version of Honeyguide ({newest}). "
            "Upgrade this one too.",
            newest=max(unknown),
        )


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
        done = []
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_BOOK)
        applied = {
            str(row[0])
            for row in connection.execute("SELECT name FROM schema_migration").fetchall()
        }
        known = migrations("sqlite")
        _refuse_newer(applied, known)
        for migration in known:
            if migration.name not in applied:
                connection.execute(migration.sql)
                connection.execute("INSERT INTO schema_migration VALUES (?)", (migration.name,))
                done.append(migration.name)
        connection.execute("COMMIT")
        return done
    except apsw.Error as error:
        raise Unavailable(
            "The database file {path} could not be migrated: {error}.", path=path, error=error
        ) from error
    finally:
        connection.close()


async def migrate_postgres(url: str) -> list[str]:
    try:
        connection = await asyncpg.connect(url, timeout=CONNECT_S)
    except (*DOWN_ERRORS, asyncpg.PostgresError, ValueError) as error:
        raise Unavailable(NO_CONNECTION, error=str(error) or "timed out") from error
    try:
        done = []
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
            await connection.execute(_BOOK)
            applied = {
                row["name"] for row in await connection.fetch("SELECT name FROM schema_migration")
            }
            known = migrations("postgres")
            _refuse_newer(applied, known)
            for migration in known:
                if migration.name not in applied:
                    await connection.execute(migration.sql)
                    await connection.execute(
                        "INSERT INTO schema_migration VALUES ($1)", migration.name
                    )
                    done.append(migration.name)
        return done
    except (*DOWN_ERRORS, asyncpg.PostgresError) as error:
        raise Unavailable("The database could not be migrated: {error}.", error=error) from error
    finally:
        connection.terminate()
