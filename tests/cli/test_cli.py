"""The command line as a person meets it: real processes, what they print, what they refuse in one
sentence, how they end.
"""

import functools
import json
import re
import shlex
import subprocess
import sys

import pytest
import typer

from honeyguide import __version__
from honeyguide.cli import app
from tests.support.postgres import free_port
from tests.support.process import (
    Serving,
    command,
    fresh,
    new_account,
    new_key,
)
from tests.support.service import ENGINES

KEY = re.compile(r"hg_live_[0-9A-Za-z]{49}")


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest) -> str:
    return fresh(request.param)


def assert_refused(done: subprocess.CompletedProcess[str], *phrases: str) -> None:
    """One sentence on standard error, no trace of Python, and not a success."""
    output = done.stderr.strip()
    assert done.returncode != 0
    assert "Traceback" not in done.stdout + output
    for word in phrases:
        assert word in output, output
    assert len(output.splitlines()) == 1, output
    assert done.stdout == ""


# Accounts and keys.
def test_an_account_is_made_with_its_campaign_and_a_key_that_works(url):
    done = command(
        "account", "create", "alice@example.org", "--name", "The Wax", "--json", database_url=url
    )
    assert done.returncode == 0 and done.stderr == ""
    made = json.loads(done.stdout)
    assert set(made) == {"account_uuid", "campaign_uuid", "api_key"} and KEY.fullmatch(
        made["api_key"]
    )
    with Serving(url) as server:
        campaign = server.caller(made["api_key"])(
            "GET", f"/v1/campaigns/{made['campaign_uuid']}"
        ).json()["campaign"]
        assert campaign["name"] == "The Wax"


def test_without_json_it_prints_the_same_and_a_line_to_try_it():
    url, port = fresh("sqlite"), free_port()
    done = command("account", "create", "alice@example.org", database_url=url, port=port)
    assert done.returncode == 0
    made = json.loads(done.stdout)
    line = next(line.strip() for line in done.stderr.splitlines() if "curl" in line)
    with Serving(url, port=port):
        assert made["api_key"] in line
        curl = subprocess.run(
            [*shlex.split(line), "-s"], capture_output=True, text=True, timeout=20, check=False
        )
        assert json.loads(curl.stdout)["meta"]["total_subscribers"] == 0


def test_an_account_that_exists_and_an_email_that_is_none_are_refused(url):
    new_account(url, "alice@example.org")
    assert_refused(
        command("account", "create", "Alice@Example.org", database_url=url), "already exists"
    )
    assert_refused(command("account", "create", "not an email", "--json", database_url=url), "mail")
    assert_refused(
        command("account", "create", "bob@example.org", "--name", "  ", database_url=url),
        "name must not be blank",
    )


def test_keys_are_made_listed_and_revoked_with_effect_on_the_next_request(url):
    alice = new_account(url)
    with Serving(url) as server:
        second = new_key(url, alice.email)
        calls = {key: server.caller(key) for key in (alice.key, second)}
        assert [call("GET", alice.v1).status for call in calls.values()] == [200, 200]
        listed = command("keys", "list", alice.email, database_url=url).stdout
        assert len(listed.splitlines()) == 2 and listed.count("  active  ") == 2
        assert alice.key not in listed and second not in listed and second[:12] in listed
        key_id = next(line.split()[0] for line in listed.splitlines() if second[:12] in line)
        assert "next request" in command("keys", "revoke", key_id, database_url=url).stdout
        # The connection is kept alive: the same one hears the refusal.
        assert [call("GET", alice.v1).status for call in calls.values()] == [200, 401]
        assert "revoked" in command("keys", "list", alice.email, database_url=url).stdout
        assert_refused(command("keys", "revoke", key_id, database_url=url), "no active key")
        assert command("keys", "revoke", alice.key[:12], database_url=url).returncode == 0
        assert calls[alice.key]("GET", alice.v1).status == 401


def test_a_key_gets_scopes_and_an_expiry_and_is_rotated(url):
    alice = new_account(url)
    limits = ["--name", "Tool", "--scope", "read", "--scope", "subscribers", "--expires-days", "90"]
    made = command("keys", "create", alice.email, *limits, database_url=url)
    assert KEY.fullmatch(made.stdout.strip()), made.stderr
    first, *_ = command("keys", "list", alice.email, database_url=url).stdout.splitlines()
    assert "  active until 20" in first and first.endswith("scopes read,subscribers  Tool")
    key_id = first.split()[0]
    rotated = command("keys", "rotate", key_id, "--overlap-hours", "2", database_url=url)
    assert KEY.fullmatch(rotated.stdout.strip()) and "another 2 hours" in rotated.stderr
    listed = command("keys", "list", alice.email, database_url=url).stdout
    assert "  being replaced until 20" in listed and listed.count("scopes read,subscribers") == 2
    assert_refused(command("keys", "rotate", key_id, database_url=url), "replaced already")
    wrong = command("keys", "create", alice.email, "--scope", "all", database_url=url)
    assert_refused(wrong, "all is not a scope. Scopes are: read, subscribers")


