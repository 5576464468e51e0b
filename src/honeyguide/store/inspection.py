"""What `honeyguide doctor` wants to know about a database, found out without changing it."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import asyncpg

from honeyguide.kernel.clock import system_clock
from honeyguide.kernel.errors import Unavailable
from honeyguide.store.connections import (
    CONNECT_S,
    DOWN_ERRORS,
    connect_once,
    connect_to_replica,
)
from honeyguide.store.postgres import SENT_TO_PGBOUNCER, SETTINGS
from honeyguide.store.replica import CATCH_UP_S, POLL_EVERY_S
from honeyguide.store.sqlite import connect, sqlite_version

OLDEST_POSTGRES = 15
_TRY = "CREATE TABLE honeyguide_doctor (id INTEGER)"
# A copy of a cluster keeps its identifier. Not every user may read it.
_IDENTITY = (
    "SELECT current_database(), CASE WHEN has_function_privilege('pg_control_system()', 'EXECUTE') "
    "THEN (SELECT system_identifier FROM pg_control_system()) END"
)


class DatabaseFacts(NamedTuple):
    product: str  # with its version
    is_supported: bool
    refusal: str | None  # why tables cannot be created
    skew_ms: int | None  # how far our clock is ahead; None if it is the same clock
    file_bytes: int = 0  # of an SQLite file


class PgBouncerFacts(NamedTuple):
    user: str  # quoted
    wrong_settings: dict[str, str]  # what they should be
    tracks_statements: bool


class ReplicaFacts(NamedTuple):
    is_standby: bool
    is_of_primary: bool  # the same database of the same cluster, as far as we may know
    behind_bytes: int  # of the primary's log that it had not replayed after a while


def inspect_sqlite(path: Path) -> DatabaseFacts:
    try:
        if not path.exists():
            return _facts_of_sqlite(_refusal_of_folder(path.absolute().parent))
        connection = connect(path)
        try:
            return _facts_of_sqlite(_refusal_of_sqlite(connection), path.stat().st_size)
        finally:
            connection.close()
    except (apsw.Error, OSError) as error:
        raise Unavailable(
            "The database file {path} cannot be opened: {error}. Check HONEYGUIDE_DATABASE_URL.",
            path=path,
            error=error,
        ) from error


def _facts_of_sqlite(refusal: str | None, file_bytes: int = 0) -> DatabaseFacts:
    return DatabaseFacts(
        product=f"SQLite {sqlite_version()}",
        is_supported=True,  # the library comes with us; `connect` refuses one that is too old
        refusal=refusal,
        skew_ms=None,
        file_bytes=file_bytes,
    )


def _refusal_of_folder(folder: Path) -> str | None:
    """The folder is created with the file, if it is not there."""
    while not folder.exists():
        folder = folder.parent
    if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK, effective_ids=True):
        return None
    return f"the folder {folder} cannot be written to"


def _refusal_of_sqlite(connection: apsw.Connection) -> str | None:
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_TRY)
    except apsw.BusyError:
        return None  # somebody else is writing, so it can be written to
    except apsw.Error as error:
        return str(error)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return None


async def inspect_postgres(url: str) -> DatabaseFacts:
    settings = {"application_name": "honeyguide doctor", "lock_timeout": "2s"}
    connection = await connect_once(url, command_timeout=CONNECT_S, server_settings=settings)
    try:
        return await _facts_of_postgres(connection)
    except (*DOWN_ERRORS, asyncpg.PostgresError) as error:
        raise Unavailable("PostgreSQL could not be checked: {error}.", error=error) from error
    finally:
        connection.terminate()


async def _facts_of_postgres(connection: Any) -> DatabaseFacts:
    now_ms = await connection.fetchval(
        "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"
    )
    skew_ms = system_clock() - now_ms
    version = connection.get_server_version()  # 15.18 is major 15 and micro 18
    return DatabaseFacts(
        product=f"PostgreSQL {version.major}.{version.micro}",
        is_supported=version.major >= OLDEST_POSTGRES,
        refusal=await _refusal_of_postgres(connection),
        skew_ms=skew_ms,
    )


async def _refusal_of_postgres(connection: Any) -> str | None:
    transaction = connection.transaction()
    await transaction.start()
    try:
        await connection.execute(_TRY)
    except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        return str(error)
    finally:
        await transaction.rollback()
    foreign: str | None = await connection.fetchval(
        "SELECT MIN(relname) FROM pg_class WHERE relkind = 'r' AND relname <> 'schema_migration' "
        "AND relnamespace = (SELECT relnamespace FROM pg_class "
        "WHERE oid = to_regclass('schema_migration')) AND NOT pg_has_role(relowner, 'USAGE')"
    )
    return foreign and f"another role owns the table {foreign}"


async def inspect_pgbouncer(url: str) -> PgBouncerFacts:
    """Whether PgBouncer does what our statements need, asked through PgBouncer."""
    connection = await connect_once(url, command_timeout=CONNECT_S)
    try:
        # In one transaction, so that all of it happens on one server connection.
        async with connection.transaction():
            user = await connection.fetchval("SELECT quote_ident(current_user)")
            found = await connection.fetch("SELECT name, setting FROM pg_settings")
            # It renames prepared statements that it tracks.
            tracked = await connection.fetchval(
                "SELECT COUNT(*) FROM pg_prepared_statements WHERE name LIKE 'PGBOUNCER%'"
            )
    except (*DOWN_ERRORS, asyncpg.PostgresError) as error:
        raise Unavailable("PgBouncer could not be checked: {error}.", error=error) from error
    finally:
        connection.terminate()
    actual = {row["name"]: row["setting"] for row in found}
    wrong = {
        name: value
        for name, value in SETTINGS.items()
        if name not in SENT_TO_PGBOUNCER and actual[name] != value
    }
    return PgBouncerFacts(user, wrong, tracks_statements=bool(tracked))


async def inspect_replica(url: str, primary_url: str) -> ReplicaFacts:
    """Whether it is a replica of this primary that keeps up with it."""
    primary = await connect_once(primary_url, command_timeout=CONNECT_S)
    try:
        replica = await connect_to_replica(url, command_timeout=CONNECT_S)
        try:
            return await _facts_of_replica(replica, primary)
        finally:
            replica.terminate()
    except (*DOWN_ERRORS, asyncpg.PostgresError) as error:
        raise Unavailable("The replica could not be checked: {error}.", error=error) from error
    finally:
        primary.terminate()


async def _facts_of_replica(replica: Any, primary: Any) -> ReplicaFacts:
    is_standby: bool = await replica.fetchval("SELECT pg_is_in_recovery()")
    is_of_primary = await replica.fetchrow(_IDENTITY) == await primary.fetchrow(_IDENTITY)
    if not (is_standby and is_of_primary):
        return ReplicaFacts(is_standby, is_of_primary, 0)
    position = await primary.fetchval("SELECT pg_current_wal_lsn()::TEXT")
    give_up = time.monotonic() + CATCH_UP_S
    while True:
        behind: int = await replica.fetchval(
            "SELECT GREATEST(0, $1::TEXT::PG_LSN - pg_last_wal_replay_lsn())::BIGINT", position
        )
        if not behind or time.monotonic() > give_up:
            return ReplicaFacts(is_standby, is_of_primary, behind)
        await asyncio.sleep(POLL_EVERY_S)
