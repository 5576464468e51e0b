"""`honeyguide copy`: everything arrives on the other engine, works there, and any difference is
found before the copy is kept.
"""

import asyncio
import json
from pathlib import Path

import apsw
import pytest

from honeyguide.kernel.errors import Fault
from honeyguide.operating.copying.copying import (
    BATCH_BYTES,
    MOST_ROWS,
    CopiedTable,
    compare,
    digest_table,
    next_batch,
)
from honeyguide.operating.copying.tables import RULES, plan
from honeyguide.store.table_rows import SqliteTables, TableRows, TableShape, opened_tables
from tests.support.copies import (
    SECRET,
    assert_it_goes_on,
    assert_same_schema,
    begin,
    copied,
    empty,
    is_empty,
)
from tests.support.postgres import shared_server
from tests.support.process import command, migrated
from tests.support.service import ENGINES, Service
from tests.support.stores import OpenStore

# Their names are not those of the engines, which would leave all but one to the long tests.
DIRECTIONS = [
    pytest.param("sqlite", "postgres", id="there"),
    pytest.param("postgres", "sqlite", id="back"),
    pytest.param("sqlite", "sqlite", id="from file to file", marks=pytest.mark.long),
    pytest.param("postgres", "postgres", id="from server to server", marks=pytest.mark.long),
]


async def shapes(url: str) -> dict[str, TableShape]:
    async with opened_tables(url) as tables:
        return await tables.shapes()


def test_every_table_of_either_engine_has_one_rule() -> None:
    found = {table for engine in ENGINES for table in asyncio.run(shapes(migrated(engine)))}
    names = [rule.table for rule in RULES]
    assert sorted(names) == sorted(found), "say in operating/copying/tables.py whether it is copied"


@pytest.mark.parametrize(("source", "target"), DIRECTIONS)
def test_an_installation_goes_on_with_the_copy(source: str, target: str) -> None:
    with Service(source, secret_key=SECRET) as service:
        account = begin(service)
    url = empty(target)
    report = copied(service.database_url, url)
    rows = {each.table: each.digest.rows for each in report.tables}
    assert rows["subscriber"] == 3 and rows["erasure"] == 1 and rows["second_factor"] == 1
    assert not report.broken and report.left_out == []
    assert_same_schema(target, url)
    assert_it_goes_on(account, url)


def test_the_command_says_what_it_did_and_what_comes_next(tmp_path: Path) -> None:
    source = migrated("sqlite")
    with OpenStore("sqlite", source) as store:
        store.account_with_key()
        store.do("CREATE TABLE _litestream_seq (id INTEGER)")
    url = f"sqlite:///{tmp_path / 'new.db'}"
    done = command("copy", "--to", url, database_url=source, secret_key=SECRET)
    assert done.returncode == 0, done.stderr
    assert "Copying ..." in done.stderr and "Verifying the copy ..." in done.stderr
    assert "  account                                1  equal" in done.stdout
    assert "Every table is equal in both databases." in done.stdout
    assert "verify found no errors in either." in done.stdout
    assert "because they are not Honeyguide's: _litestream_seq." in done.stdout
    assert f"HONEYGUIDE_DATABASE_URL={url}" in done.stdout
    assert (tmp_path / "new.db").stat().st_mode & 0o777 == 0o600
    assert {each.name for each in tmp_path.iterdir()} <= {"new.db", "new.db.lock"}


@pytest.mark.long
def test_the_tables_are_also_there_as_json(tmp_path: Path) -> None:
    source, again = migrated("sqlite"), f"sqlite:///{tmp_path / 'again.db'}"
    with OpenStore("sqlite", source) as store:
        store.account_with_key()
    done = command("copy", "--to", again, "--json", database_url=source, secret_key=SECRET)
    answer = json.loads(done.stdout)
    assert (answer["source"], answer["target"], answer["left_out"]) == (source, again, [])
    assert {"name", "rows", "sha256"} == set(answer["tables"][0]) and answer["rows"] > 1
    assert all(each["broken"] == 0 for each in answer["verify"])