def test_keys_of_nobody_are_refused(url):
    assert_refused(
        command("keys", "list", "nobody@example.org", database_url=url), "nobody@example.org"
    )
    assert_refused(
        command("keys", "create", "nobody@example.org", database_url=url), "nobody@example.org"
    )


# Set-up.
def test_migrate_says_what_it_did_and_the_second_time_that_there_was_nothing_to_do(url):
    first, second = (command("migrate", database_url=url) for _ in range(2))
    assert first.returncode == second.returncode == 0
    assert "Applied 0093_baseline" in first.stdout
    assert second.stdout.strip() == "The schema is up to date."


def test_the_version_is_an_option_and_a_command_whatever_the_settings_are(tmp_path):
    (tmp_path / "wrong.env").write_text("HONEYGUIDE_PORT=many")
    for arguments in (["--version"], ["--version", "serve"], ["version"]):
        done = command("--settings", str(tmp_path / "wrong.env"), *arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{__version__}\n", "")


def test_settings_lists_every_setting():
    listed = command("settings").stdout
    for name in (
        "DATABASE_URL",
        "PORT",
        "BASE_URL",
        "RATE_LIMIT",
        "SECRET_KEY",
        "WEBHOOK_ALLOW",
        "SIGNUPS",
        "TEST_CLOCK",
    ):
        assert f"HONEYGUIDE_{name} " in listed


WRONG: list[tuple[dict[str, object], str]] = [
    ({"database_url": "mysql://x"}, "HONEYGUIDE_DATABASE_URL"),
    ({"database_url": "sqlite:///"}, "HONEYGUIDE_DATABASE_URL"),
    ({"database_url": "sqlite:///:memory:"}, "HONEYGUIDE_DATABASE_URL"),
    ({"database_direct_url": "postgresql://x/y"}, "HONEYGUIDE_DATABASE_DIRECT_URL"),
    ({"database_direct_url": "x.db"}, "HONEYGUIDE_DATABASE_DIRECT_URL"),
    ({"replica_url": "postgresql://x/y"}, "HONEYGUIDE_REPLICA_URL"),
    ({"port": "eighty"}, "HONEYGUIDE_PORT"),
    ({"port": "65536"}, "HONEYGUIDE_PORT"),
    ({"port": "-1"}, "HONEYGUIDE_PORT"),
    ({"rate_limit": "many"}, "HONEYGUIDE_RATE_LIMIT"),
    ({"rate_limit": "-1"}, "HONEYGUIDE_RATE_LIMIT"),
    ({"base_url": "refer.example.org"}, "HONEYGUIDE_BASE_URL"),
    ({"require_second_factor": "maybe"}, "HONEYGUIDE_REQUIRE_SECOND_FACTOR"),
    ({"require_second_factor": "yes"}, "HONEYGUIDE_SECRET_KEY"),
    ({"base_url": "ftp://refer.example.org"}, "HONEYGUIDE_BASE_URL"),
    ({"base_url": "https://refer.example.org:99999"}, "HONEYGUIDE_BASE_URL"),
    ({"base_url": "https://refer.example.org", "test_clock": "clock"}, "HONEYGUIDE_TEST_CLOCK"),
    ({"secret_key": "abcd"}, "HONEYGUIDE_SECRET_KEY"),
    ({"secret_key": "g" * 64}, "HONEYGUIDE_SECRET_KEY"),
    ({"secret_key": f"{'ab' * 32},abcd"}, "HONEYGUIDE_SECRET_KEY"),
    ({"secret_key": f"{'ab' * 32},"}, "HONEYGUIDE_SECRET_KEY"),
    ({"secret_key_file": "/no/such/file"}, "HONEYGUIDE_SECRET_KEY_FILE"),
    (
        {"secret_key_file": sys.executable},
        "HONEYGUIDE_SECRET_KEY_FILE",
    ),  # bytes, as somebody may make a key of
    ({"security_contact": "http://x.org"}, "HONEYGUIDE_SECURITY_CONTACT"),
    ({"security_contact": "somebody"}, "HONEYGUIDE_SECURITY_CONTACT"),
    ({"webhook_allow": "10.0.0.0/8, nonsense"}, "HONEYGUIDE_WEBHOOK_ALLOW"),
    ({"trusted_proxies": "10.0.0.5, proxy.local"}, "HONEYGUIDE_TRUSTED_PROXIES"),
    ({"signups": "everybody"}, "HONEYGUIDE_SIGNUPS"),
    ({"pool_size": "0"}, "HONEYGUIDE_POOL_SIZE"),
    ({"log_level": "loud"}, "HONEYGUIDE_LOG_LEVEL"),
    ({"backup_url": "ftp://host/folder"}, "HONEYGUIDE_BACKUP_URL"),
    ({"backup_url": "file://folder"}, "HONEYGUIDE_BACKUP_URL"),
    ({"backup_url": "s3://key:secret@bucket/x"}, "HONEYGUIDE_BACKUP_URL"),
    ({"backup_url": "s3://bucket?endpoint=minio:9000"}, "HONEYGUIDE_BACKUP_URL"),
    ({"backup_url": "s3://bucket?acl=public"}, "HONEYGUIDE_BACKUP_URL"),
    ({"backup_access_key_id": "AKIA"}, "HONEYGUIDE_BACKUP_SECRET_ACCESS_KEY"),
    ({"backup_interval": "0"}, "HONEYGUIDE_BACKUP_INTERVAL"),
    ({"backup_keep_days": "forever"}, "HONEYGUIDE_BACKUP_KEEP_DAYS"),
    ({"change_log_keep_days": "0"}, "HONEYGUIDE_CHANGE_LOG_KEEP_DAYS"),
    ({"keep_closed_years": "0"}, "HONEYGUIDE_KEEP_CLOSED_YEARS"),
    ({"backup_age_recipient": "AGE-SECRET-KEY-1ABC"}, "HONEYGUIDE_BACKUP_AGE_RECIPIENT"),
]


@functools.cache
def commands():
    """As the command line makes them of `app`, which takes longer than to refuse a setting."""
    return typer.main.get_command(app)


@pytest.fixture
def hear(tmp_path, monkeypatch, capsys):
    """The exit code of a command and what it says, inside this process, for the sake of time."""
    monkeypatch.chdir(tmp_path)

    def run(arguments, **settings):
        with monkeypatch.context() as patch:
            for name, value in settings.items():
                patch.setenv(f"HONEYGUIDE_{name.upper()}", str(value))
            with pytest.raises(SystemExit) as ended:
                commands().main(arguments, prog_name="honeyguide")
        said = capsys.readouterr()
        return ended.value.code, said.out + said.err

    return run


@pytest.mark.parametrize(("wrong", "word"), WRONG, ids=lambda value: str(value)[:50])
def test_a_wrong_setting_stops_every_command_with_one_sentence(wrong, word, tmp_path, hear):
    """No command gets as far as doing anything."""
    for arguments in (["serve"], ["migrate"]):
        code, said = hear(arguments, **{"database_url": "sqlite:///x.db", "port": "1"} | wrong)
        assert code == 1
        assert word in said and len(said.strip().splitlines()) == 1 and said.strip().endswith(".")
    assert not list(tmp_path.iterdir())


STOPPED: list[tuple[dict[str, object], str]] = [
    ({"rate_limit": "many"}, "HONEYGUIDE_RATE_LIMIT"),
    ({"database_url": "sqlite:////proc/no/such/place.db"}, "/proc/no/such/place.db"),
    ({"host": "300.1.1.1"}, "300.1.1.1"),
]


@pytest.mark.parametrize(("wrong", "word"), STOPPED, ids=lambda value: str(value)[:50])
def test_a_real_start_is_stopped_too(wrong, word, tmp_path):
    right = {"database_url": f"sqlite:///{tmp_path / 'x.db'}", "port": free_port()}
    assert_refused(command("serve", cwd=tmp_path, **(right | wrong)), word)


@pytest.mark.parametrize(
    "arguments",
    [["verify"], ["verify", "--account", "a@b.org"], ["payouts", "list"], ["payouts", "make"]],
    ids=" ".join,
)
def test_behind_a_mistyped_address_no_money_looks_in_order(arguments, tmp_path, hear):
    code, said = hear(arguments, database_url="sqlite:///typo/honeyguide.db")
    assert code == 1, said
    assert said.strip() == (
        "There is no database at typo/honeyguide.db. Check HONEYGUIDE_DATABASE_URL."
    )
    assert not list(tmp_path.iterdir())


def test_a_secret_may_come_from_a_file(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("ab" * 32 + "\n")
    url = fresh("sqlite")
    alice = new_account(url)
    with Serving(url, secret_key_file=secret) as server:
        assert (
            server.caller(alice.key)(
                "POST", f"{alice.v1}/subscribers", {"email": "ana@example.org"}
            ).status
            == 201
        )


def test_help_has_no_types_of_flags_and_breaks_no_sentence():
    listed = command("--help").stdout
    assert "--help" in listed and "<bool>" not in listed
    joined = " ".join(listed.replace("│", " ").split())
    assert "and the digests of closed months. Exits with 1 if a check fails." in joined
    about = listed[listed.index("│ verify") : listed.index("│ import")].splitlines()
    assert all(len(line.rstrip(" │")) > 60 for line in about[:-2]), about
    assert "<bool>" not in command("serve", "--help").stdout
