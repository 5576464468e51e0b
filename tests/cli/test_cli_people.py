"""People in and out by the command line, and the way back in for an owner who lost the password: as
real processes.
"""

import csv
import io
import os
import pty
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx
import pytest

from honeyguide.moving import exporting, import_files, importing
from tests.support import starter
from tests.support.moving_files import FIXTURES
from tests.support.process import (
    Credentials,
    Serving,
    command,
    environment,
    migrated,
    new_account,
)
from tests.support.service import ENGINES
from tests.support.starter import Command

MESSY = (
    "E-Mail;Full name;Signed up at;Status\r\n"
    "ann@example.org;Ann Lee;2025-03-01;active\r\n"
    "not an address;Nobody;;\r\n"
    " BEN@example.org ;=cmd;2025-03-02 08:30;unsubscribed\r\n"
    "ann@example.org;Ann again;;\r\n"
    "carl@example.org;Carl;never;\r\n"
)


@pytest.fixture(params=ENGINES)
def alice(request: pytest.FixtureRequest) -> tuple[str, Credentials]:
    url = migrated(request.param)
    return url, new_account(url)


@pytest.fixture
def on_sqlite() -> tuple[str, Credentials]:
    """Enough where no database takes part in the answer."""
    url = migrated("sqlite")
    return url, new_account(url)


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(MESSY)
    return path


def exported(url: str, *arguments: str) -> list[dict[str, str]]:
    done = command("export", "--account", "alice@example.org", *arguments, database_url=url)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def assert_refused(done: subprocess.CompletedProcess[str], sentence: str) -> None:
    assert done.returncode == 1 and sentence in done.stderr and "Traceback" not in done.stderr, (
        done.stderr
    )
    assert done.stdout == ""


def test_a_line_that_the_database_refuses_holds_back_no_other(
    on_sqlite: tuple[str, Credentials], tmp_path: Path
) -> None:
    url, owner = on_sqlite
    with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
        connection.execute(
            "CREATE TRIGGER planted BEFORE INSERT ON subscriber WHEN NEW.email = 'b@example.org' "
            "BEGIN SELECT RAISE(ABORT, 'planted'); END"
        )
    file = tmp_path / "people.csv"
    file.write_text("email\na@example.org\nb@example.org\nc@example.org\n")
    done = command("import", str(file), "--account", owner.email, database_url=url)
    assert done.stdout.startswith("2 added, 0 already subscribed, 1 failed.\n"), done.stderr
    assert f"line 3: {importing.UNEXPECTED}" in done.stderr


def test_a_messy_file_is_tried_brought_in_and_left_alone_the_second_time(
    alice, messy: Path, tmp_path: Path
) -> None:
    url, _ = alice
    bring = ("import", str(messy), "--account", "alice@example.org")
    tried = command(*bring, "--dry-run", database_url=url)
    assert tried.returncode == 0, tried.stderr
    columns = (
        "File from: Any CSV file.\n"
        "Columns used: E-Mail as Email, Full name as Name, Signed up at as Signup date, Status as "
        "Status.\n"
    )
    columns += "Columns ignored: none.\n"
    assert tried.stdout == f"2 would be added, 1 already subscribed, 2 failed.\n{columns}"
    assert tried.stderr.startswith(columns), "said before anything happens, and again afterwards"
    assert exported(url) == [], "a trial changes nothing"
    mend = tmp_path / "mend.csv"
    done = command(*bring, "--errors", str(mend), database_url=url)
    assert done.stdout == f"2 added, 1 already subscribed, 2 failed.\n{columns}"
    assert "line 3: " in done.stderr and "line 6: " in done.stderr
    again = command(*bring, database_url=url)
    assert again.stdout.startswith("0 added, 3 already subscribed, 2 failed.\n")
    rows = list(csv.DictReader(mend.open(newline="")))
    assert [(row["E-Mail"], row["Full name"], row["line"]) for row in rows] == [
        ("not an address", "Nobody", "3"),
        ("carl@example.org", "Carl", "6"),
    ]
    assert rows[0]["why"] == "Email is invalid" and rows[1]["why"].startswith(
        "Signup date must be a timestamp"
    )


def test_what_cannot_be_taken_over_is_said_before_and_after(alice, tmp_path: Path) -> None:
    url, _ = alice
    file = tmp_path / "old.csv"
    file.write_text("email,referral code,referrer\nnew@example.org,abc,old@example.org\n")
    bring = ("import", str(file), "--account", "alice@example.org")
    for options in (["--dry-run"], []):
        done = command(*bring, *options, database_url=url)
        assert done.returncode == 0, done.stderr
        assert "\nNot taken over as in the file: 1 unknown referrer.\n" in done.stdout
        assert "line 2: The referrer is neither in the file nor among" in done.stderr