def test_a_copy_that_differs_is_not_kept() -> None:
    """The target's own event trigger changes a row behind our back."""
    source, target = migrated("sqlite"), empty("postgres")
    with OpenStore("sqlite", source) as store:
        store.account_with_key()
    name = target.rpartition("/")[2]
    shared_server().execute(
        "CREATE FUNCTION meddle() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF EXISTS (SELECT FROM pg_class WHERE relname = 'login_user') THEN "
        "UPDATE login_user SET name = 'Mallory'; END IF; END $$;"
        "CREATE EVENT TRIGGER meddle ON ddl_command_end WHEN TAG IN ('CREATE INDEX') "
        "EXECUTE FUNCTION meddle();",
        name,
    )
    with pytest.raises(Fault) as refused:
        copied(source, target)
    assert refused.value.message == (
        "The copy differs in the table login_user: 1 rows in the source, 1 in the copy, with other "
        "content. Nothing was kept."
    )
    assert is_empty(target)


def filled_in_every_table(url: str) -> dict[str, TableShape]:
    """Two made-up rows for each table of an SQLite file, whatever its constraints say."""
    found = asyncio.run(shapes(url))
    with apsw.Connection(url.removeprefix("sqlite:///")) as connection:
        connection.pragma("ignore_check_constraints", True)
        triggers = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for table in found:
            types = dict(
                connection.execute("SELECT name, type FROM pragma_table_info(?)", (table,))
            )
            for number in (1, 2):
                values = {
                    "TEXT": f"text {number}",
                    "INTEGER": number,
                    "BLOB": bytes([number, 0, 255]),
                }
                row = [values[str(kind)] for kind in types.values()]
                marks = ", ".join("?" * len(row))
                connection.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)
    return found


@pytest.mark.parametrize("is_missing", [False, True])
def test_a_difference_in_any_table_is_found(*, is_missing: bool) -> None:
    source = migrated("sqlite")
    found = filled_in_every_table(source)
    planned = plan(found, found)
    assert len(planned) > 90
    asyncio.run(_find_differences(source, planned, is_missing=is_missing))


async def _find_differences(source: str, planned: list[TableRows], *, is_missing: bool) -> None:
    with apsw.Connection(source.removeprefix("sqlite:///")) as connection:
        connection.pragma("ignore_check_constraints", True)
        tables = SqliteTables(connection)
        digests = [
            CopiedTable(rows.table, await digest_table(tables, rows, lambda done: None))
            for rows in planned
        ]
        assert all(each.digest.rows for each in digests)
        await compare(tables, planned, digests, lambda done: None)
        for rows in planned:
            connection.execute("SAVEPOINT planted")
            _plant(connection, rows, is_missing=is_missing)
            with pytest.raises(Fault, match=f"differs in the table {rows.table}:"):
                await compare(tables, planned, digests, lambda done: None)
            connection.execute("ROLLBACK TO planted")


def _plant(connection: apsw.Connection, rows: TableRows, *, is_missing: bool) -> None:
    table, key = f'"{rows.table}"', f'"{rows.key[0]}"'
    first = f"{key} = (SELECT MIN({key}) FROM {table})"
    if is_missing:
        connection.execute(f"DELETE FROM {table} WHERE {first}")
        return
    # The last column, because a comparison that forgets one forgets the newest.
    column = f'"{next((c for c in reversed(rows.columns) if c not in rows.key), rows.key[-1])}"'
    kind = connection.execute(f"SELECT typeof({column}) FROM {table} LIMIT 1").get
    other = {"text": "'other'", "integer": "77", "blob": "X'00'"}[str(kind)]
    connection.execute(f"UPDATE {table} SET {column} = {other} WHERE {first}")


@pytest.mark.parametrize(
    ("most", "row_bytes", "next_most"),
    [
        (100, 50, 200),
        (MOST_ROWS, 50, MOST_ROWS),
        (MOST_ROWS, BATCH_BYTES // 10, 10),
        (10, 0, 20),
        (4, 10 * BATCH_BYTES, 1),
    ],
)
def test_a_batch_is_small_where_rows_are_large(most: int, row_bytes: int, next_most: int) -> None:
    assert next_batch(most, row_bytes) == next_most
