"""Reads and writes whole rows of small tables by their columns, so that `honeyguide restore` can
make a table the same as in another database.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from honeyguide.store.statements import Statement
from honeyguide.store.table_rows import Row, TableRows, Tables, TableShape, quoted
from honeyguide.store.tx import Tx

# What a row has in each column.
Values = Mapping[str, Any]
AT_ONCE = 5_000


async def read_rows(tables: Tables, table: str, shape: TableShape) -> dict[Row, Values]:
    """By their keys."""
    cursor = await tables.open(TableRows(table, shape.columns, shape.key))
    found: dict[Row, Values] = {}
    while rows := await cursor.fetch(AT_ONCE):
        for row in rows:
            values = dict(zip(shape.columns, row, strict=True))
            found[tuple(values[each] for each in shape.key)] = values
    return found


async def write_rows(tx: Tx, table: str, shape: TableShape, rows: Collection[Values]) -> None:
    """Adds these rows, or overwrites those with the same key. In one statement, so that they may
    refer to each other."""
    names = ", ".join(map(quoted, shape.columns))
    others = [quoted(each) for each in shape.columns if each not in shape.key]
    changed = ", ".join(f"{each} = excluded.{each}" for each in others)
    sql = (
        f"INSERT INTO {quoted(table)} ({names}) SELECT {names} FROM {{given}} WHERE true "
        f"ON CONFLICT ({', '.join(map(quoted, shape.key))}) DO "
        + (f"UPDATE SET {changed}" if changed else "NOTHING")
    )
    await _run(tx, sql, table, shape.columns, rows)


async def delete_rows(tx: Tx, table: str, shape: TableShape, keys: Iterable[Row]) -> None:
    same = " AND ".join(f"r.{quoted(each)} = {quoted(table)}.{quoted(each)}" for each in shape.key)
    sql = f"DELETE FROM {quoted(table)} WHERE EXISTS (SELECT 1 FROM {{given}} WHERE {same})"
    rows = [dict(zip(shape.key, key, strict=True)) for key in keys]
    await _run(tx, sql, table, shape.key, rows)


async def _run(
    tx: Tx, sql: str, table: str, columns: Iterable[str], rows: Collection[Values]
) -> None:
    if not rows:
        return
    values = ", ".join(f"value ->> '{each}' AS {quoted(each)}" for each in columns)
    sqlite = f"(SELECT {values} FROM {{list :rows AS i}}) AS r"
    postgres = f"json_populate_recordset(CAST(NULL AS {quoted(table)}), CAST(:rows AS JSON)) AS r"
    statement: Statement[None] = Statement(
        f"store.same_rows {table}",
        sql.replace("{given}", sqlite),
        sql.replace("{given}", postgres),
        lambda *columns: None,
    )
    await tx.run(statement, rows=list(rows))
