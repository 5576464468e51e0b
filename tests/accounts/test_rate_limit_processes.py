"""60 accepted requests per rolling minute and key, exact across processes and over a restart."""

import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tests.support.process import Answer, Credentials, Serving, migrated, new_account, new_key


def volley(ports: list[int], key: str, path: str, requests: int, threads: int = 24) -> list[Answer]:
    """Parallel requests, spread over the ports, each thread on a connection of its own."""
    from tests.support.process import Caller

    def share(number: int) -> list[Answer]:
        call = Caller(ports[number % len(ports)], key)
        return [call("GET", path) for _ in range(number, requests, threads)]

    with ThreadPoolExecutor(threads) as pool:
        return [answer for answers in pool.map(share, range(threads)) for answer in answers]


def assert_exactly(answers: list[Answer], limit: int) -> None:
    assert Counter(answer.status for answer in answers) == {200: limit, 429: len(answers) - limit}
    assert sorted(
        int(a.headers["x-ratelimit-remaining"]) for a in answers if a.status == 200
    ) == list(range(limit))
    for answer in answers:
        assert answer.headers["x-ratelimit-limit"] == str(limit)
        if answer.status == 429:
            assert 1 <= int(answer.headers["retry-after"]) <= 60
            assert answer.headers["x-ratelimit-remaining"] == "0"
            assert answer.json()["code"] == "rate_limited"


def test_four_processes_on_one_postgres_let_exactly_sixty_of_three_hundred_pass():
    url = migrated("postgres")
    alice = new_account(url)
    servers = [Serving(url, rate_limit=60) for _ in range(4)]
    try:
        for server in servers:
            server.start(wait=False)
        for server in servers:
            server.wait_for()
        answers = volley(
            [server.port for server in servers], alice.key, f"{alice.v1}/subscribers", 300
        )
        assert len(answers) == 300
        assert_exactly(answers, 60)
        # The ring is the database's: a process that was not there knows it too.
        servers[0].stop()
        servers[0].start()
        assert servers[0].caller(alice.key)("GET", alice.v1).status == 429
    finally:
        for server in servers:
            server.__exit__(None, None, None)


def test_one_process_on_sqlite_lets_exactly_sixty_pass_also_over_a_restart():
    url = migrated("sqlite")
    alice = new_account(url)
    path = f"{alice.v1}/subscribers"
    with Serving(url, rate_limit=60) as server:
        assert_exactly(volley([server.port], alice.key, path, 300), 60)
        for number in (signal.SIGTERM, signal.SIGKILL):
            server.stop(number)
            server.start()
            refused = server.caller(alice.key)("GET", path)
            assert refused.status == 429 and 1 <= int(refused.headers["retry-after"]) <= 60
        server.set_clock(61)
        assert_exactly(volley([server.port], alice.key, path, 100), 60)
        # In the middle of a window the next process knows how much of it is left.
        server.set_clock(122)
        assert Counter(answer.status for answer in volley([server.port], alice.key, path, 25)) == {
            200: 25
        }
        server.kill()
        server.start()
        answers = volley([server.port], alice.key, path, 60)
        assert Counter(answer.status for answer in answers) == {200: 35, 429: 25}


def test_a_second_key_made_beside_the_running_server_has_its_own_window():
    url = migrated("sqlite")
    alice: Credentials = new_account(url)
    with Serving(url, rate_limit=2) as server:
        assert Counter(
            a.status for a in volley([server.port], alice.key, alice.v1, 5, threads=2)
        ) == {200: 2, 429: 3}
        assert server.caller(new_key(url, alice.email))("GET", alice.v1).status == 200
