"""`honeyguide import sparkloop` as a real process: a whole program moves in, and nothing leaves."""

import csv
import io
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.incumbent import KEY, IncumbentServer
from tests.support.platforms.stand_in import pass_on, status
from tests.support.process import COMMAND, Credentials, command, environment, migrated, new_account
from tests.support.service import ENGINES
from tests.support.stores import OpenStore

ACCOUNT = "alice@example.org"


@pytest.fixture(params=ENGINES)
def alice(request: pytest.FixtureRequest) -> tuple[str, Credentials]:
    url = migrated(request.param)
    return url, new_account(url)


def bring(url: str, server: IncumbentServer, *arguments: str, key: str = KEY) -> Any:
    return command(
        *("import", "sparkloop", "--account", ACCOUNT, "--base-url", server.url, *arguments),
        database_url=url,
        import_key=key,
    )


def exported(url: str) -> dict[str, dict[str, str]]:
    done = command("export", "--account", ACCOUNT, database_url=url)
    assert done.returncode == 0, done.stderr
    return {row["email"]: row for row in csv.DictReader(io.StringIO(done.stdout))}


def test_a_whole_program_moves_in(alice: tuple[str, Credentials]) -> None:
    url, _ = alice
    server = IncumbentServer(300)
    with server.serving_apart():
        tried = bring(url, server, "--dry-run")
        assert tried.returncode == 0, tried.stderr
        assert "300 would be added, 0 already subscribed, 0 failed." in tried.stdout
        assert exported(url) == {}
        pages = len(server.seen)
        done = bring(url, server)
        assert done.returncode == 0, done.stderr
        # The dry run fetched everybody already.
        assert not [each for each in server.seen[pages:] if "/subscribers" in each.path]
        assert "Going on with 300 people fetched before." in done.stderr
        rows = exported(url)
        again = bring(url, server)
    assert "0 added, 300 already subscribed, 0 failed." in again.stdout
    assert exported(url) == rows, "a second import changes nothing"
    assert "300 added, 0 already subscribed, 0 failed." in done.stdout
    assert "Not understood, and left out: fingerprint (3)." in done.stdout
    assert "1 documents are on the dashboard" in done.stdout
    assert len(rows) == 300
    assert rows["reader107@old.example"]["status"] == "unsubscribed"
    assert rows["reader111@old.example"]["referral_status"] == "verified"
    assert rows["reader113@old.example"]["referral_status"] == "pending"
    assert rows["reader117@old.example"]["referral_status"] == "rejected"
    # Referrers are found though they are older, and so come later in the list.
    assert (
        rows["reader111@old.example"]["referrer_code"] == rows["reader110@old.example"]["ref_code"]
    )
    assert rows["reader111@old.example"]["created_at"].startswith("2024-04-28")
    with OpenStore("", url) as opened:
        assert opened.ask("SELECT COUNT(*) FROM event") == [(0,)]
        assert opened.ask("SELECT COUNT(*) FROM letter") == [(0,)]
        assert set(opened.ask("SELECT secret FROM remote_fetch")) == {("",)}


def assert_refused(done: Any, sentence: str) -> None:
    assert done.returncode == 1 and sentence in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and done.stdout == "" and KEY not in done.stderr


def test_what_it_refuses(alice: tuple[str, Credentials], tmp_path: Path) -> None:
    url, _ = alice
    server = IncumbentServer(3)
    arguments = ("import", "sparkloop", "--account", ACCOUNT)
    with server.serving_apart():
        there = ("--base-url", server.url)
        assert_refused(
            command(*arguments, *there, database_url=url), "Give the API key with --key-file FILE"
        )
        key_file = tmp_path / "key"
        given = (*arguments, *there, "--key-file", str(key_file))
        assert_refused(command(*given, database_url=url), "Cannot read")
        key_file.write_text("two words")
        assert_refused(command(*given, database_url=url), "The API key is not one.")
        key_file.write_text(f"{KEY}x\n")
        assert_refused(command(*given, database_url=url), "does not accept the key.")
        assert_refused(bring(url, server, "--base-url", "ftp://x"), "must be an absolute URL")
        server.fail(status(200, "<html>"))
        assert_refused(bring(url, server), "that we do not understand: it is not JSON.")
        assert_refused(
            command(
                "import",
                "sparkloop",
                "--account",
                "bob@example.org",
                *there,
                database_url=url,
                import_key=KEY,
            ),
            "no account",
        )
    with OpenStore("", url) as opened:
        assert opened.ask("SELECT COUNT(*) FROM import") == [(0,)]
    missing = command("import", "no.csv", "--account", ACCOUNT, database_url=url)
    assert missing.returncode == 2 and "does not exist" in missing.stderr


def test_a_key_that_is_revoked_halfway(alice: tuple[str, Credentials]) -> None:
    url, _ = alice
    server = IncumbentServer(450)
    with server.serving_apart():
        server.fail(pass_on, pass_on, pass_on, status(401))
        assert_refused(bring(url, server), "does not accept the key. What was fetched is kept.")
        assert exported(url) == {}
        server.key = "another"
        done = bring(url, server, key="another")
        assert done.returncode == 0 and "Going on with 400 people" in done.stderr
    assert len(exported(url)) == 450


def kill_at(url: str, server: IncumbentServer, requests: int, pause_s: float) -> bool:
    """Kills the command so long after so many requests. False if it ended before."""
    goal = len(server.seen) + requests
    process = subprocess.Popen(
        [*COMMAND, "import", "sparkloop", "--account", ACCOUNT, "--base-url", server.url],
        env=environment(database_url=url, import_key=KEY),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and len(server.seen) < goal:
        time.sleep(0.005)
    time.sleep(pause_s)
    was_running = process.poll() is None
    process.kill()
    process.wait()
    return was_running


@pytest.mark.long
@pytest.mark.parametrize("kills", [3, 20])
def test_nobody_is_lost_or_doubled_by_kills(alice: tuple[str, Credentials], kills: int) -> None:
    url, _ = alice
    server = IncumbentServer(500)
    dice = random.Random(kills)
    with server.serving_apart():
        killed = 0
        for number in range(kills):
            # The last of them while it imports.
            is_late = number >= kills * 2 // 3
            pause_s = dice.uniform(0.2, 1.5) if is_late else dice.uniform(0, 0.05)
            killed += kill_at(url, server, dice.randrange(1, 4), pause_s)
        done = bring(url, server)
        assert done.returncode == 0, done.stderr
    assert killed
    rows = exported(url)
    assert len(rows) == 500
    referred = [row for row in rows.values() if row["referrer_code"]]
    expected = [each for each in server.people if each["referrer_code"]]
    # One whose referrer's code belongs to two is credited to the first of them.
    assert len(referred) == len(expected)
    with OpenStore("", url) as opened:
        assert opened.ask("SELECT COUNT(*) FROM subscriber") == [(500,)]
        carried = opened.ask("SELECT COUNT(*), SUM(amount) FROM adjustment")
        assert [(count, int(amount)) for count, amount in carried] == [(5, 35)]
