"""Notes that outlive the process that wrote them, and files that go when nobody needs them any
more.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from honeyguide.kernel.errors import Unavailable
from honeyguide.store import journal
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
    assert [file.name for file in tmp_path.iterdir()] == ["accepted.1"]


def test_a_killed_process_leaves_its_notes_behind(tmp_path: Path) -> None:
    write = (
        "import os, sys, pathlib; from honeyguide.store.journal import Journal;"
        "j = Journal(pathlib.Path(sys.argv[1]), keep_ms=1);"
        f"[j.note({A!r}, n) for n in range(1, 101)]; os.kill(os.getpid(), 9)"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", write, str(tmp_path / "accepted")], check=False
        ).returncode
        == -9
    )
    assert opened(tmp_path)[1] == {A: list(range(1, 101))}


def test_full_files_go_once_all_in_them_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_SIZE", 10 * journal._NOTE.size)
    made, _ = opened(tmp_path)
    for n in range(1, 36):
        made.note(A, n)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "accepted.1",
        "accepted.2",
        "accepted.3",
        "accepted.4",
    ]
    made, found = opened(tmp_path)
    assert found == {A: list(range(1, 36))}
    for n in range(10):
        made.note(A, 100_000 + n)
    assert opened(tmp_path)[1] == {A: [*range(31, 36), *range(100_000, 100_010)]}


def test_what_is_no_journal_of_ours_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "accepted.1").write_bytes(b"short")
    (tmp_path / "accepted.new").write_bytes(bytes(100))
    (tmp_path / "accepted.x").write_bytes(b"?" * 100)
    made, found = opened(tmp_path)
    made.note(A, 5)
    assert found == {} and opened(tmp_path)[1] == {A: [5]}


def test_a_disk_without_room_is_said_and_tried_again_later(tmp_path: Path) -> None:
    made = Journal(tmp_path / "missing" / "accepted", keep_ms=KEEP_MS)
    assert made.recall() == {}
    with pytest.raises(Unavailable):
        made.note(A, 1_000)
    (tmp_path / "missing").mkdir()
    with pytest.raises(Unavailable):
        made.note(A, 2_000)
    made.note(A, 20_000)
    made.note(A, 20_001)
    assert Journal(tmp_path / "missing" / "accepted", keep_ms=KEEP_MS).recall() == {
        A: [20_000, 20_001]
    }
