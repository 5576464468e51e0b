"""The store locked, full, broken or gone: writes get a quick 500 with Retry-After, reads go on
where they can, nothing is half written, and all is well again without anybody's hand.
"""

import json
import resource
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import apsw
import pytest

from honeyguide.api.handler import MOST_AT_ONCE
from tests.support.disks import watched_disk
from tests.support.metrics import Scrape
from tests.support.postgres import PostgresServer
from tests.support.process import COMMAND, Answer, Serving, migrated, new_account
from tests.support.service import Member, Service, until


def assert_shed(answer: Answer) -> None:
    assert answer.status == 500, answer
    assert int(answer.headers["retry-after"]) >= 1
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.json()["code"] == "unavailable" and answer.json()["error"].endswith(
        "try again in a moment."
    )


def signup(number: int) -> dict[str, str]:
    return {"email": f"reader{number}@example.org"}


# SQLite: locked by another process.
def lock(url: str) -> apsw.Connection:
    other = apsw.Connection(url.removeprefix("sqlite:///"))
    other.set_busy_timeout(20_000)  # the server writes now and then, too
    other.execute("BEGIN IMMEDIATE")
    return other


def test_a_file_locked_by_another_process_sheds_writes_in_time_and_reads_go_on():
    url = migrated("sqlite")
    alice = new_account(url)
    path = f"{alice.v1}/subscribers"
    with Serving(url) as server:
        call = server.caller(alice.key)
        assert call("POST", path, signup(0)).status == 201
        other = lock(url)
        began = time.monotonic()
        answers: list[Answer] = []
        took: list[float] = []

        def write(number: int) -> None:
            at = time.monotonic()
            answers.append(server.caller(alice.key)("POST", path, signup(number)))
            took.append(time.monotonic() - at)

        # More writers than one group holds: those who queue behind the first must not wait as long
        # again.
        writers = [threading.Thread(target=write, args=(number,)) for number in range(1, 201)]
        for writer in writers:
            writer.start()
        reads = 0
        while any(writer.is_alive() for writer in writers):
            assert call("GET", path).json()["meta"]["total_subscribers"] == 1
            reads += 1
        assert reads > 10, "no read waits for the lock, as each of the writers does"
        for answer in answers:
            assert_shed(answer)
        # One wait of five seconds, and not one for each of the four groups.
        assert max(took) < 19
        # Meanwhile it is ready for those who read, and the lock may well last ten seconds.
        while time.monotonic() - began < 10:
            assert call("GET", path).status == 200
            time.sleep(0.1)
        other.execute("ROLLBACK")
        other.close()
        assert call("POST", path, signup(1)).status == 201
        assert call("GET", path).json()["meta"]["total_subscribers"] == 2


def test_a_lock_of_a_moment_is_waited_for():
    url = migrated("sqlite")
    alice = new_account(url)
    with Serving(url) as server, ThreadPoolExecutor(4) as pool:
        other = lock(url)
        written = [
            pool.submit(server.caller(alice.key), "POST", f"{alice.v1}/subscribers", signup(i))
            for i in range(4)
        ]
        call = server.caller(alice.key)
        for _ in range(20):
            assert call("GET", alice.v1).status == 200
        assert not any(future.done() for future in written)
        other.execute("COMMIT")
        assert [future.result().status for future in written] == [201] * 4


# SQLite: a full disk. First a limit inside SQLite, which fails a statement; then one of the system,
# which fails a write.
def test_a_full_database_sheds_writes_acknowledges_none_and_recovers():
    # Without background work, whose transaction VACUUM would meet.
    with Service("sqlite", work=False) as service:
        alice = service.member("alice")
        alice.subscribe("first@example.org")
        writer = service.services.store._writer  # type: ignore[attr-defined]

        async def pragma(text: str) -> int:
            return int(writer.execute(text).fetchall()[0][0])

        async def compact() -> None:
            writer.execute("VACUUM")  # no free pages are left inside the file

        service.run(compact())
        pages = service.run(pragma("PRAGMA page_count"))
        service.run(pragma(f"PRAGMA max_page_count = {pages + 4}"))
        answers = _parallel_signups(alice, 120)
        assert set(answers.values()) in ({201, "unavailable"}, {"unavailable"})
        assert alice.get(f"{alice.v1}/subscribers").status_code == 200
        assert alice.total() == 1 + sum(status == 201 for status in answers.values())
        full = alice.post(
            f"{alice.v1}/subscribers",
            {"email": "x" * 60 + "@example.org", "user_agent": "y" * 1000},
        )
        service.run(pragma("PRAGMA max_page_count = 1073741823"))
        assert (full.status_code, full.json()["code"]) == (500, "unavailable") and int(
            full.headers["retry-after"]
        ) >= 1
        again = _parallel_signups(alice, 120)
        assert all((again[i] == 201) == (answers[i] == "unavailable") for i in answers), (
            "what was refused was not kept, and what was not, was"
        )
        assert set(again.values()) <= {201, 400}
        assert alice.total() == 121


