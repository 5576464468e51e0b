"""Copies a database in use: SQLite with its backup API, PostgreSQL with `pg_dump`. `scratch.py`
does the opposite.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

import apsw

from honeyguide.kernel.errors import Invalid, Unavailable
from honeyguide.store import sqlite_path
from honeyguide.store.connections import Servers
from honeyguide.store.sqlite import connect

# How often progress is shown: a step copies 8 MB.
PAGES_AT_ONCE = 2_000
# How often another program is looked after.
POLL_S = 0.2

Progress = Callable[[int, int], None]


def dump(url: str, target: Path, progress: Progress) -> None:
    """Copies the database into one file. `progress` is called from time to time with the steps done
    and to do; an exception that it raises stops the copy.
    """
    source = sqlite_path(url)
    if source is None:
        backup_postgres(url, target, progress)
    elif not source.exists():
        raise Invalid("There is no database at {path}. Check HONEYGUIDE_DATABASE_URL.", path=source)
    else:
        backup_sqlite(source, target, progress)


def is_compressed(url: str) -> bool:
    """Whether the copy of this database is compressed already: `pg_dump` does it."""
    return sqlite_path(url) is None


def work_folder(url: str) -> Path:
    """Where there is room for a copy: next to an SQLite file, or where temporary files are kept."""
    path = sqlite_path(url)
    return Path(tempfile.gettempdir()) if path is None else path.parent


def backup_sqlite(source: Path, target: Path, progress: Progress) -> None:
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


def backup_postgres(url: str, target: Path, progress: Progress = lambda done, total: None) -> None:
    with _whole_file(target) as part:
        run_client("pg_dump", url, ["--format=custom", f"--file={part}"], progress)


def run_client(
    program: str, url: str, arguments: list[str], progress: Progress, harmless: str = ""
) -> None:
    """Runs one of PostgreSQL's client programs on a database, and fails if it does, unless all that
    failed is the `harmless` statement.
    """
    path = shutil.which(program)
    if path is None:
        raise NoClient(
            "{program} is not installed. Install the PostgreSQL client tools, or run this "
            "on the database server.",
            program=program,
        )
    shown, password = _without_password(url)
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            [path, *arguments, f"--dbname={shown}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=os.environ
            | {"LC_ALL": "C"}
            | Servers(url).client_environment()
            | ({"PGPASSWORD": password} if password else {}),
        ) as running,
    ):
        try:
            while running.poll() is None:
                progress(0, 1)
                with suppress(subprocess.TimeoutExpired):
                    running.wait(POLL_S)
        finally:
            running.kill()
        errors.seek(0)
        output = errors.read().decode(errors="replace").strip().splitlines()
    if running.returncode:
        # It says this at its end, so it was not killed before.
        ignored_one = f"{program}: warning: errors ignored on restore: 1"
        if ignored_one in output and f"Command was: {harmless};" in output:
            return
        reason = [line for line in output if line and "errors ignored on restore" not in line]
        raise Unavailable(
            "{program} failed: {reason}",
            program=program,
            reason=reason[-1] if reason else f"it ended with {running.returncode}",
        )


class NoClient(Invalid):
    """PostgreSQL's client programs are not installed."""


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
