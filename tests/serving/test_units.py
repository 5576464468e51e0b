"""The systemd units of `deploy/`: systemd accepts them, and the real command works under their
options. The second part needs root, to make file systems read-only.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from honeyguide import settings
from tests.support.partner_network import publication_fields
from tests.support.process import Serving, environment, fresh
from tests.support.proxies import DEPLOY
from tests.support.service import until
from tests.support.unit_sandbox import STATE_FOLDER
from tests.support.web import text_of
from tests.support.webhook_receiver import WebhookReceiver

UNITS = ("honeyguide.service", "honeyguide-work.service")
INSTALLED = "/opt/honeyguide/.venv/bin/honeyguide"
needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed"
)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make mounts")


def analyzed(*arguments: str) -> str:
    done = subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@needs_systemd
@pytest.mark.parametrize("name", UNITS)
def test_systemd_accepts_the_unit(name: str, tmp_path: Path) -> None:
    text = (DEPLOY / name).read_text()
    assert text.count(f"ExecStart={INSTALLED} ") == 1
    here = Path(sys.executable).with_name("honeyguide")
    (tmp_path / name).write_text(text.replace(INSTALLED, str(here)))
    assert analyzed("verify", str(tmp_path / name)) == ""


@needs_systemd
@pytest.mark.parametrize("name", UNITS)
def test_the_unit_is_hardly_exposed(name: str) -> None:
    output = analyzed("security", "--offline=true", "--threshold=30", str(DEPLOY / name))
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", output)
    assert found and float(found[1]) < 3


def test_both_units_confine_the_service_alike() -> None:
    serve, work = ((DEPLOY / name).read_text().split("\n\n", 2)[2] for name in UNITS)
    assert serve == work.replace("honeyguide-work", "honeyguide")


def test_the_settings_file_is_valid_for_systemd_and_for_a_shell(tmp_path: Path) -> None:
    lines = (DEPLOY / "honeyguide.env").read_text().splitlines()
    for uncommented in (False, True):
        chosen = [re.sub(r"^# (?=[A-Z_]+=)", "", line) if uncommented else line for line in lines]
        (tmp_path / "env").write_text("\n".join(chosen) + "\n")
        file = settings.find_file({"HONEYGUIDE_SETTINGS": str(tmp_path / "env")})
        assert file is not None  # read as systemd reads it: tests/cli/test_settings_file.py
        read = subprocess.run(
            ["sh", "-c", f"set -a; . {tmp_path}/env; env -0"],
            env={"PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=True,
        )
        found = dict(pair.split("=", 1) for pair in read.stdout.split("\0") if pair)
        assert file.values.items() <= found.items()
        assert settings.read(found).database_url.startswith(
            "postgresql://" if uncommented else f"sqlite:///{STATE_FOLDER}/"
        )


def sandboxed(unit: str, state: Path) -> list[str]:
    sandbox = [sys.executable, "-m", "tests.support.unit_sandbox", str(DEPLOY / unit), str(state)]
    return ["unshare", "--mount", *sandbox]


def new_account(command: Path, state: Path, database_url: str) -> dict[str, str]:
    """The command line writes as the service's user too."""
    done = subprocess.run(
        [
            *sandboxed(UNITS[0], state),
            *(str(command), "account", "create", "alice@example.org", "--json"),
        ],
        env=environment(database_url=database_url),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made: dict[str, str] = json.loads(done.stdout)
    return made


def niceness(pid: int) -> set[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return {os.getpriority(os.PRIO_PROCESS, int(task.name)) for task in tasks}


def api(server: Serving, account: dict[str, str]) -> httpx.Client:
    return httpx.Client(
        base_url=f"http://127.0.0.1:{server.port}",
        headers={"X-Api-Key": account["api_key"]},
        timeout=30,
    )


@pytest.mark.long
@needs_systemd
@needs_root
def test_serve_works_under_the_options_of_its_unit(tmp_path: Path, command_for_all: Path) -> None:
    database_url = f"sqlite:///{STATE_FOLDER}/honeyguide.db"
    account = new_account(command_for_all, tmp_path, database_url)
    server = Serving(database_url, test_clock="", smtp_url=f"file://{STATE_FOLDER}/emails")
    server.command = [*sandboxed(UNITS[0], tmp_path), str(command_for_all)]
    with server, api(server, account) as client:
        made = client.post("/v2/publications", json=publication_fields())  # in a child process
        assert made.status_code == 201, made.text
        page = client.get("/login")
        token = re.search(r'name="csrf" value="([0-9a-f]+)"', page.text)
        assert token
        fields = {"csrf": token[1], "email": "alice@example.org", "password": "wrong password"}
        origin = {"origin": f"http://127.0.0.1:{server.port}"}
        refused = client.post("/login", data=fields, headers=origin)
        assert refused.status_code == 401 and "password" in text_of(refused.text)
        reset = client.post("/password", data=fields, headers=origin)
        assert reset.status_code in (200, 303), text_of(reset.text)
        until(lambda: any((tmp_path / "emails").glob("*.eml")))
        until(lambda: len(niceness(server.process.pid)) == 2)  # slow reads leave requests the core
        assert server.stop() == -signal.SIGTERM  # to systemd, a clean end
    assert (tmp_path / "honeyguide.db").stat().st_mode & 0o077 == 0
    assert "Error" not in server.output and "not permitted" not in server.output


@pytest.mark.long
@needs_systemd
@needs_root
def test_work_and_several_servers_work_under_the_options_of_their_units(
    tmp_path: Path, command_for_all: Path
) -> None:
    database_url = fresh("postgres")
    account = new_account(command_for_all, tmp_path, database_url)
    server = Serving(database_url, "--workers", "2", "--no-work", test_clock="")
    server.command = [*sandboxed(UNITS[0], tmp_path), str(command_for_all)]
    with (
        WebhookReceiver() as receiver,
        server,
        api(server, account) as client,
        open(tmp_path / "said", "wb") as output,
    ):
        subscribers = f"/v1/campaigns/{account['campaign_uuid']}/subscribers"
        url = f"http://localhost:{receiver.port}/hook"
        hook = client.post("/v2/webhooks", json={"url": url, "new_referral": True})
        assert hook.status_code == 201, hook.text
        ana = client.post(subscribers, json={"email": "ana@example.org"}).json()["subscriber"]
        client.post(
            subscribers, json={"email": "ben@example.org", "referrer_code": ana["ref_code"]}
        )
        worker = subprocess.Popen(
            [*sandboxed(UNITS[1], tmp_path), str(command_for_all), "work"],
            env=environment(database_url=database_url, port=server.port),
            stdout=output,
            stderr=output,
        )
        try:
            assert ana["ref_code"] in json.dumps(receiver.got.get(timeout=60))
        finally:
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(30) == 0
        assert server.stop() == 0
    assert "not permitted" not in server.output + (tmp_path / "said").read_text()
