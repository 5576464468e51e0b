"""The benches stay alive: everything in them runs, for a moment."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest


@pytest.mark.timeout(1800)
@pytest.mark.long
def test_a_quick_bench_runs_from_end_to_end_and_writes_nothing() -> None:
    here = Path(__file__).parents[2]
    results = here / "bench" / "RESULTS.md"
    before = results.read_bytes() if results.exists() else b""
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--quick"],
        cwd=here,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert "read one" in done.stdout and "top advocate's referrals, last page" in done.stdout
    assert (results.read_bytes() if results.exists() else b"") == before


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_long_benches_run_for_a_moment() -> None:
    # Not in `tmp_path`, which PostgreSQL cannot enter when root runs the tests.
    with tempfile.TemporaryDirectory(prefix="honeyguide-scale-") as folder:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "bench", "cost", "neighbors", "small"),
                *("scale", "bloat"),
                *("--quick", "--rows", "10000", "--keep", folder),
            ],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-4000:]
    for phrase in ("webhook delivery", "unrelated", "written anew"):
        assert phrase in done.stdout
