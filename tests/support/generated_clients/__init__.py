"""Generators of API clients, and programs that use what they generate. The generators are installed
by `make generators`, apart from our own packages, in versions that are tested."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.ghost_install import CACHE

HERE = Path(__file__).parent
PIP_PACKAGES = ("openapi-python-client==0.29.1", "openapi-spec-validator==0.9.0")
NPM_PACKAGES = ("openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3")
PYTHON = CACHE / "generators-python-1"  # another number for other packages
NODE = CACHE / "generators-node-1"


def install() -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    if not PYTHON.exists():
        print("Installing the Python client generator ...", flush=True)
        # A virtual environment cannot be moved, so a broken one is removed instead.
        try:
            subprocess.run([sys.executable, "-m", "venv", str(PYTHON)], check=True)
            pip = [str(PYTHON / "bin" / "pip"), "install", "--quiet", *PIP_PACKAGES]
            subprocess.run(pip, check=True)
        except BaseException:
            shutil.rmtree(PYTHON, ignore_errors=True)
            raise
    if not NODE.exists():
        print("Installing the TypeScript client generator ...", flush=True)
        building = CACHE / f"generators-node-1.{os.getpid()}"
        building.mkdir(parents=True)
        options = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts")
        subprocess.run(["npm", "install", *options, *NPM_PACKAGES], cwd=building, check=True)
        building.rename(NODE)


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    """What the command prints, on both streams. It must not fail."""
    assert PYTHON.exists() and NODE.exists(), "Run `make generators` first."
    # The Python generator formats its files with Ruff, which is among our own tools.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=os.environ | {"PATH": path} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout
