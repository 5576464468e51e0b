"""Every named statement, on both engines: it can be prepared, its columns are its row's fields, and
on a tenant's table it binds the owner. A statement that may not is named below, with the reason.
"""

import asyncio
import contextlib
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import apsw
import apsw.ext
import asyncpg
import pytest

import honeyguide
from honeyguide.store.statements import Statement, Statements, registry
from tests.support.stores import OpenStore
from tests.support.unowned_statements import OWNERS, UNOWNED, UNOWNED_FILES

for _module in pkgutil.walk_packages(honeyguide.__path__, "honeyguide."):
    if not _module.name.endswith("__main__"):
        importlib.import_module(_module.name)

OURS = [statement for statement in registry if not statement.name.startswith("test")]
SOURCE = Path(honeyguide.__file__).parent


def may_be_unowned(name: str) -> bool:
    return name in UNOWNED or name.rpartition(".")[0] in UNOWNED_FILES


@pytest.fixture(scope="module")
def sqlite() -> Iterator[tuple[apsw.Connection, apsw.Connection]]:
    """A migrated file, and a side file with what is kept apart from it."""
    with OpenStore("sqlite") as opened:
        path = opened.url.removeprefix("sqlite:///")
        with (
            contextlib.closing(apsw.Connection(path)) as main,
            contextlib.closing(apsw.Connection(":memory:")) as side,
        ):
            for statement in OURS:
                if statement.sqlite.startswith("CREATE TABLE"):
                    side.execute(statement.sqlite)
            yield main, side


@pytest.fixture(scope="module")
def postgres() -> Iterator[Any]:
    with OpenStore("postgres") as opened:
        runner = asyncio.Runner()
        connection = runner.run(asyncpg.connect(opened.url))
        yield lambda sql: runner.run(connection.prepare(sql))
        runner.run(connection.close())
        runner.close()


