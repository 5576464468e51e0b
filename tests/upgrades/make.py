"""Make the databases of the previous main: `python -m tests.upgrades.make COMMIT`.

The commit's own code fills them, from a temporary worktree: its demo, with a twelfth of the
subscribers (a quarter at first, as the demo needs some to begin with) and few clicks, so that the
files stay small.
"""

import lzma
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.postgres import clean_environment, shared_server
from tests.support.process import environment
from tests.upgrades import FOLDER, POSTGRES, SQLITE

SMALL_DEMO = """
from honeyguide.cli import main

try:
    from honeyguide.demo import subscribers
except ImportError:  # before November 2026
    from honeyguide.demo import crowd as subscribers

moments, clicks = subscribers.moments, subscribers.clicks
subscribers.moments = lambda state, first, last, *rest, **named: moments(
    state, first / 4, last / 12, *rest, **named
)
subscribers.clicks = lambda *given: list(clicks(*given))[:5]
main()
"""


def has_commit(commit: str) -> bool:
    """Whether this is a clone of the repository with the commit in it."""
    try:
        _git("cat-file", "-e", f"{commit}^{{commit}}")
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


@contextmanager
def worktree(commit: str) -> Iterator[Path]:
    """A temporary checkout of `commit`."""
    with tempfile.TemporaryDirectory(prefix="hgworktree") as parent:
        folder = Path(parent) / "code"
        _git("worktree", "add", "--detach", str(folder), commit)
        try:
            yield folder
        finally:
            _git("worktree", "remove", "--force", str(folder))


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=FOLDER, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def old_environment(code: Path, **settings: object) -> dict[str, str]:
    """The environment in which `python -m honeyguide` runs the code of the worktree."""
    return environment(**settings) | {"PYTHONPATH": str(code / "src")}


def _fill(code: Path, folder: Path, url: str) -> None:
    subprocess.run(
        [sys.executable, "-c", SMALL_DEMO, "demo"],
        env=old_environment(code, database_url=url),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        check=True,
    )


def main(commit: str) -> None:
    commit = _git("rev-parse", commit)
    server = shared_server()
    server.create_database("previous")
    with worktree(commit) as code, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "previous.db"
        _fill(code, Path(folder), f"sqlite:///{file}")
        _fill(code, Path(folder), server.url("previous"))
        SQLITE.write_bytes(lzma.compress(file.read_bytes(), preset=9))
    dump = subprocess.run(
        [str(server.psql.with_name("pg_dump")), "--no-owner", server.url("previous")],
        env=clean_environment(),
        capture_output=True,
        check=True,
    )
    POSTGRES.write_bytes(lzma.compress(dump.stdout, preset=9))
    (FOLDER / "commit.txt").write_text(f"{commit}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
