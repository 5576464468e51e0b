"""Puts a restored scratch database in the place of another one, which is kept under a new name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import Any

import apsw
import asyncpg

from honeyguide.kernel.errors import Unavailable
from honeyguide.store import sqlite_path
from honeyguide.store.connections import connect_once
from honeyguide.store.scratch import database_of_url, maintenance_connection
from honeyguide.store.server_lock import ServerRuns, lock_for_server

# The files that an SQLite database can consist of.
ENDINGS = ("", "-wal", "-shm", "-journal")


class Contains(Enum):
    NOTHING = "nothing"  # or there is no such database yet
    NO_ACCOUNTS = "our tables, but no accounts"
    ACCOUNTS = "accounts"
    SOMETHING_ELSE = "something that is not ours, or cannot be read"


async def inspect(url: str) -> Contains:
    """What there is in a database, without changing it."""
    path = sqlite_path(url)
    return await _inspect_postgres(url) if path is None else _inspect_sqlite(path)


def _inspect_sqlite(path: Path) -> Contains:
    if not path.exists() or path.stat().st_size == 0:
        return Contains.NOTHING
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            tables = {row[0] for row in rows}
            has_accounts = "account" in tables and bool(
                connection.execute("SELECT 1 FROM account LIMIT 1").fetchall()
            )
    except apsw.Error:
        return Contains.SOMETHING_ELSE
    return _contents(tables, has_accounts=has_accounts)


async def _inspect_postgres(url: str) -> Contains:
    try:
        connection = await connect_once(url)
    except Unavailable as fault:
        if isinstance(fault.__cause__, asyncpg.InvalidCatalogNameError):
            return Contains.NOTHING
        raise
    try:
        return await contents_of_postgres(connection)
    finally:
        connection.terminate()


async def contents_of_postgres(connection: Any) -> Contains:
    try:
        rows = await connection.fetch(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace NOT IN "
            "('pg_catalog'::regnamespace, 'information_schema'::regnamespace, "
            "'pg_toast'::regnamespace)"
        )
        tables = {row[0] for row in rows}
        has_accounts = "account" in tables and bool(
            await connection.fetch("SELECT 1 FROM account LIMIT 1")
        )
    except asyncpg.PostgresError:
        return Contains.SOMETHING_ELSE
    return _contents(tables, has_accounts=has_accounts)


def _contents(tables: set[str], *, has_accounts: bool) -> Contains:
    if not tables:
        return Contains.NOTHING
    if not {"schema_migration", "account"} <= tables:
        return Contains.SOMETHING_ELSE
    return Contains.ACCOUNTS if has_accounts else Contains.NO_ACCOUNTS


@contextmanager
def reserved(url: str) -> Iterator[None]:
    """No server can start on an SQLite file meanwhile. PostgreSQL does not allow a database to be
    renamed while anybody is connected, which is all that is needed.
    """
    path = sqlite_path(url)
    if path is None:
        yield
        return
    try:
        lock = lock_for_server(path)
    except ServerRuns as error:
        raise Unavailable(
            "A Honeyguide server is using {path}. Stop it, then try again.", path=path
        ) from error
    with lock:
        _give_to_owner(Path(lock.name), path.parent)
        yield


async def move_into_place(url: str, scratch: str, stamp: str, *, keeps_old: bool) -> str | None:
    """The scratch database becomes the one of `url`. Returns what the old one is called now, if it
    is kept.
    """
    path, new = sqlite_path(url), sqlite_path(scratch)
    if path is None or new is None:
        return await _rename_databases(url, scratch, stamp, keeps_old=keeps_old)
    aside = Path(f"{path}.before-restore-{stamp}")
    try:
        has_old = _replace_file(path, new, aside)
        if not keeps_old:
            for ending in ENDINGS:
                Path(f"{aside}{ending}").unlink(missing_ok=True)
    except (OSError, apsw.Error) as error:
        raise Unavailable(
            "Cannot move the restored database to {path}: {error}.", path=path, error=error
        ) from error
    return str(aside) if has_old and keeps_old else None


def _replace_file(path: Path, new: Path, aside: Path) -> bool:
    """Whether there was an old file, which is `aside` now."""
    _without_journal(new)
    _give_to_owner(new, path if path.exists() else path.parent)
    with new.open("rb") as file:
        os.fsync(file.fileno())
    has_old = path.exists()
    if has_old:
        with suppress(apsw.CorruptError, apsw.NotADBError):  # maybe why it is replaced
            _without_journal(path)
    # SQLite would replay what is left of the old journal over the restored file.
    for ending in ENDINGS[1:]:
        with suppress(FileNotFoundError):
            Path(f"{path}{ending}").rename(f"{aside}{ending}")
    if has_old:
        os.link(path, aside)  # so that there is a database at `path` at every moment
    new.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return has_old


def _without_journal(path: Path) -> None:
    """Everything in one file. Fails if any other process has the database open."""
    with closing(apsw.Connection(str(path))) as connection:
        try:
            mode = connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        except apsw.BusyError:
            mode = []
    if mode != [("delete",)]:
        raise Unavailable(
            "Another process has {path} open. Stop everything that uses it, then try again.",
            path=path,
        )


def _give_to_owner(file: Path, like: Path) -> None:
    """An administrator may restore as root what a service without rights uses afterwards."""
    if os.geteuid() == 0:
        owner = like.stat()
        os.chown(file, owner.st_uid, owner.st_gid)


async def _rename_databases(url: str, scratch: str, stamp: str, *, keeps_old: bool) -> str | None:
    name, new = database_of_url(url), database_of_url(scratch)
    aside = f"{name[:30]}_before_restore_{stamp.lower()}"
    async with maintenance_connection(url) as connection:
        sessions = await connection.fetch(
            "SELECT application_name FROM pg_stat_activity WHERE datname = $1", name
        )
        if sessions:
            names = sorted({row[0] or "unknown" for row in sessions})
            raise Unavailable(
                "The database {name} is in use by: {sessions}. Stop everything that uses it, then "
                "try again.",
                name=name,
                sessions=", ".join(names),
            )
        # Our own connection that kept it from being taken for abandoned.
        await connection.fetch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", new
        )
        exists = await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", name)
        try:
            async with connection.transaction():
                if exists:
                    await connection.execute(
                        f"ALTER DATABASE {_quoted(name)} RENAME TO {_quoted(aside)}"
                    )
                await connection.execute(f"ALTER DATABASE {new} RENAME TO {_quoted(name)}")
        except asyncpg.PostgresError as error:
            raise Unavailable(
                "The restored database could not be renamed to {name}: {error}. The database user "
                "must own {name} and have the right CREATEDB.",
                name=name,
                error=error,
            ) from error
        if exists and not keeps_old:
            await connection.execute(f"DROP DATABASE {_quoted(aside)}")
    return aside if exists and keeps_old else None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
