"""Whatever the umask, what Honeyguide writes is for its user alone; what was not is made so."""

import logging
import os
import shutil
import stat
from pathlib import Path

import pytest

from honeyguide.store.private_files import make_database_private
from tests.support import starter
from tests.support.process import Serving, environment, fresh
from tests.support.service import until
from tests.support.stores import OpenStore


def modes(folder: Path) -> dict[str, int]:
    """What others could do with everything in the folder."""
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.lstat().st_mode) & 0o077
        for path in [*folder.rglob("*")]
    }


def run(umask: int, folder: Path, *arguments: str, **settings: object) -> str:
    chosen = environment(database_url=f"sqlite:///{folder}/data/honeyguide.db", **settings)
    before = f"import os; os.umask({umask})"
    done = starter.run(list(arguments), env=chosen, cwd=folder, before=before)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.mark.parametrize("umask", [0o000, pytest.param(0o022, marks=pytest.mark.long)])
def test_databases_backups_exports_and_restored_files_are_private(
    umask: int, tmp_path: Path
) -> None:
    backups = tmp_path / "backups"
    backups.mkdir(mode=0o755)
    given = {"backup_url": f"file://{backups}"}
    run(umask, tmp_path, "account", "create", "ana@example.org", **given)
    run(umask, tmp_path, "backup", str(tmp_path / "copy.db"), **given)
    run(umask, tmp_path, "backup", **given)
    people = str(tmp_path / "people.csv")
    run(umask, tmp_path, "export", "--account", "ana@example.org", "--file", people, **given)
    run(umask, tmp_path, "restore", "latest", "--replace", **given)
    found = modes(tmp_path)
    assert {"data", "data/honeyguide.db", "copy.db", "people.csv"} <= set(found)
    assert any("before-restore" in name for name in found)
    assert {name: mode for name, mode in found.items() if mode} == {
        "backups": 0o055,  # not ours to close: it was there before
    }


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_a_running_server_writes_only_private_files(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        server = Serving(
            f"sqlite:///{tmp_path}/data/honeyguide.db",
            smtp_url=f"file://{tmp_path}/data/emails",
            logo_dir=f"{tmp_path}/data/logos",
        )
        with server:
            found = modes(tmp_path)
    finally:
        os.umask(before)
    assert {"data", "data/honeyguide.db", "data/honeyguide.db-wal"} <= set(found)
    assert {name: mode for name, mode in found.items() if mode} == {}


def test_what_others_could_read_is_fixed_when_the_store_opens(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with OpenStore("sqlite") as opened:
        url = opened.url
    path = Path(url.removeprefix("sqlite:///"))
    old = Path(f"{path}.before-restore-20260101")
    old.write_text("")
    for each in (path, old):
        each.chmod(0o644)
    with caplog.at_level(logging.INFO, logger="honeyguide.store"):
        make_database_private(path)
    lines = [record.getMessage() for record in caplog.records]
    assert [line for line in lines if str(path) in line and "private" in line]
    assert sum(f"Made {each} private" in line for line in lines for each in (path, old)) == 2
    assert modes(path.parent)[path.name] == modes(path.parent)[old.name] == 0
    caplog.clear()
    make_database_private(path)
    assert caplog.records == [], "once is enough"


def test_a_folder_is_closed_only_if_nothing_else_is_in_it(tmp_path: Path) -> None:
    ours, shared = tmp_path / "ours", tmp_path / "shared"
    for folder in (ours, shared):
        folder.mkdir()
        folder.chmod(0o755)
        for name in ("x.db", "x.db-wal"):
            (folder / name).write_text("")
    (ours / "logos").mkdir()
    (shared / "index.html").write_text("")
    (shared / "index.html").chmod(0o644)
    for folder in (ours, shared):
        make_database_private(folder / "x.db")
    assert stat.S_IMODE(ours.stat().st_mode) == 0o700
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755
    assert modes(shared)["index.html"] == 0o044
    assert modes(shared)["x.db"] == modes(shared)["x.db-wal"] == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_belongs_to_another_user_is_reported_and_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "x.db"
    path.write_text("")
    path.chmod(0o644)
    shutil.chown(path, "nobody")
    with caplog.at_level(logging.WARNING, logger="honeyguide.store"):
        make_database_private(path)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "belongs to another user" in caplog.records[0].getMessage()
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_backups_that_others_could_read_are_closed_at_the_start(tmp_path: Path) -> None:
    old, other = tmp_path / "honeyguide-20260101.db.gz", tmp_path / "notes.txt"
    for path in (old, other):
        path.write_text("")
        path.chmod(0o644)
    with Serving(fresh("sqlite"), backup_url=f"file://{tmp_path}", log="json") as server:
        until(lambda: modes(tmp_path)[old.name] == 0)
        until(lambda: f"Made {old} private" in server.output)
    assert modes(tmp_path)[other.name] == 0o044
