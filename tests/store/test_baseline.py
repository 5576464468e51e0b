"""The first migration has the schema of version 0.3.0: databases of 0.3.0 go on from it, and older
ones are told to go through 0.3.0.
"""

import re
from typing import Any

import pytest

from honeyguide.store.migrate import migrations
from tests.support.postgres import shared_server
from tests.support.process import command, fresh
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.upgrades import connect_sqlite, previous_database


@pytest.mark.parametrize("engine", ENGINES)
def test_a_database_of_0_3_0_has_the_baseline_and_gets_the_same_schema_as_a_new_one(
    engine: str,
) -> None:
    with OpenStore(engine, previous_database(engine)) as upgraded, OpenStore(engine) as new:
        applied = set(upgraded.ask("SELECT name, checksum FROM schema_migration"))
        assert applied >= {(each.name, each.checksum) for each in migrations(engine)}
        assert ("0093_subscriber_language",) in upgraded.ask("SELECT name FROM schema_migration")
        assert schema_of(upgraded) == schema_of(new)


def schema_of(opened: OpenStore) -> list[tuple[Any, ...]]:
    """Whatever the order in which columns were added."""
    if opened.engine == "postgres":
        return [row for sql in SCHEMA for row in opened.ask(sql)]
    made = opened.ask("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return sorted((kind, name, statement_words(sql)) for kind, name, sql in made)


def statement_words(sql: str) -> str:
    """Without comments, quotes, and white space that means nothing."""
    sql = re.sub(r"--[^\n]*", "", sql).replace('"', "")
    return re.sub(r"\s*([(),])\s*", r"\1", re.sub(r"\s+", " ", sql))


SCHEMA = (
    "SELECT table_name, column_name, data_type, collation_name, is_nullable, column_default "
    "FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2",
    "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' "
    "ORDER BY 1, 2",
    "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2",
    "SELECT proname, pg_get_functiondef(oid) FROM pg_proc "
    "WHERE pronamespace = 'public'::regnamespace ORDER BY 1",
    "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1",
    "SELECT relname, relpersistence::text, reloptions::text FROM pg_class "
    "WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1",
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("recorded", ["name TEXT", "name TEXT, checksum TEXT, works_with TEXT"])
def test_a_database_of_before_0_3_0_is_told_what_to_upgrade_through(
    engine: str, recorded: str
) -> None:
    url = fresh(engine)
    before = f"CREATE TABLE schema_migration ({recorded})"
    for sql in (before, "INSERT INTO schema_migration (name) VALUES ('0092_account_life')"):
        execute(engine, url, sql)
    for _ in range(2):
        done = command("migrate", database_url=url)
        assert done.returncode == 1 and "version 0.3.0 (commit d9ad60e4) first" in done.stderr
        assert "Traceback" not in done.stderr


def execute(engine: str, url: str, sql: str) -> None:
    if engine == "postgres":
        shared_server().execute(sql, url.rpartition("/")[2])
    else:
        with connect_sqlite(url) as connection:
            connection.execute(sql)
