"""After an upgrade from version 0.3.0, logins, open sessions, invitations and links to a new
password go on working, except invitations whose sender is no longer an owner.
"""

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
SESSION, INVITED, LEFT, RESET = "s" * 43, "i" * 43, "l" * 43, "r" * 43


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def execute(engine: str, url: str, sql: str) -> list[tuple[Any, ...]]:
    """Through the driver of the engine: the code of that time is not here."""
    if engine == "postgres":
        lines = shared_server().execute(sql, url.rpartition("/")[2]).splitlines()
        return [tuple(line.split("|")) for line in lines]
    with connect_sqlite(url) as connection:
        return [tuple(str(value) for value in row) for row in connection.execute(sql)]


def leave_things_open(engine: str, url: str) -> None:
    """As the previous main wrote them."""
    hasher = argon2.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)
    now_ms = int(time.time() * 1000)
    ((account_id,),) = execute(engine, url, f"SELECT id FROM account WHERE email = '{OWNER}'")
    ((user_id,),) = execute(engine, url, f"SELECT id FROM login_user WHERE email = '{OWNER}'")
    for sql in (
        f"UPDATE login_user SET password_hash = '{hasher.hash(PASSWORD)}' WHERE id = '{user_id}'",
        "INSERT INTO session (id, account_id, user_id, digest, user_agent, address, created_ms, "
        f"seen_ms, expires_ms) VALUES ('0190-s', '{account_id}', '{user_id}', '{digest(SESSION)}', "
        f"'Firefox', '127.0.0.1', {now_ms - HOUR_MS}, {now_ms - HOUR_MS}, {now_ms + HOUR_MS})",
        "INSERT INTO ticket (id, digest, kind, account_id, email, created_ms, expires_ms) VALUES "
        f"('0190-i', '{digest(INVITED)}', 'invitation', '{account_id}', 'new@example.org', "
        f"{now_ms}, {now_ms + HOUR_MS})",
        "INSERT INTO ticket (id, digest, kind, account_id, email, role, created_ms, expires_ms) "
        f"VALUES ('0190-l', '{digest(LEFT)}', 'invitation', '{account_id}', 'left@example.org', "
        f"'owner', {now_ms}, {now_ms + HOUR_MS})",
        *(
            "INSERT INTO change_log (id, account_id, actor_kind, actor_id, action, subject_id, "
            f"changed_ms) VALUES ('{ticket_id}', '{account_id}', 'member', '{inviter_id}', "
            f"'invitation.sent', '{ticket_id}', {now_ms})"
            for ticket_id, inviter_id in (("0190-i", user_id), ("0190-l", "somebody removed"))
        ),
        "INSERT INTO ticket (id, digest, kind, user_id, created_ms, expires_ms) VALUES "
        f"('0190-r', '{digest(RESET)}', 'password_reset', '{user_id}', "
        f"{now_ms}, {now_ms + HOUR_MS})",
    ):
        execute(engine, url, sql)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_was_open_before_the_upgrade_goes_on(engine: str) -> None:
    url = previous_database(engine)
    leave_things_open(engine, url)
    done = command("migrate", database_url=url)
    assert done.returncode == 0, done.stderr
    open_ones = execute(engine, url, "SELECT id, inviter_id FROM ticket WHERE kind = 'invitation'")
    assert [ticket_id for ticket_id, _ in open_ones] == ["0190-i"], "its sender is still an owner"
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
