"""The lock of the one server process that an SQLite file can have."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO

from honeyguide.kernel.errors import Unavailable


class ServerRuns(Unavailable):
    """Another process has the lock."""


def lock_for_server(path: Path) -> IO[str]:
    """Taken until the file that is returned is closed, or the process ends."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = Path(f"{path}.lock").open("w")  # noqa: SIM115
    except OSError as error:
        raise Unavailable(
            "The database file {path} cannot be opened: {error}. Check HONEYGUIDE_DATABASE_URL.",
            path=path,
            error=error.strerror,
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise ServerRuns(
            "Another Honeyguide server is already using {path}, and SQLite supports only one. "
            "Stop it, or move to PostgreSQL with `honeyguide copy`.",
            path=path,
        ) from error
    return lock
