"""What the demo keeps between starts, and where; and its stand-in for other people's tools."""

import httpx

from honeyguide import demo
from honeyguide.demo import load_secrets, local_tools, save_secrets, secrets_file
from tests.support import starter
from tests.support.postgres import free_port
from tests.support.process import environment

# As short as its stories allow. The whole one is made in test_demo.py.
SHORT_YEAR = "from honeyguide import demo; demo.YEAR_MS = 100 * demo.DAY_MS"


def test_the_stand_in_accepts_what_is_sent_to_it():
    port = free_port()
    local_tools.start(port)
    for path in (local_tools.HOOKS_PATH, local_tools.TOOL_PATH):
        answer = httpx.post(local_tools.url(port, path), json={"type": "test"}, verify=False)
        assert (answer.status_code, answer.json()) == (200, {"ok": True})
    local_tools.start(port)  # taken: nothing is lost but the demo's webhooks


def test_what_the_demo_keeps_is_private_and_survives(tmp_path):
    file = secrets_file(tmp_path / "h.db")
    made = load_secrets(file)
    assert len(bytes.fromhex(made.secret_key)) == 32 and load_secrets(file) != made
    save_secrets(file, made)
    assert load_secrets(file) == made and file.stat().st_mode & 0o077 == 0
    file.write_text("{")
    assert load_secrets(file) != made


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "var").write_text("a file")
    settings = environment(database_url=f"sqlite:///{tmp_path}/var/h.db")
    refused = starter.run(["demo"], env=settings, timeout=60)
    assert refused.returncode == 1 and "Traceback" not in refused.stderr
    assert f"The folder {tmp_path}/var cannot be created" in refused.stderr


def test_half_a_demo_is_made_anew(tmp_path):
    """Stopped while it is created, it has its owner, but nobody has a password yet."""
    settings = environment(database_url=f"sqlite:///{tmp_path}/h.db")
    made = starter.run(["account", "create", demo.OWNER], env=settings, timeout=60)
    assert made.returncode == 0, made.stderr
    first, again = (
        starter.run(["demo"], env=settings, timeout=180, before=SHORT_YEAR) for _ in range(2)
    )
    assert first.returncode == 0 and "only half made" in first.stdout
    assert again.returncode == 0 and "half made" not in again.stdout


def test_half_a_demo_beside_real_accounts_is_not_deleted(tmp_path):
    settings = environment(database_url=f"sqlite:///{tmp_path}/h.db")
    for email in (demo.OWNER, "real@example.org"):
        made = starter.run(["account", "create", email], env=settings, timeout=60)
        assert made.returncode == 0, made.stderr
    refused = starter.run(["demo"], env=settings, timeout=60)
    assert refused.returncode == 1 and "such as real@example.org" in refused.stderr
