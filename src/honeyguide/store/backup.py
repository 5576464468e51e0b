"""Copies a database in use: SQLite with its backup API, PostgreSQL with `pg_dump`."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

import apsw

from honeyguide.kernel.errors import Invalid, Unavailable
from honeyguide.store.sqlite import connect

# How often progress is shown: a step copies 8 MB.
PAGES_AT_ONCE = 2_000


def backup_sqlite(source: Path, target: Path, progress: Callable[[int, int], None]) -> None:
    """Copies page by page, and checks the copy."""
    with _whole_file(target) as part:
        try:
            copy = apsw.Connection(str(part))
        except apsw.Error as error:
            raise Invalid(
                "Cannot write {path}: {error}. Check permissions and free space.",
                path=part,
                error=error,
            ) from error
        origin = connect(source)
        try:
            # One read transaction for all pages: without it, every write by another process would
            # start the copy again from the first page.
            origin.execute("BEGIN; SELECT count(*) FROM sqlite_schema").fetchall()
            with copy.backup("main", origin, "main") as copying:
                while not copying.done:
                    copying.step(PAGES_AT_ONCE)
                    progress(copying.page_count - copying.remaining, copying.page_count)
            copy.execute("PRAGMA journal_mode = DELETE")
            if copy.execute("PRAGMA quick_check").fetchall() != [("ok",)]:
                raise Unavailable(
                    "The copy failed SQLite's integrity check. Try again; if it fails again, "
                    "check the disk."
                )
        except apsw.Error as error:
            raise Unavailable("Could not copy the database: {error}.", error=error) from error
        finally:
            copy.close()
            origin.close()


def backup_postgres(url: str, target: Path) -> None:
    program = shutil.which("pg_dump")
    with _whole_file(target) as part:
        if program is None:
            raise Invalid(
                "pg_dump is not installed. Install the PostgreSQL client tools, or run the backup "
                "on the database server."
            )
        shown, password = _without_password(url)
        done = subprocess.run(
            [program, "--format=custom", f"--file={part}", f"--dbname={shown}"],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | ({"PGPASSWORD": password} if password else {}),
        )
        if done.returncode:
            reason = done.stderr.strip().splitlines() or ["it gave no reason"]
            raise Unavailable("pg_dump failed: {reason}", reason=reason[-1])


@contextmanager
def _whole_file(target: Path) -> Iterator[Path]:
    """A file next to the target, renamed once it is complete and on disk. A failed backup leaves
    nothing behind.
    """
    if target.exists():
        raise Invalid("{path} already exists. Choose another file name.", path=target)
    if not target.parent.is_dir():
        raise Invalid("The folder {path} does not exist. Create it first.", path=target.parent)
    part = target.with_name(f"{target.name}.part")
    files = [part.with_name(part.name + ending) for ending in ("", "-journal", "-wal", "-shm")]
    try:
        for file in files:  # of a backup that was killed
            file.unlink(missing_ok=True)
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.rename(target)
    except OSError as error:
        raise Invalid(
            "Cannot write {path}: {error}. Check permissions and free space.",
            path=part,
            error=error,
        ) from error
    finally:
        with suppress(OSError):
            for file in files:
                file.unlink(missing_ok=True)


def _without_password(url: str) -> tuple[str, str]:
    """The URL without its password, and the password. Other users of the machine can read a command
    line, but not our environment.
    """
    whole = urlsplit(url).netloc
    user, _, servers = whole.rpartition("@")
    name, _, password = user.partition(":")
    return url.replace(whole, f"{name}@{servers}", 1) if password else url, unquote(password)
