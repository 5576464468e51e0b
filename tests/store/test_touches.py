"""A statement that is put names the tables it touches (`-- touches:`). SQLite tells what a
statement really touches, its triggers included, and that one taken for a read changes nothing.
"""

import ast
import re
import sys
from pathlib import Path
from typing import Any

import apsw
import apsw.ext
import pytest

from honeyguide.store.statements import Statement
from tests.store.test_statements import OURS
from tests.support.stores import OpenStore, statement

_HOW = {
    apsw.SQLITE_INSERT: "adds",
    apsw.SQLITE_UPDATE: "changes",
    apsw.SQLITE_DELETE: "changes",
    apsw.SQLITE_READ: "reads",
}


def touched(connection: apsw.Connection, each: Statement[Any]) -> set[tuple[str, str]]:
    """What preparing the statement asks leave for, as (how, table)."""
    found: set[tuple[str, str, bool]] = set()

    def note(action: int, table: str | None, _2: Any, _3: Any, trigger: str | None) -> int:
        if action in _HOW and table and table != "json_each":
            found.add((_HOW[action], table, trigger is not None))
        return apsw.SQLITE_OK

    connection.authorizer = note
    try:
        apsw.ext.query_info(connection, each.sqlite)
    finally:
        connection.authorizer = None
    direct = {(how, table) for how, table, by_trigger in found if not by_trigger}
    writes = {table for how, table in direct if how != "reads"}
    changes = {table for how, table in direct if how == "changes"}
    by_triggers = {(how, table) for how, table, by_trigger in found if by_trigger}
    trigger_writes = {table for how, table in by_triggers if how != "reads"}
    trigger_reads = {table for how, table in by_triggers} - trigger_writes - writes
    direct |= {("triggers", table) for table in trigger_writes}
    direct |= {("reads", table) for table in trigger_reads}
    # A change reads its rows. An insert without a SELECT reads its own table for conflicts only.
    direct -= {("reads", table) for table in changes} | {("adds", table) for table in changes}
    if "SELECT" not in each.sqlite:
        direct -= {("reads", table) for table in writes}
    return direct


def declared(each: Statement[Any]) -> set[tuple[str, str]]:
    return {(how, table) for how, tables in each.touches.items() for table in tables}


def put_statements() -> dict[str, Statement[Any]]:
    """Every statement that some module gives to `tx.put`."""
    found = {}
    for module in [each for name, each in sys.modules.items() if name.startswith("honeyguide")]:
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(attr="put"), args=[ast.Name(id=name), *_]):
                    each = getattr(module, name, None)
                    if isinstance(each, Statement):
                        found[each.name] = each
    return found


@pytest.fixture
def schema() -> Any:
    with OpenStore("sqlite") as opened:
        connection = apsw.Connection(opened.url.removeprefix("sqlite:///"))
        yield connection
        connection.close()


def test_a_statement_that_is_put_names_all_it_touches(schema: apsw.Connection) -> None:
    puts = put_statements()
    assert len(puts) > 20
    assert {name: declared(each) for name, each in puts.items()} == {
        name: touched(schema, each) for name, each in puts.items()
    }


def test_only_statements_that_are_put_say_what_they_touch() -> None:
    assert {each.name for each in OURS if each.leaves} == set(put_statements())


def test_what_is_taken_for_a_read_changes_nothing(schema: apsw.Connection) -> None:
    for each in OURS:
        if each.reads:
            assert {how for how, _ in touched(schema, each)} <= {"reads"}, each.name


def test_rows_are_locked_by_tx_lock_which_opens_the_transaction() -> None:
    locking = re.compile(r"\bFOR (UPDATE|NO KEY UPDATE|SHARE|KEY SHARE)\b")
    assert [each.name for each in OURS if each.reads and locking.search(each.postgres)] == []


@pytest.mark.parametrize(
    ("earlier", "later", "waits"),
    [
        ("adds a", "adds a", False),
        ("adds a", "reads a, adds b", True),
        ("adds a", "changes a", True),
        ("changes a", "adds a", True),
        ("changes a", "changes a", True),
        ("changes a", "changes b", False),
        ("reads a, adds b", "changes a", False),
        ("adds a, triggers b", "reads b, adds c", True),
        ("adds a, triggers a", "adds a, triggers a", False),
    ],
)
def test_a_put_waits_for_what_it_must_see_or_may_not_change_twice(
    earlier: str, later: str, waits: bool
) -> None:
    assert statement("", later).must_wait_for(statement("", earlier)) is waits
