"""Runs a command in the root file system of an image, as docker and podman do with
`--read-only --cap-drop=all --security-opt=no-new-privileges --tmpfs /tmp`, but with the network of
this machine. Needs root, and works where containers cannot be started.

`python container.py JSON WORDS...`: JSON has the fields of `Container`, WORDS are more arguments of
its command, and HONEYGUIDE_ settings outside are settings inside. The command is process 1 of its
own. SIGTERM is passed on to it, and its exit code returned.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

CLONE_NEWNS, CLONE_NEWPID = 0x00020000, 0x20000000
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 24, 38
LAST_CAPABILITY = Path("/proc/sys/kernel/cap_last_cap")
DEVICES = ("null", "zero", "random", "urandom")

libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Container:
    root: str
    user: str  # uid:gid
    folder: str
    environment: dict[str, str]
    mounts: dict[str, str]  # from the path in the container to the one outside
    command: list[str]

    @property
    def arguments(self) -> list[str]:
        """The command line that runs it."""
        return [sys.executable, __file__, json.dumps(asdict(self))]


def run(container: Container, *arguments: str) -> int:
    _call("unshare", CLONE_NEWNS | CLONE_NEWPID)
    child = os.fork()
    if child == 0:
        _become(container, arguments)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _become(container: Container, arguments: tuple[str, ...]) -> None:
    _mount_all(Path(container.root), container.mounts)
    os.chroot(container.root)
    os.chdir(container.folder)
    for number in range(int(LAST_CAPABILITY.read_text()) + 1):
        _call("prctl", PR_CAPBSET_DROP, number)
    user, group = map(int, container.user.split(":"))
    os.setgroups([])
    os.setgid(group)
    os.setuid(user)
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL)
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    given = {name: text for name, text in os.environ.items() if name.startswith("HONEYGUIDE_")}
    command = [*container.command, *arguments]
    os.execvpe(command[0], command, container.environment | given)


def _mount_all(root: Path, mounts: dict[str, str]) -> None:
    _mount("--make-rprivate", "/")
    _mount("--bind", root, root)
    _mount("-t", "proc", "proc", root / "proc")
    _mount("-t", "tmpfs", "tmpfs", root / "tmp")
    _mount("-t", "tmpfs", "tmpfs", root / "dev")
    for name in DEVICES:
        (root / "dev" / name).touch()
        _mount("--bind", f"/dev/{name}", root / "dev" / name)
    _mount("-t", "tmpfs", "tmpfs", root / "run")
    for inside, outside in mounts.items():
        target = root / inside.lstrip("/")
        if inside.startswith("/run/"):
            target.mkdir(parents=True)
        _mount("--bind", outside, target)
    for name in ("dev", "run", ""):
        _mount("-o", "remount,bind,ro", root / name)


def _mount(*arguments: str | Path) -> None:
    subprocess.run(["mount", *map(str, arguments)], check=True)


def _call(name: str, *arguments: int) -> None:
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}{arguments}: {os.strerror(number)}")


if __name__ == "__main__":
    sys.exit(run(Container(**json.loads(sys.argv[1])), *sys.argv[2:]))
