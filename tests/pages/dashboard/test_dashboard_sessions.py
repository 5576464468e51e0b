"""Sessions and forms of the dashboard: cookies, tokens, forged requests, and when a session ends;
on both engines.
"""

import re

import httpx
import pytest

from honeyguide.accounts import setup_codes
from tests.support.service import ENGINES, Service
from tests.support.web import PASSWORD, Operator, WebClient, operator

pytestmark = pytest.mark.usefixtures("roomy_logins")

NEW = "four quiet green herons"


def test_the_session_cookie_is_guarded(service: Service, alice: Operator) -> None:
    answer = WebClient(service).post("/login", email=alice.email, password=PASSWORD)
    cookie = next(line for line in answer.headers.get_list("set-cookie") if "hg_session=" in line)
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie and "Path=/" in cookie
    assert "Secure" not in cookie and not cookie.startswith("__Host-"), (
        "plain HTTP on loopback could not keep it"
    )
    assert "no-store" in answer.headers["cache-control"]


@pytest.mark.parametrize("engine", ENGINES)
def test_behind_https_cookies_are_secure_and_bound_to_the_host(engine: str) -> None:
    with Service(engine, base_url="https://go.example.org", test_clock="") as service:
        web = WebClient(service)
        code = service.write(setup_codes.renew)
        page = web.get("/setup")
        token = re.search(r'name="csrf" value="(\w+)"', page.text)
        cookies = page.headers.get_list("set-cookie")
        assert (
            token
            and cookies
            and all(line.startswith("__Host-hg_") and "Secure" in line for line in cookies)
        )
        # httpx keeps no Secure cookie for plain HTTP, as a browser would not: it is handed over by
        # hand.
        name, _, value = cookies[0].partition(";")[0].partition("=")
        fields = {"csrf": token[1], "name": "Wax", "email": "ann@example.org", "password": PASSWORD}
        fields["code"] = code
        made = httpx.post(
            f"{service.url}/setup",
            data=fields,
            headers={"origin": "https://go.example.org", "cookie": f"{name}={value}"},
            verify=False,
        )
        session = next(line for line in made.headers.get_list("set-cookie") if "session" in line)
        assert (
            session.startswith("__Host-hg_session=")
            and "Secure" in session
            and "Domain" not in session
        )
        elsewhere = httpx.post(
            f"{service.url}/setup",
            data=fields,
            headers={"origin": service.url, "cookie": f"{name}={value}"},
            verify=False,
        )
        assert elsewhere.status_code == 403, "only the public address may send forms"


def test_a_planted_session_is_worth_nothing_after_the_login(
    service: Service, alice: Operator
) -> None:
    before = alice.web.session
    again = WebClient(service)
    again.plant(before)
    token = re.search(r'name="csrf" value="(\w+)"', again.get("/settings").text)
    assert token
    again.http.post("/login", data={"csrf": token[1], "email": alice.email, "password": PASSWORD})
    assert again.session != before
    stale = WebClient(service)
    stale.plant(before)
    assert stale.get("/settings").headers["location"].startswith("/login")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", ""])
def test_a_form_from_another_site_does_nothing(alice: Operator, origin: str) -> None:
    token = alice.web.token("/settings")
    answer = alice.web.http.post(
        "/account/profile", data={"csrf": token, "name": "Evil"}, headers={"origin": origin}
    )
    assert answer.status_code == 403
    assert "Evil" not in alice.web.get("/account").text


@pytest.mark.parametrize("token", ["", "00", "ab" * 64, "x" * 128])
def test_a_form_without_the_visitors_own_token_does_nothing(alice: Operator, token: str) -> None:
    assert (
        alice.web.http.post("/account/profile", data={"csrf": token, "name": "Evil"}).status_code
        == 403
    )


def test_one_persons_token_is_no_good_for_another(service: Service) -> None:
    alice, mallory = operator(service), operator(service, "mallory")
    token = mallory.web.token("/settings")
    assert (
        alice.web.http.post("/account/profile", data={"csrf": token, "name": "Evil"}).status_code
        == 403
    )


def test_login_csrf_is_refused(service: Service) -> None:
    """An attacker cannot log a victim's browser into the attacker's account: the form's token
    belongs to the browser.
    """
    mallory = operator(service, "mallory")
    token = WebClient(service).token("/login")
    victim = WebClient(service)
    answer = victim.http.post(
        "/login", data={"csrf": token, "email": mallory.email, "password": PASSWORD}
    )
    assert answer.status_code == 403 and not victim.session


def test_sessions_end_by_time(service: Service, alice: Operator) -> None:
    assert alice.web.get("/settings").status_code == 200
    service.set_clock(12 * 3600 + 1)
    assert alice.web.get("/settings").status_code == 303, "12 idle hours"
    service.set_clock(0)
    bob = operator(service, "bob")
    for hours in range(11, 14 * 24, 11):
        service.set_clock(hours * 3600)
        assert bob.web.get("/settings").status_code == 200
    service.set_clock(14 * 24 * 3600 + 1)
    assert bob.web.get("/settings").status_code == 303, "14 days, however busy"


def test_whoever_stays_logged_in_does_so_for_30_days_however_idle_or_busy(
    service: Service,
) -> None:
    alice, idle = operator(service), WebClient(service)
    busy = WebClient(service)
    for each in (idle, busy):
        each.post("/login", email=alice.email, password=PASSWORD, keep="1")
    for hours in (1, 12, 13, 27, 14 * 24 + 1, 30 * 24 - 1):
        service.set_clock(hours * 3600)
        assert busy.http.get("/settings").status_code == 200, f"after {hours} hours"
    assert idle.http.get("/settings").status_code == 200, "29 idle days"
    service.set_clock(30 * 24 * 3600 + 1)
    assert [each.http.get("/settings").status_code for each in (idle, busy)] == [303, 303]


def test_logging_out_ends_the_session_itself(service: Service, alice: Operator) -> None:
    token = alice.web.session
    assert alice.web.post("/logout", page="/settings").status_code == 303
    stale = WebClient(service)
    stale.plant(token)
    assert stale.get("/").status_code == 303


def test_other_sessions_can_be_ended(service: Service, alice: Operator) -> None:
    other = WebClient(service)
    other.log_in(alice.email)
    assert other.get("/").status_code == 200
    assert alice.web.post("/account/sessions", page="/account").status_code == 303
    assert other.get("/").status_code == 303
    assert alice.web.get("/").status_code == 200


def test_a_password_change_ends_every_other_session(service: Service, alice: Operator) -> None:
    other = WebClient(service)
    other.log_in(alice.email)
    wrong = alice.web.post(
        "/account/password", page="/account", current="not mine at all", password=NEW
    )
    assert wrong.status_code == 400 and "not your current password" in wrong.text
    before = alice.web.session
    assert (
        alice.web.post(
            "/account/password", page="/account", current=PASSWORD, password=NEW
        ).status_code
        == 303
    )
    assert alice.web.session != before and alice.web.get("/").status_code == 200
    assert other.get("/").status_code == 303


def test_the_token_is_nowhere_in_the_database(service: Service) -> None:
    from tests.support.tables import dump, mentions

    alice = operator(service)
    assert mentions(dump(service), alice.web.session) == []
