"""How migrations are applied: once, unchanged, without waiting forever, and beside older code."""

from __future__ import annotations

import asyncio
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from honeyguide.kernel.errors import Unavailable
from honeyguide.store import migrate
from honeyguide.store.migrate import migrations
from tests.support.process import fresh
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


def test_a_database_of_a_newer_version_is_refused_with_a_sentence(opened: OpenStore) -> None:
    opened.do("INSERT INTO schema_migration (name) VALUES ('9999_from_tomorrow')")
    with pytest.raises(Unavailable, match="newer version of Honeyguide"):
        opened.run(migrate(opened.url))


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
    with open(folder / "0005_partners.sql", "a", encoding="utf-8") as file:
        file.write("-- An afterthought.\n")
    with pytest.raises(Unavailable, match="0005_partners was changed after it was applied"):
        opened.run(migrate(opened.url))


@pytest.mark.parametrize("engine", ENGINES)
def test_checksums_of_migrations_applied_by_an_earlier_version_are_recorded(engine: str) -> None:
    with OpenStore(engine, previous_database(engine)) as opened:
        recorded = opened.ask("SELECT name, checksum FROM schema_migration")
        known = migrations(engine)
        assert set(recorded) == {(migration.name, migration.checksum) for migration in known}


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
                await asyncio.wait_for(reader.fetch("SELECT count(*) FROM account"), timeout=1.5)
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
