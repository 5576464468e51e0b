"""Hashing a password is expensive on purpose, so a stranger gets little of it: a link that leads
nowhere is refused before, links are counted, and of those who wait only some are let in.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import argon2
import pytest

from honeyguide.accounts import attempts, passwords
from honeyguide.kernel.ids import new_id
from tests.support.service import Service, until
from tests.support.stores import statement
from tests.support.web import PASSWORD, WebClient, operator, text_of

NEW = "four quiet green herons"
CONNECTIONS = 60


class HeldHasher(argon2.PasswordHasher):
    """Hashes nothing before the test lets it, and counts how many it was asked for at once."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=1024, parallelism=1)
        self.go_on = threading.Event()
        self._lock, self.running, self.most, self.all = threading.Lock(), 0, 0, 0

    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        with self._lock:
            self.running += 1
            self.all += 1
            self.most = max(self.most, self.running)
        assert self.go_on.wait(60)
        with self._lock:
            self.running -= 1
        return super().hash(password, salt=salt)

    def verify(self, hash: str | bytes, password: str | bytes) -> bool:
        self.hash(password)
        return super().verify(hash, password)


@pytest.fixture(autouse=True)
def plenty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGIN_BY_ADDRESS", "LOGIN_BY_ACCOUNT", "LOGIN_BY_INSTALLATION"):
        monkeypatch.setattr(attempts, name, getattr(attempts, name)._replace(most=100_000))


@pytest.fixture
def hasher(monkeypatch: pytest.MonkeyPatch) -> HeldHasher:
    held = HeldHasher()
    passwords._hash_of_nobody()
    monkeypatch.setattr(passwords, "_hasher", held)
    return held


@pytest.mark.parametrize("path", ["/password/nowhere", "/welcome/nowhere"])
def test_passwords_for_no_link_are_not_hashed_and_counted_per_network(
    service: Service, hasher: HeldHasher, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    low = attempts.LINK_BY_ADDRESS._replace(name=new_id(), most=CONNECTIONS - 10)
    monkeypatch.setattr(attempts, "LINK_BY_ADDRESS", low)
    web = WebClient(service)
    form = {"csrf": web.token("/login"), "password": NEW, "name": "Wax"}
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        sent = pool.map(lambda _: web.http.post(path, data=form), range(CONNECTIONS))
        statuses = [answer.status_code for answer in sent]
    assert sorted(statuses) == [404] * low.most + [429] * 10
    assert hasher.all == 0


def test_few_passwords_are_hashed_at_once_and_few_wait(
    service: Service, hasher: HeldHasher
) -> None:
    hasher.go_on.set()
    alice = operator(service)
    hasher.go_on.clear()
    webs = [WebClient(service) for _ in range(CONNECTIONS)]
    form = {"email": alice.email, "password": PASSWORD}
    forms = [{"csrf": web.token("/login"), **form} for web in webs]
    let_in = passwords.AT_ONCE + passwords.MOST_WAITING
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        sent = [
            pool.submit(web.http.post, "/login", data=form)
            for web, form in zip(webs, forms, strict=True)
        ]
        until(lambda: sum(each.done() for each in sent) == CONNECTIONS - let_in)
        refused = [each.result() for each in sent if each.done()]
        assert alice.get(f"{alice.v1}/subscribers").status_code == 200, "the API goes on"
        hasher.go_on.set()
        statuses = [each.result().status_code for each in sent]
    assert {answer.status_code for answer in refused} == {429}
    assert passwords.BUSY in text_of(refused[0].text) and refused[0].headers["retry-after"] == "5"
    assert sorted(statuses) == [303] * let_in + [429] * (CONNECTIONS - let_in)
    assert hasher.most == passwords.AT_ONCE


def test_a_network_that_was_refused_costs_no_write_until_it_may_again(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    low = attempts.LINK_BY_ADDRESS._replace(name=new_id(), most=2)
    monkeypatch.setattr(attempts, "LINK_BY_ADDRESS", low)
    web, forget = (
        WebClient(service),
        statement("DELETE FROM attempt_count", "changes attempt_count"),
    )
    form = {"csrf": web.token("/login"), "password": NEW}

    def statuses(many: int) -> list[int]:
        sent = [web.http.post("/password/nowhere", data=form) for _ in range(many)]
        return [answer.status_code for answer in sent]

    assert statuses(4) == [404, 404, 429, 429]
    service.write(lambda tx: tx.run(forget))
    assert statuses(1) == [429], "the process knows it without looking"
    service.set_clock(low.window_ms / 1000 + 1)
    try:
        assert statuses(3) == [404, 404, 429]
    finally:
        service.set_clock(0)
