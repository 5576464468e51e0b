"""Schema changes, each applied once, in order: `NNNN_name.sql` for both engines, `.sqlite.sql` or
`.postgres.sql` for one. On SQLite an upgrade is one transaction. On PostgreSQL each migration is
one, to keep its locks for a short time while older code serves; while it waits for a lock others
wait behind it, so it gives up soon and tries again.

`schema_migration` records each with the SHA-256 of its file, so that a file changed later is
noticed. The schema of version 0.3.0 is one step, the baseline; a database that 0.3.0 made has it.

The version of the code is the number of its newest migration, whichever engine that is for. A file
says `-- works-with: 0014` if code of version 0014 and later still works after it; without that
line, no older code does. This is recorded too, so that older code can read it and knows whether it
may run.

`-- locks: subscriber (writes wait while the index is built)` is what `honeyguide migrate --plan`
prints. `-- concurrently: subscriber_paid` in a `.postgres.sql` file that only creates the index of
that name runs it outside a transaction. A failed attempt leaves an invalid index, which the next
attempt drops first.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import asyncpg

from honeyguide.kernel.errors import Unavailable
from honeyguide.store.connections import DOWN_ERRORS, connect_once
from honeyguide.store.sqlite import connect

FOLDER = Path(__file__).parent / "migrations"
_LOCK = 5_417_001  # any number, the same everywhere: two processes must not migrate at once
# How long to wait for another process that migrates, and to let others wait behind a migration.
OTHER_PROCESS_S = 600.0
LOCK_S = 2.0
ATTEMPTS = 10
PAUSE_S = 1.0
SQLITE_LOCK_S = 30.0
_TABLE = """CREATE TABLE IF NOT EXISTS schema_migration (
    name TEXT PRIMARY KEY, checksum TEXT, works_with TEXT)"""
# The last migration of version 0.3.0, and the file that has the schema up to then.
_OF_0_3, BASELINE = "0093_subscriber_language", "0093_baseline"
_HEADER = re.compile(r"^-- (works-with|locks|concurrently): (.+)$", re.MULTILINE)
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
    locks: str | None
    concurrent_index: str | None


@dataclass(frozen=True)
class Applied:
    """A row of `schema_migration`. Versions before 0.3.0 left the rest empty at first."""

    name: str
    checksum: str | None
    works_with: str | None


@dataclass(frozen=True)
class Planned:
    name: str
    locks: str
    # Whether processes of the version that made the database can go on beside it.
    keeps_older_code: bool


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
        header = dict(_HEADER.findall(text))
        found.append(
            Migration(
                name=f"{name}.{only}" if only else name,
                sql=sql,
                checksum=checksum,
                works_with=header.get("works-with", name[:4]),
                locks=header.get("locks"),
                concurrent_index=header.get("concurrently"),
            )
        )
    return sorted(
        found, key=lambda migration: (migration.name.split(".")[0], "." in migration.name)
    )


def migration_names() -> set[str]:
    """Those of this version, for either engine."""
    return {each.name for engine in ("sqlite", "postgres") for each in migrations(engine)}


def is_in_baseline(name: str) -> bool:
    """Whether this migration is one of 0.3.0 or earlier."""
    return name[:4] <= BASELINE[:4] and not name.startswith(BASELINE)


def ran(names: list[str]) -> str:
    """Says which migrations were applied, for a log."""
    if len(names) == 1:
        return f"Ran the migration {names[0]}"
    return f"Ran {len(names)} migrations: {names[0][:4]} … {names[-1][:4]}"


def pending_of(applied: list[Applied], known: list[Migration]) -> list[Migration]:
    """The migrations to run. An error if this version and the database do not fit together."""
    names = {row.name for row in applied}
    if applied and names.isdisjoint({_OF_0_3, BASELINE}):
        raise Unavailable(
            "The database was made by a version before 0.3.0. Run `honeyguide migrate` with "
            "version 0.3.0 (commit d9ad60e4) first, and then with this version."
        )
    version = max(path.name[:4] for path in FOLDER.glob("*.sql"))
    checksums = {migration.name: migration.checksum for migration in known}
    for row in applied:
        if is_in_baseline(row.name):
            continue
        if row.name not in checksums:
            if row.works_with is None or row.works_with > version:
                raise Unavailable(
                    "The database was upgraded by a newer version of Honeyguide ({name}), "
                    "with which this one does not work. Upgrade this one too.",
                    name=row.name,
                )
        elif row.checksum != checksums[row.name]:
            raise Unavailable(
                "The migration {name} was changed after it was applied to this database. "
                "Install this version again to restore the file; "
                "a change to the schema needs a new migration.",
                name=row.name,
            )
    has_baseline = {migration.name for migration in _there_already(applied, known)}
    return [migration for migration in known if migration.name not in names | has_baseline]


def _there_already(applied: list[Applied], known: list[Migration]) -> list[Migration]:
    """The baseline, of which a database that 0.3.0 made has all but the record."""
    names = {row.name for row in applied}
    return [
        migration
        for migration in known
        if migration.name.startswith(BASELINE) and _OF_0_3 in names and migration.name not in names
    ]


def migrate_sqlite(path: Path) -> list[str]:
    with _opened_sqlite(path) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("BEGIN IMMEDIATE")
        done = _upgrade_sqlite(connection)
        connection.execute("COMMIT")
        return done


def plan_sqlite(path: Path) -> list[Planned]:
    """What `migrate_sqlite` would apply."""
    applied: list[Applied] = []
    if path.exists():
        with _opened_sqlite(path) as connection:
            applied = _read_sqlite(connection)
    pending = pending_of(applied, migrations("sqlite"))
    return [
        _planned(migration, applied, "all writes until the last migration has run")
        for migration in pending
    ]


def _planned(migration: Migration, applied: list[Applied], locks: str) -> Planned:
    if not applied:
        return Planned(migration.name, "nothing in a new database", True)
    version = max(row.name[:4] for row in applied)
    return Planned(migration.name, locks, migration.works_with <= version)


@contextmanager
def _opened_sqlite(path: Path) -> Iterator[apsw.Connection]:
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
        yield connection
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


def _select(columns: set[str]) -> str:
    """Rows for `Applied`. The first versions recorded only names."""
    recorded = "checksum, works_with" if "checksum" in columns else "NULL, NULL"
    return f"SELECT name, {recorded} FROM schema_migration ORDER BY name DESC"


def _read_sqlite(connection: apsw.Connection) -> list[Applied]:
    columns = {row[1] for row in connection.execute("PRAGMA table_info(schema_migration)")}
    rows: list[Any] = connection.execute(_select(columns)).fetchall() if columns else []
    return [Applied(*row) for row in rows]


def _upgrade_sqlite(connection: apsw.Connection) -> list[str]:
    """All of it in the caller's transaction."""
    applied = _read_sqlite(connection)
    known = migrations("sqlite")
    pending = pending_of(applied, known)
    connection.execute(_TABLE)
    for migration in pending:
        connection.execute(migration.sql)
    for migration in (*_there_already(applied, known), *pending):
        connection.execute(
            "INSERT INTO schema_migration (name, checksum, works_with) VALUES (?, ?, ?)",
            (migration.name, migration.checksum, migration.works_with),
        )
    return [migration.name for migration in pending]


