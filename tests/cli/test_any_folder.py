"""Every command runs in any folder: in one that its user cannot read, as in root's home after
`runuser`, and in one that was deleted meanwhile."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from honeyguide import cli
from tests.support import starter
from tests.support.process import command, environment

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
# What a command needs besides its name, to get as far as its settings.
ARGUMENTS: dict[str, list[str]] = {
    "account create": ["ana@example.org"],
    "account set-password": ["ana@example.org"],
    "init": ["--yes"],
}
ENDLESS = ("serve", "work", "demo")
# Imports everything once, as the user and in the folder, and forks for every command.
EACH_IN_A_FORK = """
import json, os, sys
from honeyguide.cli import main
for words in json.loads(sys.argv[1]):
    print(chr(0), *words, file=sys.stderr, flush=True)
    if os.fork() == 0:
        sys.argv = ["honeyguide", *words]
        main()
        sys.exit()
    os.wait()
"""


def all_commands() -> list[str]:
    def names(group: Any, before: str) -> Iterator[str]:
        for name, each in group.commands.items():
            if hasattr(each, "commands"):
                yield from names(each, f"{before}{name} ")
            else:
                yield before + name

    return sorted(names(typer.main.get_command(cli.app), ""))


@pytest.fixture
def folder() -> Iterator[Path]:
    """That other users can look into, with one that they cannot."""
    path = Path(tempfile.mkdtemp(prefix="hgany"))
    path.chmod(0o755)
    (path / "closed").mkdir(mode=0o700)
    (path / "theirs").mkdir()
    shutil.chown(path / "theirs", "nobody")
    yield path
    shutil.rmtree(path)


# It builds an environment that other users can read, which takes a minute.
@pytest.mark.long
@only_root
def test_every_command_runs_in_a_folder_that_its_user_cannot_read(
    folder: Path, command_for_all: Path
) -> None:
    chosen = environment(database_url=f"sqlite:///{folder}/theirs/x.db")
    chosen.pop("HONEYGUIDE_SETTINGS")
    as_nobody = {
        "env": chosen,
        "cwd": folder / "closed",
        "user": "nobody",
        "group": "nogroup",
        "extra_groups": [],
        "capture_output": True,
        "stdin": subprocess.DEVNULL,
        "text": True,
        "timeout": 200,
    }
    alone: Any = subprocess.run([command_for_all, "settings"], **as_nobody, check=True)
    assert alone.stderr == ""
    python = command_for_all.read_text().partition("\n")[0].removeprefix("#!")
    asked = [
        [*name.split(), *ARGUMENTS.get(name, []), *(["--help"] if name in ENDLESS else [])]
        for name in all_commands()
    ]
    arguments = [python, "-P", "-c", EACH_IN_A_FORK, json.dumps(asked)]
    done: Any = subprocess.run(arguments, **as_nobody, check=True)
    output = dict(part.split("\n", 1) for part in done.stderr.split("\0 ")[1:])
    assert list(output) == [" ".join(arguments) for arguments in asked] and len(output) > 15
    assert [name for name, text in output.items() if "Traceback" in text] == []
    assert output["settings"] == output["version"] == ""


@pytest.mark.long
@only_root
def test_the_service_starts_in_a_folder_that_its_user_cannot_read(
    folder: Path, command_for_all: Path
) -> None:
    chosen = environment(database_url=f"sqlite:///{folder}/theirs/x.db")
    chosen.pop("HONEYGUIDE_SETTINGS")
    for arguments, ending in ((["migrate"], 0), (["doctor"], 1), (["verify"], 0)):
        done = subprocess.run(
            [command_for_all, *arguments],
            env=chosen,
            cwd=folder / "closed",
            user="nobody",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, ending), done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.long
@only_root
def test_a_settings_file_that_cannot_be_read_is_a_sentence(
    folder: Path, command_for_all: Path
) -> None:
    for path in (folder / "closed" / "honeyguide.env", folder / "honeyguide.env"):
        path.write_text("HONEYGUIDE_PORT=8001\n")
        path.chmod(0o600)
        done = subprocess.run(
            [command_for_all, "--settings", path, "doctor"],
            env=environment(),
            cwd=folder,
            user="nobody",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert "cannot be read: Permission denied. Run the command as root or" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.long
def test_every_command_says_so_if_the_folder_was_deleted(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    database = f"sqlite:///{tmp_path}/x.db"
    assert command("migrate", database_url=database).returncode == 0
    # One starts there as a whole, with its imports; the others are forked.
    real = "import os, sys; os.chdir(sys.argv.pop(1)); os.rmdir(os.getcwd()); "
    real += "from honeyguide.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", real, str(gone), "doctor"],
        env=environment(database_url=database),
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    assert says_so(done)
    for arguments, url in (
        (["verify"], database),
        (["settings"], database),
        (["init", "--yes"], database),
        (["doctor"], "sqlite:///var/x.db"),
        (["settings"], "sqlite:///var/x.db"),
    ):
        gone.mkdir()
        env, before = environment(database_url=url), "import os; os.rmdir(os.getcwd())"
        assert says_so(starter.run(arguments, env=env, cwd=gone, before=before))
        assert not gone.exists()


def says_so(done: subprocess.CompletedProcess[str]) -> bool:
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode == 0 or bool(done.stderr.strip() or done.stdout.strip())
