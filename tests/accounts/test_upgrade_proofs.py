"""A database from before addresses were proven: everybody gets in, and keys know who made them."""

import json
import re
import time
from pathlib import Path

import pytest

import honeyguide.store
from tests.accounts.test_upgrade_members import OWNER, execute
from tests.support.process import command
from tests.support.service import ENGINES
from tests.upgrades import previous_database


def log(engine: str, url: str, account_id: str, actor: str, action: str, key_id: str) -> None:
    execute(
        engine,
        url,
        "INSERT INTO change_log (id, account_id, actor_kind, actor_id, action, subject_id, "
        f"changed_ms) VALUES ('{key_id} {action}', '{account_id}', '{actor}', '{account_id}', "
        f"'{action}', '{key_id}', {int(time.time() * 1000)})",
    )


def add_keys(engine: str, url: str, account_id: str, *key_ids: str) -> None:
    for key_id in key_ids:
        execute(
            engine,
            url,
            "INSERT INTO api_key (id, account_id, name, digest, prefix, created_ms) VALUES "
            f"('{key_id}', '{account_id}', 'x', '{key_id}', 'hg_live_', 1)",
        )


def makers(engine: str, url: str) -> dict[str, str]:
    sql = "SELECT id, COALESCE(made_by, 'nobody') FROM api_key WHERE id LIKE '0190-%'"
    return dict(execute(engine, url, sql))


@pytest.mark.parametrize("engine", ENGINES)
def test_keys_learn_who_made_them_from_the_change_log(engine: str) -> None:
    url = previous_database(engine)
    ((account_id,),) = execute(engine, url, f"SELECT id FROM account WHERE email = '{OWNER}'")
    add_keys(engine, url, account_id, "0190-made", "0190-command")
    log(engine, url, account_id, "member", "api_key.created", "0190-made")
    log(engine, url, account_id, "command_line", "api_key.created", "0190-command")
    done = command("migrate", database_url=url)
    assert done.returncode == 0, done.stderr
    assert makers(engine, url) == {"0190-made": account_id, "0190-command": "nobody"}
    users = "SELECT COUNT(*) FROM login_user"
    may_log_in = f"{users} WHERE proven_ms IS NULL AND must_prove = 0"
    assert execute(engine, url, may_log_in) == execute(engine, url, users)
    doctor = json.loads(command("doctor", "--json", database_url=url).stdout)
    assert {each["name"]: each["level"] for each in doctor["checks"]}["logins"] == "ok"
    assert command("verify", database_url=url).returncode == 0
    # One that took the place of another belongs to whoever did that.
    add_keys(engine, url, account_id, "0190-new")
    replaced = "UPDATE api_key SET replaced_by = '0190-new' WHERE id = '0190-command'"
    execute(engine, url, replaced)
    log(engine, url, account_id, "member", "api_key.rotated", "0190-command")
    (file,) = (Path(honeyguide.store.__file__).parent / "migrations").glob("*_proven_logins.sql")
    for update in re.findall(r"^UPDATE .*?;", file.read_text(), re.MULTILINE | re.DOTALL):
        execute(engine, url, update)
    assert makers(engine, url)["0190-new"] == account_id
