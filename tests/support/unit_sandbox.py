"""Runs a command under the options of a systemd unit, as far as this works without systemd: a
read-only file system, another user without privileges, and the filters for system calls.

`unshare --mount python -m tests.support.unit_sandbox UNIT STATE COMMAND...`, as root. STATE becomes
/var/lib/honeyguide, and /var/tmp is a temporary folder.
"""

import ctypes
import errno
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

NOBODY = 65534
STATE_FOLDER = "/var/lib/honeyguide"
PROT_WRITE, PROT_EXEC = 2, 4
ALLOW, ERRNO = 0x7FFF0000, 0x00050000 | errno.EPERM
EQUAL, MASKED_EQUAL = 4, 7
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10}
PR_SET_NO_NEW_PRIVS = 38


class Comparison(ctypes.Structure):
    """libseccomp's `scmp_arg_cmp`: argument, operator, and what to compare with."""

    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


def values(unit: Path, name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", unit.read_text(), re.MULTILINE)


def allowed_calls(unit: Path) -> set[str]:
    """The system calls that SystemCallFilter= leaves, in the order of its lines."""
    allowed: set[str] = set()
    for line in values(unit, "SystemCallFilter"):
        named = _expanded(line.removeprefix("~").split())
        allowed = allowed - named if line.startswith("~") else allowed | named
    return allowed


def _expanded(names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for name in names:
        if not name.startswith("@"):
            found.add(name)
            continue
        asked = ["systemd-analyze", "syscall-filter", name]
        listed = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
        lines = [line.strip() for line in listed.splitlines() if line.startswith(" ")]
        found |= _expanded(line for line in lines if not line.startswith("#"))
    return found


class Filter:
    """A seccomp filter: `otherwise` for every call without a rule."""

    def __init__(self, otherwise: int) -> None:
        self._lib = ctypes.CDLL("libseccomp.so.2")
        self._lib.seccomp_init.restype = ctypes.c_void_p
        self._context = ctypes.c_void_p(self._lib.seccomp_init(ctypes.c_uint32(otherwise)))

    def add(self, action: int, call: str, *comparisons: tuple[int, int, int, int]) -> None:
        number = self._lib.seccomp_syscall_resolve_name(call.encode())
        if number == -1:  # not a call of this processor or kernel
            return
        array = (Comparison * len(comparisons))(*comparisons)
        code = self._lib.seccomp_rule_add_array(
            self._context, ctypes.c_uint32(action), number, len(comparisons), array
        )
        # A call that this processor does not have cannot be compared.
        assert code == 0 or number < 0, (call, code)

    def load(self) -> None:
        code = self._lib.seccomp_load(self._context)
        assert code == 0, os.strerror(-code)


def filters(unit: Path) -> list[Filter]:
    calls = Filter(ERRNO)
    for name in sorted(allowed_calls(unit)):
        calls.add(ALLOW, name)
    more = Filter(ALLOW)
    if values(unit, "MemoryDenyWriteExecute") == ["yes"]:
        both = PROT_WRITE | PROT_EXEC
        more.add(ERRNO, "mmap", (2, MASKED_EQUAL, both, both))
        for name in ("mprotect", "pkey_mprotect"):
            more.add(ERRNO, name, (2, MASKED_EQUAL, PROT_EXEC, PROT_EXEC))
    (families,) = values(unit, "RestrictAddressFamilies")
    for family in set(range(64)) - {FAMILIES[name] for name in families.split()}:
        more.add(ERRNO, "socket", (0, EQUAL, family, 0))
    return [more, calls]


def confine_files(unit: Path, state: str) -> None:
    assert values(unit, "ProtectSystem") == ["strict"]
    _mount("--make-rprivate", "/")
    assert values(unit, "ProcSubset") + values(unit, "ProtectProc") == ["pid", "invisible"]
    _mount("-t", "proc", "-o", "subset=pid,hidepid=invisible", "proc", "/proc")
    _mount("-t", "tmpfs", "tmpfs", "/var/tmp")
    os.chmod("/var/tmp", 0o1777)
    _mount("--bind", state, "/mnt")
    _mount("-t", "tmpfs", "tmpfs", "/var/lib")
    os.mkdir(STATE_FOLDER)
    _mount("--bind", "/mnt", STATE_FOLDER)
    os.chown(STATE_FOLDER, NOBODY, NOBODY)
    _mount("-o", "remount,bind,ro", "/")
    _mount("-o", "remount,ro", "/var/lib")


def _mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def main(unit: Path, state: str, *command: str) -> None:
    confine_files(unit, state)
    made = filters(unit)
    os.environ |= {"HOME": STATE_FOLDER, "PYTHONDONTWRITEBYTECODE": "1"}
    os.chdir(STATE_FOLDER)
    os.umask(0o077)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    assert ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    for each in made:
        each.load()
    os.execv(command[0], command)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