def test_an_import_by_hand_gives_rewards_only_if_asked(alice, tmp_path: Path) -> None:
    url, owner = alice
    with Serving(url) as server:
        call = server.caller(owner.key)
        assert call("POST", f"{owner.v1}/rewards", {"name": "Mug", "referrals": 1}).status == 201
    for name, options in {"ann": [], "ben": ["--give-rewards"]}.items():
        file = tmp_path / f"{name}.csv"
        file.write_text(f"email,referrals\n{name}@example.org,3\n")
        done = command("import", str(file), "--account", owner.email, *options, database_url=url)
        assert done.stdout.startswith("1 added, 0 already subscribed, 0 failed.\n"), done.stderr
    with Serving(url) as server:
        call = server.caller(owner.key)
        states = {}
        for name in ("ann", "ben"):
            found = call("GET", f"{owner.v1}/subscribers/{name}@example.org/rewards").json()
            states[name] = [each["status"] for each in found["rewards"]]
    assert states == {"ann": ["redeemed"], "ben": ["unlocked"]}


def test_everybody_comes_out_as_the_api_knows_them(alice, messy: Path, tmp_path: Path) -> None:
    url, owner = alice
    command("import", str(messy), "--account", owner.email, database_url=url)
    with Serving(url) as server:
        call = server.caller(owner.key)
        ann = call("GET", f"{owner.v1}/subscribers/ann@example.org").json()["subscriber"]
        call(
            "POST",
            f"{owner.v1}/subscribers",
            {"email": "dora@example.org", "referrer_code": ann["ref_code"]},
        )
    rows = exported(url)
    assert [row["email"] for row in rows] == [
        "ann@example.org",
        "BEN@example.org",
        "dora@example.org",
    ], "the oldest first"
    first, ben, dora = rows
    assert (first["uuid"], first["ref_code"], first["created_at"]) == (
        ann["uuid"],
        ann["ref_code"],
        ann["created_at"],
    )
    assert first["created_at"].startswith("2025-03-01T") and first["referrals_verified"] == "1"
    assert first["referral_link"].endswith(f"/r/{ann['ref_code']}")
    assert (ben["status"], ben["name"]) == ("unsubscribed", "'=cmd"), (
        "a spreadsheet must not run it"
    )
    assert (dora["referrer_code"], dora["referral_status"]) == (ann["ref_code"], "verified")
    assert [row["email"] for row in exported(url, "--show", "advocates")] == ["ann@example.org"]
    target = tmp_path / "out.csv"
    done = command("export", "--account", owner.email, "--file", str(target), database_url=url)
    assert done.stdout == "" and "Exported 3 subscribers." in done.stderr
    assert list(csv.DictReader(target.open(newline=""))) == rows


# In the C locale Python itself switches to UTF-8, unless told not to.
LOCALES = {
    "ASCII": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "Latin-1": {"PYTHONIOENCODING": "latin-1"},
}


# A locale is chosen when Python starts, so this must be one that starts with it. It forks for the
# second export.
TO_BOTH_PLACES = """
import os, sys
from honeyguide.cli import main
target = sys.argv.pop(1)
if (child := os.fork()) == 0:
    sys.argv += ["--file", target]
elif os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
    sys.exit(1)
main()
"""


