"""One folder for all that a test run writes, deleted when the run ends. Test processes of xdist end
without a word to their own clean-up, so a run would otherwise leave its databases behind.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

PREFIX = "honeyguide-tests-"
# A PostgreSQL server of the run may still be stopping.
PATIENCE_S = 10


def open_folder() -> Path:
    """From here on, every temporary file of this process and its children is in the new folder.

    Not in the caller's TMPDIR but in /tmp: PostgreSQL's server runs as another user where this
    process is root, and that user may not see root's own.
    """
    parent = Path("/tmp")
    for left in parent.glob(f"{PREFIX}*"):
        if not _runs(left):
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent))
    folder.chmod(0o711)
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None
    return folder


def delete_folder(folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while folder.exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.1)


def parent_for_any_user() -> Path:
    """Where another user may reach what is made there: the run's folder, or /tmp outside a run."""
    here = Path(tempfile.gettempdir())
    return here if here.name.startswith(PREFIX) else Path("/tmp")


def _runs(folder: Path) -> bool:
    """Whether the run is still going that made this folder."""
    try:
        os.kill(int(folder.name.removeprefix(PREFIX).partition("-")[0]), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, ValueError):
        return True
    return True