async def migrate_postgres(url: str) -> list[str]:
    async with _opened_postgres(url) as connection:
        await _wait_for_other_processes(connection)
        return await _upgrade_postgres(connection)


async def plan_postgres(url: str) -> list[Planned]:
    """What `migrate_postgres` would apply."""
    async with _opened_postgres(url) as connection:
        applied = await _read_postgres(connection)
    pending = pending_of(applied, migrations("postgres"))
    return [_planned(migration, applied, _locks(migration)) for migration in pending]


def _locks(migration: Migration) -> str:
    if migration.concurrent_index:
        return "nothing; it builds an index while reads and writes go on"
    return migration.locks or "the changed tables, for reads and writes"


@asynccontextmanager
async def _opened_postgres(url: str) -> AsyncIterator[Any]:
    settings = {
        "application_name": "honeyguide migrate",
        "lock_timeout": f"{LOCK_S}s",
        "statement_timeout": "0",
    }
    connection = await connect_once(url, server_settings=settings)
    try:
        yield connection
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


async def _read_postgres(connection: Any) -> list[Applied]:
    found = await connection.fetch(
        "SELECT attname FROM pg_attribute "
        "WHERE attrelid = to_regclass('schema_migration') AND attnum > 0 AND NOT attisdropped"
    )
    columns = {row["attname"] for row in found}
    rows = await connection.fetch(_select(columns)) if columns else []
    return [Applied(*row) for row in rows]


async def _upgrade_postgres(connection: Any) -> list[str]:
    applied = await _read_postgres(connection)
    known = migrations("postgres")
    pending = pending_of(applied, known)
    if not applied:
        await connection.execute(_TABLE)
    for migration in _there_already(applied, known):
        await _record(connection, migration)
    for migration in pending:
        apply = _build_index if migration.concurrent_index else _apply
        await _retry(migration.name, apply, connection, migration)
    return [migration.name for migration in pending]


async def create_schema(connection: Any) -> None:
    """The schema of an empty database, all of it in the caller's transaction."""
    if not await connection.fetchval("SELECT pg_try_advisory_xact_lock($1)", _LOCK):
        raise Unavailable(
            "Another process is filling or upgrading this database. "
            "Wait until it has ended, then try again."
        )
    await connection.execute(_TABLE)
    for migration in migrations("postgres"):
        # Outside a transaction it would not wait for others; nobody else can see these tables yet.
        sql = migration.sql.replace("INDEX CONCURRENTLY", "INDEX")
        await connection.execute(sql if migration.concurrent_index else migration.sql)
        await _record(connection, migration)


async def _apply(connection: Any, migration: Migration) -> None:
    async with connection.transaction():
        await connection.execute(migration.sql)
        await _record(connection, migration)


async def _build_index(connection: Any, migration: Migration) -> None:
    """Reads and writes go on meanwhile. Waiting for older transactions blocks nobody, so it has no
    limit: a new attempt would start from the beginning.
    """
    index = migration.concurrent_index
    is_valid = await connection.fetchval(
        "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", index
    )
    await connection.execute("SET lock_timeout = 0")
    if is_valid is False:
        await connection.execute(f"DROP INDEX CONCURRENTLY {index}")
    if not is_valid:
        await connection.execute(migration.sql)
    await connection.execute("RESET lock_timeout")
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
        "INSERT INTO schema_migration (name, checksum, works_with) VALUES ($1, $2, $3)",
        migration.name,
        migration.checksum,
        migration.works_with,
    )
