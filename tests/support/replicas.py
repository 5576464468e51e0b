"""A streaming replica of a PostgreSQL server of the tests."""

import subprocess

from .postgres import PostgresServer, clean_environment


class ReplicaServer(PostgresServer):
    """`with ReplicaServer(primary) as replica: replica.promote()`"""

    def __init__(self, primary: PostgresServer, **settings: str) -> None:
        super().__init__(**settings)
        self._primary = primary

    def promote(self) -> None:
        self.execute("SELECT pg_promote()")

    def _initdb(self) -> None:
        done = subprocess.run(
            [
                *(str(self._bin / "pg_basebackup"), "--write-recovery-conf", "--checkpoint=fast"),
                *("--no-sync", "--dbname", self._primary.url()),
                *("--pgdata", str(self.home / "data")),
            ],
            cwd=self.home,
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=False,
            **self._user,
        )
        assert done.returncode == 0, done.stderr
