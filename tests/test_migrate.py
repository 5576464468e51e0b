"""How migrations are applied: once, unchanged, without waiting forever, and beside older code."""

from __future__ import annotations

import asyncio
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from honeyguide.kernel.errors import Unavailable
from honeyguide.store import migrate
from honeyguide.store.migrate import migrations
from tests.support.process import fresh
from tests.support.service import ENGINES
from tests.support.stores import OpenStore
from tests.upgrades import previous_database

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
