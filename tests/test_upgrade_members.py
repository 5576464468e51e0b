"""A database from before there were members: logins, open sessions, keys, invitations and links to
a new password go on working.
"""

from __future__ import annotations

import hashlib
import time
from typing import Any

import argon2
import pytest

from honeyguide.kernel.clock import HOUR_MS
from tests.support.postgres import shared_server
from tests.support.process import Serving, command
from tests.support.service import ENGINES
from tests.support.web import WebClient, text_of
from tests.upgrades import connect_sqlite, previous_database

OWNER = "demo@honeyguide.example"
PASSWORD = "three calm brown bears"
SESSION, INVITED, RESET = "s" * 43, "i" * 43, "r" * 43


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def execute(engine: str, url: str, sql: str) -> list[tuple[Any, ...]]:
    """Through the driver of the engine: the code of that time is not here."""
    if engine == "postgres":
        lines = shared_server().execute(sql, url.rpartition("/")[2]).splitlines()
        return [tuple(line.split("|")) for line in lines]
    with connect_sqlite(url) as connection:
        return [tuple(str(value) for value in row) for row in connection.execute(sql)]


def leave_things_open(engine: str, url: str) -> str:
    """As the previous main wrote them. Returns the account's id."""
    hasher = argon2.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)
    now_ms = int(time.time() * 1000)
    ((account_id,),) = execute(engine, url, f"SELECT id FROM account WHERE email = '{OWNER}'")
    for sql in (
        f"UPDATE account SET password_hash = '{hasher.hash(PASSWORD)}' WHERE id = '{account_id}'",
        "INSERT INTO session (id, account_id, digest, user_agent, address, created_ms, seen_ms) "
        f"VALUES ('0190-s', '{account_id}', '{digest(SESSION)}', 'Firefox', '127.0.0.1', "
        f"{now_ms - HOUR_MS}, {now_ms - HOUR_MS})",
        "INSERT INTO ticket (id, digest, kind, account_id, email, created_ms, expires_ms) VALUES "
        f"('0190-i', '{digest(INVITED)}', 'invitation', '{account_id}', 'new@example.org', "
        f"{now_ms}, {now_ms + HOUR_MS})",
        "INSERT INTO ticket (id, digest, kind, account_id, email, created_ms, expires_ms) VALUES "
        f"('0190-r', '{digest(RESET)}', 'password_reset', '{account_id}', NULL, "
        f"{now_ms}, {now_ms + HOUR_MS})",
    ):
        execute(engine, url, sql)
    return account_id


@pytest.mark.parametrize("engine", ENGINES)
def test_nobody_notices_that_users_and_accounts_are_separate(engine: str) -> None:
    url = previous_database(engine)
    account_id = leave_things_open(engine, url)
    done = command("migrate", database_url=url)
    assert done.returncode == 0, done.stderr
    owners = execute(
        engine, url, f"SELECT user_id, role FROM member WHERE account_id = '{account_id}'"
    )
    assert owners == [(account_id, "owner")]
    ((accounts,), (users,)) = execute(
        engine, url, "SELECT COUNT(*) FROM account UNION ALL SELECT COUNT(*) FROM login_user"
    )
    assert accounts == users
    with Serving(url) as server:
        here = f"http://127.0.0.1:{server.port}"
        browser = WebClient.at(here)
        browser.plant(SESSION)
        page = browser.get("/account")
        assert page.status_code == 200 and OWNER in text_of(page.text)
        fresh = WebClient.at(here)
        assert fresh.log_in(OWNER, PASSWORD).status_code == 303
        assert fresh.get("/team").status_code == 200
        invited = WebClient.at(here)
        joined = invited.post(f"/welcome/{INVITED}", name="New", password=PASSWORD)
        assert joined.status_code == 303, text_of(joined.text)
        forgetful = WebClient.at(here)
        changed = forgetful.post(f"/password/{RESET}", password="four calm brown bears")
        assert changed.status_code == 303, text_of(changed.text)
        assert browser.get("/account").status_code == 303, "a new password ends every session"
    done = command("verify", database_url=url)
    assert done.returncode == 0, done.stdout + done.stderr
