"""Folders for large temporary files. One that a killed process left behind is removed by the next
process that needs one.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from honeyguide.kernel.errors import Unavailable

_PREFIX = ".honeyguide-work-"
_LOCK = "lock"


@contextmanager
def workspace(parent: Path) -> Iterator[Path]:
    """A new folder in `parent` that only we can read, removed at the end."""
    try:
        _remove_abandoned(parent)
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        lock = (folder / "new").open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        (folder / "new").rename(folder / _LOCK)
    except OSError as error:
        raise Unavailable(
            "Cannot write to {path}: {error}. Check permissions and free space.",
            path=parent,
            error=error.strerror,
        ) from error
    with lock:
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(parent: Path) -> None:
    """Whoever uses a folder has its lock. One without a lock file is being made just now."""
    for folder in parent.glob(f"{_PREFIX}*"):
        try:
            with (folder / _LOCK).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
