"""The first account of an installation, in the browser: with the code from the log of `serve`,
once, and for one of many who try at once.
"""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from honeyguide.accounts import accounts, attempts, setup_codes
from tests.support.process import Serving, command, migrated
from tests.support.service import ENGINES, Service, until
from tests.support.web import PASSWORD, WebClient, mistakes, text_of

CODE = re.compile(r"/setup with the setup code ((?:[2-9A-HJ-NP-Z]{4}-?){3})")
ANN = {"name": "The Wax", "email": "ann@example.org", "password": PASSWORD}


@pytest.fixture(params=ENGINES)
def untouched(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param, signups="open") as service:
        yield service


def test_the_first_account_runs_the_installation(untouched: Service) -> None:
    web, code = WebClient(untouched), untouched.write(setup_codes.renew)
    assert web.get("/login").headers["location"] == "/setup"
    said = text_of(web.get("/setup").text)
    assert "Create the first account." in said and "Your list, a first reward and your logo" in said
    weak = web.post("/setup", code=code, **{**ANN, "password": "password123"})
    assert weak.status_code == 400 and "easy to guess" in weak.text
    # As somebody types it who reads it from another screen.
    made = web.post("/setup", code=f" {code.lower().replace('-', ' ')} ", **ANN)
    assert (made.status_code, made.headers["location"]) == (303, "/")
    assert "Role Administrator" in text_of(web.get("/account").text)
    assert untouched.write(setup_codes.renew) is None
    for other in (web, WebClient(untouched)):
        assert other.get("/setup").status_code == 404
        again = other.post("/setup", page="/password", code=code, **ANN)
        assert again.status_code == 404
    assert WebClient(untouched).get("/login").status_code == 200


def test_without_the_code_nobody_gets_the_installation(untouched: Service) -> None:
    web = WebClient(untouched)
    no_code = web.post("/setup", code="ABCD-EFGH-JKLM", **ANN)
    assert "This is not the setup code." in mistakes(no_code.text)["code"]
    old, new = untouched.write(setup_codes.renew), untouched.write(setup_codes.renew)
    assert old != new
    for wrong in (old, new[:-1], "-"):
        tried = web.post("/setup", code=wrong, **ANN)
        assert tried.status_code == 400 and list(mistakes(tried.text)) == ["code"]
    asked = web.post("/signup", page="/setup", email="ann@example.org")
    assert asked.headers["location"] == "/setup", "an emailed link would open the first account too"
    assert untouched.read(accounts.list_all) == []
    stored = untouched.read(accounts.setup_code_digest)
    assert stored and new not in stored and new.replace("-", "") not in stored


def test_codes_cannot_be_guessed_in_peace(
    untouched: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = attempts.SETUP_BY_ADDRESS._replace(most=2)
    monkeypatch.setattr(attempts, "SETUP_BY_ADDRESS", few)
    web, code = WebClient(untouched), untouched.write(setup_codes.renew)
    for _ in range(2):
        assert web.post("/setup", code="2222-2222-2222", **ANN).status_code == 400
    assert web.post("/setup", code=code, **ANN).status_code == 429


def test_every_missing_field_is_reported_at_once(untouched: Service) -> None:
    web, code = WebClient(untouched), untouched.write(setup_codes.renew)
    empty = web.post("/setup", code="", name=" ", email="", password="")
    assert empty.status_code == 400
    assert mistakes(empty.text) == {
        "code": "Enter the setup code.",
        "name": "Enter the name of your newsletter.",
        "email": "Enter your email address.",
        "password": "Enter a password.",
    }
    bad = web.post("/setup", code=code, name="Wax & Co", email="nobody", password=PASSWORD)
    assert mistakes(bad.text) == {"email": "Enter a valid email address."}
    assert 'value="Wax &amp; Co"' in bad.text and f'value="{code}"' in bad.text


def test_of_many_first_accounts_at_once_one_is_opened(untouched: Service) -> None:
    code = untouched.write(setup_codes.renew)
    browsers = [WebClient(untouched) for _ in range(6)]
    forms = [{**ANN, "csrf": each.token("/setup"), "code": code} for each in browsers]
    with ThreadPoolExecutor(len(browsers)) as pool:
        sending = [
            pool.submit(browser.http.post, "/setup", data={**form, "email": f"ann{n}@example.org"})
            for n, (browser, form) in enumerate(zip(browsers, forms, strict=True))
        ]
        answers = sorted(each.result().status_code for each in sending)
    assert answers == [303, 404, 404, 404, 404, 404]
    assert [account.is_admin for account in untouched.read(accounts.list_all)] == [1]


def logged_code(server: Serving) -> str:
    """Only one of the processes logs it, and another may answer before."""
    until(lambda: CODE.search(server.output) is not None)
    (code,) = CODE.findall(server.output)
    return str(code)


@pytest.mark.parametrize(
    ("engine", "arguments"),
    [("sqlite", ()), pytest.param("postgres", ("--workers", "2"), marks=pytest.mark.long)],
)
def test_serve_logs_one_new_code_at_each_start(engine: str, arguments: tuple[str, ...]) -> None:
    url = migrated(engine)
    with Serving(url, *arguments) as server:
        first = logged_code(server)
        server.stop()
        assert logged_code(server.start()) != first
        assert command("account", "create", "ann@example.org", database_url=url).returncode == 0
        assert server.caller()("GET", "/setup").status == 404