@pytest.mark.parametrize("locale", LOCALES.values(), ids=LOCALES)
def test_an_export_is_utf_8_in_every_locale(
    on_sqlite, tmp_path: Path, locale: dict[str, str]
) -> None:
    url, owner = on_sqlite
    people = tmp_path / "people.csv"
    people.write_text("email,name\nжанна@example.org,Zoë Жук\n", encoding="utf-8")
    assert (
        command("import", str(people), "--account", owner.email, database_url=url).returncode == 0
    )
    target = tmp_path / "out.csv"
    done = subprocess.run(
        [sys.executable, "-c", TO_BOTH_PLACES, str(target), "export", "--account", owner.email],
        env=environment(database_url=url) | locale,
        capture_output=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for written in (done.stdout, target.read_bytes()):
        assert (
            "жанна@example.org,Zoë Жук," in written.decode("utf-8") and written.count(b"\r\n") == 2
        )


def test_a_progress_bar_on_the_terminal_does_not_reach_the_exported_file(on_sqlite) -> None:
    url, owner = on_sqlite
    ours, terminal = pty.openpty()
    try:
        arguments = ["export", "--account", owner.email]
        seen = environment(database_url=url) | {"TERM": "xterm"}
        with tempfile.TemporaryFile() as out, open(terminal, "wb", closefd=False) as err:
            assert Command(arguments, env=seen, stdout=out, stderr=err).wait(150) == 0
            out.seek(0)
            written = out.read().decode()
    finally:
        os.close(terminal)
        os.close(ours)
    assert written == ",".join(exporting.COLUMNS) + "\r\n"


def test_what_cannot_be_done_is_said_in_one_sentence(
    on_sqlite, messy: Path, tmp_path: Path
) -> None:
    url, _ = on_sqlite
    nameless = tmp_path / "nameless.csv"
    nameless.write_text("colour,size\nred,3\n")
    bring = ("import", str(messy), "--account")
    assert_refused(command(*bring, "nobody@example.org", database_url=url), "nobody@example.org")
    assert_refused(
        command("import", str(nameless), "--account", "alice@example.org", database_url=url),
        "Name that column `email`",
    )
    nameless.write_text("name,email\nAnn,ann\nBob,bob@home\n")
    assert_refused(
        command("import", str(nameless), "--account", "alice@example.org", database_url=url),
        "The column “email” has no valid email address.",
    )
    assert_refused(
        command("export", "--account", "nobody@example.org", database_url=url), "nobody@example.org"
    )
    assert_refused(
        command("export", "--account", "alice@example.org", "--show", "best", database_url=url),
        "--show must be one of",
    )
    nowhere = str(tmp_path / "no" / "such.csv")
    heard = command("export", "--account", "alice@example.org", "--file", nowhere, database_url=url)
    assert_refused(heard, f"Cannot write {nowhere}")
    heard = command(*bring, "alice@example.org", "--errors", nowhere, database_url=url)
    assert heard.returncode == 1 and "Traceback" not in heard.stderr
    assert "2 added" in heard.stdout and f"Cannot write {nowhere}" in heard.stderr


def choose(url: str, email: str, *typed: str) -> subprocess.CompletedProcess[str]:
    """As typed at the prompt. In a session of its own there is no terminal to ask, so standard
    input is read.
    """
    return starter.run(
        ["account", "password", email],
        env=environment(database_url=url),
        typed="".join(f"{word}\n" for word in typed),
        before="import os; os.setsid()",
    )


def at_the_door(server: Serving, email: str, password: str) -> httpx.Client:
    """A browser that has tried to log in."""
    url = f"http://127.0.0.1:{server.port}"
    browser = httpx.Client(base_url=url, headers={"origin": url}, timeout=30, verify=False)
    token = re.search(r'name="csrf" value="([0-9a-f]+)"', browser.get("/login").text)
    assert token is not None
    browser.post("/login", data={"csrf": token[1], "email": email, "password": password})
    return browser


def test_a_new_password_opens_the_door_and_ends_every_session(alice) -> None:
    url, owner = alice
    old, new = "three calm brown bears", "four loud green frogs"
    assert choose(url, owner.email, old, old).returncode == 0
    with Serving(url) as server:
        inside = at_the_door(server, owner.email, old)
        assert inside.get("/settings").status_code == 200
        done = choose(url, owner.email, new, new)
        assert done.returncode == 0 and "All sessions of this user are logged out." in done.stdout
        assert new not in done.stdout + done.stderr
        assert inside.get("/settings").status_code == 303, "the old session is over"
        assert at_the_door(server, owner.email, old).get("/settings").status_code == 303
        assert at_the_door(server, owner.email, new).get("/settings").status_code == 200


def test_a_password_that_is_guessed_mistyped_or_nobodys_is_refused(on_sqlite) -> None:
    url, owner = on_sqlite
    assert "at least 10 characters" in choose(url, owner.email, "short", "short").stderr
    assert "easy to guess" in choose(url, owner.email, "password123", "password123").stderr
    assert choose(url, owner.email, "one good long word", "another long word").returncode != 0
    unknown = choose(url, "nobody@example.org", "three calm brown bears", "three calm brown bears")
    assert (
        unknown.returncode == 1
        and "nobody@example.org" in unknown.stderr
        and "Traceback" not in unknown.stderr
    )


def test_a_file_too_large_for_the_dashboard_is_imported(on_sqlite, tmp_path: Path) -> None:
    url, owner = on_sqlite
    large = tmp_path / "large.csv"
    note = "x" * 60_000
    large.write_text(
        "email,note\n" + "".join(f"reader{n}@example.org,{note}\n" for n in range(370))
    )
    assert large.stat().st_size > import_files.MOST_BYTES
    done = command("import", str(large), "--account", owner.email, "--dry-run", database_url=url)
    assert done.returncode == 0, done.stderr
    assert (
        "370 would be added" in done.stdout
        and "Columns ignored:\n  note: We don’t know" in done.stdout
    )


def test_dates_that_can_be_read_both_ways_are_asked(on_sqlite) -> None:
    url, owner = on_sqlite
    bring = ("import", str(FIXTURES / "any.csv"), "--account", owner.email)
    tried = command(*bring, "--dry-run", database_url=url)
    assert "We read it as 3 April" in tried.stderr and "2 would be added" in tried.stdout
    done = command(*bring, "--dates", "month-first", database_url=url)
    assert "We read it as" not in done.stderr, done.stderr
    assert [row["created_at"][:10] for row in exported(url)] == ["2023-03-04", "2023-04-04"]
    assert "File from: Any CSV file." in done.stdout
    other = command(*bring, "--source", "ghost", "--dry-run", database_url=url)
    assert "File from: Ghost." in other.stdout and "2 already subscribed" in other.stdout
