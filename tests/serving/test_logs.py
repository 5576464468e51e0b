"""The log of real processes: every line is JSON, says where it comes from, and names no person."""

import asyncio
import contextlib
import json
import logging
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from io import StringIO
from typing import Any

import apsw
import asyncpg
import httpx
import pytest

from honeyguide import logs
from honeyguide.kernel import log_context
from honeyguide.kernel.errors import Fault, Invalid, Missing, Unavailable
from tests.support.mailbox import Mailbox
from tests.support.postgres import free_port
from tests.support.process import (
    Caller,
    Credentials,
    Serving,
    command,
    environment,
    fresh,
    migrated,
    new_account,
)
from tests.support.service import ENGINES, until
from tests.support.starter import Command

MARK = "zelda7q"
EMAIL = f"{MARK}@example.org"
FIELDS = {"time", "level", "logger", "message", "request_id", "account", "job"}
# A bug as a database reports it: the error quotes the subscriber.
SQLITE_BUG = f"""
CREATE TRIGGER bug BEFORE INSERT ON subscriber WHEN NEW.email LIKE '{MARK}+bug%'
BEGIN SELECT RAISE(ABORT, 'no {EMAIL}'); END
"""
POSTGRES_BUG = f"""
CREATE FUNCTION bug() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'no %', NEW.email; END $$;
CREATE TRIGGER bug BEFORE INSERT ON subscriber FOR EACH ROW
WHEN (NEW.email LIKE '{MARK}+bug%') EXECUTE FUNCTION bug()
"""


def lines(text: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in text.splitlines()]
    assert all(line.keys() >= FIELDS for line in found)
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_every_line_is_json_and_none_names_a_person(engine: str) -> None:
    url = migrated(engine)
    alice = new_account(url, EMAIL)
    with (
        Mailbox() as mailbox,
        Serving(
            url,
            log="json",
            smtp_url=mailbox.url,
            trusted_proxies="127.0.0.1",
            webhook_allow="127.0.0.0/8",
        ) as server,
    ):
        mailbox.say("RCPT", *[f"421 4.3.2 cannot take <{EMAIL}> now"] * 5)
        add_bug(url)
        use(server, alice)
        until(lambda: "waiting for the mail server" in server.output)
        until(lambda: '"event":"request"' in server.output)
        server.stop()
        found = lines(server.output)
        assert (
            not re.search(MARK, server.output, re.IGNORECASE) and "203.0.113" not in server.output
        )
        assert alice.key not in server.output
    messages = {line["message"].partition(":")[0]: line for line in found}
    assert messages["Honeyguide is running at http"]["level"] == "info"
    bug = messages["Request failed"]
    assert bug["level"] == "error" and bug["account"] == alice.account_id
    assert bug["traceback"].startswith("Traceback") and "handler.py" in bug["traceback"]
    (failed,) = [line for line in found if line.get("status") == 500]
    assert failed["request_id"] == bug["request_id"] == "bug-1" and failed["logger"]
    waiting = messages["Emails are waiting for the mail server"]
    assert waiting["job"] == "send emails" and waiting["account"] == alice.account_id
    jobs = [line for line in found if line.get("event") == "job"]
    assert "send emails" in {line["job"] for line in jobs}
    assert all(line["ms"] >= 0 and line["request_id"] is None for line in jobs)
    # Pages are logged by the route's pattern, as the API is, and each request has an ID.
    asked = {line["message"]: line for line in found if line.get("event") == "request"}
    assert asked["POST /password 200"]["request_id"] and "GET unknown 404" in asked
    # One spelling, whichever module and stream a line comes from.
    assert {json.dumps(line, separators=(",", ":")) for line in found} == set(
        server.output.splitlines()
    )


