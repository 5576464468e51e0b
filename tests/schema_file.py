"""Write docs/schema.sql, what each table has today, from a new SQLite database: `make schema`."""

import re
import tempfile
from contextlib import closing
from pathlib import Path

import apsw

from honeyguide.store.migrate import migrate_sqlite

FILE = Path(__file__).parent.parent / "docs" / "schema.sql"
HEAD = """\
-- The schema of a SQLite database, to read. `make schema` writes this file from the migrations in
-- src/honeyguide/store/migrations, which create the database and say what the columns mean.
-- PostgreSQL has the same tables, with BIGINT for INTEGER and its own triggers, and two more for
-- the rate limit.
"""
ENTRIES = """
SELECT type, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL
ORDER BY tbl_name, type = 'trigger', type = 'index', name
"""


def text() -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "new.db"
        migrate_sqlite(path)
        with closing(apsw.Connection(str(path))) as connection:
            entries = connection.execute(ENTRIES).fetchall()
    parts = [HEAD]
    for kind, _, sql in entries:
        parts.append(f"\n{table(str(sql))};\n" if kind == "table" else f"{sql};\n")
    return "".join(parts)


def table(sql: str) -> str:
    """One column a line, also of those that were added later."""
    sql = re.sub(r"--[^\n]*", "", sql)
    start, end = sql.index("(") + 1, sql.rindex(")")
    columns = ",\n    ".join(" ".join(column.split()) for column in _split(sql[start:end]))
    return f"{sql[:start]}\n    {columns}\n{sql[end:]}".replace('"', "")


def _split(columns: str) -> list[str]:
    """At the commas that are in no parentheses."""
    parts, depth = [""], 0
    for sign in columns:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
    print(f"wrote {FILE}")
