"""The demo, as `honeyguide demo --serve` runs it: a process of its own on real sockets."""

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from tests.support.postgres import free_port
from tests.support.process import COMMAND, environment


class Demo(NamedTuple):
    url: str
    email: str
    password: str


@contextmanager
def running_demo(at: datetime | None = None) -> Iterator[Demo]:
    """As if it were this moment, if one is given."""
    port, folder = free_port(), Path(tempfile.mkdtemp(prefix="hgdemo"))
    if at is not None:
        (folder / "demo.db.clock").write_text(str(round(at.timestamp() - time.time())))
    settings = environment(database_url=f"sqlite:///{folder}/demo.db", port=port, log="off")
    with subprocess.Popen(
        [*COMMAND, "demo", "--serve"], env=settings, stdout=subprocess.PIPE, text=True
    ) as running:
        try:
            assert running.stdout is not None
            line = next(line for line in running.stdout if "Login " in line)
            found = re.search(r"Login +(\S+) / (\S+)", line)
            assert found is not None
            yield Demo(f"http://127.0.0.1:{port}", found[1], found[2])
        finally:
            running.terminate()
    shutil.rmtree(folder)