def use(server: Serving, alice: Credentials) -> None:
    """Everything that could reach the log: signups, an erasure, errors, a webhook, an email."""
    headers = {"X-Api-Key": alice.key, "X-Forwarded-For": "203.0.113.7", "User-Agent": MARK}
    base = f"http://127.0.0.1:{server.port}"
    with httpx.Client(base_url=base, headers=headers, timeout=30, verify=False) as http:
        hook = {"url": f"http://127.0.0.1:{free_port()}/{MARK}", "new_referral": True}
        made = http.post(f"{alice.v1}/webhooks", json=hook).json()["webhook"]
        deliveries = f"{alice.v1}/webhooks/{made['uuid']}/deliveries"
        subscribers = f"{alice.v1}/subscribers"
        person = {"email": EMAIL, "name": MARK, "ip_address": "203.0.113.8"}
        answer = http.post(subscribers, json=person)
        assert answer.status_code == 201
        friend = {
            "email": f"{MARK}+2@example.com",
            "referrer_code": answer.json()["subscriber"]["ref_code"],
        }
        assert http.post(subscribers, json=friend).status_code == 201
        until(lambda: '"attempts":[{' in http.get(deliveries).text.replace(" ", ""))
        assert http.post(subscribers, json=person).status_code == 400
        assert http.post(subscribers, content=f'{{"email": "{EMAIL}').status_code == 400
        assert http.get(f"{subscribers}/{EMAIL}").status_code == 200
        assert http.get(f"/v1/{EMAIL}").status_code == 404
        assert http.get(f"/{EMAIL}?email={EMAIL}").status_code == 404
        assert http.get("/v1/campaigns", headers={"X-Api-Key": MARK}).status_code == 401
        bug = {"email": f"{MARK}+bug@example.org"}
        answer = http.post(subscribers, json=bug, headers={"X-Request-Id": "bug-1"})
        assert answer.status_code == 500
        form = re.search(r'name="csrf" value="([0-9a-f]+)"', http.get("/password").text)
        assert form is not None
        fields = {"csrf": form[1], "email": EMAIL}
        assert http.post("/password", data=fields, headers={"origin": base}).status_code < 400
        assert http.delete(f"{subscribers}/{EMAIL}").status_code == 200


def add_bug(url: str) -> None:
    if url.startswith("sqlite"):
        with contextlib.closing(apsw.Connection(url.removeprefix("sqlite:///"))) as connection:
            connection.set_busy_timeout(5000)
            connection.execute(SQLITE_BUG)
        return

    async def add() -> None:
        connection = await asyncpg.connect(url)
        await connection.execute(POSTGRES_BUG)
        await connection.close()

    asyncio.run(add())


def test_an_idle_service_says_what_it_migrated_where_it_runs_and_that_it_stopped() -> None:
    with Serving(fresh("sqlite")) as server:
        time.sleep(2.5)  # the most frequent jobs look every second
        server.stop()
        found = lines(server.output)
    first, second, *rest = [line["message"] for line in found if line["job"] is None]
    assert re.fullmatch(r"Ran \d+ migrations: 0093 … \d{4}", first)
    assert second.startswith("There is no account yet. Create the first one at ")
    assert rest == [
        f"Honeyguide is running at http://127.0.0.1:{server.port}",
        f"API reference: http://127.0.0.1:{server.port}/docs. Press Ctrl-C to stop.",
        "Stopping. Waiting for requests and jobs to finish.",
        "Stopped",
    ]
    # A new database has one thing to do: last month is over.
    assert {line["job"] for line in found} <= {
        None,
        "close months and create payouts",
        "store the digests of closed months",
        "send payout notifications",
    }


