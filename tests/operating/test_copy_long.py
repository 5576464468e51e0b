"""`honeyguide copy` of large and lively databases, and of processes that are killed on the way."""

import hashlib
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench import people
from honeyguide.kernel.errors import Fault
from tests.support.copies import SECRET, copied, empty
from tests.support.process import COMMAND, command, environment, fresh
from tests.support.recorded_history import played
from tests.support.service import ENGINES, until

pytestmark = [pytest.mark.long, pytest.mark.timeout(7200)]

OTHER = {"sqlite": "postgres", "postgres": "sqlite"}
STEPS = ("Verifying the source", "Copying", "Building indexes", "Comparing", "Verifying the copy")
PEOPLE = 1_000_000
# The interpreter, the drivers and a few batches; a table is much larger.
MOST_MB = 300


def assert_there_and_back(source: str, engine: str) -> None:
    """To the other engine and from there to a new database of the first: all three are equal."""
    there, back = empty(OTHER[engine]), empty(engine)
    first = copied(source, there, is_while_running=True)
    second = copied(there, back)
    assert first.tables == second.tables and first.findings == second.findings
    assert not first.broken and first.rows > 100


@pytest.mark.parametrize("engine", ENGINES)
def test_the_demo_goes_there_and_back(engine: str, tmp_path: Path) -> None:
    url = fresh(engine)
    made = command("demo", database_url=url, secret_key=SECRET, cwd=tmp_path, timeout=3600)
    assert made.returncode == 0, made.stderr
    assert_there_and_back(url, engine)


@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_random_history_goes_there_and_back(engine: str, seed: int) -> None:
    with played(engine, 150, seed=seed) as history:
        assert_there_and_back(history.service.database_url, engine)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_killed_copy_leaves_the_source_alone_and_the_target_empty(engine: str, step: str) -> None:
    source = fresh("sqlite")
    made = command("account", "create", "a@example.org", database_url=source, secret_key=SECRET)
    assert made.returncode == 0, made.stderr
    file, target = Path(source.removeprefix("sqlite:///")), empty(engine)
    before = hashlib.sha256(file.read_bytes()).digest()
    with subprocess.Popen(
        [*COMMAND, "copy", "--to", target],
        env=environment(database_url=source, secret_key=SECRET),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        assert any(line.startswith(step) for line in running.stderr)
        time.sleep(random.random() / 10)
        running.kill()
    assert hashlib.sha256(file.read_bytes()).digest() == before
    until(lambda: _is_empty_again(source, target, is_at_end=step == STEPS[-1]), 60)


def _is_empty_again(source: str, target: str, *, is_at_end: bool) -> bool:
    """Whether a new copy succeeds, which needs an empty target."""
    try:
        copied(source, target)
    except Fault as fault:
        if is_at_end and "has Honeyguide's tables already" in fault.message:
            return True  # the copy was whole before it was killed
        # PostgreSQL notices only after a statement that its client is gone.
        if "Another process is filling" not in fault.message:
            raise
        return False
    return True


# Linux counts the memory of the process that starts another one as the other's peak, and the one
# that made a million subscribers is large. So a small one starts the command.
MEASURED = """
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_million_subscribers_are_copied_in_little_memory(engine: str) -> None:
    source, target = fresh(engine), empty(OTHER[engine])
    people.make(source, [people.Plan("million", PEOPLE)], lambda done: None)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *COMMAND, "copy", "--to", target],
        env=environment(database_url=source, secret_key=SECRET),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    output, _, peak = done.stdout.rpartition("peak ")
    took_s, peak_mb = time.monotonic() - began, int(peak) / 1024
    print(f"\n{engine} to {OTHER[engine]}: {took_s:.0f} s, at most {peak_mb:.0f} MB")
    assert done.returncode == 0 and "Every table is equal" in output
    assert f"{PEOPLE:,}  equal" in output
    assert peak_mb < MOST_MB
