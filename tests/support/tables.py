"""Every row of every table, as the database itself has them: for tests that must know what remains
or what changed.
"""

import asyncio
import contextlib
from collections.abc import Iterable
from typing import Any

import apsw
import asyncpg

from tests.support.service import Service

Dump = dict[str, list[dict[str, Any]]]


def dump(service: Service, account_id: str = "") -> Dump:
    """The tables by name; with an account, only the rows that belong to it."""
    if service.engine == "postgres":
        return asyncio.run(dump_postgres(service.database_url, account_id))
    path = service.database_url.removeprefix("sqlite:///")
    return dump_sqlite(path, account_id)


def dump_sqlite(path: str, account_id: str = "") -> Dump:
    with contextlib.closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.set_busy_timeout(5000)
        columns = connection.execute(
            "SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c "
            "WHERE t.type = 'table' ORDER BY t.name, c.cid"
        )
        found = {}
        for table, names in _by_table(columns).items():
            rows = connection.execute(*_question(table, names, account_id, "?"))
            # By content, as in PostgreSQL: an order of rows that no statement asked for means
            # nothing.
            found[table] = [dict(zip(names, row, strict=True)) for row in sorted(rows, key=repr)]
        return found


async def dump_postgres(url: str, account_id: str = "") -> Dump:
    connection = await asyncpg.connect(url)
    try:
        columns = await connection.fetch(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = "
            "'public' ORDER BY table_name, ordinal_position"
        )
        found = {}
        for table, names in _by_table(columns).items():
            sql, given = _question(table, names, account_id, "$1")
            # Without an order, PostgreSQL returns rows as they lie on disk, which vacuum changes.
            rows = await connection.fetch(f"{sql} ORDER BY t::text", *given)
            found[table] = [dict(row) for row in rows]
        return found
    finally:
        await connection.close()


def _by_table(columns: Iterable[Any]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for table, column in columns:
        names.setdefault(table, []).append(column)
    return names


def _question(
    table: str, columns: list[str], account_id: str, placeholder: str
) -> tuple[str, tuple[str, ...]]:
    sql = f'SELECT * FROM "{table}" AS t'
    if not account_id:
        return sql, ()
    owner = "id" if table == "account" else "account_id"
    if owner not in columns:
        return f"{sql} WHERE false", ()
    return f"{sql} WHERE {owner} = {placeholder}", (account_id,)


def mentions(tables: Dump, text: str) -> list[str]:
    """Where a text is still to be found, in any column of any table, whatever its case."""
    lowered = text.lower()
    return [
        f"{table}.{column}"
        for table, rows in tables.items()
        for row in rows
        for column, value in row.items()
        if lowered in (value.decode("latin-1") if isinstance(value, bytes) else str(value)).lower()
    ]
