"""Notes that outlive the process that wrote them, in files that stay small."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from honeyguide.kernel.errors import Unavailable
from honeyguide.store.journal import Journal

A, B = "01890000-0000-7000-8000-00000000000a", "01890000-0000-7000-8000-00000000000b"
KEEP_MS = 60_000


def opened(folder: Path) -> tuple[Journal, dict[str, list[int]]]:
    made = Journal(folder / "accepted", keep_ms=KEEP_MS)
    return made, made.recall()


def test_the_next_one_recalls_everything_in_order_and_writes_on(tmp_path: Path) -> None:
    first, nothing = opened(tmp_path)
    for uuid, at_ms in ((A, 1), (B, 2), (A, 3)):
        first.note(uuid, at_ms)
    second, found = opened(tmp_path)
    second.note(A, 4)
    assert nothing == {} and found == {A: [1, 3], B: [2]}
    assert opened(tmp_path)[1] == {A: [1, 3, 4], B: [2]}
    assert [file.name for file in tmp_path.iterdir()] == ["accepted"]


def test_a_killed_process_leaves_its_notes_behind(tmp_path: Path) -> None:
    write = (
        "import os, sys, pathlib; from honeyguide.store.journal import Journal;"
        "j = Journal(pathlib.Path(sys.argv[1]), keep_ms=50);"
        f"[j.note({A!r}, n) for n in range(1, 101)]; os.kill(os.getpid(), 9)"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", write, str(tmp_path / "accepted")], check=False
        ).returncode
        == -9
    )
    assert opened(tmp_path)[1] == {A: list(range(1, 101))}


def test_old_notes_go_and_young_ones_never_do(tmp_path: Path) -> None:
    dice = random.Random(3)
    journal, now_ms, written = opened(tmp_path)[0], 1_000, []
    for _ in range(3_000):
        now_ms += dice.choice((0, 1, 700, 20_000 * (dice.random() < 0.05)))
        written.append(now_ms + dice.choice((0, 0, KEEP_MS - 1)))  # a clock was set back for some
        if dice.random() < 0.02:
            journal = opened(tmp_path)[0]
        journal.note(A, written[-1])
        if dice.random() < 0.02:
            recalled = opened(tmp_path)[1][A]
            assert recalled == written[-len(recalled) :]
            assert all(at_ms <= now_ms - KEEP_MS for at_ms in written[: -len(recalled)])
            assert recalled[0] >= now_ms - 6 * KEEP_MS
    assert len(written) - len(opened(tmp_path)[1][A]) > 1_000


def test_a_clock_set_back_by_a_day_does_not_let_the_file_grow_for_a_day(tmp_path: Path) -> None:
    journal = opened(tmp_path)[0]
    for at_ms in (90_000_000, 1_000, *range(2_000, 3_600_000, 1_000)):
        journal.note(A, at_ms)
    assert len(opened(tmp_path)[1][A]) <= 4 * KEEP_MS // 1_000


def test_what_is_no_journal_of_ours_or_cut_short_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "accepted").write_bytes(b"short")
    (tmp_path / "accepted.old").mkdir()
    journal, found = opened(tmp_path)
    journal.note(A, 5)
    assert found == {} and opened(tmp_path)[1] == {A: [5]}
    with (tmp_path / "accepted").open("ab") as file:
        file.write(b"x" * 43)
    journal, found = opened(tmp_path)
    journal.note(B, 6)
    assert found == {A: [5]} and opened(tmp_path)[1] == {A: [5], B: [6]}


def test_a_file_that_cannot_be_written_is_said_and_tried_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "missing" / "accepted", keep_ms=KEEP_MS)
    assert journal.recall() == {}
    for _ in range(2):
        with pytest.raises(Unavailable, match="No such file"):
            journal.note(A, 1_000)
    (tmp_path / "missing").mkdir()
    journal.note(A, 2_000)
    (tmp_path / "missing" / "accepted").unlink()
    with pytest.raises(Unavailable):
        journal.note(A, 900_000)
    journal.note(A, 900_001)
    assert Journal(tmp_path / "missing" / "accepted", keep_ms=KEEP_MS).recall() == {A: [900_001]}


FILL_THE_DISK = """
import pathlib, resource, signal, sys
from honeyguide.kernel.errors import Unavailable
from honeyguide.store.journal import Journal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
journal = Journal(pathlib.Path(sys.argv[1]), keep_ms=60_000)
for at_ms in range(1, 9):
    try:
        journal.note(sys.argv[2], at_ms)
    except Unavailable as error:
        print(at_ms, error.message)
    if at_ms == 5:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
"""


def test_a_note_cut_short_by_a_full_disk_spoils_none_after_it(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", FILL_THE_DISK, str(tmp_path / "accepted"), A]
    output = subprocess.run(
        arguments, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert [line.split()[0] for line in output] == ["3", "4", "5"]
    assert all("The rate-limit journal cannot be written: " in line for line in output)
    assert opened(tmp_path)[1] == {A: [1, 2, 6, 7, 8]}
