"""The command for tests that run it as another user."""

import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from honeyguide.cli import install


@contextmanager
def command_for_others() -> Iterator[Path]:
    """The command in an environment that every user can run. The one of the tests often is not,
    because its Python is in root's home; then the system's Python runs the same packages.
    """
    if _others_can_run(install.command()):
        yield install.command()
        return
    python = shutil.which(f"python3.{sys.version_info.minor}", path="/usr/bin:/usr/local/bin")
    if python is None:
        pytest.skip("no Python of this version that other users can run")
    with tempfile.TemporaryDirectory(prefix="hgpublic") as name:
        public = Path(name)
        public.chmod(0o755)
        subprocess.run([python, "-m", "venv", "--without-pip", public], check=True)
        ours, theirs = (
            sysconfig.get_path("purelib", vars={"base": base}) for base in (sys.prefix, name)
        )
        (Path(theirs) / "ours.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
        command = public / "bin" / "honeyguide"
        lines = install.command().read_text().splitlines(keepends=True)
        command.write_text("".join([f"#!{public / 'bin' / 'python'}\n", *lines[1:]]))
        command.chmod(0o755)
        if not _others_can_run(command):
            pytest.skip("other users cannot read this checkout")
        yield command


def _others_can_run(command: Path) -> bool:
    try:
        done = subprocess.run([command, "version"], user="nobody", cwd="/", check=False)
    except PermissionError:
        return False
    return done.returncode == 0
