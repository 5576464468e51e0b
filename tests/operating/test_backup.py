"""A copy taken while the service runs, and the way back by the very line that is printed."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from honeyguide.kernel.errors import Invalid
from honeyguide.store import backup, sqlite_path
from honeyguide.store.backup import backup_postgres
from honeyguide.store.sqlite import connect
from tests.support.postgres import shared_server
from tests.support.process import Serving, command, fresh, new_account


def restore(done: subprocess.CompletedProcess[str], url: str) -> None:
    line = done.stdout.partition("stop the service and run: ")[2].strip().replace("\n", " ")
    program, *arguments = shlex.split(line)
    assert program == "honeyguide"
    restored = command(*arguments, database_url=url)
    assert restored.returncode == 0, restored.stderr


@pytest.mark.parametrize("engine", ["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def test_the_printed_line_brings_everybody_back_also_after_a_kill(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "postgres":  # whose programs come with the test's own server
        monkeypatch.setenv("PATH", f"{shared_server().psql.parent}{os.pathsep}{os.environ['PATH']}")
    url = fresh(engine)
    alice = new_account(url)
    with Serving(url) as server:
        call = server.caller(alice.key)
        for number in range(3):
            assert (
                call(
                    "POST", f"{alice.v1}/subscribers", {"email": f"old{number}@example.org"}
                ).status
                == 201
            )
        done = command("backup", str(tmp_path / "a copy"), database_url=url)
        assert done.returncode == 0, done.stderr
        for number in range(100):
            assert (
                call(
                    "POST", f"{alice.v1}/subscribers", {"email": f"new{number}@example.org"}
                ).status
                == 201
            )
        server.kill()
        restore(done, url)
        server.start()
        body = server.caller(alice.key)("GET", f"{alice.v1}/subscribers").json()
        assert [person["email"] for person in body["subscribers"]] == [
            f"old{number}@example.org" for number in (2, 1, 0)
        ]
        assert body["meta"]["total_subscribers"] == 3
        assert (
            server.caller(alice.key)(
                "POST", f"{alice.v1}/subscribers", {"email": "after@example.org"}
            ).status
            == 201
        )
    assert command("verify", database_url=url).returncode == 0


def test_what_cannot_be_written_is_said_in_one_sentence(tmp_path: Path) -> None:
    url = fresh("sqlite")
    new_account(url)
    there = tmp_path / "there"
    there.write_text("")
    (tmp_path / "x.part").mkdir()
    for target, word in (
        (there, "already exists"),
        (tmp_path / "no" / "x", "does not exist"),
        (tmp_path / "x", "Cannot write"),
    ):
        done = command("backup", str(target), database_url=url)
        assert done.returncode == 1 and word in done.stderr and "Traceback" not in done.stderr


WRITER = """
import itertools, sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.set_busy_timeout(10_000)
print("writing", flush=True)
for number in itertools.count():
    change = "UPDATE filler SET text = hex(randomblob(2000)) WHERE id = ?"
    connection.execute(change, (number % 2_000 + 1,))
"""


def fill(path: Path) -> None:
    """About 8 MB, in a table of its own."""
    connection = connect(path)
    connection.execute("CREATE TABLE filler (id INTEGER PRIMARY KEY, text TEXT)")
    with connection:
        connection.execute(
            "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 2000) "
            "INSERT INTO filler SELECT id, hex(randomblob(2000)) FROM n"
        )
    connection.close()


def test_a_copy_is_not_begun_again_when_another_process_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "PAGES_AT_ONCE", 20)
    source, target = sqlite_path(fresh("sqlite")), tmp_path / "copy"
    assert source is not None
    fill(source)
    steps: list[int] = []
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(source)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == "writing\n"
        try:
            backup.backup_sqlite(source, target, lambda done, total: steps.append(done))
            assert writer.poll() is None
        finally:
            writer.kill()
    assert len(steps) > 50 and steps == sorted(steps)
    copy = apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READONLY)
    assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert copy.execute("SELECT count(*) FROM filler").fetchall() == [(2_000,)]
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]


def test_a_copy_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    source = sqlite_path(fresh("sqlite"))
    assert source is not None
    fill(source)

    def fail_halfway(done: int, total: int) -> None:
        raise OSError("No space left on device")

    with pytest.raises(Invalid, match="No space left"):
        backup.backup_sqlite(source, tmp_path / "copy", fail_halfway)
    assert list(tmp_path.iterdir()) == []


def test_the_password_of_the_database_is_on_no_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody on a machine sees the arguments of everybody's programs."""
    program, found = tmp_path / "pg_dump", tmp_path / "said"
    program.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" "password $PGPASSWORD" > {found}\ntouch "${{2#--file=}}"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    for address, shown, password in (
        (
            "postgresql://ann:s%40cret@db.example:5433/hg?a=b",
            "postgresql://ann@db.example:5433/hg?a=b",
            "s@cret",
        ),
        ("postgresql://ann@db.example/hg", "postgresql://ann@db.example/hg", ""),
        ("postgresql:///hg?host=/run/pg", "postgresql:///hg?host=/run/pg", ""),
    ):
        backup_postgres(address, tmp_path / f"copy {len(password)} {len(address)}")
        *_, dbname, secret = found.read_text().splitlines()
        assert (dbname, secret) == (f"--dbname={shown}", f"password {password}")
