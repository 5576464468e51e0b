"""Files that were made readable for others, by an older version or by hand, are made private."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterable
from pathlib import Path

log = logging.getLogger("honeyguide.store")

# What Honeyguide itself puts beside its database.
_OURS = ("emails", "logos")
_OUR_PREFIXES = ("honeyguide-", ".honeyguide-")


def make_database_private(path: Path) -> None:
    """The database with its journals, locks and old versions; and its folder, unless something else
    is in it, which may be there for others to read."""
    path = path.absolute()
    make_private(sorted(path.parent.glob(f"{path.name}*")))
    if _has_only_ours(path):
        make_private([path.parent])


def make_private(paths: Iterable[Path]) -> None:
    """Only files and folders that are there. What belongs to another user is only reported."""
    for path in paths:
        try:
            found = path.lstat()
        except OSError:
            continue
        is_folder = stat.S_ISDIR(found.st_mode)
        if not (is_folder or stat.S_ISREG(found.st_mode)) or not found.st_mode & 0o077:
            continue
        try:
            if found.st_uid != os.geteuid():
                raise PermissionError
            path.chmod(0o700 if is_folder else 0o600)
        except OSError:
            log.warning(
                "Other users can read %s. It belongs to another user; ask them to run chmod go=",
                path,
            )
        else:
            log.info("Made %s private, because other users could read it", path)


def _has_only_ours(path: Path) -> bool:
    try:
        names = [entry.name for entry in path.parent.iterdir()]
        mode = path.parent.stat().st_mode
    except OSError:
        return False
    return not mode & (stat.S_ISVTX | stat.S_ISGID) and all(
        name.startswith((path.name, *_OUR_PREFIXES)) or name in _OURS for name in names
    )
