"""Which unique index SQLite means when it reports the columns of a row that it refused."""

from __future__ import annotations

import apsw


def unique_indexes(connection: apsw.Connection) -> dict[str, str]:
    """The names that PostgreSQL would give to unique indexes, by their columns, which is all that
    SQLite reports.
    """
    ask = connection.execute
    names: dict[str, str] = {}
    for (table,) in ask("SELECT name FROM sqlite_master WHERE type = 'table'"):
        primary = sorted((row[5], row[1]) for row in ask(f"PRAGMA table_info({table})") if row[5])
        names[_columns(table, [column for _, column in primary])] = f"{table}_pkey"
        for _, index, unique, origin, *_ in ask(f"PRAGMA index_list({table})"):
            its = [row[2] for row in ask(f"PRAGMA index_info({index})")]
            if unique and origin != "pk" and None not in its:
                names[_columns(table, its)] = (
                    index if origin == "c" else f"{table}_{'_'.join(its)}_key"
                )
    return names


def _columns(table: str, names: list[str]) -> str:
    return ", ".join(f"{table}.{name}" for name in names)
