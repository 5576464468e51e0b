"""Through PgBouncer in transaction mode, where each transaction may use another connection: money,
signups, webhooks, jobs, lists and reports, with fewer connections than callers.
"""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

from tests.partners.test_charges_parallel import EACH, spend_together
from tests.support.pgbouncer import pgbouncer
from tests.support.postgres import PostgresServer
from tests.support.process import Serving, command, new_account
from tests.support.service import until
from tests.support.stores import OpenStore
from tests.support.webhook_receiver import WebhookReceiver

pytestmark = pytest.mark.long
READERS = 400


class Pooled(NamedTuple):
    server: PostgresServer
    port: int

    def database(self, name: str) -> dict[str, str]:
        """The settings of a new database."""
        self.server.execute(f"CREATE DATABASE {name} OWNER honeyguide")
        return {
            "database_url": f"postgresql://honeyguide@127.0.0.1:{self.port}/{name}",
            "database_direct_url": f"postgresql://honeyguide@127.0.0.1:{self.server.port}/{name}",
        }


@pytest.fixture(scope="module")
def pooled() -> Iterator[Pooled]:
    with PostgresServer() as server:
        server.execute("CREATE ROLE honeyguide LOGIN")
        with pgbouncer(f"host=127.0.0.1 port={server.port}", "honeyguide") as port:
            pooled = Pooled(server, port)
            for statement in doctors_advice(pooled.database("first")):
                server.execute(statement)
            yield pooled


def examine(settings: dict[str, str]) -> dict[str, str]:
    done = command("doctor", "--json", **settings)
    (check,) = [each for each in json.loads(done.stdout)["checks"] if each["name"] == "pgbouncer"]
    return check  # type: ignore[no-any-return]


def doctors_advice(settings: dict[str, str]) -> list[str]:
    check = examine(settings)
    assert check["level"] == "problem"
    return check["remedy"].partition(": ")[2].split("; ")


def test_the_doctor_is_content_once_its_advice_was_taken(pooled):
    settings = pooled.database("advice")
    assert examine(settings)["level"] == "ok"
    with pgbouncer(f"host=127.0.0.1 port={pooled.server.port}", "honeyguide", statements=0) as port:
        untracked = settings | {"database_url": f"postgresql://honeyguide@127.0.0.1:{port}/advice"}
        assert "max_prepared_statements" in examine(untracked)["remedy"]


def test_init_prints_what_the_database_user_needs(pooled, tmp_path):
    settings = pooled.database("setup")
    arguments = ["--settings", str(tmp_path / "honeyguide.env"), "init", "--yes"]
    arguments += ["--unit-folder", str(tmp_path), "--email", "ana@example.org"]
    arguments += ["--user", "root"] if os.geteuid() == 0 else []
    refused = command(*arguments, database_url=settings["database_url"])
    assert refused.returncode == 1
    assert "Also set HONEYGUIDE_DATABASE_DIRECT_URL" in refused.stderr
    pooled.server.execute("ALTER ROLE honeyguide RESET jit")
    done = command(*arguments, **settings)
    pooled.server.execute("ALTER ROLE honeyguide SET jit = 'off'")
    assert "Wrote" in done.stdout, done.stderr
    assert "ALTER ROLE honeyguide SET jit = 'off';" in done.stdout
    written = (tmp_path / "honeyguide.env").read_text()
    assert f"HONEYGUIDE_DATABASE_DIRECT_URL={settings['database_direct_url']}" in written


def test_twelve_processes_spend_a_budget_to_the_cent(pooled):
    given = pooled.database("money")
    url, direct_url = given["database_url"], given["database_direct_url"]
    with OpenStore("postgres", url, pool_size=5, direct_url=direct_url) as opened:
        spend_together(opened, EACH)


def test_signups_webhooks_jobs_lists_and_reports(pooled, tmp_path):
    settings = pooled.database("service")
    alice = new_account(settings["database_direct_url"])
    pooled_url = settings["database_url"]
    with (
        WebhookReceiver() as receiver,
        Serving(
            pooled_url, "--workers", "2", database_direct_url=settings["database_direct_url"]
        ) as server,
    ):
        call = server.caller(alice.key)
        url = f"http://127.0.0.1:{receiver.port}/"
        made = call("POST", "/v2/webhooks", {"url": url, "new_referral": True})
        assert made.status in (200, 201), made.body
        first = call("POST", f"{alice.v1}/subscribers", {"email": "ana@example.org"}).json()
        code = first["subscriber"]["ref_code"]

        def sign_up(part: int) -> list[int]:
            caller = server.caller(alice.key)
            bodies = [
                {"email": f"r{number}@example.org", "referrer_code": code}
                for number in range(part, READERS, 8)
            ]
            return [caller("POST", f"{alice.v1}/subscribers", body).status for body in bodies]

        with ThreadPoolExecutor(8) as crowd:
            statuses = [status for part in crowd.map(sign_up, range(8)) for status in part]
        assert statuses == [201] * READERS
        until(lambda: receiver.got.qsize() >= READERS, 120)
        pages = [
            call("GET", f"{alice.v1}/subscribers?per_page=50&page={page}").json()
            for page in range(1, 10)
        ]
        assert sum(len(page["subscribers"]) for page in pages) == READERS + 1
        emails = {each["email"] for page in pages for each in page["subscribers"]}
        assert len(emails) == READERS + 1
    assert command("verify", **settings).returncode == 0
    backup = tmp_path / "copy.dump"
    path = f"{pooled.server.psql.parent}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", path, prepend=":")
        assert command("backup", str(backup), **settings).returncode == 0
    # PgBouncer's connections were really shared.
    used = pooled.server.execute(
        "SELECT COUNT(*) FROM pg_stat_activity WHERE usename = 'honeyguide'"
    )
    assert int(used) <= 3 * 4