@pytest.mark.parametrize("plain", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_shows_text_once_and_in_color_if_it_may(plain: dict[str, str]) -> None:
    ours, theirs = pty.openpty()
    port = free_port()
    env = environment(database_url=fresh("sqlite"), port=port) | {"TERM": "xterm"} | plain
    env = {name: value for name, value in env.items() if name in plain or name != "NO_COLOR"}
    with open(theirs, "wb", buffering=0) as terminal:
        process = Command(["serve"], env=env, stdout=terminal, stderr=terminal)
    found = b""
    while b"Press Ctrl-C" not in found:
        found += os.read(ours, 1000)
    Caller(port)("GET", "/v1/campaigns")
    while b"request_id" not in found:
        found += os.read(ours, 1000)
    process.send_signal(signal.SIGINT)
    while b"Stopped" not in found:
        found += os.read(ours, 1000)
    assert process.wait(30) == 0
    os.close(ours)
    assert b"{" not in found and (b"\x1b[" not in found) is bool(plain)
    text = re.sub(rb"\x1b\[[0-9;]*m", b"", found)
    assert b"info    Honeyguide is running at http" in text
    assert re.search(rb"info    GET /v1/campaigns 401  \[ms=[0-9.]+ request_id=[\w-]+\]\r\n", text)


@pytest.mark.parametrize(("level", "expected"), [("info", True), ("warning", False)])
def test_the_level_applies_to_every_line(level: str, expected: bool) -> None:
    url = migrated("sqlite")
    new_account(url)  # without one, a warning says where to create it
    with Serving(url, log="json", log_level=level) as server:
        server.caller()("GET", "/v1/campaigns")
        server.stop()
        assert bool(server.output) is expected


def test_work_logs_json_too_and_says_why_it_cannot_start() -> None:
    done = command("work", database_url=f"postgresql://x@127.0.0.1:{free_port()}/x")
    (line,) = lines(done.stderr)
    assert done.returncode == 1 and "Cannot connect to PostgreSQL" in line["message"]


@pytest.fixture
def written() -> Iterator[StringIO]:
    """What the root logger writes, formatted as in a process of ours."""
    out = StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(logs.JsonFormatter())
    root = logging.getLogger()
    root.addHandler(handler)
    yield out
    root.removeHandler(handler)


def test_libraries_are_cut_to_one_line_without_addresses(written: StringIO) -> None:
    logging.getLogger("asyncio").error("lost ('203.0.113.7', 80) 2001:db8::7 %s\n%s", EMAIL, MARK)
    (line,) = lines(written.getvalue())
    assert line["message"] == "lost ('[ip]', 80) [ip] [email]"


def test_a_traceback_shows_causes_and_groups_but_no_values(written: StringIO) -> None:
    log_context.start_job("test")
    try:
        try:
            {}[EMAIL]
        except KeyError as error:
            raise ExceptionGroup(MARK, [ValueError(EMAIL), OSError(28, "disk", MARK)]) from error
    except ExceptionGroup:
        logging.getLogger("honeyguide.test").exception("It failed")
    (line,) = lines(written.getvalue())
    kinds = ("KeyError", "ExceptionGroup", "ValueError", "OSError: disk")
    assert all(f"builtins.{kind}" in line["traceback"] for kind in kinds)
    assert MARK not in written.getvalue() and line["job"] == "test"


@pytest.mark.parametrize("formatter", [logs.JsonFormatter, logs.TextFormatter])
@pytest.mark.parametrize("kind", [Invalid, Missing, Unavailable])
def test_a_traceback_has_the_template_of_a_fault_but_not_what_was_filled_in(
    kind: type[Fault], formatter: type[logging.Formatter]
) -> None:
    template = "{email} is no good."
    try:
        try:
            raise kind(template, email=EMAIL)
        except Fault as cause:
            raise ExceptionGroup(MARK, [kind(template, email=EMAIL)]) from cause
    except ExceptionGroup as group:
        failed = (type(group), group, group.__traceback__)
    record = logging.LogRecord("honeyguide.x", logging.ERROR, __file__, 1, "Failed", None, failed)
    line = formatter().format(record)
    assert line.count(template) == 2 and MARK not in line


# Every way in which Python itself reports an error that nobody caught.
UNCAUGHT = """
import asyncio, gc, sys, threading
from honeyguide import logs
logs.configure("info")

class Dropped:
    def __del__(self):
        raise ValueError(sys.argv[1])

def fail():
    raise KeyError(sys.argv[1])

async def forget():
    async def lose():
        raise LookupError(sys.argv[1])
    lost = asyncio.create_task(lose())
    await asyncio.sleep(0)
    del lost
    gc.collect()

thread = threading.Thread(target=fail)
thread.start()
thread.join()
Dropped()
asyncio.run(forget())
raise RuntimeError(sys.argv[1])
"""


def test_errors_that_nobody_caught_are_logged_without_their_values() -> None:
    arguments = [sys.executable, "-c", UNCAUGHT, EMAIL]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    kinds = [line["traceback"].rpartition("\n")[2] for line in lines(done.stderr)]
    assert kinds == [
        f"builtins.{kind}" for kind in ("KeyError", "ValueError", "LookupError", "RuntimeError")
    ]
    assert MARK not in done.stderr and done.returncode == 1


def test_warnings_and_crashes_are_log_lines() -> None:
    code = (
        "import warnings; from honeyguide import logs; logs.configure('info'); "
        f"warnings.warn('old {EMAIL}'); 1 / 0"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    warning, crash = lines(done.stderr)
    assert warning["logger"] == "py.warnings" and "old [email]" in warning["message"]
    assert crash["level"] == "critical" and "ZeroDivisionError" in crash["traceback"]
    assert done.returncode == 1
