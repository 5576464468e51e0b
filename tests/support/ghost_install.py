"""Installs Ghost from npm into the user's cache, once: `make ghost` does it for the long tests.

Ghost's own development tools come from hosts other than the registry, so they are left out. SQLite
is compiled with the headers of the installed Node.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSION = "5.130.6"  # the last one for Node 18 and 20
PNPM = "pnpm@9.15.9"  # npm itself takes half an hour for Ghost's 1,700 packages
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "honeyguide-tests"
FOLDER = CACHE / f"ghost-{VERSION}"


def install() -> None:
    if FOLDER.exists():
        return
    if shutil.which("npm") is None:
        sys.exit("The long tests need Ghost, and Ghost needs Node. Install nodejs and npm.")
    print(f"Installing Ghost {VERSION} (takes some minutes, once) ...", flush=True)
    building = CACHE / f"ghost-{VERSION}.{os.getpid()}"
    building.mkdir(parents=True)
    try:
        _install_in(building)
    except BaseException:
        shutil.rmtree(building)
        raise
    building.rename(FOLDER)


def _install_in(building: Path) -> None:
    _run(building, "npm", "pack", f"ghost@{VERSION}", "--silent")
    _run(building, "tar", "--strip-components=1", "-xzf", f"ghost-{VERSION}.tgz")
    _leave_out_tools(building / "package.json")
    installing = ("install", "--prod", "--ignore-scripts", "--config.node-linker=hoisted")
    _run(building, "npm", "exec", "--yes", "--", PNPM, *installing)
    _run(building / "node_modules" / "sqlite3", "npm", "exec", "--yes", "--", "node-gyp", "rebuild")


def _leave_out_tools(path: Path) -> None:
    package = json.loads(path.read_text())
    package["dependencies"]["sqlite3"] = package["optionalDependencies"]["sqlite3"]
    for name in ("devDependencies", "optionalDependencies", "scripts"):
        del package[name]
    path.write_text(json.dumps(package))


def _run(folder: Path, *command: str) -> None:
    # Compiling SQLite with all optimizations takes longer than all the rest.
    environment = os.environ | {"CI": "true", "CFLAGS": "-O1"}
    if Path("/usr/include/node").exists():
        environment["npm_config_nodedir"] = "/usr"
    subprocess.run(command, cwd=folder, env=environment, check=True)