def _parallel_signups(alice: Member, many: int) -> dict[int, int | str]:
    def one(number: int) -> int | str:
        body = {"email": f"reader{number}@example.org", "user_agent": "u" * 900, "name": "n" * 200}
        answer = alice.post(f"{alice.v1}/subscribers", body)
        return answer.json()["code"] if answer.status_code == 500 else answer.status_code  # type: ignore[no-any-return]

    with ThreadPoolExecutor(16) as pool:
        return dict(enumerate(pool.map(one, range(many))))


LIMITED = """
import os, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
os.execv(sys.argv[2], sys.argv[2:])
"""


def test_a_full_disk_fails_whole_groups_reads_go_on_and_room_is_enough_to_mend_it():
    url = migrated("sqlite")
    alice = new_account(url)
    path = f"{alice.v1}/subscribers"
    server = Serving(url, rate_limit=1_000_000)
    # no file may grow past this: neither the database nor its log, nor the rate limit's side file
    size = 1_500_000
    server.command = [sys.executable, "-c", LIMITED, str(size), *COMMAND]
    with server:
        acknowledged: list[str] = []
        refused: list[Answer] = []

        def fill(number: int) -> None:
            call = server.caller(alice.key)
            for i in range(400):
                if len(refused) > 30:
                    return
                email = f"reader{number}-{i}@example.org"
                answer = call(
                    "POST", path, {"email": email, "user_agent": "u" * 1000, "name": "n" * 250}
                )
                (acknowledged.append(email) if answer.status == 201 else refused.append(answer))

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(fill, range(8)))
        assert refused, "the disk never filled"
        for answer in refused:
            assert_shed(answer)
        call = server.caller(alice.key)
        for _ in range(80):
            assert call("GET", f"{path}/{acknowledged[0]}").status == 200
        waiting = call("GET", "/readyz")
        assert (waiting.status, waiting.json()["code"]) == (503, "cannot_write")
        # Somebody makes room; nobody restarts anything.
        resource.prlimit(
            server.process.pid,
            resource.RLIMIT_FSIZE,
            (resource.RLIM_INFINITY, resource.RLIM_INFINITY),
        )
        assert call("GET", "/readyz").status == 200
        assert call("POST", path, {"email": "after@example.org"}).status == 201
        server.kill()
        server.command = []
        server.start()
        call = server.caller(alice.key)
        assert call("GET", path).json()["meta"]["total_subscribers"] == len(acknowledged) + 1
        for email in acknowledged:
            assert call("GET", f"{path}/{email}").status == 200, email


def test_a_disk_that_cannot_sync_acknowledges_nothing_until_it_can():
    with watched_disk() as disk, Service("sqlite", rate_limit=1000) as service:
        alice = service.member("alice")
        alice.subscribe("first@example.org")
        disk.broken = True
        assert set(_parallel_signups(alice, 30).values()) == {"unavailable"}
        assert alice.get(alice.v1).status_code == 200
        disk.broken = False
        assert set(_parallel_signups(alice, 30).values()) == {201}
        assert alice.total() == 31


