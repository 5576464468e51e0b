"""The store: `open_store(url)` returns the same interface for both engines."""

from __future__ import annotations

import logging
from pathlib import Path

import apsw

from honeyguide.kernel.clock import Clock, system_clock
from honeyguide.kernel.errors import Unavailable
from honeyguide.store import health
from honeyguide.store.inspection import (
    DatabaseFacts,
    PgBouncerFacts,
    ReplicaFacts,
    inspect_pgbouncer,
    inspect_postgres,
    inspect_replica,
    inspect_sqlite,
)
from honeyguide.store.migrate import (
    Planned,
    migrate_postgres,
    migrate_sqlite,
    plan_postgres,
    plan_sqlite,
    ran,
)
from honeyguide.store.postgres import open_postgres
from honeyguide.store.private_files import make_database_private
from honeyguide.store.sqlite import SqliteStore, sqlite_version
from honeyguide.store.tx import Again, LockWait, Store, Taken, Tx

log = logging.getLogger("honeyguide.store")

__all__ = [
    "Again",
    "DatabaseFacts",
    "LockWait",
    "PgBouncerFacts",
    "Planned",
    "ReplicaFacts",
    "Store",
    "Taken",
    "Tx",
    "health",
    "inspect_database",
    "inspect_pgbouncer",
    "inspect_replica",
    "migrate",
    "open_store",
    "plan_migrations",
    "sqlite_path",
    "sqlite_version",
]


def sqlite_path(url: str) -> Path | None:
    """The file of a `sqlite:///` URL: three slashes and a relative path, or four and an
    absolute.
    """
    if not url.startswith("sqlite:///"):
        return None
    return Path(url.removeprefix("sqlite:///"))


async def migrate(url: str) -> list[str]:
    """Bring the schema up to date, and return the names of the migrations applied."""
    path = sqlite_path(url)
    if path is not None:
        applied = migrate_sqlite(path)
    else:
        applied = await migrate_postgres(_postgres_url(url))
    if applied:
        log.info("%s", ran(applied))
    return applied


async def plan_migrations(url: str) -> list[Planned]:
    """The migrations that `migrate` would apply, each with what it locks. Changes nothing."""
    path = sqlite_path(url)
    return plan_sqlite(path) if path is not None else await plan_postgres(_postgres_url(url))


async def inspect_database(url: str) -> DatabaseFacts:
    """Version, rights and clock. Changes nothing."""
    path = sqlite_path(url)
    return inspect_sqlite(path) if path is not None else await inspect_postgres(_postgres_url(url))


def _postgres_url(url: str) -> str:
    if not url.startswith(("postgresql://", "postgres://")):
        raise Unavailable("HONEYGUIDE_DATABASE_URL must start with sqlite:/// or postgresql://.")
    return url


async def open_store(
    url: str,
    *,
    pool_size: int = 10,
    direct_url: str = "",
    replica_url: str = "",
    clock: Clock = system_clock,
) -> Store:
    """Open a migrated database. If `url` leads to PgBouncer, `direct_url` goes past it. The clock
    says what time it is in a transaction."""
    path = sqlite_path(url)
    if path is not None:
        make_database_private(path)
        try:
            return SqliteStore(path, clock)
        except apsw.Error as error:
            raise Unavailable(
                "The database file {path} cannot be opened: {error}. "
                "Check HONEYGUIDE_DATABASE_URL.",
                path=path,
                error=error,
            ) from error
    return await open_postgres(url, pool_size, direct_url, replica_url, clock)
