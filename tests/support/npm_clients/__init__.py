"""Vendors' own clients for Node: scripts that use them, and their place in the user's cache, where
`make ghost` installs them.
"""

import os
import subprocess
from pathlib import Path

from tests.support.ghost_install import CACHE

PACKAGES = ("@beehiiv/sdk@0.1.9", "@tryghost/admin-api@1.14.13", "standardwebhooks@1.1.1")
FOLDER = CACHE / "clients-2"  # another number for other packages


def install() -> None:
    if FOLDER.exists():
        return
    print("Installing clients for Node ...", flush=True)
    building = CACHE / f"clients-2.{os.getpid()}"
    building.mkdir(parents=True)
    options = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts")
    subprocess.run(["npm", "install", *options, *PACKAGES], cwd=building, check=True)
    building.rename(FOLDER)


def give_packages(folder: Path) -> None:
    """For a program there that imports them: modules are not looked for in NODE_PATH."""
    assert FOLDER.exists(), "Run `make ghost` first."
    (folder / "node_modules").symlink_to(FOLDER / "node_modules")


def run(script: str, *arguments: str) -> None:
    """Runs one of the scripts here; it fails if the client does not accept what it is told."""
    assert FOLDER.exists(), "Run `make ghost` first."
    path = Path(__file__).parent / script
    done = subprocess.run(
        ["node", str(path), *arguments],
        env=os.environ | {"NODE_PATH": str(FOLDER / "node_modules")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
