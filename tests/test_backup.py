"""A copy taken while the service runs, and the way back by the very line that is printed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from honeyguide.store.backup import backup_postgres
from tests.support.postgres import shared_server
from tests.support.process import Serving, command, fresh, new_account
from tests.support.service import ENGINES


def restore(done: subprocess.CompletedProcess[str], url: str) -> None:
    line = done.stdout.partition("stop the service and run: ")[2].strip().replace("\n", " ")
    given = os.environ | {"HONEYGUIDE_DATABASE_URL": url}
    subprocess.run(line, shell=True, check=True, capture_output=True, text=True, env=given)


@pytest.mark.parametrize("engine", ENGINES)
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
        told = server.caller(alice.key)("GET", f"{alice.v1}/subscribers").json()
        assert [person["email"] for person in told["subscribers"]] == [
            f"old{number}@example.org" for number in (2, 1, 0)
        ]
        assert told["meta"]["total_subscribers"] == 3
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


def test_the_password_of_the_database_is_on_no_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everybody on a machine sees the arguments of everybody's programs."""
    program, said = tmp_path / "pg_dump", tmp_path / "said"
    program.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" "password $PGPASSWORD" > {said}\ntouch "${{2#--file=}}"\n'
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
        *_, dbname, secret = said.read_text().splitlines()
        assert (dbname, secret) == (f"--dbname={shown}", f"password {password}")
