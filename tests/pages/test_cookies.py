"""Cookies: only the dashboard reads them, with a parser of our own. Python's has needed quadratic
time for a value of backslashes (CVE-2024-7592), and a machine may have such a Python.
"""

import http.cookies
from typing import Any, NoReturn

import pytest

from honeyguide.pages import cookies
from tests.support.newsletter import Newsletter
from tests.support.service import ONE_ENGINE, Service
from tests.support.web import WebClient, operator, text_of

HOSTILE = 'a="' + "\\" * 1000 + '"; b="\\012\\"; =; ;;="'


@pytest.fixture
def no_python_cookies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever uses `http.cookies` gets an exception."""

    def fail(*args: Any, **kwargs: Any) -> NoReturn:
        raise AssertionError("http.cookies was used")

    monkeypatch.setattr(http.cookies, "_unquote", fail)
    monkeypatch.setattr(http.cookies, "_quote", fail)
    for kind in (http.cookies.BaseCookie, http.cookies.SimpleCookie, http.cookies.Morsel):
        for name in ("__init__", "__setitem__", "load", "value_decode", "set", "output"):
            if hasattr(kind, name):
                monkeypatch.setattr(kind, name, fail)


@ONE_ENGINE
def test_no_request_is_parsed_by_pythons_own_cookies(
    service: Service, no_python_cookies: None
) -> None:
    alice, wax = operator(service), Newsletter(service)
    session = alice.web.session
    sent = {"cookie": f"{HOSTILE}; hg_session={session}"}
    for path in ("/", "/subscribers", "/settings"):
        assert alice.web.http.get(path, headers=sent).status_code == 200, path
    for path in ("/login", wax.page, "/hub", "/docs", "/healthz"):
        answer = WebClient(service).http.get(path, headers={"cookie": HOSTILE})
        assert answer.status_code == 200, path
    assert alice.get(alice.v1, headers=sent).status_code == 200
    assert alice.web.post("/account/profile", page="/account", name="Ann").status_code == 303
    assert "Profile saved" in text_of(alice.web.get("/account").text), "the flash message's cookie"
    assert alice.web.post("/logout", page="/account").status_code == 303
    assert alice.web.get("/").status_code == 303


@ONE_ENGINE
def test_more_than_8_kb_of_cookies_are_refused_with_advice(service: Service) -> None:
    alice = operator(service)
    own = f"hg_session={alice.web.session}"
    fits = "x=" + "\\" * (cookies.LIMIT - len(own) - len("; x="))
    answer = alice.web.http.get("/", headers={"cookie": f"{own}; {fits}"})
    assert answer.status_code == 200
    answer = alice.web.http.get("/", headers={"cookie": f"{own}; {fits}\\"})
    assert answer.status_code == 431 and "Delete this website’s cookies" in text_of(answer.text)
    several = [("cookie", own), ("cookie", fits), ("cookie", fits)]
    assert WebClient(service).http.get("/", headers=several).status_code == 431


@ONE_ENGINE
def test_whoever_reads_no_cookie_is_not_refused_for_one(service: Service) -> None:
    alice, wax = service.member(), Newsletter(service)
    sent = {"cookie": 'x="' + "\\" * 60_000 + '"'}
    assert alice.get(alice.v1, headers=sent).status_code == 200
    assert WebClient(service).http.get(wax.page, headers=sent).status_code == 200


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("a=1; b=2", {"a": "1", "b": "2"}),
        ("a=1;b=2;", {"a": "1", "b": "2"}),
        (" a = 1 ; b", {"a": "1"}),
        ('a="1"; b=""', {"a": "1", "b": ""}),
        ("a=b=c", {"a": "b=c"}),
        ("a=1; a=2", {"a": "2"}),
        ("", {}),
        (";;=;=x", {}),
    ],
)
def test_a_header_is_split_as_browsers_write_it(header: str, found: dict[str, str]) -> None:
    assert cookies.parse([header]) == found


def test_a_cookie_is_set_for_this_host_alone() -> None:
    assert (
        cookies.set_cookie_header("hg_flash", "Saved%21", max_age_s=60, is_secure=True)
        == "hg_flash=Saved%21; Max-Age=60; Path=/; HttpOnly; SameSite=lax; Secure"
    )
    with pytest.raises(ValueError, match="cookie"):
        cookies.set_cookie_header("hg_flash", "a; Domain=evil", max_age_s=60, is_secure=False)
