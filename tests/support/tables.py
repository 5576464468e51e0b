"""Every row of every table, as the database itself has them: for tests that must know what remains
or what changed.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import apsw
import asyncpg

from tests.support.service import Service

Dump = dict[str, list[dict[str, Any]]]


def dump(service: Service) -> Dump:
    """The tables by name."""
    if service.engine == "postgres":
        return asyncio.run(dump_postgres(service.database_url))
    path = service.database_url.removeprefix("sqlite:///")
    return dump_sqlite(path)


def dump_sqlite(path: str) -> Dump:
    with contextlib.closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.set_busy_timeout(5000)
        names = [
            row[0]
            for row in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            )
        ]
        return {name: _rows(connection.execute(f'SELECT * FROM "{name}"')) for name in names}


def _rows(cursor: apsw.Cursor) -> list[dict[str, Any]]:
    found = []
    for row in cursor:
        found.append(
            dict(zip([column[0] for column in cursor.get_description()], row, strict=True))
        )
    # By content, as in PostgreSQL: an order of rows that no statement asked for means nothing.
    return sorted(found, key=lambda row: repr(list(row.values())))


async def dump_postgres(url: str) -> Dump:
    connection = await asyncpg.connect(url)
    try:
        names = await connection.fetch(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
        )
        return {
            # Without an order, PostgreSQL returns rows as they lie on disk, which vacuum changes.
            name: [
                dict(row)
                for row in await connection.fetch(f'SELECT * FROM "{name}" AS t ORDER BY t::text')
            ]
            for (name,) in names
        }
    finally:
        await connection.close()


def mentions(tables: Dump, text: str) -> list[str]:
    """Where a text is still to be found, in any column of any table, whatever its case."""
    wanted = text.lower()
    return [
        f"{table}.{column}"
        for table, rows in tables.items()
        for row in rows
        for column, value in row.items()
        if wanted in (value.decode("latin-1") if isinstance(value, bytes) else str(value)).lower()
    ]
