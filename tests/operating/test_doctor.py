"""`honeyguide doctor`: what it judges, and the real command against real databases and a real mail
server.
"""

import asyncio
import json
import os
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from honeyguide import settings
from honeyguide.accounts.accounts import Proof
from honeyguide.integrations.encryption import EncryptionKeys
from honeyguide.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS, system_clock
from honeyguide.kernel.errors import Unavailable
from honeyguide.operating.backups.records import BackupRecord
from honeyguide.operating.doctor import judgements, link_hosts
from honeyguide.operating.doctor.checks import check_programs
from honeyguide.operating.doctor.judgements import DiskSpace, SeenRequest
from honeyguide.operating.doctor.results import TITLES, CheckResult, HealthLevel
from honeyguide.operating.doctor.secret_keys import secret_key
from honeyguide.partners.held_referrals import ProgramHealth
from honeyguide.store import DatabaseFacts, PgBouncerFacts, ReplicaFacts, inspect_database
from honeyguide.store.job_runs import JobRun
from honeyguide.subscribers.link_hosts import ListedHost
from tests.support.mailbox import Mailbox
from tests.support.postgres import free_port, shared_server
from tests.support.process import Serving, command, fresh, migrated, new_account
from tests.support.service import ENGINES, until

NOW = 1_800_000_000_000
LIVE = {"base_url": "https://refer.example.org", "trusted_proxies": "127.0.0.1"}
ENCRYPTED = EncryptionKeys([b"\xab" * 32]).encrypt("a platform's key", row_id="row")
OK, WARNING, PROBLEM = HealthLevel.OK, HealthLevel.WARNING, HealthLevel.PROBLEM


def backup_record(result: str) -> BackupRecord:
    return BackupRecord(
        id="1",
        name="honeyguide-20270115T080000000Z.db.gz",
        started_ms=NOW,
        duration_ms=1,
        bytes=1,
        sha256=None,
        result=result,
        message="Something is wrong.",
    )


def chosen(**given: str) -> settings.Settings:
    return settings.read({}, **(LIVE | given))


def run_of(started_ms: int, result: str | None = "ok") -> JobRun:
    return JobRun("send emails", MINUTE_MS, started_ms, 5, result, 0, None)


def facts(**given: Any) -> DatabaseFacts:
    return DatabaseFacts(
        **({"product": "X 1", "is_supported": True, "refusal": None, "skew_ms": 0} | given)
    )


