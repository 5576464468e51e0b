"""`honeyguide init` as a real process: by flags, by answers on a terminal, twice, and with bad
input, after which nothing is left behind.
"""

import os
import pwd
import re
import shutil
import sqlite3
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from honeyguide import settings
from honeyguide.cli import install
from tests.support import starter
from tests.support.mailbox import Mailbox
from tests.support.postgres import free_port
from tests.support.process import Serving, environment, fresh, new_account
from tests.support.service import ENGINES
from tests.support.terminal import Terminal

# The service's user; root is one that every machine of root has.
USER = ["--user", "root"] if os.geteuid() == 0 else []
EMAIL = ["--email", "ana@example.org", "--name", "The Morning Wax"]
BASE_URL = "https://refer.example.org"


@pytest.fixture
def folder() -> Iterator[Path]:
    """That other users can look into."""
    path = Path(tempfile.mkdtemp(prefix="hginit"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def init(folder: Path, *arguments: str, **given: object) -> subprocess.CompletedProcess[str]:
    where = ["--settings", str(folder / "honeyguide.env")]
    units = ["--unit-folder", str(folder)]
    arguments = (*where, "init", "--yes", *units, *USER, *arguments)
    return starter.run(list(arguments), env=environment(**given), cwd=folder)


def values(folder: Path) -> dict[str, str]:
    file = settings.find_file({"HONEYGUIDE_SETTINGS": str(folder / "honeyguide.env")})
    assert file is not None
    return {name.removeprefix("HONEYGUIDE_"): value for name, value in file.values.items()}


def log_in(base_url: str, email: str, password: str) -> int:
    with httpx.Client(
        base_url=base_url, headers={"origin": base_url}, timeout=60, verify=False
    ) as client:
        token = re.search(r'name="csrf" value="([0-9a-f]+)"', client.get("/login").text)
        assert token
        fields = {"csrf": token[1], "email": email, "password": password}
        return client.post("/login", data=fields).status_code


def test_accounts_are_not_left_behind_in_another_database(folder: Path) -> None:
    old, new = fresh("sqlite"), fresh("sqlite")
    new_account(old)
    file = folder / "honeyguide.env"
    file.write_text(f"HONEYGUIDE_DATABASE_URL={old}\nHONEYGUIDE_SECRET_KEY={'ab' * 32}\n")
    refused = init(folder, "--base-url", BASE_URL, *EMAIL, "--force", "--database-url", new)
    assert refused.returncode == 1 and f"accounts of this installation are in {old}." in (
        refused.stderr
    )
    assert f"honeyguide copy --to {new}" in refused.stderr
    assert (
        values(folder)["DATABASE_URL"] == old and not Path(new.removeprefix("sqlite:///")).exists()
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_flags_are_enough(engine: str, folder: Path) -> None:
    url, port = fresh(engine), free_port()
    base_url = f"http://127.0.0.1:{port}"
    done = init(folder, "--base-url", base_url, *EMAIL, database_url=url)
    assert done.returncode == 0, done.stderr
    assert values(folder) == {
        "BASE_URL": base_url,
        "DATABASE_URL": url,
        "PORT": str(port),
        "SECRET_KEY": values(folder)["SECRET_KEY"],
    }
    assert len(values(folder)["SECRET_KEY"]) == 64
    mode = stat.S_IMODE((folder / "honeyguide.env").stat().st_mode)
    assert mode == (0o640 if os.geteuid() == 0 else 0o600)
    assert "warning Base URL" in done.stdout and "systemctl enable --now honeyguide" in done.stdout
    password = re.search(r"with the password (\S+) ", done.stdout)
    assert password
    server = Serving(url, settings=folder / "honeyguide.env", port=port, test_clock="")
    with server:
        assert log_in(base_url, "ana@example.org", password[1]) == 303
    found = starter.run(["doctor"], env=environment(settings=folder / "honeyguide.env"))
    assert "ok      Secret key: Kept outside the database" in found.stdout


def test_the_unit_is_for_this_installation(folder: Path) -> None:
    database = folder / "data" / "honeyguide.db"
    (folder / "honeyguide.env").write_text("HONEYGUIDE_BACKUP_URL=/mnt/nas\n")
    done = init(folder, "--base-url", BASE_URL, "--database-url", str(database), *EMAIL)
    assert done.returncode == 0, done.stderr
    unit = (folder / "honeyguide.service").read_text()
    assert f"\nExecStart={install.command()} serve $SERVE_OPTIONS\n" in unit
    assert f"\nEnvironmentFile={folder}/honeyguide.env\n" in unit
    assert f"\nReadWritePaths={folder}/data /mnt/nas\n" in unit
    shipped = (install.TEMPLATES / "honeyguide.service").read_text()
    names = [line.partition("=")[0] for line in shipped.splitlines()]
    own = [line.partition("=")[0] for line in unit.splitlines()]
    own.remove("ReadWritePaths")
    assert own == names, "it has all that is shipped"
    assert "sed 's/refer.example.org/refer.example.org/'" in done.stdout
    assert values(folder)["TRUSTED_PROXIES"] == "127.0.0.1"
    if shutil.which("systemd-analyze"):
        asked = ["systemd-analyze", "verify", str(folder / "honeyguide.service")]
        verified = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert verified.returncode == 0 and verified.stderr == ""


def test_to_run_it_again_changes_nothing_unasked(folder: Path) -> None:
    path, database = folder / "honeyguide.env", str(folder / "x.db")
    path.write_text("# ours\nHONEYGUIDE_RATE_LIMIT=90\nSERVE_OPTIONS=--no-work\n")
    common = ("--database-url", database)
    assert init(folder, "--base-url", BASE_URL, *common, *EMAIL).returncode == 0
    first = path.read_text()
    assert first.startswith("# ours\nHONEYGUIDE_RATE_LIMIT=90\nSERVE_OPTIONS=--no-work\n")
    path.chmod(0o644)  # as copied from another machine
    again = init(folder)
    assert again.returncode == 0, again.stderr
    assert path.read_text() == first and "Wrote" not in again.stdout
    assert path.stat().st_mode & 0o007 == 0
    other = ("--base-url", "https://other.example.org")
    refused = init(folder, *other)
    assert refused.returncode == 1 and path.read_text() == first
    assert "has other values for HONEYGUIDE_BASE_URL. Nothing was changed." in refused.stderr
    (folder / "honeyguide.service").write_text("# mine\n")
    assert "Left " in init(folder).stdout
    assert (folder / "honeyguide.service").read_text() == "# mine\n"
    forced = init(folder, *other, "--force")
    assert forced.returncode == 0
    assert path.read_text() == first.replace(BASE_URL, "https://other.example.org")
    assert (folder / "honeyguide.service").read_text() != "# mine\n"


def test_a_key_that_is_in_the_database_is_kept(folder: Path) -> None:
    url = f"sqlite:///{folder}/x.db"
    new_account(url)
    before = starter.run(["doctor"], env=environment(database_url=url))
    assert "warning Secret key: The secret key is kept in the database" in before.stdout
    assert init(folder, "--base-url", BASE_URL, database_url=url).returncode == 0
    own = environment(settings=folder / "honeyguide.env")
    assert "ok      Secret key" in starter.run(["doctor"], env=own).stdout
    (folder / "honeyguide.env").unlink()
    with sqlite3.connect(folder / "x.db") as connection:
        connection.execute("DELETE FROM instance WHERE name = 'secret_key'")
    lost = init(folder, "--base-url", BASE_URL, database_url=url)
    assert (
        lost.returncode == 1 and "HONEYGUIDE_SECRET_KEY that is not in the settings" in lost.stderr
    )
    assert not (folder / "honeyguide.env").exists()


def test_bad_input_is_one_sentence_and_nothing_is_written(folder: Path, tmp_path: Path) -> None:
    down = f"postgresql://joe:hunter2@127.0.0.1:{free_port()}/x"
    (folder / "text.db").write_text("this is not a database" * 100)
    (tmp_path / "short").write_text("short")
    here = ("--database-url", str(folder / "new" / "x.db"))
    before = sorted(folder.iterdir())
    with Mailbox(login=("joe", "right")) as mailbox:
        wrong_login = mailbox.url.replace("//", "//joe:wrong@")
        for arguments, sentence in (
            (("--base-url", "refer.example.org"), "HONEYGUIDE_BASE_URL must be a URL"),
            (("--database-url", down), "Cannot connect to PostgreSQL"),
            (("--database-url", "mysql://x"), "HONEYGUIDE_DATABASE_URL must start with"),
            (("--database-url", str(folder / "text.db")), "text.db cannot be opened"),
            ((*here, "--trusted-proxies", "caddy"), "caddy is not an IP address or range"),
            ((*here, "--smtp-url", "mail.example.org"), "HONEYGUIDE_SMTP_URL must be a URL"),
            ((*here, "--smtp-url", wrong_login), "refused the user name or password"),
            ((*here, "--email", "ana"), "Email is invalid."),
            ((*here,), "Add --email"),
            ((*here, *EMAIL, "--password-file", str(tmp_path / "short")), "at least 10 characters"),
            ((*here, *EMAIL, "--password-file", str(tmp_path / "none")), "No such file"),
        ):
            done = init(folder, *arguments)
            assert done.returncode == 1 and sentence in done.stderr, (arguments, done.stderr)
            assert done.stderr.count("\n") == 1 and "hunter2" not in done.stdout + done.stderr
            assert sorted(folder.iterdir()) == before, arguments
    nobody = starter.run(["init"], env=environment(settings=folder / "honeyguide.env"))
    assert nobody.returncode == 1 and "Nobody can answer questions here." in nobody.stderr
    in_a_file = starter.run(["--settings", "/dev/null/x", "init", "--yes"], env=environment())
    assert in_a_file.returncode == 1 and "cannot be written to" in in_a_file.stderr


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_root_sets_it_up_for_the_user_of_the_service(folder: Path, command_for_all: Path) -> None:
    file = folder / "honeyguide.env"

    def init_for_nobody(database: Path) -> subprocess.CompletedProcess[str]:
        arguments = ["--settings", str(file), "init", "--yes", "--unit-folder", str(folder), *EMAIL]
        arguments += ["--base-url", BASE_URL, "--user", "nobody", "--database-url", str(database)]
        return subprocess.run(
            [command_for_all, *arguments],
            env=environment(),
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )

    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    refused = init_for_nobody(closed / "x.db")
    assert refused.returncode == 1 and "x.db cannot be opened" in refused.stderr
    assert "Permission denied" in refused.stderr
    assert not file.exists()
    done = init_for_nobody(folder / "new" / "x.db")
    assert done.returncode == 0, done.stderr
    for path in (folder / "new", folder / "new" / "x.db"):
        assert path.owner() == "nobody" and path.stat().st_mode & 0o077 == 0
    assert file.owner() == "root" and stat.S_IMODE(file.stat().st_mode) == 0o640
    doctor = [command_for_all, "--settings", str(file), "doctor"]
    checked = subprocess.run(
        doctor, user="nobody", group="nogroup", extra_groups=[], cwd="/", check=False
    )
    assert checked.returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_the_user_of_the_service_has_its_own_home() -> None:
    """PostgreSQL's driver looks for certificates there, and fails in a home it cannot read."""
    before, user = os.environ.get("HOME"), pwd.getpwnam("nobody")
    with install.acting_as(user):
        assert os.environ["HOME"] == user.pw_dir != before
    assert os.environ.get("HOME") == before


def test_questions_are_asked_again_until_the_answer_is_right(folder: Path) -> None:
    arguments = ["init", "--unit-folder", str(folder), *USER]
    env = environment()
    env.pop("HONEYGUIDE_SETTINGS")
    (folder / "honeyguide.env").write_text("")
    with (
        Mailbox(login=("joe", "it's right")) as mailbox,
        Terminal(arguments, env=env, cwd=folder) as terminal,
    ):
        login = mailbox.url.replace("//", "//joe:{}@")
        terminal.answer("Public URL [http://127.0.0.1:8000]", "refer.example.org")
        assert "must be a URL such as" in terminal.answer("Public URL", BASE_URL)
        down = f"postgresql://joe:hunter2@127.0.0.1:{free_port()}/x"
        terminal.answer("Database", down)
        assert "Cannot connect to PostgreSQL" in terminal.answer("Database", str(folder / "x.db"))
        terminal.answer("Address of the proxy in front", "")
        terminal.answer("Mail server", login.format("wrong"))
        terminal.answer("Sender of emails", "The Morning Wax <wax@example.org>")
        output = terminal.answer("Mail server", login.format("it%27s%20right"))
        assert "refused the user name or password" in output
        terminal.answer("Sender of emails", "The Morning Wax <wax@example.org>")
        terminal.answer("Your email address", "ana")
        assert "Email is invalid." in terminal.answer("Your email address", "ana@example.org")
        terminal.answer("Name of your newsletter", "The Morning Wax")
        terminal.answer("Password", "password123")
        terminal.answer("Repeat the password", "password123")
        assert "easy to guess" in terminal.answer("Password", "four calm brown bears")
        terminal.answer("Repeat the password", "four calm brown bears")
        assert terminal.wait() == 0, terminal.output
        assert "Log in at https://refer.example.org/login as ana@example.org." in terminal.output
        assert "ok      Mail server: 127.0.0.1 accepts emails from us" in terminal.output
    assert values(folder)["MAIL_FROM"] == "The Morning Wax <wax@example.org>"
    assert values(folder)["DATABASE_URL"] == f"sqlite:///{folder}/x.db"
    first = (folder / "honeyguide.env").read_text()
    with Terminal(arguments, env=env, cwd=folder) as again:
        again.answer("Public URL [https://refer.example.org]", "https://new.example.org")
        again.answer(f"[sqlite:///{folder}/x.db]", "")
        again.answer("[127.0.0.1]", "")
        again.answer("//joe:…@127.0.0.1", "-")
        again.answer("Change them in", "n")
        assert again.wait() == 1
        assert "HONEYGUIDE_BASE_URL: https://refer.example.org -> https://new" in again.output
    assert (folder / "honeyguide.env").read_text() == first


# The usual places, in folders that only this process sees.
IN_USUAL_PLACES = """
set -eu
mount --make-rprivate /
cp -a /etc "$1/etc" && mount --bind "$1/etc" /etc
mkdir "$1/lib" && mount --bind "$1/lib" /var/lib
mkdir -p /etc/systemd/system
cd /
"$2" init --yes --base-url https://refer.example.org --email ana@example.org
"$2" init --yes
setpriv --reuid honeyguide --regid honeyguide --clear-groups "$2" doctor
stat --format "%n %U:%G %a" /etc/honeyguide/honeyguide.env /var/lib/honeyguide \\
    /var/lib/honeyguide/honeyguide.db
cat /etc/systemd/system/honeyguide.service
"""


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make mounts")
def test_as_root_everything_is_in_its_usual_place(folder: Path, command_for_all: Path) -> None:
    env = environment()
    env.pop("HONEYGUIDE_SETTINGS")
    script = ["unshare", "--mount", "sh", "-c", IN_USUAL_PLACES, "sh", str(folder)]
    done = subprocess.run(
        [*script, str(command_for_all)], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "/etc/honeyguide/honeyguide.env root:honeyguide 640" in done.stdout
    assert "/var/lib/honeyguide honeyguide:honeyguide 700" in done.stdout
    assert "/var/lib/honeyguide/honeyguide.db honeyguide:honeyguide 600" in done.stdout
    assert f"ExecStart={command_for_all} serve" in done.stdout
    assert "\nReadWritePaths=" not in done.stdout and "User=honeyguide" in done.stdout
    assert "    systemctl enable --now honeyguide\n" in done.stdout
