"""A login, a pending second step and a proof of the old password that are under way while the
password changes come to nothing. On both engines, with one process and with two.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import argon2
import httpx
import pytest

from honeyguide.accounts import attempts, passwords
from tests.accounts.test_password_links import reset_link
from tests.support.authenticator import set_up
from tests.support.service import ENGINES, Service
from tests.support.stores import statement
from tests.support.web import PASSWORD, Operator, WebClient, operator

NEW, THIEVES = "four quiet green herons", "somebody else chose this"
LOGINS = 30


@pytest.fixture(scope="module", params=ENGINES)
def keyed(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param, secret_key="ab" * 32) as service:
        yield service


@pytest.fixture(autouse=True)
def plenty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGIN_BY_ADDRESS", "LOGIN_BY_ACCOUNT", "LOGIN_BY_INSTALLATION"):
        monkeypatch.setattr(attempts, name, getattr(attempts, name)._replace(most=100_000))
    # However slowly the machine hashes, all logins wait for their turn and none is refused.
    monkeypatch.setattr(passwords, "MOST_WAITING", LOGINS)


class SlowHasher(argon2.PasswordHasher):
    """Finds out whether a password is right, and says so only when the test lets it."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=1024, parallelism=1)
        self.is_found, self.go_on = threading.Event(), threading.Event()

    def verify(self, hash: str | bytes, password: str | bytes) -> bool:
        try:
            return super().verify(hash, password)
        finally:
            if password == PASSWORD:
                self.is_found.set()
                assert self.go_on.wait(30)


def log_in(web: WebClient, email: str) -> Callable[[], httpx.Response]:
    form = {"csrf": web.token("/login"), "email": email, "password": PASSWORD}
    return lambda: web.http.post("/login", data=form)


def prove_again(web: WebClient, email: str) -> Callable[[], httpx.Response]:
    """With the form that asks for the password before an API key is made."""
    form = {"csrf": web.token("/account"), "name": "thieves' key", "login_password": PASSWORD}
    return lambda: web.http.post("/account/keys", data=form)


def change_it_again(web: WebClient, email: str) -> Callable[[], httpx.Response]:
    form = {"csrf": web.token("/account/security"), "current": PASSWORD, "password": THIEVES}
    return lambda: web.http.post("/account/password", data=form)


def during_a_reset(
    alice: Operator, monkeypatch: pytest.MonkeyPatch, send: Callable[[], httpx.Response]
) -> httpx.Response:
    """What is answered if the password changes after the old one was found to be right."""
    link, owner = reset_link(alice.service, alice), WebClient(alice.service)
    hasher = SlowHasher()
    with monkeypatch.context() as patch, ThreadPoolExecutor(1) as apart:
        patch.setattr(passwords, "_hasher", hasher)
        sending = apart.submit(send)
        assert hasher.is_found.wait(30)
        assert owner.post(link, password=NEW).status_code == 303
        hasher.go_on.set()
        return sending.result()


def count(alice: Operator, sql: str) -> int:
    ((found,),) = alice.service.read(lambda tx: tx.all(statement(sql), id=alice.user_id))
    return int(found)


SESSIONS = "SELECT COUNT(*) FROM session WHERE user_id = :id"


def test_a_login_that_is_verified_while_the_password_changes_gets_no_session(
    keyed: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, thief = operator(keyed), WebClient(keyed)
    answer = during_a_reset(alice, monkeypatch, log_in(thief, alice.email))
    assert answer.status_code == 401 and not thief.session
    assert "Your password was changed just now." in answer.text
    assert count(alice, SESSIONS) == 1, "only the one of the owner, who chose the new password"


def test_a_second_step_that_was_pending_ends_with_the_password(
    keyed: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, thief = operator(keyed), WebClient(keyed)
    set_up(alice.web)
    answer = during_a_reset(alice, monkeypatch, log_in(thief, alice.email))
    assert answer.status_code == 401
    assert thief.get("/login/code").headers["location"] == "/login"
    assert not thief.session


def test_a_proof_of_the_old_password_under_way_opens_no_form(
    keyed: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, thief = operator(keyed), WebClient(keyed)
    thief.log_in(alice.email)
    send = prove_again(thief, alice.email)
    keyed.set_clock(1000)
    try:
        answer = during_a_reset(alice, monkeypatch, send)
    finally:
        keyed.set_clock(0)
    assert answer.status_code == 401
    made = "SELECT COUNT(*) FROM change_log WHERE actor_id = :id AND action = 'api_key.created'"
    assert count(alice, made) == 0


def test_the_old_password_sets_no_other_one_after_it_was_changed(
    keyed: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, thief = operator(keyed), WebClient(keyed)
    thief.log_in(alice.email)
    answer = during_a_reset(alice, monkeypatch, change_it_again(thief, alice.email))
    assert answer.status_code == 400
    assert WebClient(keyed).log_in(alice.email, THIEVES).status_code == 401
    assert WebClient(keyed).log_in(alice.email, NEW).status_code == 303


@pytest.mark.parametrize("processes", [1, 2])
def test_of_thirty_logins_during_password_changes_none_survives(
    service: Service, alice: Operator, processes: int
) -> None:
    thieves = [WebClient(service) for _ in range(LOGINS)]
    if processes == 2:
        with Service(service.engine, database_url=service.database_url) as other:
            for thief in thieves:
                thief.http = WebClient(other).http
            survive_a_change(alice, thieves)
    else:
        survive_a_change(alice, thieves)


def survive_a_change(alice: Operator, thieves: list[WebClient]) -> None:
    """The password changes between the first and the last of the logins."""
    sending = [log_in(thief, alice.email) for thief in thieves]
    with ThreadPoolExecutor(len(thieves)) as pool:
        logins = [pool.submit(send) for send in sending[: LOGINS // 2]]
        link = reset_link(alice.service, alice)
        owner = WebClient(alice.service)
        form = {"csrf": owner.token(link), "password": NEW}
        logins += [pool.submit(send) for send in sending[LOGINS // 2 :]]
        assert owner.http.post(link, data=form).status_code == 303
        statuses = {login.result().status_code for login in logins}
    assert statuses <= {303, 401}
    assert count(alice, SESSIONS) == 1
    assert owner.get("/settings").status_code == 200
    for thief in thieves:
        assert thief.get("/settings").status_code == 303