# PostgreSQL: gone, and back.
@pytest.fixture(scope="module")
def own_postgres() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.mark.parametrize("manner", ["fast", pytest.param("immediate", marks=pytest.mark.long)])
def test_postgres_stopped_is_a_quick_500_and_started_again_is_enough(own_postgres, manner):
    name = f"fault_{manner}"
    own_postgres.create_database(name)
    url = own_postgres.url(name)
    alice = new_account(url)
    path = f"{alice.v1}/subscribers"
    with Serving(url) as server:
        call = server.caller(alice.key)
        assert call("POST", path, signup(0)).status == 201
        assert call("GET", "/readyz").status == 200
        own_postgres._halt(manner)
        try:
            for _ in range(3):
                for method, where, body in (
                    ("GET", path, None),
                    ("POST", path, signup(1)),
                    ("DELETE", f"{path}/x@y.org", None),
                ):
                    began = time.monotonic()
                    assert_shed(call(method, where, body))
                    # Not a statement's own limit of 30 seconds.
                    assert time.monotonic() - began < 25
            assert call("GET", "/healthz").status == 200
            waiting = call("GET", "/readyz")
            assert waiting.status == 503 and waiting.json()["status"] == "waiting"
            assert waiting.json().keys() == {"status", "error", "code", "request_id"}
            assert waiting.json()["code"] == "unavailable"
            away = Scrape(call("GET", "/metrics").body.decode())
            assert away("honeyguide_database_up") == 0
            assert away("honeyguide_emails_unsent") is None
            assert (away("honeyguide_errors_total", code="unavailable") or 0) >= 9
        finally:
            own_postgres._launch()
        server.wait_for("/readyz", seconds=15)
        assert call("POST", path, signup(1)).status == 201
        until(lambda: b"honeyguide_database_up 1.0" in call("GET", "/metrics").body)
        assert call("GET", path).json()["meta"]["total_subscribers"] == 2


def test_a_postgres_that_hangs_ends_the_start_in_seconds():
    """It takes the connection and never says a word, as behind a firewall that drops."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(100)
        url = f"postgresql://postgres@127.0.0.1:{silent.getsockname()[1]}/x"
        server = Serving(url)
        server.start(wait=False)
        assert server.process.wait(30) != 0
        assert "Cannot connect to PostgreSQL" in server.output and "Traceback" not in server.output


def test_a_row_held_too_long_is_a_500_and_not_a_hang(own_postgres):
    """The limit is ten seconds for a twin's sake; here a statement limit of PostgreSQL's own stands
    for any such end.
    """
    own_postgres.create_database("held")
    alice = new_account(own_postgres.url("held"))
    own_postgres.execute("ALTER DATABASE held SET transaction_timeout = '1500ms'")
    path = f"{alice.v1}/subscribers"
    with Serving(own_postgres.url("held"), "--no-work") as server:
        call = server.caller(alice.key)
        assert call("POST", path, signup(0)).status == 201
        holder = (
            "SET transaction_timeout = 0; BEGIN; SELECT id FROM subscriber FOR UPDATE; SELECT "
            "pg_sleep(5); COMMIT;"
        )
        with ThreadPoolExecutor(1) as pool:
            held = pool.submit(own_postgres.execute, holder, "held")
            while (
                own_postgres.execute(
                    "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
                )
                == "0"
            ):
                pass
            assert_shed(call("PUT", f"{path}/reader0@example.org", {"name": "new"}))
            held.result()
        assert call("PUT", f"{path}/reader0@example.org", {"name": "new"}).status == 200


# Overload.
def test_more_than_can_be_answered_is_shed_at_once():
    """Requests whose bodies never end fill the service; the next is told so at once, and when they
    leave all is well.
    """
    with Service("sqlite") as service:
        alice = service.member("alice")
        stuck: list[socket.socket] = []
        head = (
            f"POST {alice.v1}/subscribers HTTP/1.1\r\nHost: x\r\nX-Api-Key: "
            f"{alice.key}\r\nContent-Type: application/json\r\n"
            "Content-Length: 100\r\n\r\n{"
        ).encode()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8_192)), hard))
        try:
            for _ in range(MOST_AT_ONCE):
                client = socket.create_connection(("127.0.0.1", service.port))
                client.sendall(head)
                stuck.append(client)
            deadline = time.monotonic() + 20
            while (answer := alice.get(alice.v1)).status_code != 500:
                assert time.monotonic() < deadline
            # All of them at once: after BODY_S, those who are stuck make room.
            answers = Counter(alice.get(alice.v1).json()["code"] for _ in range(50))
            assert answers == {"overloaded": 50}
            assert answer.headers["retry-after"] == "1"
            waiting = alice.get("/readyz")
            assert (waiting.status_code, waiting.json()["code"]) == (503, "overloaded")
            found = Scrape(alice.get("/metrics").text)
            assert (found("honeyguide_errors_total", code="overloaded") or 0) >= 50
            assert (found("honeyguide_requests_in_flight") or 0) >= MOST_AT_ONCE
            assert (
                json.loads(answer.content)["error"]
                == "The service is overloaded; try again in a moment."
            )
        finally:
            for client in stuck:
                client.close()
        deadline = time.monotonic() + 20
        while alice.get(alice.v1).status_code != 200:
            assert time.monotonic() < deadline
