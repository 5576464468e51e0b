"""The real command as real processes: started with the settings of the environment, waited for,
spoken to and killed.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from . import starter
from .postgres import free_port
from .service import fresh_database_url

COMMAND = [sys.executable, "-m", "honeyguide"]
START_LIMIT_S = 60.0
STOP_LIMIT_S = 30.0


class Credentials(NamedTuple):
    account_id: str
    campaign_id: str
    key: str
    email: str

    @property
    def v1(self) -> str:
        return f"/v1/campaigns/{self.campaign_id}"


def environment(**settings: object) -> dict[str, str]:
    """This process's own, without anything of Honeyguide's but what is given: `port=8001` is
    HONEYGUIDE_PORT.
    """
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HONEYGUIDE_", "PROMETHEUS_"))
    }
    given = {"settings": "", **settings}  # no file of the machine that runs the tests
    return clean | {f"HONEYGUIDE_{name.upper()}": str(value) for name, value in given.items()}


def command(
    *arguments: str, cwd: Path | None = None, timeout: float = 150, **settings: object
) -> subprocess.CompletedProcess[str]:
    return starter.run(list(arguments), env=environment(**settings), cwd=cwd, timeout=timeout)


def is_alive(pid: int) -> bool:
    """A killed orphan stays as a zombie until its new parent looks after it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it may end between opening and reading
        return False


def new_account(database_url: str, email: str = "alice@example.org") -> Credentials:
    done = command("account", "create", email, "--json", database_url=database_url)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    return Credentials(made["account_uuid"], made["campaign_uuid"], made["api_key"], email)


def new_key(database_url: str, email: str) -> str:
    done = command("keys", "create", email, database_url=database_url)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def outcome(self) -> int | str:
        """The status, or the error code of a 500: `unavailable` is expected of a store that is
        down, a bug is not.
        """
        return self.json()["code"] if self.status == 500 else self.status


class Caller:
    """One kept-alive connection. A connection that breaks raises OSError; the next call makes a new
    one.
    """

    def __init__(self, port: int, key: str | None = None, *, timeout: float = 30) -> None:
        self.port = port
        self._headers = {"X-Api-Key": key} if key else {}
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        given = self._headers | {name.replace("_", "-"): value for name, value in headers.items()}
        raw = None if body is None else json.dumps(body).encode()
        if raw is not None:
            given["Content-Type"] = "application/json"
        try:
            self._http.request(method, path, raw, given)
            answer = self._http.getresponse()
            return Answer(
                answer.status,
                {name.lower(): value for name, value in answer.getheaders()},
                answer.read(),
            )
        except http.client.HTTPException as error:
            self._http.close()
            raise ConnectionError(repr(error)) from error
        except OSError:
            self._http.close()
            raise

    def close(self) -> None:
        self._http.close()


class Serving:
    """`honeyguide serve` as a process of its own; `with Serving(database_url) as server`. May be
    killed and started again.
    """

    def __init__(self, database_url: str, *arguments: str, **settings: object) -> None:
        self.database_url = database_url
        self.arguments = arguments
        self.port = int(str(settings.pop("port", 0))) or free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="hgserve"))
        self.clock_file = self.folder / "clock"
        self.settings = {"log": "off", "test_clock": self.clock_file, "rate_limit": 0, **settings}
        self.before = ""  # Python that the new process runs first
        self.command: list[str] = []  # another one, such as one that sets limits and then runs ours
        self.set_clock(0)
        self._process: subprocess.Popen[bytes] | starter.Command | None = None

    @property
    def process(self) -> subprocess.Popen[bytes] | starter.Command:
        assert self._process is not None, "not started"
        return self._process

    @property
    def output(self) -> str:
        return (self.folder / "out").read_text()

    def set_clock(self, ahead_s: float) -> None:
        """In one step: a reader never sees half a number."""
        draft = self.folder / "clock.new"
        draft.write_text(str(ahead_s))
        draft.replace(self.clock_file)

    def start(self, *, wait: bool = True) -> Serving:
        env = environment(database_url=self.database_url, port=self.port, **self.settings)
        arguments = ["serve", *self.arguments]
        with open(self.folder / "out", "wb") as out:
            if self.command:
                self._process = subprocess.Popen(
                    [*self.command, *arguments], stdout=out, stderr=out, env=env
                )
            else:
                self._process = starter.Command(
                    arguments, env=env, stdout=out, stderr=out, before=self.before
                )
        if wait:
            self.wait_for("/healthz")
        return self

    def wait_for(
        self, path: str = "/readyz", status: int = 200, seconds: float = START_LIMIT_S
    ) -> Answer:
        give_up = time.monotonic() + seconds
        last: object = None
        while time.monotonic() < give_up:
            assert self.process.poll() is None, (
                f"it ended with {self.process.returncode}: {self.output}"
            )
            try:
                answer = self.caller()("GET", path)
                if answer.status == status:
                    return answer
                last = answer
            except OSError as error:
                last = error
            time.sleep(0.02)
        raise AssertionError(
            f"{path} did not answer {status} within {seconds} s, but {last}; it said: {self.output}"
        )

    def caller(self, key: str | None = None, *, timeout: float = 30) -> Caller:
        return Caller(self.port, key, timeout=timeout)

    def kill(self) -> None:
        """As the kernel does it when memory is short: no goodbye."""
        self.process.kill()
        self.process.wait(STOP_LIMIT_S)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(STOP_LIMIT_S)

    def __enter__(self) -> Serving:
        return self.start()

    def __exit__(self, *_: object) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(15)
            except subprocess.TimeoutExpired:
                self.kill()


def fresh(engine: str) -> str:
    """An empty database of its own."""
    return fresh_database_url(engine, Path(tempfile.mkdtemp(prefix="hgdata")))


def migrated(engine: str) -> str:
    """A database of its own with all tables and no rows."""
    return fresh_database_url(engine, Path(tempfile.mkdtemp(prefix="hgdata")), migrated=True)
