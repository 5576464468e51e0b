"""Scratch databases, into which a copy is loaded: to check the copy, or to put it in the place of
the database later (`replacing.py`). SQLite's is a file in a workspace; PostgreSQL's is a database
on the same server.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import apsw
import asyncpg

from honeyguide.kernel.clock import MINUTE_MS, system_clock
from honeyguide.kernel.errors import Invalid, Unavailable
from honeyguide.kernel.ids import new_id
from honeyguide.store import sqlite_path
from honeyguide.store.backup import Progress, run_client
from honeyguide.store.connections import DOWN_ERRORS, connect_once

SCRATCH = "honeyguide_scratch_"
# A younger one may belong to a process that has not connected to it yet.
ABANDONED_MS = 10 * MINUTE_MS
_URL = re.compile(r"(postgres(?:ql)?://[^/?#]*)(/[^?#]*)?(.*)", re.DOTALL)
_SQLITE = b"SQLite format 3\0"
_POSTGRES = b"PGDMP"


class NoScratch(Unavailable):
    """A scratch database cannot be made here; the sentence says what it takes."""


def is_dump(path: Path) -> bool:
    """Whether this can be a copy of a database, going by how it begins."""
    with path.open("rb") as file:
        return file.read(16).startswith((_SQLITE, _POSTGRES))


@asynccontextmanager
async def scratch_database(url: str, folder: Path) -> AsyncIterator[str]:
    """The URL of a new, empty database next to that of `url`, removed at the end unless it has
    been moved away. `folder` is a workspace.
    """
    if sqlite_path(url) is not None:
        yield f"sqlite:///{folder / 'scratch.db'}"
        return
    name = f"{SCRATCH}{system_clock()}_{new_id()[-8:]}"
    scratch = url_of_database(url, name)
    async with maintenance_connection(url) as connection:
        await _drop_abandoned(connection)
        try:
            await connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        except asyncpg.InsufficientPrivilegeError as error:
            user = await connection.fetchval("SELECT quote_ident(current_user)")
            raise NoScratch(
                "The database user may not create a scratch database. To allow it, run: "
                "ALTER ROLE {user} CREATEDB",
                user=user,
            ) from error
        except asyncpg.PostgresError as error:
            raise Unavailable("Cannot create a scratch database: {error}", error=error) from error
    try:
        # While somebody is connected, no other process takes it for abandoned.
        user = await _connect(scratch)
        try:
            yield scratch
        finally:
            user.terminate()
    finally:
        await _drop(url, name)


def load(url: str, dump: Path, progress: Progress) -> None:
    """Fills an empty scratch database from a copy. SQLite's copy is moved, not read again."""
    with dump.open("rb") as file:
        head = file.read(16)
    path = sqlite_path(url)
    if not head.startswith(_POSTGRES if path is None else _SQLITE):
        raise Invalid(
            "This is a backup of {there}, but HONEYGUIDE_DATABASE_URL is {here}.",
            there="a PostgreSQL database" if path is not None else "an SQLite database",
            here="an SQLite file" if path is not None else "a PostgreSQL database",
        )
    if path is not None:
        dump.rename(path)
        _check_file(path)
        return
    # Not --exit-on-error: version 17 and later set this parameter, which older servers do not have.
    arguments = ["--no-owner", "--no-privileges", str(dump)]
    try:
        run_client("pg_restore", url, arguments, progress, "SET transaction_timeout = 0")
    except Unavailable as fault:
        raise Invalid(
            "The backup cannot be loaded; it may be damaged or incomplete. {why}", why=fault.message
        ) from fault


def _check_file(path: Path) -> None:
    try:
        connection = apsw.Connection(str(path))
        try:
            is_whole = connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
            # The next one to open the file would do this, and wait until all of it is on disk.
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        finally:
            connection.close()
    except (apsw.CorruptError, apsw.NotADBError):
        is_whole = False
    except apsw.Error as error:
        raise Unavailable("The copy could not be read: {error}.", error=error) from error
    if not is_whole:
        raise Invalid("The copy is damaged: it fails SQLite's integrity check.")


def url_of_database(url: str, name: str) -> str:
    """The same server, another database."""
    found = _URL.fullmatch(url)
    assert found is not None, "not a PostgreSQL URL"
    return f"{found[1]}/{quote(name)}{found[3]}"


def database_of_url(url: str) -> str:
    found = _URL.fullmatch(url)
    return unquote((found[2] or "").lstrip("/")) if found is not None else ""


@asynccontextmanager
async def maintenance_connection(url: str) -> AsyncIterator[Any]:
    """To another database of the same server if possible: that of `url` may not exist yet, or is
    about to be renamed.
    """
    own = database_of_url(url)
    for name in [each for each in ("postgres", "template1") if each != own]:
        try:
            connection = await _connect(url_of_database(url, name))
            break
        except Unavailable:
            continue
    else:
        connection = await _connect(url)
    try:
        yield connection
    finally:
        connection.terminate()


async def _connect(url: str) -> Any:
    return await connect_once(url, server_settings={"application_name": "honeyguide restore"})


async def _drop_abandoned(connection: Any) -> None:
    """Of processes that were killed. One in use has a connection, and is not dropped."""
    names = await connection.fetch(
        "SELECT datname FROM pg_database WHERE datname LIKE $1 AND pg_has_role(datdba, 'USAGE')",
        SCRATCH.replace("_", r"\_") + "%",
    )
    for (name,) in names:
        made_ms = re.fullmatch(rf"{SCRATCH}(\d+)_[0-9a-f]+", name)
        if made_ms is not None and int(made_ms[1]) < system_clock() - ABANDONED_MS:
            with suppress(asyncpg.PostgresError):
                await connection.execute(f"DROP DATABASE IF EXISTS {name}")


async def _drop(url: str, name: str) -> None:
    """If it cannot be dropped now, the next check drops it."""
    with suppress(Unavailable, asyncpg.PostgresError, *DOWN_ERRORS):
        async with maintenance_connection(url) as connection:
            await connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
