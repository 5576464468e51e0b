"""A real PgBouncer in transaction mode. `make test-long` puts it into .venv/pgbouncer, from a newer
Debian than this machine's, so it runs with the libraries of that one.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .postgres import clean_environment, free_port
from .service import until

ROOT = Path(__file__).parents[2] / ".venv" / "pgbouncer"
CONFIG = """
[databases]
* = {server}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {users}
admin_users = postgres
pool_mode = transaction
max_prepared_statements = {statements}
default_pool_size = {size}
max_client_conn = 1000
"""


def command() -> list[str]:
    """Its program, started by its own loader."""
    program = ROOT / "usr" / "sbin" / "pgbouncer"
    assert program.exists(), f"{program} is missing; `make test-long` installs it"
    (loader,) = ROOT.glob("usr/lib/*/ld-linux-*.so.*")
    return [str(loader), "--library-path", str(loader.parent), str(program)]


def version() -> str:
    done = subprocess.run([*command(), "--version"], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[0]


@contextmanager
def pgbouncer(
    server: str, *users: str, size: int = 4, statements: int = 1000, **settings: str
) -> Iterator[int]:
    """The port of a PgBouncer in front of `server`, such as `host=127.0.0.1 port=5432`. It has at
    most `size` connections to each database.
    """
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="hgbouncer") as folder:
        home = Path(folder)
        home.chmod(0o755)
        names = home / "users"
        names.write_text("".join(f'"{user}" ""\n' for user in ("postgres", *users)))
        config = home / "pgbouncer.ini"
        config.write_text(
            CONFIG.format(server=server, port=port, users=names, statements=statements, size=size)
            + "".join(f"{name} = {value}\n" for name, value in settings.items())
        )
        become = ["-u", "nobody"] if os.geteuid() == 0 else []  # it refuses to be root
        with (home / "log").open("wb") as log:
            running = subprocess.Popen(
                [*command(), *become, str(config)], stdout=log, stderr=log, env=clean_environment()
            )
        try:
            until(lambda: "process up" in (home / "log").read_text() or running.poll() is not None)
            assert running.poll() is None, (home / "log").read_text()
            yield port
        finally:
            running.kill()
            running.wait(30)
