"""What is found out about two databases before one is copied to the other. Nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import asyncpg

from honeyguide.kernel.errors import Invalid, Unavailable
from honeyguide.store import sqlite_path
from honeyguide.store.connections import DOWN_ERRORS, Servers, connect_once, no_connection
from honeyguide.store.inspection import OLDEST_POSTGRES
from honeyguide.store.replacing import ENDINGS, Contains, contents_of_postgres, inspect
from honeyguide.store.scratch import database_of_url
from honeyguide.store.table_rows import COPY_SETTINGS

# No two servers start in the same microsecond, whatever name one is reached by.
_IDENTITY = "SELECT current_database()::TEXT, pg_postmaster_start_time()"
_SESSIONS = (
    "SELECT COALESCE(application_name, '') FROM pg_stat_activity WHERE datname = current_database()"
    " AND application_name LIKE 'honeyguide%' AND application_name NOT LIKE 'honeyguide copy%'"
)


# What may follow the question mark of a PostgreSQL URL. The database is in the path.
_KNOWN = """
host port user password passfile sslmode sslcert sslkey sslrootcert sslcrl sslpassword
sslnegotiation ssl_min_protocol_version ssl_max_protocol_version target_session_attrs krbsrvname
gsslib application_name
"""
_PARAMETERS = frozenset(_KNOWN.split())


def check_target_url(url: str) -> None:
    path = sqlite_path(url)
    for part in _unknown_parts(url, is_file=path is not None):
        raise Invalid("--to has a part that we do not know: {part}. Remove it.", part=part)
    if path is None and not url.startswith(("postgresql://", "postgres://")):
        raise Invalid("--to must start with sqlite:/// or postgresql://.")
    if path is not None and not path.name:
        raise Invalid("--to has no file name. Write sqlite:////folder/honeyguide.db.")


def _unknown_parts(url: str, *, is_file: bool) -> Iterator[str]:
    """By their names only: a value may be a secret."""
    start, hash_sign, _ = url.partition("#")
    if hash_sign:
        yield "what follows the #"
    _, mark, query = start.partition("?")
    if mark and is_file:
        yield "what follows the ?"
    for name, _ in parse_qsl(query, keep_blank_values=True):
        if name not in _PARAMETERS:
            yield name


async def refuse_same(source: str, target: str) -> None:
    is_same = False
    ours, theirs = sqlite_path(source), sqlite_path(target)
    if ours is not None and theirs is not None:
        is_same = ours.resolve() == theirs.resolve()
    elif ours is None and theirs is None:
        is_same = await _identity(await connect_once(source)) == await _identity(
            await connect_to_target(target)
        )
    if is_same:
        raise Invalid("--to is the database that HONEYGUIDE_DATABASE_URL names. Choose another.")


async def _identity(connection: Any) -> tuple[Any, ...]:
    try:
        return tuple(await connection.fetchrow(_IDENTITY))
    finally:
        connection.terminate()


async def refuse_used_target(url: str) -> None:
    """Whatever is there stays there: it is never replaced."""
    path = sqlite_path(url)
    if path is None:
        contains = await _contents_of_target(url)
    else:
        _check_folder(path)
        contains = await inspect(url)
    name = str(path) if path is not None else database_of_url(url)
    if contains is Contains.NOTHING:
        return
    if contains is Contains.SOMETHING_ELSE:
        raise Invalid(
            "{name} has something in it that is not Honeyguide's. Choose an empty database.",
            name=name,
        )
    raise Invalid(
        "{name} has Honeyguide's tables already. A copy needs an empty database: {remedy}, or "
        "choose another.",
        name=name,
        remedy="drop it and create it again" if path is None else "move the file away",
    )


async def _contents_of_target(url: str) -> Contains:
    connection = await connect_to_target(url)
    try:
        if connection.get_server_version().major < OLDEST_POSTGRES:
            raise Invalid(
                "The PostgreSQL of --to is too old. Upgrade it to {oldest} or later.",
                oldest=OLDEST_POSTGRES,
            )
        encoding = await connection.fetchval("SHOW server_encoding")
        if encoding != "UTF8":
            raise Invalid(
                "The database of --to has the encoding {encoding}. Create it with UTF8.",
                encoding=encoding,
            )
        return await contents_of_postgres(connection)
    except DOWN_ERRORS as error:
        raise no_connection(error, "--to") from error
    finally:
        connection.terminate()


def _check_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise Invalid("The folder {path} does not exist. Create it first.", path=path.parent)
    for ending in ENDINGS[1:]:
        left = Path(f"{path}{ending}")
        # SQLite would take it for the new file's own.
        if left.exists() and not path.exists():
            raise Invalid(
                "{path} is left over from a database that is gone. Move it away first.", path=left
            )


async def connect_to_target(url: str) -> Any:
    try:
        return await Servers(url).connect(server_settings=COPY_SETTINGS)
    except asyncpg.InvalidCatalogNameError as error:
        raise Invalid(
            "There is no database {name} on the server of --to. Create it, empty, then try again.",
            name=database_of_url(url),
        ) from error
    except (*DOWN_ERRORS, asyncpg.PostgresError, ValueError) as error:
        if "unsupported startup parameter" in str(error):
            raise Invalid("--to leads to PgBouncer. Use the URL of PostgreSQL itself.") from error
        raise no_connection(error, "--to") from error


async def refuse_servers(url: str) -> None:
    """If a server of ours uses this database. For an SQLite file, `reserved` knows."""
    if sqlite_path(url) is not None:
        return
    connection = await connect_once(url, server_settings=COPY_SETTINGS)
    try:
        sessions = {row[0] for row in await connection.fetch(_SESSIONS)}
    except DOWN_ERRORS as error:
        raise no_connection(error) from error
    finally:
        connection.terminate()
    if sessions:
        raise Unavailable(
            "The database is in use by: {sessions}. What is written meanwhile would not be in the "
            "copy. Stop the service, then try again; for a rehearsal, add --while-running.",
            sessions=", ".join(sorted(sessions)),
        )
