"""The demo, as `honeyguide demo --serve` runs it: a process of its own on real sockets."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.postgres import free_port
from tests.support.process import COMMAND, environment


class Demo(NamedTuple):
    url: str
    email: str
    password: str


@contextmanager
def running_demo() -> Iterator[Demo]:
    port, folder = free_port(), Path(tempfile.mkdtemp(prefix="hgdemo"))
    settings = environment(database_url=f"sqlite:///{folder}/demo.db", port=port, log="off")
    with subprocess.Popen(
        [*COMMAND, "demo", "--serve"], env=settings, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        said = next(line for line in running.stdout if "Login " in line)
        found = re.search(r"Login +(\S+) / (\S+)", said)
        assert found is not None
        yield Demo(f"http://127.0.0.1:{port}", found[1], found[2])
        running.terminate()
    shutil.rmtree(folder)
