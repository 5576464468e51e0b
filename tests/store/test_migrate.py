"""How migrations are applied: once, unchanged, without waiting forever, and beside older code."""

import asyncio
import shutil
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from typer.testing import CliRunner

from honeyguide.cli import app
from honeyguide.kernel.errors import Unavailable
from honeyguide.store import migrate, plan_migrations
from honeyguide.store.migrate import migrations
from tests.support.process import command, fresh
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.upgrades import connect_sqlite, previous_database

# The package has a function of the same name.
module = sys.modules["honeyguide.store.migrate"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the migrations that a test may add to."""
    copy = tmp_path / "migrations"
    shutil.copytree(module.FOLDER, copy)
    monkeypatch.setattr(module, "FOLDER", copy)
    return copy


def test_migrating_twice_changes_nothing(opened: OpenStore) -> None:
    assert opened.run(migrate(opened.url)) == []
    applied = opened.ask("SELECT name, checksum FROM schema_migration ORDER BY name")
    known = migrations(opened.engine)
    assert applied == sorted((migration.name, migration.checksum) for migration in known)


@pytest.mark.parametrize("engine", ENGINES)
def test_many_processes_may_migrate_at_once(engine: str) -> None:
    url = fresh(engine)
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: asyncio.run(migrate(url)), range(4)))
    assert sorted(map(len, done))[:3] == [0, 0, 0] and max(map(len, done)) > 0


# Checksums.
def test_a_migration_changed_after_it_was_applied_is_refused(
    opened: OpenStore, folder: Path
) -> None:
    with open(folder / "0093_baseline.sql", "a", encoding="utf-8") as file:
        file.write("-- An afterthought.\n")
    with pytest.raises(Unavailable, match="0093_baseline was changed after it was applied"):
        opened.run(migrate(opened.url))


# Locks.
def test_a_migration_waits_for_a_lock_a_few_times_and_then_says_so(
    folder: Path, postgres: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "9998_new.sql").write_text("ALTER TABLE account ADD COLUMN new TEXT;")
    monkeypatch.setattr(module, "LOCK_S", 0.1)
    monkeypatch.setattr(module, "PAUSE_S", 0.01)

    async def migrate_while_locked() -> None:
        other = await asyncpg.connect(postgres.url)
        async with other.transaction():
            await other.execute("SELECT count(*) FROM account")
            with pytest.raises(Unavailable, match=r"9998_new was not applied.* 10 times") as error:
                await migrate(postgres.url)
            assert "honeyguide migrate" in error.value.message
            trying = asyncio.create_task(migrate(postgres.url))
            await wait_until_it_waits(other)
        assert await trying == ["9998_new"]
        await other.close()

    async def wait_until_it_waits(other: Any) -> None:
        while not await other.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
            await asyncio.sleep(0.01)

    postgres.run(migrate_while_locked())


def test_others_wait_behind_a_migration_for_a_short_time_only(
    folder: Path, postgres: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "9998_new.sql").write_text("ALTER TABLE account ADD COLUMN new TEXT;")
    monkeypatch.setattr(module, "LOCK_S", 0.2)
    monkeypatch.setattr(module, "PAUSE_S", 0.2)

    async def read_while_it_waits() -> None:
        holder, reader = await asyncpg.connect(postgres.url), await asyncpg.connect(postgres.url)
        async with holder.transaction():
            await holder.execute("SELECT count(*) FROM account")
            trying = asyncio.create_task(migrate(postgres.url))
            while not trying.done():
                await asyncio.wait_for(reader.fetch("SELECT count(*) FROM account"), timeout=30)
        with pytest.raises(Unavailable, match="was not applied"):
            await trying
        await asyncio.gather(holder.close(), reader.close())

    postgres.run(read_while_it_waits())


def test_a_start_does_not_wait_for_a_backup(postgres: OpenStore) -> None:
    async def migrate_during_a_backup() -> None:
        backup = await asyncpg.connect(postgres.url)
        async with backup.transaction():
            await backup.execute("SELECT * FROM schema_migration")
            assert await migrate(postgres.url) == []
        await backup.close()

    postgres.run(migrate_during_a_backup())


def test_a_process_that_migrates_for_too_long_is_named(
    postgres: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "OTHER_PROCESS_S", 0.2)

    async def migrate_beside_another() -> None:
        other = await asyncpg.connect(postgres.url)
        await other.execute("SELECT pg_advisory_lock($1)", module._LOCK)
        with pytest.raises(Unavailable, match="Another process is still upgrading"):
            await migrate(postgres.url)
        await other.close()

    postgres.run(migrate_beside_another())


def test_a_sqlite_file_locked_by_another_process_is_waited_for_and_then_refused(
    sqlite: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SQLITE_LOCK_S", 0.2)
    with connect_sqlite(sqlite.url) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="another process has it locked"):
            sqlite.run(migrate(sqlite.url))
        monkeypatch.setattr(module, "SQLITE_LOCK_S", 30.0)
        with ThreadPoolExecutor(1) as pool:
            trying = pool.submit(asyncio.run, migrate(sqlite.url))
            other.execute("ROLLBACK")
            assert trying.result() == []


# Versions.
NEWEST = max(path.name[:4] for path in module.FOLDER.glob("*.sql"))


def upgrade_by_newer_code(opened: OpenStore, folder: Path, *texts: str) -> None:
    """Apply a migration with each text; afterwards the code is as old as it was."""
    for number, text in enumerate(texts):
        (folder / f"{9990 + number}_new.sql").write_text(text)
    assert len(opened.run(migrate(opened.url))) == len(texts)
    for path in folder.glob("999*"):
        path.unlink()


def test_code_one_version_older_runs_on_the_newer_schema(opened: OpenStore, folder: Path) -> None:
    compatible = f"-- works-with: {NEWEST}\nALTER TABLE account ADD COLUMN new TEXT;"
    upgrade_by_newer_code(opened, folder, compatible)
    assert opened.run(migrate(opened.url)) == []
    assert opened.account_with_key()


@pytest.mark.parametrize(
    "incompatible", ["SELECT 1;", "-- works-with: 9990\nSELECT 1;"], ids=["unstated", "stated"]
)
def test_code_that_is_too_old_for_the_schema_is_refused_with_a_sentence(
    opened: OpenStore, folder: Path, incompatible: str
) -> None:
    upgrade_by_newer_code(opened, folder, f"-- works-with: {NEWEST}\nSELECT 1;", incompatible)
    with pytest.raises(Unavailable, match="a newer version of Honeyguide \\(9991_new\\)"):
        opened.run(migrate(opened.url))


def test_new_migrations_say_which_code_works_with_them() -> None:
    for path in new_migrations():
        works_with = dict(module._HEADER.findall(path.read_text(encoding="utf-8")))["works-with"]
        assert "0093" <= works_with <= path.name[:4], path.name


def test_a_number_belongs_to_one_migration() -> None:
    """Two branches may choose the same one."""
    names = {path.name.split(".")[0] for path in module.FOLDER.glob("*.sql")}
    numbers = Counter(name[:4] for name in names)
    assert [number for number, count in numbers.items() if count > 1] == []


def new_migrations() -> list[Path]:
    """All but the baseline."""
    return [path for path in sorted(module.FOLDER.glob("*.sql")) if path.name >= "0094"]


# The plan.
@pytest.mark.parametrize("engine", ENGINES)
def test_the_plan_says_what_will_run_and_what_it_locks_and_runs_nothing(
    engine: str, folder: Path
) -> None:
    url = previous_database(engine)
    asyncio.run(migrate(url))
    (folder / "9998_kind.sql").write_text(
        "-- works-with: 0001\n-- locks: account\nALTER TABLE account ADD COLUMN new TEXT;"
    )
    (folder / "9999_unkind.sql").write_text("ALTER TABLE account DROP COLUMN new;")
    locks = {
        "postgres": ["account", "the changed tables, for reads and writes"],
        "sqlite": ["all writes until the last migration has run"] * 2,
    }[engine]
    environment = {"HONEYGUIDE_DATABASE_URL": url}
    for _ in range(2):
        plan = CliRunner().invoke(app, ["migrate", "--plan"], env=environment).output.splitlines()
        assert plan == [
            f"9998_kind would run. It locks {locks[0]}.",
            f"9999_unkind would run. It locks {locks[1]}. "
            "Stop all processes of the old version first; they do not work with it.",
        ]
    assert asyncio.run(migrate(url)) == ["9998_kind", "9999_unkind"]


def test_the_plan_has_one_line_for_migrations_in_a_row_that_lock_the_same(folder: Path) -> None:
    url = previous_database("postgres")
    asyncio.run(migrate(url))
    kind = "-- works-with: 0001\n-- locks: {}\nSELECT 1;"
    tables = {"9995_a": "account", "9996_b": "account", "9997_c": "webhook", "9998_d": "account"}
    for name, table in tables.items():
        (folder / f"{name}.sql").write_text(kind.format(table))
    (folder / "9998_d.postgres.sql").write_text("SELECT 2;")
    (folder / "9999_e.sql").write_text("SELECT 3;")
    environment = {"HONEYGUIDE_DATABASE_URL": url}
    plan = CliRunner().invoke(app, ["migrate", "--plan"], env=environment).output.splitlines()
    assert plan == [
        "9995_a to 9996_b (2 migrations) would run. They lock account.",
        "9997_c would run. It locks webhook.",
        "9998_d would run. It locks account.",
        "9998_d.postgres to 9999_e (2 migrations) would run. "
        "They lock the changed tables, for reads and writes. "
        "Stop all processes of the old version first; they do not work with them.",
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_command_prints_the_plan(engine: str) -> None:
    url = fresh(engine)
    for _ in range(2):
        plan = command("migrate", "--plan", database_url=url).stdout.splitlines()
        names = [migration.name for migration in migrations(engine)]
        assert plan == [
            f"{names[0]} to {names[-1]} ({len(names)} migrations) would run. "
            "They lock nothing in a new database."
        ]
    assert engine == "postgres" or not Path(url.removeprefix("sqlite:///")).exists()
    assert command("migrate", database_url=url).returncode == 0
    after = command("migrate", "--plan", database_url=url).stdout
    assert after.strip() == "The schema is up to date."


LOCKED = """
SELECT DISTINCT c.relname FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation
WHERE l.pid = pg_backend_pid() AND c.relkind = 'r' AND c.relname NOT LIKE 'pg_%'
  AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
"""
TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r'"


def test_new_migrations_name_every_table_they_lock() -> None:
    names = {path.name.removesuffix(".sql") for path in new_migrations()}

    async def watch_locks() -> None:
        connection = await asyncpg.connect(fresh("postgres"))
        for migration in migrations("postgres"):
            if migration.concurrent_index:
                await connection.execute(migration.sql)
                continue
            before = {row["relname"] for row in await connection.fetch(TABLES)}
            async with connection.transaction():
                await connection.execute(migration.sql)
                locked = {row["relname"] for row in await connection.fetch(LOCKED)}
            if migration.name in names:
                assert migration.locks, migration.name
                for table in locked & before:
                    assert table in migration.locks, (migration.name, table)
        await connection.close()

    asyncio.run(watch_locks())


# Concurrent indexes.
INDEX = "-- concurrently: account_new\nCREATE INDEX CONCURRENTLY account_new ON account (name);\n"
IS_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'account_new'::regclass"


def test_a_concurrent_index_is_built_while_a_transaction_writes_to_its_table(
    folder: Path, postgres: OpenStore
) -> None:
    (folder / "9998_new.postgres.sql").write_text(INDEX)
    assert postgres.run(plan_migrations(postgres.url))[0].locks.startswith("nothing; it builds")

    async def migrate_while_writing() -> list[str]:
        writer = await asyncpg.connect(postgres.url)
        async with writer.transaction():
            await writer.execute("UPDATE account SET name = 'x'")
            trying = asyncio.create_task(migrate(postgres.url))
            while not await writer.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
                await asyncio.sleep(0.01)
            beside = await asyncpg.connect(postgres.url)
            await beside.execute("UPDATE account SET name = 'y' WHERE false", timeout=30)
        done = await trying
        await asyncio.gather(writer.close(), beside.close())
        return done

    assert postgres.run(migrate_while_writing()) == ["9998_new.postgres"]
    assert postgres.ask(IS_VALID) == [(True,)]


def test_a_concurrent_index_that_failed_is_dropped_and_built_again(
    folder: Path, postgres: OpenStore
) -> None:
    unique = INDEX.replace("CREATE INDEX", "CREATE UNIQUE INDEX").replace("(name)", "(created_ms)")
    (folder / "9998_new.postgres.sql").write_text(unique)
    for name in ("ana", "bob"):
        postgres.account_with_key(f"{name}@example.org", now_ms=1)
    with pytest.raises(Unavailable, match="account_new"):
        postgres.run(migrate(postgres.url))
    assert postgres.ask(IS_VALID) == [(False,)]
    postgres.do("UPDATE account SET created_ms = 2 WHERE email = 'ana@example.org'")
    assert postgres.run(migrate(postgres.url)) == ["9998_new.postgres"]
    assert postgres.ask(IS_VALID) == [(True,)]
    # As after a crash between the index and its record.
    postgres.do("DELETE FROM schema_migration WHERE name = '9998_new.postgres'")
    assert postgres.run(migrate(postgres.url)) == ["9998_new.postgres"]


def test_a_time_limit_of_the_database_does_not_end_a_migration(
    postgres: OpenStore, folder: Path
) -> None:
    ((name,),) = postgres.ask("SELECT current_database()")
    postgres.ask(f"ALTER DATABASE {name} SET statement_timeout = '100ms'")
    (folder / "9990_slow.postgres.sql").write_text("-- works-with: 0093\nSELECT pg_sleep(0.5);")
    assert postgres.run(migrate(postgres.url)) == ["9990_slow.postgres"]