JUDGED: list[tuple[CheckResult, HealthLevel]] = [
    (judgements.base_url(chosen()), OK),
    (judgements.base_url(chosen(base_url="http://localhost:8000")), WARNING),
    (judgements.base_url(chosen(base_url="http://localhost:8000", host="0.0.0.0")), PROBLEM),
    (
        judgements.base_url(
            chosen(base_url="http://127.0.0.1", smtp_url="smtp://mail.example.org")
        ),
        PROBLEM,
    ),
    (judgements.base_url(chosen(base_url="http://[::1]:1", smtp_url="smtp://localhost")), WARNING),
    (judgements.base_url(chosen(base_url="http://refer.example.org")), PROBLEM),
    (judgements.base_url(chosen(base_url="http://10.0.0.7:8000")), WARNING),
    (judgements.base_url(chosen(base_url="http://nas.local")), WARNING),
    (judgements.proxies(chosen(), None), OK),
    (judgements.proxies(chosen(trusted_proxies=""), None), WARNING),
    (judgements.proxies(chosen(trusted_proxies="*"), None), WARNING),
    (judgements.proxies(chosen(base_url="http://localhost", trusted_proxies=""), None), OK),
    (judgements.proxies(chosen(), SeenRequest("203.0.113.7", "203.0.113.7")), OK),
    (judgements.proxies(chosen(), SeenRequest("203.0.113.7", "1.2.3.4, 203.0.113.7")), OK),
    (judgements.proxies(chosen(), SeenRequest("172.18.0.2", "203.0.113.7")), PROBLEM),
    (judgements.proxies(chosen(), SeenRequest("127.0.0.1", "")), PROBLEM),
    (secret_key(chosen(), None), WARNING),
    (secret_key(chosen(secret_key="ab" * 32), None), OK),
    (secret_key(chosen(secret_key="ab" * 32), b"\xab" * 32), OK),
    (secret_key(chosen(secret_key="ab" * 32), b"\xcd" * 32), WARNING),
    (secret_key(chosen(secret_key=f"{'ab' * 32},{'cd' * 32}"), b"\xcd" * 32), OK),
    (secret_key(chosen(secret_key=f"{'cd' * 32},{'ab' * 32}"), None, [ENCRYPTED]), OK),
    (secret_key(chosen(secret_key="cd" * 32), None, [ENCRYPTED]), PROBLEM),
    (secret_key(chosen(), None, [ENCRYPTED]), PROBLEM),
    (secret_key(chosen(secret_key="ab" * 32), None, [], [ENCRYPTED]), OK),
    (secret_key(chosen(secret_key="ab" * 32), None, [], [], [ENCRYPTED]), OK),
    (secret_key(chosen(secret_key="cd" * 32), None, [], [], [], [ENCRYPTED]), PROBLEM),
    (secret_key(chosen(secret_key="cd" * 32), None, [], [], [ENCRYPTED]), PROBLEM),
    (secret_key(chosen(), b"\xab" * 32, [], [], [ENCRYPTED]), WARNING),
    (secret_key(chosen(secret_key="cd" * 32), None, [], [ENCRYPTED]), PROBLEM),
    (judgements.database(facts()), OK),
    (judgements.database(facts(is_supported=False)), PROBLEM),
    (judgements.database(facts(refusal="permission denied")), PROBLEM),
    (judgements.database(facts(file_bytes=4_999_999_999)), OK),
    (judgements.database(facts(file_bytes=5_000_000_000)), WARNING),
    (judgements.pgbouncer(None), OK),
    (judgements.pgbouncer(PgBouncerFacts("honeyguide", {}, True)), OK),
    (judgements.pgbouncer(PgBouncerFacts("honeyguide", {"jit": "off"}, True)), PROBLEM),
    (judgements.pgbouncer(PgBouncerFacts("honeyguide", {}, False)), PROBLEM),
    (judgements.replica(None), OK),
    (judgements.replica(ReplicaFacts(True, True, 0)), OK),
    (judgements.replica(ReplicaFacts(True, True, 12_000)), WARNING),
    (judgements.replica(ReplicaFacts(True, False, 0)), PROBLEM),
    (judgements.replica(ReplicaFacts(False, True, 0)), PROBLEM),
    (judgements.schema(0, is_new=False), OK),
    (judgements.schema(1, is_new=False), WARNING),
    (judgements.schema(26, is_new=True), WARNING),
    (judgements.clock(None, is_moved=False), OK),
    (judgements.clock(-2_000, is_moved=False), OK),
    (judgements.clock(-2_001, is_moved=False), PROBLEM),
    (judgements.clock(0, is_moved=True), WARNING),
    (judgements.disk(None), OK),
    (judgements.disk(DiskSpace(Path("/"), 1_000_000_000)), OK),
    (judgements.disk(DiskSpace(Path("/"), 999_999_999)), WARNING),
    (judgements.disk(DiskSpace(Path("/"), 199_999_999)), PROBLEM),
    (judgements.mail(chosen(smtp_url="smtp://mail.example.org"), None), OK),
    (judgements.mail(chosen(smtp_url="smtp://mail.example.org"), "No."), PROBLEM),
    (judgements.mail(chosen(smtp_url="file:///tmp"), None), WARNING),
    (judgements.mail(chosen(), None), WARNING),
    (judgements.emails(None, now_ms=NOW), OK),
    (judgements.emails(NOW - HOUR_MS, now_ms=NOW), OK),
    (judgements.emails(NOW - HOUR_MS - 1, now_ms=NOW), PROBLEM),
    (judgements.webhooks(None, 0, now_ms=NOW), OK),
    (judgements.webhooks(NOW - HOUR_MS, 1, now_ms=NOW), WARNING),
    (judgements.webhooks(NOW - HOUR_MS - 1, 0, now_ms=NOW), PROBLEM),
    (judgements.jobs([], now_ms=NOW), WARNING),
    (judgements.jobs([run_of(0), run_of(NOW - 30 * MINUTE_MS)], now_ms=NOW), OK),
    (judgements.jobs([run_of(NOW - 30 * MINUTE_MS - 1)], now_ms=NOW), PROBLEM),
    (judgements.jobs([run_of(NOW, "failed: OSError")], now_ms=NOW), WARNING),
    (judgements.jobs([run_of(NOW, None)], now_ms=NOW), OK),
    (judgements.ledger(None), OK),
    (judgements.ledger(Proof(NOW, 0)), OK),
    (judgements.ledger(Proof(NOW, 1)), PROBLEM),
    (check_programs(chosen(), ProgramHealth(0, 0)), OK),
    (check_programs(chosen(), ProgramHealth(1, 1)), PROBLEM),
    (check_programs(chosen(smtp_url="smtp://mail.example.org"), ProgramHealth(1, 0)), OK),
    (check_programs(chosen(smtp_url="smtp://mail.example.org"), ProgramHealth(1, 2)), WARNING),
    (judgements.logins(chosen(), 0), OK),
    (judgements.logins(chosen(), 1), WARNING),
    (judgements.logins(chosen(smtp_url="smtp://mail.example.org"), 1), OK),
    (judgements.backups(None, None, now_ms=NOW), WARNING),
    (judgements.backups(NOW - 7 * DAY_MS, None, now_ms=NOW), OK),
    (judgements.backups(NOW - 7 * DAY_MS - 1, None, now_ms=NOW), WARNING),
    *(
        (judgements.backups(NOW, backup_record(result), now_ms=NOW), level)
        for result, level in (
            ("ok", OK),
            ("unchecked", WARNING),
            ("broken", PROBLEM),
            ("failed", PROBLEM),
        )
    ),
    *(
        (
            link_hosts.records([ListedHost("go.x.example", verified, 1, problem, 1, None, "x")]),
            level,
        )
        for verified, problem, level in (
            (1, None, OK),
            (None, "Not found.", OK),
            (1, "Not found.", WARNING),
        )
    ),
    (link_hosts.records([]), OK),
    (link_hosts.answers(None), OK),
    (link_hosts.answers({}), OK),
    (link_hosts.answers({"go.x.example": "another server answers"}), WARNING),
    (link_hosts.answers({}, {"go.x.example": 14}), OK),
    (link_hosts.answers({}, {"go.x.example": 13}), WARNING),
]


