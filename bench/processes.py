"""What processes cost: the CPU time and the memory of one process and all its children."""

from __future__ import annotations

import os
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

_TICK_US = 1_000_000 // os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")


def tree(pid: int) -> list[int]:
    """The process and everything below it that lives."""
    children: dict[int, list[int]] = defaultdict(list)
    for folder in _PROC.iterdir():
        if folder.name.isdigit() and (fields := _stat(int(folder.name))):
            children[int(fields[1])].append(int(folder.name))
    found = [pid]
    for each in found:
        found += children[each]
    return found


def cpu_us(pid: int) -> int:
    """User and system time of the process and its children, those that have ended included."""
    ticks = 0
    for each in tree(pid):
        if fields := _stat(each):
            # utime, stime, and the same of children that ended: fields 14 to 17 of `man proc`.
            ticks += sum(int(value) for value in fields[11:15])
    return ticks * _TICK_US


def preemptions(pid: int) -> int:
    """How often the kernel took the core away from a thread that had more to do."""
    count = 0
    for each in tree(pid):
        for status in (_PROC / str(each) / "task").glob("*/status"):
            with suppress(FileNotFoundError, ProcessLookupError):
                count += int(status.read_text().rpartition("nonvoluntary_ctxt_switches:")[2])
    return count


def memory_mb(pid: int) -> list[float]:
    """Resident memory of each process, the parent first."""
    found = []
    for each in tree(pid):
        try:
            status = (_PROC / str(each) / "status").read_text()
        except FileNotFoundError:
            continue
        resident = [line for line in status.splitlines() if line.startswith("VmRSS:")]
        if resident:
            found.append(int(resident[0].split()[1]) / 1024)
    return found


def _stat(pid: int) -> list[str]:
    """From the third field on: the second is a name that may contain spaces."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []
