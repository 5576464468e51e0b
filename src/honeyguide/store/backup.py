"""A copy of the whole database while it is in use: SQLite by its own backup interface, PostgreSQL by its own `pg_dump`."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import apsw

from honeyguide.kernel.errors import Invalid, Unavailable
from honeyguide.store.sqlite import connect

# Few enough that writers hardly wait between two steps, many enough that a large file is copied in minutes.
PAGES_AT_ONCE = 2_000


def backup_sqlite(source: Path, target: Path, progress: Callable[[int, int], None]) -> None:
    """Page by page into a file beside the target, which takes its name only when it is whole and has passed a check."""
    _refuse_existing(target)
    part = target.with_name(f"{target.name}.part")
    try:
        part.unlink(missing_ok=True)
        copy = apsw.Connection(str(part))
    except (OSError, apsw.Error) as error:
        raise Invalid(
            "Cannot write {path}: {error}. Check permissions and free space.",
            path=part,
            error=error,
        ) from error
    origin = connect(source)
    try:
        with copy.backup("main", origin, "main") as copying:
            while not copying.done:
                copying.step(PAGES_AT_ONCE)
                progress(copying.page_count - copying.remaining, copying.page_count)
        copy.execute("PRAGMA journal_mode = DELETE")
        if copy.execute("PRAGMA quick_check").fetchall() != [("ok",)]:
            raise Unavailable(
                "The copy failed SQLite's integrity check. Try again; if it fails again, check the disk."
            )
    except apsw.Error as error:
        raise Unavailable("Could not copy the database: {error}.", error=error) from error
    finally:
        copy.close()
        origin.close()
    _sync(part)
    part.rename(target)


def backup_postgres(url: str, target: Path) -> None:
    _refuse_existing(target)
    program = shutil.which("pg_dump")
    if program is None:
        raise Invalid(
            "pg_dump is not installed. Install the PostgreSQL client tools, or run the backup on the database server."
        )
    part = target.with_name(f"{target.name}.part")
    shown, password = _without_password(url)
    done = subprocess.run(
        [program, "--format=custom", f"--file={part}", f"--dbname={shown}"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | ({"PGPASSWORD": password} if password else {}),
    )
    if done.returncode:
        part.unlink(missing_ok=True)
        reason = done.stderr.strip().splitlines() or ["it gave no reason"]
        raise Unavailable("pg_dump failed: {reason}", reason=reason[-1])
    _sync(part)
    part.rename(target)


def _without_password(url: str) -> tuple[str, str]:
    """The address and its password apart: every user of the machine can read a command line, nobody else our environment."""
    whole = urlsplit(url).netloc
    user, _, servers = whole.rpartition("@")
    name, _, password = user.partition(":")
    return url.replace(whole, f"{name}@{servers}", 1) if password else url, unquote(password)


def _refuse_existing(target: Path) -> None:
    if target.exists():
        raise Invalid("{path} already exists. Choose another file name.", path=target)
    if not target.parent.is_dir():
        raise Invalid("The folder {path} does not exist. Create it first.", path=target.parent)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