def test_facts_are_judged() -> None:
    wrong = [(result, level) for result, level in JUDGED if result.level is not level]
    assert not wrong
    assert {result.name for result, _ in JUDGED} == set(TITLES), "each check is judged here"
    for result, _ in JUDGED:
        assert bool(result.remedy) == (result.level is not OK), result


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with Mailbox(login=("joe", "hunter2")) as mailbox:
        yield mailbox


def results(done: Any) -> dict[str, tuple[str, str]]:
    return {
        check["name"]: (check["level"], f"{check['message']} {check['remedy']}".strip())
        for check in json.loads(done.stdout)["checks"]
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_an_installation_that_is_set_up_well_has_no_warnings(engine: str, mailbox: Mailbox) -> None:
    url, login = migrated(engine), mailbox.url.replace("//", "//joe:hunter2@")
    live = LIVE | {"smtp_url": login, "secret_key": "ab" * 32}
    server = Serving(url, **live, test_clock="")
    live["database_url"] = url
    with server:
        execute(url, f"INSERT INTO instance VALUES ('last_backup_ms', '{system_clock()}')")
        until(lambda: "Last run" in results(command("doctor", "--json", **live))["jobs"][1], 60)
        done = command("doctor", "--json", **live)
        assert json.loads(done.stdout)["healthy"] is True and done.returncode == 0
        assert {level for level, _ in results(done).values()} == {"ok"}, done.stdout
        assert list(results(done)) == list(TITLES)
        output = command("doctor", **live)  # while it runs, or the last job may be long ago
    assert output.returncode == 0 and "No problems found." in output.stdout
    assert "hunter2" not in output.stdout + output.stderr


@pytest.mark.parametrize("engine", ENGINES)
def test_a_slack_url_that_cannot_be_decrypted_is_a_problem(engine: str) -> None:
    url = migrated(engine)
    account = new_account(url)
    with_key = partial(command, "doctor", "--json", database_url=url)
    execute(
        url,
        "INSERT INTO slack_webhook (account_id, encrypted_url, host) VALUES "
        f"('{account.account_id}', '{ENCRYPTED}', 'hooks.slack.com')",
    )
    assert results(with_key(secret_key="ab" * 32))["secret_key"][0] != "problem"
    level, sentence = results(with_key(secret_key="cd" * 32))["secret_key"]
    assert level == "problem" and sentence.startswith("1 Slack URL cannot be decrypted")


@pytest.mark.parametrize("engine", ENGINES)
def test_a_new_database_is_not_touched(engine: str, tmp_path: Path) -> None:
    url = fresh(engine)
    done = command("doctor", database_url=url, cwd=tmp_path)
    assert done.returncode == 0 and "The database is empty." in done.stdout
    assert "HONEYGUIDE_BASE_URL" in done.stdout and "HONEYGUIDE_SMTP_URL" in done.stdout
    assert "\n3 warnings." in done.stdout
    again = command("migrate", "--plan", database_url=url)
    assert "0093_baseline to " in again.stdout
    if engine == "sqlite":
        assert not Path(url.removeprefix("sqlite:///")).exists()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_schema_that_is_older_or_newer_is_found(engine: str) -> None:
    url = migrated(engine)
    execute(url, "DELETE FROM schema_migration WHERE name = '0109_arrival_limits'")
    older = results(command("doctor", "--json", database_url=url))
    assert older["schema"][0] == "warning" and "1 migration has not been" in older["schema"][1]
    execute(
        url,
        "INSERT INTO schema_migration (name, checksum, works_with) VALUES ('9999_x', 'x', '9999')",
    )
    newer = command("doctor", "--json", database_url=url)
    assert newer.returncode == 1 and results(newer)["schema"][0] == "problem"
    assert "a newer version of Honeyguide" in results(newer)["schema"][1]


def execute(url: str, sql: str) -> None:
    if url.startswith("sqlite:"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            connection.execute(sql)
    else:
        shared_server().execute(sql, url.rpartition("/")[2])


def test_a_database_that_is_down_is_one_problem_without_its_password() -> None:
    url = f"postgresql://joe:hunter2@127.0.0.1:{free_port()}/x"
    done = command("doctor", database_url=url)
    assert done.returncode == 1 and "hunter2" not in done.stdout + done.stderr
    assert "problem Database: Cannot connect to PostgreSQL" in done.stdout


def test_a_role_without_rights_is_a_problem() -> None:
    server, url = shared_server(), migrated("postgres")
    name = url.rpartition("/")[2]
    server.execute(f'DROP ROLE IF EXISTS "{name}"; CREATE ROLE "{name}" LOGIN')
    limited = url.replace("postgres@", f"{name}@")
    for grant, objection in (
        ("", "permission denied for schema public"),
        (f'GRANT CREATE ON SCHEMA public TO "{name}"', "another role owns the table"),
    ):
        server.execute(grant, name)
        found = results(command("doctor", "--json", database_url=limited))
        assert found["database"][0] == "problem" and objection in found["database"][1]
    server.execute(f'DROP OWNED BY "{name}"; DROP ROLE "{name}"', name)
    assert asyncio.run(inspect_database(url)).refusal is None


def test_a_file_or_a_folder_that_cannot_be_written_to_is_a_problem(tmp_path: Path) -> None:
    """Root may write everywhere, and so becomes somebody else meanwhile."""
    own = [folder for folder in (tmp_path, *tmp_path.parents) if "pytest" in str(folder)]
    is_root = os.geteuid() == 0
    for folder in own if is_root else ():
        folder.chmod(0o755)
    url = migrated("sqlite")
    copy = tmp_path / "read_only.db"
    copy.write_bytes(Path(url.removeprefix("sqlite:///")).read_bytes())
    copy.chmod(0o444)
    tmp_path.chmod(0o555)
    if is_root:
        os.seteuid(65534)
    try:
        new = asyncio.run(inspect_database(f"sqlite:///{tmp_path}/not/yet.db"))
        assert new.refusal == f"the folder {tmp_path} cannot be written to"
        with pytest.raises(Unavailable, match="cannot be opened"):
            asyncio.run(inspect_database(f"sqlite:///{copy}"))
    finally:
        if is_root:
            os.seteuid(0)
        tmp_path.chmod(0o700)


def test_a_file_that_is_no_database_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("hello, this is not a database at all" * 100)
    done = command("doctor", database_url=f"sqlite:///{tmp_path}/x.db")
    assert done.returncode == 1 and "x.db cannot be opened" in done.stdout


def test_the_mail_server_is_really_asked(mailbox: Mailbox) -> None:
    def mail_result(url: str) -> tuple[str, str]:
        done = command("doctor", "--json", database_url=fresh("sqlite"), smtp_url=url)
        return results(done)["mail"]

    right = mailbox.url.replace("//", "//joe:hunter2@")
    assert mail_result(right) == ("ok", "127.0.0.1 accepts emails from us")
    level, sentence = mail_result(mailbox.url.replace("//", "//joe:wrong@"))
    assert level == "problem" and "refused the user name or password: 535" in sentence
    assert mail_result(mailbox.url)[0] == "problem", "it wants a login"
    mailbox.say("MAIL", "550 not from you")
    assert mail_result(right)[1].startswith(
        "The mail server rejected the sender honeyguide@localhost: 550 not from you."
    )
    level, sentence = mail_result(f"smtp://127.0.0.1:{free_port()}")
    assert level == "problem" and "Connection refused." in sentence
    assert not mailbox.received, "a check sends nothing"


def test_waiting_emails_and_failing_webhooks_are_found() -> None:
    url = migrated("sqlite")
    account = new_account(url)
    hour_ago = system_clock() - HOUR_MS - MINUTE_MS
    execute(
        url,
        "INSERT INTO letter (id, account_id, kind, to_email, subject, body_text, created_ms, "
        f"due_ms, attempts, waited_for) VALUES ('x', '{account.account_id}', 'k', 'a@b.c', 's', "
        f"'t', {hour_ago}, {system_clock() + DAY_MS}, 3, 0)",
    )
    execute(
        url,
        "INSERT INTO webhook (id, account_id, url, secret, created_ms, failing_since_ms) "
        f"VALUES ('w', '{account.account_id}', 'https://x', 's', 1, 2)",
    )
    done = command("doctor", "--json", database_url=url)
    found = results(done)
    assert found["emails"][0] == "problem" and done.returncode == 1
    assert found["webhooks"] == (
        "warning",
        "1 webhook is failing. Their accounts see why on the Webhooks page, and were notified.",
    )
