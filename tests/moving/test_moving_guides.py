"""Each command of the guides to moving in is run, section by section, as somebody would who follows
them.
"""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.support.incumbent import IncumbentServer
from tests.support.moving_files import FIXTURES
from tests.support.process import command, migrated, new_account

GUIDE = (Path(__file__).parents[2] / "docs" / "moving-in.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", GUIDE, re.MULTILINE | re.DOTALL))
# The files that the commands name, and what is in them here.
FILES = {
    "list-with-rh-fields.csv": "rh_list.csv",
    "beehiiv.csv": "beehiiv.csv",
    "substack.csv": "substack.csv",
    "ghost.csv": "ghost.csv",
}


def commands(section: str) -> list[list[str]]:
    blocks = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines() if line.strip()]


@pytest.mark.parametrize("title", [name for name, text in SECTIONS.items() if commands(text)])
def test_the_commands_of_a_guide_work(title: str, tmp_path: Path) -> None:
    url, server = migrated("sqlite"), IncumbentServer(30)
    owner = new_account(url)
    for name, fixture in FILES.items():
        shutil.copy(FIXTURES / fixture, tmp_path / name)
    with server.serving_apart():
        for arguments in commands(SECTIONS[title]):
            assert arguments[0] == "honeyguide"
            given = [owner.email if word == "you@example.org" else word for word in arguments[1:]]
            if given[:2] == ["import", "sparkloop"]:
                given += ["--base-url", server.url]
            done = command(*given, cwd=tmp_path, database_url=url, import_key=server.key)
            assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    assert len(commands(SECTIONS[title])) == {"From SparkLoop": 5, "The way back": 2}.get(title, 3)
