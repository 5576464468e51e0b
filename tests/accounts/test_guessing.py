"""Guessing of passwords and codes from many networks: the attacker gets nowhere, the owner gets in.
On both engines.
"""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from urllib.parse import urlencode

import pytest

from honeyguide.accounts import attempts, logins, passwords
from honeyguide.kernel.clock import DAY_MS
from tests.support.authenticator import set_up
from tests.support.service import ENGINES, Service
from tests.support.trade import NOON_MS, SITE
from tests.support.web import PASSWORD, Operator, WebClient, mistakes, operator, text_of

pytestmark = pytest.mark.usefixtures("roomy_logins")

NEW = "four quiet green herons"
WRONG = "wrong and long enough"


@pytest.fixture(scope="module", params=ENGINES)
def proxied(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(
        request.param, work=False, secret_key="ab" * 32, trusted_proxies="127.0.0.1"
    ) as service:
        yield service


def guess(
    service: Service, email: str, times: int, *, codes: bool = False, password: str = WRONG
) -> Counter[int]:
    """So many logins from as many networks, several at a time."""
    web = WebClient(service)
    form = {"csrf": web.token("/login"), "email": email, "password": password}
    headers = {
        "origin": service.settings.base_url,
        "cookie": "; ".join(f"{each.name}={each.value}" for each in web.http.cookies.jar),
        "content-type": "application/x-www-form-urlencoded",
    }

    def some(numbers: range) -> Counter[int]:
        # Not our usual client: ten thousand requests take it minutes.
        connection, found = HTTPConnection("127.0.0.1", service.port, timeout=60), Counter[int]()
        for n in numbers:
            code = {"code": f"{n * 7919 % 10**6:06}"} if codes else {}
            sender = {"x-forwarded-for": f"10.{n >> 8 & 255}.{n & 255}.7"}
            connection.request("POST", "/login", urlencode({**form, **code}), {**headers, **sender})
            answer = connection.getresponse()
            answer.read()
            found[answer.status] += 1
        connection.close()
        return found

    with ThreadPoolExecutor(4) as pool:
        return sum(pool.map(some, (range(n, times, 4) for n in range(4))), Counter[int]())


def log_in_with_code(service: Service, alice: Operator, code: str) -> tuple[int, str]:
    web = WebClient(service)
    answer = web.post("/login", email=alice.email, password=PASSWORD, code=code)
    return answer.status_code, answer.headers.get("location", "")


@pytest.mark.timeout(900)
@pytest.mark.parametrize("times", [300, pytest.param(10_000, marks=pytest.mark.long)])
def test_guesses_from_many_networks_get_nowhere_and_the_owner_gets_in(
    proxied: Service, times: int
) -> None:
    alice = operator(proxied)
    app, _ = set_up(alice.web)
    most = attempts.LOGIN_BY_ACCOUNT.most
    assert guess(proxied, alice.email, times) == {401: most, 429: times - most}
    # From a new browser with password and code, from a known one without more than before.
    assert log_in_with_code(proxied, alice, app.code()) == (303, "/")
    assert alice.web.post("/logout", page="/settings").status_code == 303
    known = alice.web.log_in(alice.email)
    assert (known.status_code, known.headers["location"]) == (303, "/login/code")
    assert guess(proxied, alice.email, 20) == {429: 20}, "the owner's login resets nothing for them"


def test_guesses_with_codes_get_nowhere_either(proxied: Service) -> None:
    alice = operator(proxied)
    app, _ = set_up(alice.web)
    guess(proxied, alice.email, attempts.LOGIN_BY_ACCOUNT.most)
    # Somebody who knows the password, and must not guess codes without a limit.
    assert guess(proxied, alice.email, 100, codes=True, password=PASSWORD) == {429: 100}
    status, where = log_in_with_code(proxied, alice, app.code())
    assert (status, where) == (303, "/login/code"), "after so many, this asks for the next code"


def test_over_the_limit_the_password_is_not_even_looked_at(proxied: Service) -> None:
    alice = operator(proxied)
    guess(proxied, alice.email, attempts.LOGIN_BY_ACCOUNT.most)
    web = WebClient(proxied)
    refused = web.log_in(alice.email)
    assert refused.status_code == 429 and not web.session
    assert int(refused.headers["retry-after"]) > 0
    page = text_of(refused.text)
    assert "Too many attempts. Try again in 15 minutes." in page
    assert "Choose a new password by email" in page
    assert "second factor" in mistakes(refused.text)["code"]


def test_an_unknown_address_gets_the_same_answers(proxied: Service) -> None:
    alice = operator(proxied)
    set_up(alice.web)
    pages: dict[str, list[str]] = {alice.email: [], "nobody@example.org": []}
    for email, found in pages.items():
        guess(proxied, email, attempts.LOGIN_BY_ACCOUNT.most)
        web = WebClient(proxied)
        for fields in ({}, {"code": "123456"}):
            answer = web.post("/login", email=email, password=WRONG, **fields)
            found.append(f"{answer.status_code} {text_of(answer.text)}")
    first, second = pages.values()
    assert first == second


def test_over_the_limit_of_the_installation_a_code_or_a_known_browser_helps(
    proxied: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = operator(proxied), operator(proxied, "bob")
    app, _ = set_up(alice.web)
    low = attempts.LOGIN_BY_INSTALLATION._replace(name=alice.account_id, most=3)
    monkeypatch.setattr(attempts, "LOGIN_BY_INSTALLATION", low)
    for n in range(3):
        assert guess(proxied, f"victim{n}@example.org", 1) == {401: 1}
    assert guess(proxied, bob.email, 1, password=PASSWORD) == {429: 1}
    assert log_in_with_code(proxied, alice, app.code()) == (303, "/")
    bob.web.post("/logout", page="/settings")
    assert bob.web.log_in(bob.email).status_code == 303


def test_a_known_browser_has_a_count_of_its_own(proxied: Service) -> None:
    alice = operator(proxied)
    alice.web.post("/logout", page="/settings")
    form = {"csrf": alice.web.token("/login"), "email": alice.email, "password": WRONG}
    tries = [alice.web.http.post("/login", data=form).status_code for _ in range(12)]
    assert tries == [401] * 10 + [429] * 2
    assert WebClient(proxied).log_in(alice.email).status_code == 303, "elsewhere none was counted"


def test_a_browser_is_known_for_one_user_one_password_and_a_year() -> None:
    fingerprint = passwords.fingerprint(SITE, "hash")
    token = logins.browser_token(SITE, "ana", fingerprint, now_ms=NOON_MS)

    def is_known(user_id: str, password_hash: str | None, days: int = 0, by: str = token) -> bool:
        at_ms = NOON_MS + days * DAY_MS
        return logins.find_browser(SITE, by, user_id, password_hash, now_ms=at_ms) is not None

    assert is_known("ana", "hash") and is_known("ana", "hash", 364)
    assert not is_known("ana", "hash", 365)
    assert not is_known("bob", "hash") and not is_known("ana", "new hash")
    assert not is_known("ana", "hash", by="") and not is_known("ana", "hash", by=token[:-2] + "AA")


def test_guesses_at_the_login_do_not_keep_the_owner_from_changing_the_password(
    proxied: Service,
) -> None:
    alice = operator(proxied)
    guess(proxied, alice.email, attempts.LOGIN_BY_ACCOUNT.most + 2)
    changed = alice.web.post(
        "/account/password", page="/account/security", current=PASSWORD, password=NEW
    )
    assert changed.status_code == 303
