"""One folder for all that a test run writes, deleted when the run ends. Test processes of xdist end
without a word to their own clean-up, so a run would otherwise leave its databases behind.
"""

import os
import subprocess
import tempfile
from pathlib import Path

PREFIX = "honeyguide-tests-"
# A PostgreSQL server of the run may still be stopping, and writing.
DELETE = 'for try in 1 2 3 4 5; do rm -rf "$0" 2>/dev/null && exit; sleep 2; done'


def open_folder() -> Path:
    """From here on, every temporary file of this process and its children is in the new folder.

    Not in the caller's TMPDIR but in /tmp: PostgreSQL's server runs as another user where this
    process is root, and that user may not see root's own.
    """
    parent = Path("/tmp")
    for left in parent.glob(f"{PREFIX}*"):
        if not _runs(left):
            delete_folder(left)
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent))
    folder.chmod(0o711)
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None
    return folder


def delete_folder(folder: Path) -> None:
    """In a process of its own. A run leaves a million small files of PostgreSQL, and nobody should
    wait until they are gone.
    """
    quiet = subprocess.DEVNULL
    subprocess.Popen(
        ["sh", "-c", DELETE, folder],
        stdin=quiet,
        stdout=quiet,
        stderr=quiet,
        start_new_session=True,
    )


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
