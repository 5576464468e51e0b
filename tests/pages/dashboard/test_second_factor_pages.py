"""Logging in with a second factor, setting one up, and accounts that ask for it, on both
engines.
"""

import re
from collections.abc import Iterator

import pytest

from honeyguide.accounts import accounts, email_proofs, invitations, members
from honeyguide.accounts.invitations import NewTicket
from honeyguide.events import change_log
from honeyguide.kernel.paging import Page
from honeyguide.kernel.tenant import Tenant
from honeyguide.mail import emails
from honeyguide.store.tx import Tx
from tests.pages.dashboard.test_account_page import make_admin
from tests.support.authenticator import PAGE, send_code, set_up, shown_codes, shown_secret
from tests.support.changes import changing
from tests.support.readings import in_account, reads_account
from tests.support.service import ENGINES, Service
from tests.support.web import PASSWORD, Operator, WebClient, mistakes, operator, text_of

pytestmark = pytest.mark.usefixtures("roomy_logins")

NEW = "four quiet green herons"


@pytest.fixture(scope="module", params=ENGINES)
def keyed(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param, secret_key="ab" * 32) as service:
        yield service


def require(alice: Operator) -> None:
    site, tenant = alice.service.services.site, Tenant(alice.account_id, alice.campaign_id)
    unit = changing(accounts.set_needs_second_factor, site, tenant, alice.service.services.clock())
    alice.service.run(alice.service.services.store.write(unit, True))


def test_the_password_alone_opens_nothing(keyed: Service) -> None:
    alice = operator(keyed)
    app, _ = set_up(alice.web)
    web = WebClient(keyed)
    answer = web.post("/login", email=alice.email, password=PASSWORD, next="/rewards", keep="1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login/code")
    assert not web.session and web.get("/rewards").status_code == 303
    wrong = web.post("/login/code", code="000 00")
    assert wrong.status_code == 401 and not web.session
    assert "That code is not right" in mistakes(wrong.text)["code"]
    right = web.post("/login/code", code=app.code())
    assert (right.status_code, right.headers["location"]) == (303, "/rewards")
    session = next(each for each in right.headers.get_list("set-cookie") if "hg_session=" in each)
    assert f"Max-Age={30 * 24 * 3600}" in session, "they chose to stay logged in"
    assert web.get("/rewards").status_code == 200
    again = WebClient(keyed)
    again.log_in(alice.email)
    assert again.post("/login/code", code=app.code()).status_code == 401, "a code works once"


def test_a_recovery_code_logs_in_once(keyed: Service) -> None:
    alice = operator(keyed)
    _, codes = set_up(alice.web)
    statuses = []
    for _ in range(2):
        web = WebClient(keyed)
        web.log_in(alice.email)
        statuses.append(web.post("/login/code", code=codes[3]).status_code)
        if web.session:
            assert "9 codes left" in text_of(web.get("/", follow_redirects=True).text)
    assert statuses == [303, 401]


def test_a_password_reset_does_not_skip_the_second_factor(keyed: Service) -> None:
    alice, now_ms = operator(keyed), keyed.now_ms()
    keyed.write(lambda tx: email_proofs.prove(tx.at(now_ms), alice.user_id))
    app, _ = set_up(alice.web)
    web = WebClient(keyed)
    answer = web.post(reset_link(alice), password=NEW)
    assert answer.headers["location"] == "/login/code" and not web.session
    assert web.post("/login/code", code=app.code()).status_code == 303


def reset_link(alice: Operator) -> str:
    """As the email would have it; the database has only its digest."""

    async def issue(tx: Tx) -> str:
        user_id = await members.first_owner(tx, alice.account_id)
        new = NewTicket("password_reset", user_id=user_id)
        _, token = await invitations._issue(tx.at(alice.service.now_ms()), new)
        return token

    return f"/password/{alice.service.write(issue)}"


def test_the_step_before_the_code_ends_with_time_and_with_the_password(keyed: Service) -> None:
    alice = operator(keyed)
    app, _ = set_up(alice.web)
    late, stale = WebClient(keyed), WebClient(keyed)
    for web in (late, stale):
        web.log_in(alice.email)
    form = {"csrf": stale.token("/login/code")}
    changed = alice.web.post(
        "/account/password", page="/account/security", current=PASSWORD, password=NEW
    )
    assert changed.status_code == 303
    answer = stale.http.post("/login/code", data={**form, "code": app.code()})
    assert answer.headers["location"] == "/login" and not stale.session
    late.log_in(alice.email, NEW)
    form = {"csrf": late.token("/login/code")}
    keyed.set_clock(601)
    answer = late.http.post("/login/code", data={**form, "code": app.code()})
    keyed.set_clock(0)
    assert answer.headers["location"] == "/login" and not late.session


def test_nobody_else_made_the_cookie_of_that_step(keyed: Service) -> None:
    web = WebClient(keyed)
    web.http.cookies.set("hg_login", "e30" * 20, domain="127.0.0.1")
    assert web.get("/login/code").headers["location"] == "/login"


def test_codes_are_guessed_ten_times_an_hour(keyed: Service) -> None:
    alice = operator(keyed)
    set_up(alice.web)
    web = WebClient(keyed)
    web.log_in(alice.email)
    form = {"csrf": web.token("/login/code"), "code": "123456"}
    statuses = [web.http.post("/login/code", data=form).status_code for _ in range(12)]
    assert statuses == [401] * 10 + [429] * 2


