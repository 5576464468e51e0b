"""Codes of a second factor are guessed ten times an hour, over all pages that take one together. On
both engines.
"""

from collections.abc import Iterator

import httpx
import pytest

from honeyguide.accounts import attempts, email_proofs
from tests.accounts.test_guessing import guess
from tests.accounts.test_recent_login import STALE_S
from tests.pages.dashboard.test_second_factor_pages import NEW, reset_link
from tests.support.authenticator import Authenticator, set_up
from tests.support.service import ENGINES, Service
from tests.support.web import PASSWORD, Operator, WebClient, operator, password_form

pytestmark = pytest.mark.usefixtures("roomy_logins")

WRONG_CODE = "000000"


@pytest.fixture(scope="module", params=ENGINES)
def keyed(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(
        request.param, work=False, secret_key="ab" * 32, trusted_proxies="127.0.0.1"
    ) as service:
        yield service


@pytest.fixture
def alice(keyed: Service) -> Iterator[Operator]:
    made = operator(keyed)
    made.web.enters_password = False
    yield made
    keyed.set_clock(0)


def log_in_twice(alice: Operator, code: str, password: str = PASSWORD) -> httpx.Response:
    """With the password, then the code."""
    web = WebClient(alice.service)
    assert web.log_in(alice.email, password).headers["location"] == "/login/code"
    return web.post("/login/code", code=code)


def prove_again(alice: Operator, code: str) -> httpx.Response:
    asking = alice.web.post("/account/keys", page="/settings", name="Tool")
    action, fields = password_form(asking.text)
    typed = {"login_password": PASSWORD, "login_code": code}
    return alice.web.http.post(action, data={**fields, **typed})


def late(keyed: Service, alice: Operator) -> Authenticator:
    """With a proven address, and a second factor that was proved a while ago."""
    now_ms = keyed.now_ms()
    keyed.write(lambda tx: email_proofs.prove(tx.at(now_ms), alice.user_id))
    app, _ = set_up(alice.web)
    keyed.set_clock(STALE_S)
    return app


def test_all_pages_count_together(keyed: Service, alice: Operator) -> None:
    late(keyed, alice)
    assert [log_in_twice(alice, WRONG_CODE).status_code for _ in range(4)] == [401] * 4
    assert [prove_again(alice, WRONG_CODE).status_code for _ in range(4)] == [401] * 4
    web = WebClient(keyed)
    assert web.post(reset_link(alice), password=NEW).headers["location"] == "/login/code"
    form = {"csrf": web.token("/login/code"), "code": WRONG_CODE}
    found = [web.http.post("/login/code", data=form).status_code for _ in range(4)]
    assert found == [401] * 2 + [429] * 2, "a new password brings no new guesses"


def test_the_owners_own_login_brings_no_new_guesses(keyed: Service, alice: Operator) -> None:
    app = late(keyed, alice)
    assert [log_in_twice(alice, WRONG_CODE).status_code for _ in range(9)] == [401] * 9
    assert log_in_twice(alice, app.code()).status_code == 303
    assert [log_in_twice(alice, WRONG_CODE).status_code for _ in range(2)] == [401, 429]
    assert prove_again(alice, app.code(30)).status_code == 429
    keyed.set_clock(STALE_S + 3600)
    assert prove_again(alice, app.code()).status_code == 201


def test_right_codes_are_no_guesses(keyed: Service, alice: Operator) -> None:
    app = late(keyed, alice)
    for n in range(12):
        keyed.set_clock(STALE_S + 30 * n)
        assert log_in_twice(alice, app.code()).status_code == 303


def test_codes_with_the_password_count_too_and_strangers_use_up_few(
    keyed: Service, alice: Operator
) -> None:
    late(keyed, alice)
    guess(keyed, alice.email, attempts.LOGIN_BY_ACCOUNT.most)
    assert guess(keyed, alice.email, 50, codes=True) == {429: 50}
    found = [prove_again(alice, WRONG_CODE).status_code for _ in range(9)]
    left = attempts.CODE_BY_USER.most - attempts.CODE_WITH_PASSWORD.most
    assert found == [401] * left + [429] * (9 - left)
