"""What a stolen session must not do asks for the password again, on both engines."""

from collections.abc import Iterator

import pytest

from honeyguide.accounts import attempts
from honeyguide.kernel.clock import MINUTE_MS
from honeyguide.pages.dashboard.login import recent_login
from tests.support.authenticator import set_up
from tests.support.belongings import subscriber
from tests.support.service import ENGINES, Service
from tests.support.web import (
    PASSWORD,
    Operator,
    WebClient,
    mistakes,
    operator,
    password_form,
    text_of,
)

STALE_S = recent_login.RECENT_MS // 1000 + 60


@pytest.fixture(scope="module", params=ENGINES)
def keyed(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param, work=False, secret_key="ab" * 32) as service:
        yield service


@pytest.fixture
def alice(keyed: Service) -> Iterator[Operator]:
    made = operator(keyed)
    made.web.enters_password = False
    yield made
    keyed.set_clock(0)


def keys(alice: Operator) -> int:
    return alice.web.get("/account/keys").text.count('/revoke"')


def resend(alice: Operator, asking: str, **typed: str) -> tuple[int, str]:
    """Fills in the page that asks, as a browser sends it."""
    action, fields = password_form(asking)
    answer = alice.web.http.post(action, data={**fields, **typed})
    return answer.status_code, answer.text


def test_a_form_is_carried_on_once_the_password_is_right(keyed: Service, alice: Operator) -> None:
    before = keys(alice)
    keyed.set_clock(STALE_S)
    asking = alice.web.post("/account/keys", page="/account", name="My “tool” & more")
    assert asking.status_code == 200 and "Is it you?" in text_of(asking.text)
    assert keys(alice) == before
    status, page = resend(alice, asking.text, login_password="not mine at all")
    assert status == 401 and mistakes(page) == {"login_password": recent_login.WRONG}
    assert keys(alice) == before and "not mine at all" not in page
    status, page = resend(alice, page, login_password=PASSWORD)
    assert status == 201 and "My “tool” &amp; more" in page and keys(alice) == before + 1
    again = alice.web.post("/account/keys", page="/account", name="Another")
    assert again.status_code == 201, "it does not ask twice within 15 minutes"


def test_nothing_is_asked_shortly_after_the_login(keyed: Service, alice: Operator) -> None:
    keyed.set_clock((recent_login.RECENT_MS - MINUTE_MS) // 1000)
    assert alice.web.post("/account/keys", page="/account", name="Tool").status_code == 201


def test_a_download_is_asked_for_and_led_back_to(keyed: Service, alice: Operator) -> None:
    subscriber(alice)
    keyed.set_clock(STALE_S)
    path = "/subscribers/export.csv?show=advocates"
    asking = alice.web.get(path)
    assert asking.headers["content-type"].startswith("text/html")
    token = {"csrf": alice.web.token("/account")}
    wrong = alice.web.http.post("/login/again", data={**token, "next": path, "login_password": "x"})
    assert wrong.status_code == 401 and 'name="next" value="/subscribers/export.csv' in wrong.text
    right = alice.web.http.post(
        "/login/again", data={**token, "next": path, "login_password": PASSWORD}
    )
    assert (right.status_code, right.headers["location"]) == (303, path)
    assert alice.web.get(path).headers["content-type"].startswith("text/csv")
    away = {**token, "next": "//evil.example", "login_password": PASSWORD}
    assert alice.web.http.post("/login/again", data=away).headers["location"] == "/"


def test_a_second_factor_is_asked_for_too(keyed: Service, alice: Operator) -> None:
    app, _ = set_up(alice.web)
    keyed.set_clock(STALE_S)
    asking = alice.web.post("/account/second-factor/off", page="/account/security")
    status, page = resend(alice, asking.text, login_password=PASSWORD)
    assert status == 400 and "Enter the code" in mistakes(page)["login_code"]
    status, page = resend(alice, page, login_password=PASSWORD, login_code="123456")
    assert status == 401
    status, _ = resend(alice, page, login_password=PASSWORD, login_code=app.code())
    assert status == 303
    assert "Set up a second factor" in alice.web.get("/account/security").text


def test_wrong_passwords_are_counted(keyed: Service, alice: Operator) -> None:
    keyed.set_clock(STALE_S)
    page = alice.web.post("/account/keys", page="/account", name="Tool").text
    statuses = [
        resend(alice, page, login_password="wrong")[0]
        for _ in range(attempts.PASSWORD_AGAIN.most + 1)
    ]
    assert statuses == [401] * attempts.PASSWORD_AGAIN.most + [429]
    assert resend(alice, page, login_password=PASSWORD)[0] == 429


def test_erasing_asks_and_what_else_the_form_does_does_not(keyed: Service, alice: Operator) -> None:
    someone = subscriber(alice)
    keyed.set_clock(STALE_S)
    path = f"/subscribers/{someone}"
    asking = alice.web.post(path, page="/account", do="erase")
    assert "Is it you?" in text_of(asking.text) and alice.web.get(path).status_code == 200
    other = alice.web.post(path, page="/account", do="verify")
    assert "Is it you?" not in text_of(other.text)
    assert resend(alice, asking.text, login_password=PASSWORD)[0] == 303
    assert alice.web.get(path).status_code == 404


def test_another_session_is_not_proved_by_this_one(keyed: Service, alice: Operator) -> None:
    other = WebClient(keyed)
    other.enters_password = False
    other.log_in(alice.email)
    keyed.set_clock(STALE_S)
    asking = alice.web.post("/account/keys", page="/account", name="Tool")
    resend(alice, asking.text, login_password=PASSWORD)
    assert "Is it you?" in text_of(other.post("/account/keys", page="/account", name="T").text)
