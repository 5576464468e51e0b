"""`honeyguide move check`, as a real process."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.support.process import Credentials, command, migrated, new_account
from tests.support.service import ENGINES

FILE = (
    "email,RH_CODE,RH_TOTREF,referrer\n"
    "ann@example.org,james23b,2,\n"
    "ben@example.org,BenB,0,james23b\n"
    "not an address,,,\n"
)


@pytest.fixture(params=ENGINES)
def alice(request: pytest.FixtureRequest) -> tuple[str, Credentials]:
    url = migrated(request.param)
    return url, new_account(url)


def bring(url: str, owner: Credentials, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text(FILE)
    done = command("import", str(file), "--account", owner.email, database_url=url)
    assert done.returncode == 0, done.stderr


def test_a_move_is_checked_and_its_certificate_too(
    alice: tuple[str, Credentials], tmp_path: Path
) -> None:
    url, owner = alice
    out = tmp_path / "certificate.json"
    check = ("move", "check", "--account", owner.email)
    none = command(*check, database_url=url)
    assert none.returncode == 1 and "no import of the last 30 days" in none.stderr
    bring(url, owner, tmp_path)
    done = command(*check, "--out", str(out), database_url=url)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Nothing was lost." in done.stdout
    assert "6 of 6 lead to the right person" in done.stdout
    assert "2 here, 1 refused" in done.stdout
    assert "ann@example.org" not in done.stdout
    fingerprint = json.loads(out.read_bytes())["fingerprint"]
    genuine = command("check", str(out), "--key", fingerprint, database_url=url)
    assert genuine.returncode == 0 and "nothing_lost: true" in genuine.stdout
    out.write_bytes(out.read_bytes().replace(b"true", b"TRUE"))
    assert command("check", str(out), database_url=url).returncode == 1


def test_a_loss_is_an_error_and_says_what_to_do(tmp_path: Path) -> None:
    url = migrated("sqlite")
    owner = new_account(url)
    bring(url, owner, tmp_path)
    with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
        connection.execute("DELETE FROM subscriber_code WHERE code = 'BenB'")
    done = command("move", "check", "--account", owner.email, database_url=url)
    assert done.returncode == 1
    assert "1 subscriber with a link that leads nowhere: line 3" in done.stdout
    assert "Import the file again" in done.stdout and "Something was lost." in done.stdout
    bring(url, owner, tmp_path)
    again = command("move", "check", "--account", owner.email, database_url=url)
    assert again.returncode == 0, again.stdout
