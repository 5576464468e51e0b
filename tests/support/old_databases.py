"""Databases with the schema of an earlier version, to be upgraded."""

from __future__ import annotations

import asyncio
import contextlib
import re

import apsw
import asyncpg

from honeyguide.store.migrate import migrations

from .process import fresh


def database_before(engine: str, migration: str, rows: str) -> str:
    """The URL of a database as it was before this migration, filled with rows of that time. Bytes
    are written as on SQLite."""
    url = fresh(engine)
    old = [each for each in migrations(engine) if each.name < migration]
    script = [
        "CREATE TABLE schema_migration (name TEXT PRIMARY KEY, checksum TEXT, works_with TEXT)",
        *(each.sql for each in old),
        *(
            "INSERT INTO schema_migration (name, checksum, works_with) "
            f"VALUES ('{each.name}', '{each.checksum}', '{each.works_with}')"
            for each in old
        ),
    ]
    if engine == "sqlite":
        with contextlib.closing(apsw.Connection(url.removeprefix("sqlite:///"))) as connection:
            for sql in [*script, rows]:
                connection.execute(sql)
        return url
    asyncio.run(_fill_postgres(url, [*script, re.sub(r"X'([0-9a-f]*)'", r"'\\x\1'", rows)]))
    return url


async def _fill_postgres(url: str, script: list[str]) -> None:
    connection = await asyncpg.connect(url)
    for sql in script:
        await connection.execute(sql)
    await connection.close()
