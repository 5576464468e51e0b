"""Limits on attempts: exact for attempts at the same moment, in any order and in any number of
processes.
"""

import asyncio
import socket
import time
from collections import Counter
from urllib.parse import urlencode

import pytest

from honeyguide.accounts import attempts
from honeyguide.accounts.attempts import Limit
from honeyguide.kernel.clock import DAY_MS, MINUTE_MS
from honeyguide.kernel.errors import TooMany
from honeyguide.kernel.site import Site
from honeyguide.store.tx import timed
from tests.support.service import Service
from tests.support.stores import OpenStore
from tests.support.web import WebClient, operator

SITE = Site("http://127.0.0.1", "http://127.0.0.1/join", b"k" * 32)
LIMIT = Limit("test", 5, 10 * MINUTE_MS)
NOW_MS = 1_794_819_600_000


async def is_allowed(
    opened: OpenStore, at_ms: int, limit: Limit = LIMIT, who: str = "somebody"
) -> bool:
    try:
        await opened.store.write(timed(attempts.count, at_ms), SITE, limit, who)
    except TooMany:
        return False
    return True


def allowed(opened: OpenStore, *times_ms: int) -> int:
    """How many attempts at these times, one after the other, are not refused."""
    return sum(opened.run(is_allowed(opened, at_ms)) for at_ms in times_ms)


@pytest.mark.parametrize(
    "times_ms",
    [
        [NOW_MS] * 20,
        [NOW_MS + ms for ms in range(20)],
        # Whoever sends the bodies of requests in reverse order chooses this one.
        [NOW_MS - ms for ms in range(20)],
        [NOW_MS + (-1) ** n * n * 1_000 for n in range(20)],
    ],
    ids=["at the same moment", "in order", "in reverse order", "in any order"],
)
def test_attempts_are_counted_whatever_their_times(opened: OpenStore, times_ms: list[int]) -> None:
    assert allowed(opened, *times_ms) == LIMIT.most


def test_attempts_in_parallel_are_all_counted(opened: OpenStore) -> None:
    async def at_once() -> list[bool]:
        return await asyncio.gather(*(is_allowed(opened, NOW_MS) for _ in range(40)))

    assert sum(opened.run(at_once())) == LIMIT.most


def test_the_window_ends_when_it_says_so_however_often_one_is_refused(opened: OpenStore) -> None:
    assert allowed(opened, *[NOW_MS] * 5) == 5
    last_ms = NOW_MS + LIMIT.window_ms - 1
    for at_ms, wait_s in ((NOW_MS, 600), (last_ms, 1)):
        with pytest.raises(TooMany) as refused:
            opened.run(opened.store.write(timed(attempts.count, at_ms), SITE, LIMIT, "somebody"))
        assert refused.value.retry_after_s == wait_s
    assert allowed(opened, *[last_ms + 1] * 6) == 5


def test_a_clock_that_was_set_back_locks_nobody_out_for_longer(opened: OpenStore) -> None:
    assert allowed(opened, *[NOW_MS] * 6) == 5
    assert allowed(opened, NOW_MS - DAY_MS) == 1
    back_ms = NOW_MS - DAY_MS - MINUTE_MS
    assert allowed(opened, *[back_ms] * 6) == 4
    with pytest.raises(TooMany) as refused:
        opened.run(opened.store.write(timed(attempts.count, back_ms), SITE, LIMIT, "somebody"))
    assert refused.value.retry_after_s <= LIMIT.window_ms / 1_000


def test_each_limit_and_each_subject_is_counted_and_forgotten_alone(opened: OpenStore) -> None:
    other = LIMIT._replace(name="other")
    three = ((LIMIT, "somebody"), (LIMIT, "somebody else"), (other, "somebody"))

    def open_ones() -> list[bool]:
        return [opened.run(is_allowed(opened, NOW_MS, *each)) for each in three]

    for _ in range(LIMIT.most):
        assert open_ones() == [True] * 3
    opened.run(opened.store.write(attempts.forget, SITE, LIMIT, "somebody"))
    assert open_ones() == [True, False, False]


def test_counts_are_purged_only_after_the_longest_window(opened: OpenStore) -> None:
    assert allowed(opened, NOW_MS) == 1
    for after_ms, left in ((DAY_MS - 1, 1), (DAY_MS, 0)):
        opened.run(opened.store.write(timed(attempts.purge, NOW_MS + after_ms)))
        assert opened.ask("SELECT count(*) FROM attempt_count") == [(left,)]


def test_logins_whose_bodies_come_in_reverse_order_are_limited(service: Service) -> None:
    """The time of a request is taken when its headers come."""
    alice, web = operator(service), WebClient(service)
    form = {"csrf": web.token("/login"), "email": alice.email, "password": "wrong and long enough"}
    body = urlencode(form).encode()
    cookies = "; ".join(f"{each.name}={each.value}" for each in web.http.cookies.jar)
    head = (
        "POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        f"Origin: {service.url}\r\nCookie: {cookies}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    begun = []
    for _ in range(attempts.LOGIN_BY_ACCOUNT.most + 5):
        begun.append(socket.create_connection(("127.0.0.1", service.port), 30))
        begun[-1].sendall(head + body[:1])
        time.sleep(0.005)  # so that no two have the same time
    statuses: Counter[bytes] = Counter()
    for connection in reversed(begun):
        connection.sendall(body[1:])
        statuses[connection.makefile("rb").readline().split()[1]] += 1
        connection.close()
    assert statuses == {b"401": attempts.LOGIN_BY_ACCOUNT.most, b"429": 5}
