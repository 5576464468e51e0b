"""Backups in a folder, made and restored by the real command."""

import asyncio
import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from honeyguide import settings
from honeyguide.app import backup_plan_of, site_of
from honeyguide.kernel.clock import system_clock
from honeyguide.operating.backups.restoring import Restored, Restoring, restore
from honeyguide.store import sqlite_path
from honeyguide.store.replacing import Contains, inspect
from honeyguide.store.scratch import SCRATCH

from .postgres import shared_server
from .process import Credentials, command, migrated, new_account


def use_client_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """`pg_dump` and `pg_restore` come with the test's own server."""
    monkeypatch.setenv("PATH", f"{shared_server().psql.parent}{os.pathsep}{os.environ['PATH']}")


class Installation:
    """A database with an account, and a folder for its backups."""

    def __init__(self, engine: str, folder: Path, **settings: object) -> None:
        self.engine = engine
        self.url = migrated(engine)
        self.place = folder / "backups"
        self.place.mkdir(exist_ok=True)
        self.settings: dict[str, object] = {"backup_url": self.place, **settings}
        self.alice: Credentials = new_account(self.url)

    def run(self, *arguments: str, **settings: object) -> Any:
        given = {"database_url": self.url, **self.settings, **settings}
        return command(*arguments, **given)

    def back_up(self) -> str:
        """The name of the new backup."""
        done = self.run("backup")
        assert done.returncode == 0, done.stderr
        return str(self.listed()[0]["name"])

    def listed(self) -> list[dict[str, Any]]:
        done = self.run("backups", "--json")
        assert done.returncode == 0, done.stderr
        return list(json.loads(done.stdout))

    def restore(self, source: str | Path, identity: Path | None = None) -> Restored:
        """In this process, which is quicker than the command; it replaces the database."""
        given = {name: str(value) for name, value in self.settings.items()}
        chosen = settings.read({}, database_url=self.url, **given)
        plan = backup_plan_of(chosen)
        asked = Restoring(
            source=str(source),
            database_url=self.url,
            place=plan.place if plan else None,
            site_of=partial(site_of, settings=chosen),
            identity=identity,
            replaces=True,
        )
        return asyncio.run(restore(asked, now_ms=system_clock()))

    def contains(self) -> Contains:
        return asyncio.run(inspect(self.url))

    def left_behind(self) -> list[str]:
        """Unfinished files and scratch databases."""
        places = [self.place]
        path = sqlite_path(self.url)
        if path is not None:
            places.append(path.parent)
        found = [each.name for place in places for each in place.glob(".*")]
        return found + scratch_databases() if path is None else found


def scratch_databases() -> list[str]:
    sql = f"SELECT datname FROM pg_database WHERE datname LIKE '{SCRATCH}%' ORDER BY 1"
    return shared_server().execute(sql).split()
