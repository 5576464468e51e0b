"""Upgrade while the previous main serves, and let both versions serve one database under load."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.crowd import Crowd, assert_exact
from tests.support.process import COMMAND, Credentials, Serving, command, fresh
from tests.upgrades import COMMIT
from tests.upgrades.make import has_commit, old_environment, worktree

ANSWERS = {"POST 201", "POST 400", "PUT 200", "DELETE 200", "GET 200"}


def run_old(code: Path, url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = old_environment(code, database_url=url)
    return subprocess.run(
        [*COMMAND, *arguments], env=env, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.long
@pytest.mark.skipif(not has_commit(COMMIT), reason="the commit of the previous main is not here")
def test_old_and_new_code_serve_one_database_while_and_after_it_is_upgraded() -> None:
    url = fresh("postgres")
    with worktree(COMMIT) as code, ThreadPoolExecutor(1) as pool:
        email = "alice@example.org"
        made = json.loads(run_old(code, url, "account", "create", email, "--json").stdout)
        alice = Credentials(made["account_uuid"], made["campaign_uuid"], made["api_key"], email)
        old, new = Serving(url), Serving(url)
        old.command = ["env", f"PYTHONPATH={code / 'src'}", *COMMAND]
        with old:
            during = Crowd([old.port], alice)
            running = pool.submit(during.run, changers=8, steps=250)
            with new:
                assert not running.done(), "the upgrade must happen under load"
                running.result()
                after = Crowd([old.port, new.port], alice)
                after.run(changers=8, steps=250)
                for crowd in (during, after):
                    assert set(crowd.statuses) <= ANSWERS, (crowd.statuses, crowd.complaints)
                assert_exact(new.caller(alice.key), alice, "postgres", url)
                assert_exact(old.caller(alice.key), alice, "postgres", url)
            assert "Traceback" not in old.output + new.output
        assert "up to date" in run_old(code, url, "migrate").stdout
    verified = command("verify", database_url=url)
    assert verified.returncode == 0, verified.stdout + verified.stderr
