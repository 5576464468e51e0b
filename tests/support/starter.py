"""`honeyguide` commands as real processes that share the cost of importing it.

Importing takes over a second of processor time. A starter process does it once and forks for every
command. Each command has a process id, an environment, a folder and streams of its own, and can be
killed like any other process.
"""

import array
import atexit
import contextlib
import functools
import gc
import importlib
import io
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from typing import IO, Any

# Of this checkout, whose Python may be that of another one.
SOURCE = Path(__file__).resolve().parents[2] / "src"
PRELOADED = ("honeyguide.cli", "typer.rich_utils")
_ONE_AT_A_TIME = threading.Lock()


class Command:
    """One running command, with what `subprocess.Popen` calls the same."""

    def __init__(
        self,
        arguments: list[str],
        *,
        env: dict[str, str],
        stdout: IO[bytes],
        stderr: IO[bytes],
        stdin: IO[bytes] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        before: str = "",
    ) -> None:
        """`before` is Python that the new process runs first."""
        self.args = ["honeyguide", *arguments]
        self.returncode: int | None = None
        self._status, writer = os.pipe()
        folder = os.fspath(cwd or os.getcwd())
        asked = {"arguments": arguments, "env": env, "cwd": folder, "before": before}
        streams = [stdout.fileno(), stderr.fileno(), writer]
        if stdin is not None:
            streams.append(stdin.fileno())
        with _ONE_AT_A_TIME:
            channel = _starter()
            channel.sendall(b"%10d" % len(message := json.dumps(asked).encode()))
            channel.sendall(message)
            socket.send_fds(channel, [b"!"], streams)
            os.close(writer)
            self.pid = self._number(60)

    def _number(self, timeout: float | None) -> int:
        if not select.select([self._status], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        (number,) = array.array("q", os.read(self._status, 8))
        return number

    def poll(self) -> int | None:
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self.returncode = self._number(timeout)
            os.close(self._status)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run(
    arguments: list[str],
    *,
    env: dict[str, str],
    cwd: str | os.PathLike[str] | None = None,
    timeout: float = 150,
    before: str = "",
    typed: str = "",
) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end, as `subprocess.run` does; `typed` is its standard input."""
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        tempfile.TemporaryFile() as given,
    ):
        given.write(typed.encode())
        given.seek(0)
        started = Command(
            arguments, env=env, cwd=cwd, stdout=out, stderr=err, stdin=given, before=before
        )
        try:
            code = started.wait(timeout)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()
            raise
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return subprocess.CompletedProcess(started.args, code, *texts)


@functools.cache
def _starter() -> socket.socket:
    ours, theirs = socket.socketpair()
    process = subprocess.Popen(
        [sys.executable, "-I", __file__, str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
    )
    theirs.close()
    atexit.register(process.wait, 30)
    atexit.register(ours.close)  # runs first: the end of the channel ends the starter
    return ours


def main() -> None:
    sys.path.insert(0, str(SOURCE))
    for name in PRELOADED:
        importlib.import_module(name)
    with contextlib.redirect_stdout(io.StringIO()):  # the first command imports still more
        sys.modules["honeyguide.cli"].app(["version"], standalone_mode=False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the keepers
    gc.freeze()
    channel = socket.socket(fileno=int(sys.argv[1]))
    while length := _read(channel, 10):
        asked = json.loads(_read(channel, int(length)))
        _, streams, _, _ = socket.recv_fds(channel, 1, 4)
        if os.fork() == 0:
            channel.close()
            return _keep(asked, *streams)
        for stream in streams:
            os.close(stream)


def _read(channel: socket.socket, length: int) -> bytes:
    return channel.recv(length, socket.MSG_WAITALL)


def _keep(asked: dict[str, Any], stdout: int, stderr: int, status: int, *stdin: int) -> None:
    """Starts the command, tells its process id, waits for it and tells how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if (pid := os.fork()) == 0:
        os.close(status)
        return _become(asked, stdout, stderr, *stdin)
    for stream in (stdout, stderr, *stdin):
        os.close(stream)
    os.write(status, array.array("q", [pid]))
    _, ended = os.waitpid(pid, 0)
    try:
        os.write(status, array.array("q", [os.waitstatus_to_exitcode(ended)]))
    except BrokenPipeError:
        pass
    os._exit(0)


def _become(asked: dict[str, Any], stdout: int, stderr: int, *stdin: int) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream in stdin:  # one or none
        os.dup2(stream, 0)
        os.close(stream)
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    os.close(stdout)
    os.close(stderr)
    sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(  # noqa: SIM115
        2, "w", closefd=False, errors="backslashreplace", buffering=1
    )
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.argv = ["honeyguide", *asked["arguments"]]
    code = 0
    try:
        exec(asked["before"], {})
        runpy.run_module("honeyguide", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if isinstance(ended.code, str):  # as Python does at its end
            print(ended.code, file=sys.stderr)
        code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # taking the imported modules apart would cost as much as importing them


if __name__ == "__main__":
    main()