def columns_on_sqlite(files: tuple[apsw.Connection, apsw.Connection], sql: str) -> list[str]:
    main, side = files
    apart = {row[0] for row in side.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection = side if apart & set(re.findall(r"\w+", sql)) else main
    return [column[0] for column in apsw.ext.query_info(connection, sql).description]


def wrong_columns(statement: Statement[Any], columns: list[str]) -> str:
    """What is wrong if the columns do not come in the order of the row's fields, by the
    same names.
    """
    row: Any = statement.row
    fields = getattr(row, "_fields", None) or getattr(row, "__struct_fields__", None)
    if fields is not None:
        required = len(fields) - len(
            getattr(row, "_field_defaults", None) or getattr(row, "__struct_defaults__", ())
        )
        if columns != list(fields[: len(columns)]) or len(columns) < required:
            return f"{statement.name} gives {columns} for {row.__name__}{tuple(fields)}"
        return ""
    try:
        inspect.signature(row).bind(*columns)
    except TypeError as error:
        return f"{statement.name} gives {columns}: {error}"
    return ""


def test_every_statement_can_be_prepared_on_sqlite_and_fits_its_row(
    sqlite: tuple[apsw.Connection, apsw.Connection],
) -> None:
    wrong = []
    for statement in OURS:
        if statement.sqlite:
            try:
                wrong.append(wrong_columns(statement, columns_on_sqlite(sqlite, statement.sqlite)))
            except apsw.Error as error:
                wrong.append(f"{statement.name}: {error}")
    assert not list(filter(None, wrong))


def test_given_rows_lead_on_sqlite(sqlite: tuple[apsw.Connection, apsw.Connection]) -> None:
    """SQLite may read a table first, and all given rows again for each of its rows. Then every
    call takes longer as the table grows: bind what the index needs by the given rows, too.
    """
    main, _ = sqlite
    slow = []
    for statement in OURS:
        if "json_each" not in statement.sqlite:
            continue
        given = [None] * len(statement.sqlite_order)
        plan = main.execute(f"EXPLAIN QUERY PLAN {statement.sqlite}", given)
        steps: dict[int, list[str]] = {}
        for _id, parent, _unused, step in plan:
            if step.startswith(("SCAN", "SEARCH")):
                steps.setdefault(parent, []).append(step)
        if any("VIRTUAL TABLE" in step for nested in steps.values() for step in nested[1:]):
            slow.append((statement.name, steps))
    assert not slow


def test_every_statement_can_be_prepared_on_postgresql_and_fits_its_row(postgres: Any) -> None:
    wrong = []
    for statement in OURS:
        if statement.postgres:
            try:
                prepared = postgres(statement.postgres)
            except asyncpg.PostgresError as error:
                wrong.append(f"{statement.name}: {error}")
                continue
            wrong.append(
                wrong_columns(
                    statement, [attribute.name for attribute in prepared.get_attributes()]
                )
            )
            if len(prepared.get_parameters()) != len(statement.postgres_order):
                wrong.append(f"{statement.name} binds {statement.postgres_order}")
    assert not list(filter(None, wrong))


def test_both_spellings_take_the_same_parameters() -> None:
    both = [statement for statement in OURS if statement.sqlite and statement.postgres]
    assert not [each.name for each in both if set(each.sqlite_order) != set(each.postgres_order)]


@cache
def tenants_tables() -> frozenset[str]:
    """Tables whose rows belong to an account: they say so by a column."""
    with OpenStore("sqlite") as opened:
        names = [
            name for (name,) in opened.ask("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        owned = (
            "SELECT COUNT(*) FROM pragma_table_info(:name) WHERE name IN ('account_id', "
            "'campaign_id')"
        )
        return frozenset(name for name in names if opened.ask(owned, name=name)[0][0])


def tables_in(sql: str) -> set[str]:
    return set(re.findall(r"\b(?:FROM|JOIN|INTO|UPDATE|USING)\s+(?:ONLY\s+)?(\w+)", sql))


def is_owned(statement: Statement[Any]) -> bool:
    return all(
        OWNERS & set(order) or not tables_in(sql) & tenants_tables()
        for sql, order in (
            (statement.sqlite, statement.sqlite_order),
            (statement.postgres, statement.postgres_order),
        )
    )


def test_on_a_tenants_table_every_statement_binds_the_owner() -> None:
    """Add `AND account_id = :account_id`, or name the statement in UNOWNED with the reason."""
    unowned = [
        statement
        for statement in OURS
        if not is_owned(statement) and not may_be_unowned(statement.name)
    ]
    assert not [
        (each.name, sorted(tables_in(each.sqlite or each.postgres) & tenants_tables()))
        for each in unowned
    ]


def test_the_list_of_exceptions_is_no_longer_than_it_must_be() -> None:
    by_name = {statement.name: statement for statement in OURS}
    assert [name for name in UNOWNED if name not in by_name or is_owned(by_name[name])] == []


def test_an_owner_left_out_would_be_seen() -> None:
    leaky = "SELECT id FROM subscriber WHERE id = :id"
    assert not is_owned(Statement("test.leaky", leaky, leaky, lambda id: id))
    assert is_owned(
        Statement("test.tight", f"{leaky} AND campaign_id = :campaign_id", "", lambda id: id)
    )
    by_id = next(s for s in OURS if s.name == "accounts.accounts.by_id")
    assert wrong_columns(by_id, ["id", "name", "email", "is_admin", "created_ms"])


def test_every_statement_written_down_is_used() -> None:
    written = {
        f"{path.parent.name}.{path.stem}.{name}"
        for path in SOURCE.rglob("*.sql")
        if path.parent.name != "migrations"
        for name in re.findall(r"^-- name: (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert written - {statement.name for statement in OURS} == set()


def test_a_fragment_is_put_into_the_statements_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "test.sql"
    path.write_text(
        "-- fragment: columns\nid, name\n\n-- name: all\nSELECT {columns} FROM account;\n"
        "-- name: wrong\nSELECT {colums} FROM account;\n"
    )
    path.write_text(
        path.read_text() + "-- fragment: few\n{columns} {end}\n-- fragment: end\nLIMIT 1\n"
        "-- fragment: end (postgres)\nFETCH FIRST ROW ONLY\n-- name: first\nSELECT {few};\n"
    )
    statements = Statements(path)
    assert statements.command("all").sqlite == "SELECT id, name FROM account"
    first = statements.command("first")
    assert first.sqlite == "SELECT id, name LIMIT 1"
    assert first.postgres == "SELECT id, name FETCH FIRST ROW ONLY"
    with pytest.raises(LookupError, match=r"wrong: no fragment is called colums"):
        statements.command("wrong")


def test_a_fragment_is_given_words(tmp_path: Path) -> None:
    path = tmp_path / "test.sql"
    path.write_text(
        "-- fragment: part_of\n{1} AS t JOIN {2} AS p ON p.id = t.{2}_id\n"
        "-- name: all\nSELECT t.id FROM {part_of(reward, campaign)};\n"
    )
    assert Statements(path).command("all").sqlite == (
        "SELECT t.id FROM reward AS t JOIN campaign AS p ON p.id = t.campaign_id"
    )


def test_columns_are_spelled_out_for_an_insert_and_an_update(tmp_path: Path) -> None:
    path = tmp_path / "test.sql"
    path.write_text(
        "-- name: add\n{insert note: id, {fields}, created_ms = :now_ms} ON CONFLICT DO NOTHING;\n"
        "-- name: change\nUPDATE note SET {assign {fields}, seen_ms = NULL} WHERE id = :id;\n"
        "-- name: all\nSELECT n.id, {n.fields} FROM note AS n;\n"
    )
    statements = Statements(path, fields=("title", "text"))
    add = statements.command("add")
    assert add.sqlite == (
        "INSERT INTO note (id, title, text, created_ms) VALUES (?1, ?2, ?3, ?4) "
        "ON CONFLICT DO NOTHING"
    )
    assert add.postgres_order == ("id", "title", "text", "now_ms")
    change = statements.command("change")
    assert change.postgres == (
        "UPDATE note SET title = $1, text = $2, seen_ms = NULL WHERE id = $3"
    )
    assert statements.command("all").sqlite == "SELECT n.id, n.title, n.text FROM note AS n"


def test_every_fragment_is_used_more_than_once() -> None:
    for path in SOURCE.rglob("*.sql"):
        text = path.read_text(encoding="utf-8")
        names = re.findall(r"^-- fragment: (\w+)", text, re.MULTILINE)
        for name in names:
            # One that is there for each engine may be used once: the rest of its statement is not.
            least = 1 if names.count(name) > 1 else 2
            assert len(re.findall(rf"{{{name}[}}(]", text)) >= least, (path, name)