def test_setting_up_keeps_the_secret_after_a_wrong_code(keyed: Service) -> None:
    alice = operator(keyed)
    page = alice.web.get(PAGE).text
    wrong = send_code(alice.web, page, "12345")
    assert wrong.status_code == 400 and shown_secret(wrong.text) == shown_secret(page)
    assert "<svg" in page and "otpauth://totp/Honeyguide:" in page
    mallory = operator(keyed, "mallory")
    sealed = re.search(r'name="secret" value="([^"]+)"', page)
    assert sealed
    data = {"csrf": mallory.web.token(PAGE), "secret": sealed[1], "code": "123456"}
    theirs = mallory.web.http.post(PAGE, data=data)
    assert theirs.status_code == 400 and shown_secret(theirs.text) != shown_secret(page)


def test_security_shows_it_renews_codes_and_turns_it_off(keyed: Service) -> None:
    alice = operator(keyed)
    assert "Set up a second factor" in alice.web.get("/account/security").text
    _, codes = set_up(alice.web)
    page = text_of(alice.web.get("/account/security").text)
    assert "10 recovery codes left" in page
    renewed = alice.web.post("/account/second-factor/codes", page="/account/security")
    new = shown_codes(renewed.text)
    assert renewed.status_code == 201 and len(new) == 10 and not set(new) & set(codes)
    assert alice.web.get(PAGE).headers["location"] == "/account/security"
    off = alice.web.post("/account/second-factor/off", page="/account/security")
    assert off.status_code == 303
    web = WebClient(keyed)
    assert web.log_in(alice.email).headers["location"] == "/" and web.session


def test_members_of_an_account_that_asks_for_it_get_nothing_else(keyed: Service) -> None:
    alice = operator(keyed)
    refused = alice.web.post(
        "/account/second-factor/required", page="/account/security", needed="yes"
    )
    assert refused.status_code == 400 and "Set up your own" in refused.text
    require(alice)  # while she is logged in
    for path in ("/", "/rewards", "/account/security", "/subscribers/export.csv"):
        answer = alice.web.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, PAGE)
    form = {"csrf": alice.web.token(PAGE), "name": "New name"}
    assert alice.web.http.post("/account/profile", data=form).headers["location"] == PAGE
    assert "asks everybody for one" in text_of(alice.web.get(PAGE).text)
    set_up(alice.web)
    assert alice.web.get("/rewards").status_code == 200
    assert 'value="New name"' not in alice.web.get("/account").text
    page = alice.web.get("/account/security").text
    assert "Let members choose" in page
    off = alice.web.post("/account/second-factor/required", page="/account/security", needed="no")
    assert off.status_code == 303


def test_what_is_done_about_it_is_logged(keyed: Service) -> None:
    alice = operator(keyed)
    set_up(alice.web)
    for path, fields in (
        ("codes", {}),
        ("required", {"needed": "yes"}),
        ("required", {"needed": "yes"}),
        ("off", {}),
    ):
        page = f"/account/second-factor/{path}"
        assert alice.web.post(page, page="/account/security", **fields).status_code < 400
    found = keyed.read(lambda tx: change_log.of_account(in_account(tx, alice.account_id), most=50))
    logged = [(each.actor_kind, each.action, each.after) for each in reversed(found)]
    assert [each for each in logged if each[:2] != ("member", "login.succeeded")][1:] == [
        ("member", "second_factor.turned_on", None),
        ("member", "second_factor.codes_renewed", None),
        ("member", "account.changed", '{"needs_second_factor":true}'),
        ("member", "second_factor.turned_off", None),
    ]


def test_an_administrator_resets_one_that_was_lost(keyed: Service) -> None:
    admin, bob = make_admin(operator(keyed, "admin")), operator(keyed, "bob")
    set_up(bob.web)
    path, page = "/administration/second-factors", "/administration"
    assert bob.web.post(path, page="/account", email=bob.email).status_code == 404
    assert admin.web.post(path, page=page, email=bob.email).headers["location"] == page
    web = WebClient(keyed)
    assert web.log_in(bob.email).headers["location"] == "/" and web.session
    for email, sentence in (
        (bob.email, f"{bob.email} has no second factor."),
        ("nobody@example.org", "Nobody logs in with nobody@example.org."),
        ("", "Enter the email address they log in with."),
    ):
        again = admin.web.post(path, page=page, email=email)
        assert again.status_code == 400 and mistakes(again.text) == {"email": sentence}
    for account_id in (admin.account_id, bob.account_id):
        found = keyed.run(
            keyed.services.store.read(reads_account(change_log.of_account, account_id), most=3)
        )
        assert "second_factor.reset" in [each.action for each in found]
    sent = keyed.read(lambda tx: emails.of_account(in_account(tx, bob.account_id), Page()))
    assert "second_factor_off" in [each.kind for each in sent]


def test_somebody_who_must_set_it_up_can_log_out(keyed: Service) -> None:
    alice = operator(keyed)
    require(alice)
    assert alice.web.post("/logout", page=PAGE).headers["location"] == "/login"


def test_an_installation_can_ask_everybody(keyed: Service) -> None:
    with Service(keyed.engine, secret_key="ab" * 32, require_second_factor="yes") as strict:
        alice = operator(strict)
        assert alice.web.get("/").headers["location"] == PAGE
        set_up(alice.web)
        assert alice.web.get("/").status_code == 200


def test_without_a_secret_key_it_says_so_and_locks_nobody_out(alice: Operator) -> None:
    assert "honeyguide init" in alice.web.get("/account/security").text
    assert alice.web.get(PAGE).headers["location"] == "/account/security"
    require(alice)
    assert alice.web.get("/account/security").status_code == 200
