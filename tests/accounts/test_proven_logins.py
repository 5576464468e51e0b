"""A login counts once its address is proven by a message that only went there: the link of an
invitation may have been followed by whoever it was shown to. On both engines.
"""

import re
from collections.abc import Iterator

import httpx
import pytest

from honeyguide.accounts import attempts
from honeyguide.kernel.ids import new_id
from tests.cli.test_cli_people import choose
from tests.pages.dashboard.test_account_page import list_status, make_admin
from tests.pages.dashboard.test_api_keys_page import button, key_in
from tests.pages.dashboard.test_team_pages import invited, roles
from tests.support.authenticator import set_up
from tests.support.mailbox import Mailbox
from tests.support.service import ENGINES, Service, until
from tests.support.stores import statement
from tests.support.web import PASSWORD, Operator, WebClient, mistakes, operator, text_of

pytestmark = pytest.mark.usefixtures("roomy_logins")

NEW = "four quiet green herons"
SECRET_KEY = "ab" * 32


@pytest.fixture(scope="module")
def inbox() -> Iterator[Mailbox]:
    with Mailbox() as mailbox:
        yield mailbox


@pytest.fixture(scope="module", params=ENGINES)
def silent(request: pytest.FixtureRequest) -> Iterator[Service]:
    """Without a mail server."""
    with Service(request.param, secret_key=SECRET_KEY, work=False) as service:
        yield service


@pytest.fixture(scope="module")
def service(silent: Service, inbox: Mailbox) -> Iterator[Service]:
    """The same installation with one."""
    url = silent.database_url
    with Service(
        silent.engine, database_url=url, smtp_url=inbox.url, signups="open", secret_key=SECRET_KEY
    ) as service:
        operator(service)  # whoever signs up to an empty installation sets it up
        yield service


def new_email() -> str:
    return f"{new_id()}@bank.example"


def joined(owner: Operator, email: str, service: Service | None = None) -> WebClient:
    """The browser of whoever followed the link that the owner was shown."""
    web = WebClient(service or owner.service)
    answer = web.post(invited(owner, email), your_name="Nora", password=PASSWORD)
    assert answer.status_code == 303, text_of(answer.text)
    return web


def forgot(service: Service, inbox: Mailbox, email: str) -> str:
    """The link that the owner of the mailbox gets."""
    before = len(inbox.links_to(email, "/password/"))
    assert WebClient(service).post("/password", email=email).status_code == 200
    return inbox.link_to(email, "/password/", after=before)


def reset(service: Service, inbox: Mailbox, email: str) -> httpx.Response:
    return WebClient(service).post(forgot(service, inbox, email), password=NEW)


def made_key(web: WebClient) -> str:
    return key_in(web.post("/account/keys", page="/account/keys", name="mine").text)


def test_a_link_that_was_shown_gives_no_session_before_the_code(
    service: Service, inbox: Mailbox
) -> None:
    alice, email = operator(service), new_email()
    web = joined(alice, email)
    assert not web.session and web.get("/settings").status_code == 303
    page = web.get("/login/email-code")
    assert "Confirm your email address" in page.text and email in text_of(page.text)
    wrong = web.post("/login/email-code", code="12345")
    assert wrong.status_code == 401 and not web.session
    assert "That code is not right." in mistakes(wrong.text)["code"]
    right = web.post("/login/email-code", code=inbox.code_to(email))
    assert (right.status_code, right.headers["location"]) == (303, "/")
    assert web.get("/rewards").status_code == 200
    assert roles(alice)[email] == "editor"
    again = WebClient(service)
    assert again.log_in(email).headers["location"] == "/", "it is asked once"


def test_an_account_of_ones_own_needs_the_code_too(service: Service, inbox: Mailbox) -> None:
    admin, email, web = make_admin(operator(service)), new_email(), WebClient(service)
    shown = admin.web.post("/account/invitations", page="/account", email=email, as_partner="1")
    link = re.search(r"/welcome/[\w-]+", shown.text)
    assert link
    answer = web.post(link[0], name="Bank news", password=PASSWORD)
    assert answer.headers["location"] == "/login/email-code" and not web.session
    right = web.post("/login/email-code", code=inbox.code_to(email))
    assert right.headers["location"] == "/network" and web.session


def test_a_link_that_was_only_mailed_proves_the_address(service: Service, inbox: Mailbox) -> None:
    email, web = new_email(), WebClient(service)
    web.post("/signup", email=email)
    made = web.post(inbox.link_to(email, "/welcome/"), name="Mine", password=PASSWORD)
    assert made.headers["location"] == "/" and web.session
    set_up(web)
    answer = reset(service, inbox, email)
    assert answer.headers["location"] == "/login/code", "the factor is the owner's"


def test_an_inviter_who_follows_the_link_gets_nothing_and_keeps_nobody_out(
    service: Service, inbox: Mailbox
) -> None:
    mallory, email = operator(service, "mallory"), new_email()
    web = joined(mallory, email)
    for path in ("/", "/account/security", "/account/second-factor", "/login/code"):
        assert not text_of(web.get(path).text).count("Enter your code") or path == "/login/code"
        assert not web.session
    skipped = web.post("/login/code", page="/login/email-code", code="123456")
    assert skipped.status_code == 401 and not web.session
    assert WebClient(service).log_in(email).headers["location"] == "/login/email-code"
    answer = reset(service, inbox, email)
    assert answer.headers["location"] == "/"
    assert web.get("/login/email-code").headers["location"] == "/login", "the password is another"
    assert WebClient(service).log_in(email).status_code == 401
    assert WebClient(service).log_in(email, NEW).headers["location"] == "/"


def test_without_a_mail_server_the_link_counts_until_there_is_one(
    silent: Service, service: Service, inbox: Mailbox
) -> None:
    mallory, email = operator(silent, "mallory"), new_email()
    page = text_of(mallory.web.get("/team").text)
    assert "No mail server is set" not in page, "before there is a link"
    web = WebClient(silent)
    shown = mallory.web.post("/team/invitations", page="/team", email=email, role="owner").text
    assert "No mail server is set" in text_of(shown)
    link = re.search(r"/welcome/[\w-]+", shown)
    assert link
    assert web.post(link[0], your_name="N", password=PASSWORD).headers["location"] == "/"
    app, codes = set_up(web)
    key = made_key(web)
    assert list_status(mallory, key) == 200
    # From now on there is a mail server.
    other = WebClient(service)
    assert other.log_in(email).headers["location"] == "/login/email-code"
    other.post("/login/code", page="/login/email-code", code=app.code())
    assert not other.session, "the second factor does not take its place"
    assert reset(service, inbox, email).headers["location"] == "/", "the factor has ended"
    assert web.get("/settings").status_code == 303, "so have the sessions"
    assert list_status(mallory, key) == 401, "and the keys"
    kept = "SELECT COUNT(*) FROM recovery_code AS c JOIN login_user AS u ON u.id = c.user_id "
    found = service.read(lambda tx: tx.all(statement(f"{kept} WHERE u.email = :e"), e=email))
    assert [tuple(row) for row in found] == [(0,)] and len(codes) == 10


def test_with_the_code_the_owner_keeps_what_they_set_up(
    silent: Service, service: Service, inbox: Mailbox
) -> None:
    alice, email = operator(silent), new_email()
    app, _ = set_up(joined(alice, email))
    web = WebClient(service)
    web.log_in(email)
    answer = web.post("/login/email-code", code=inbox.code_to(email))
    assert answer.headers["location"] == "/login/code" and not web.session
    assert web.post("/login/code", code=app.code()).status_code == 303 and web.session
    assert reset(service, inbox, email).headers["location"] == "/login/code"


def test_the_first_reset_of_an_older_login_proves_it_and_no_later_one_ends_anything(
    service: Service, alice: Operator, bob: Operator, inbox: Mailbox
) -> None:
    set_up(alice.web)
    mine, his = made_key(alice.web), made_key(bob.web)
    warned = "This address was never proven"
    link = forgot(service, inbox, alice.email)
    web = WebClient(service)
    assert warned in text_of(web.get(link).text)
    assert web.post(link, password=NEW).headers["location"] == "/"
    assert [list_status(alice, each) for each in (mine, his)] == [401, 404]
    assert list_status(bob, his) == 200 and list_status(alice, alice.key) == 200
    set_up(web)
    again = made_key(web)
    link = forgot(service, inbox, alice.email)
    assert warned not in text_of(WebClient(service).get(link).text)
    answer = WebClient(service).post(link, password=PASSWORD)
    assert answer.headers["location"] == "/login/code"
    assert list_status(alice, again) == 200


def test_who_confirms_their_address_keeps_what_they_set_up(
    service: Service, alice: Operator, inbox: Mailbox
) -> None:
    set_up(alice.web)
    key, page = made_key(alice.web), "/account/security"
    assert "Nothing shows yet that" in text_of(alice.web.get(page).text)
    assert alice.web.post("/account/email/code", page=page).status_code == 303
    wrong = alice.web.post("/account/email/confirm", page=page, code="12345")
    assert wrong.status_code == 401 and "That code is not right." in mistakes(wrong.text)["code"]
    code = inbox.code_to(alice.email)
    assert alice.web.post("/account/email/confirm", page=page, code=code).status_code == 303
    assert "Nothing shows yet that" not in text_of(alice.web.get(page).text)
    assert reset(service, inbox, alice.email).headers["location"] == "/login/code"
    assert list_status(alice, key) == 200


def test_a_key_that_was_put_in_the_place_of_another_ends_with_its_maker(
    service: Service, alice: Operator, inbox: Mailbox
) -> None:
    old = made_key(alice.web)
    rotate = button(alice.web.get("/account/keys").text, "mine", "rotate")
    new = key_in(alice.web.post(rotate, page="/account/keys").text)
    assert [list_status(alice, key) for key in (old, new)] == [200, 200]
    reset(service, inbox, alice.email)
    assert [list_status(alice, key) for key in (old, new)] == [401, 401]


def test_a_password_from_the_command_line_lets_in_whom_no_email_reaches(
    service: Service, inbox: Mailbox
) -> None:
    alice, email = operator(service), new_email()
    joined(alice, email)
    done = choose(service.database_url, email, NEW, NEW)
    assert done.returncode == 0, done.stderr
    web = WebClient(service)
    assert web.log_in(email, NEW).headers["location"] == "/"
    set_up(web)
    assert reset(service, inbox, email).headers["location"] == "/", "it proved nothing"


def test_codes_are_guessed_and_mailed_a_few_times_an_hour(service: Service, inbox: Mailbox) -> None:
    alice, email = operator(service), new_email()
    web = joined(alice, email)
    form = {"csrf": web.token("/login/email-code"), "code": "12345"}
    statuses = [web.http.post("/login/email-code", data=form).status_code for _ in range(12)]
    assert statuses == [401] * 10 + [429] * 2
    for _ in range(attempts.EMAIL_CODES.most + 2):
        assert WebClient(service).log_in(email).headers["location"] == "/login/email-code"
    until(lambda: len(inbox.codes_to(email)) == attempts.EMAIL_CODES.most)
    service.run_jobs()
    codes = inbox.codes_to(email)
    assert len(codes) == attempts.EMAIL_CODES.most
    assert len(set(codes)) <= 2, "the same one within half an hour"


def test_guessing_ends_after_twenty_codes_a_day(service: Service) -> None:
    """Or somebody with many logins at strangers' addresses would prove one of them some day."""
    alice, email = operator(service), new_email()
    joined(alice, email)
    for hour, most in enumerate((10, 10, 0)):
        service.set_clock(hour * 3_700)
        web = WebClient(service)
        web.log_in(email)
        form = {"csrf": web.token("/login/email-code"), "code": "12345"}
        statuses = [web.http.post("/login/email-code", data=form).status_code for _ in range(11)]
        assert statuses == [401] * most + [429] * (11 - most), hour
    service.set_clock(0)


def test_a_code_is_valid_for_half_an_hour_and_no_longer_than_an_hour(
    service: Service, inbox: Mailbox
) -> None:
    alice, statuses = operator(service), []
    for later_s in (1_799, 3_601):
        email = new_email()
        joined(alice, email)
        code = inbox.code_to(email)
        service.set_clock(later_s)
        web = WebClient(service)
        web.log_in(email)
        statuses.append(web.post("/login/email-code", code=code).status_code)
        service.set_clock(0)
    assert statuses == [303, 401]


@pytest.mark.parametrize("fetch_site", ["same-origin", None])
def test_a_form_of_a_page_whose_address_is_a_key_names_no_origin(
    service: Service, inbox: Mailbox, fetch_site: str | None
) -> None:
    """Such a page sends no referrer, and then browsers say "null"."""
    email, web = new_email(), WebClient(service)
    web.post("/signup", email=email)
    path = inbox.link_to(email, "/welcome/")
    form = {"csrf": web.token(path), "name": "Mine", "password": PASSWORD}
    headers = {"origin": "null"} | ({"sec-fetch-site": fetch_site} if fetch_site else {})
    made = web.http.post(path, data=form, headers=headers)
    assert (made.status_code, made.headers["location"]) == (303, "/")


@pytest.mark.parametrize("fetch_site", ["cross-site", "same-site", "none", None])
def test_no_other_page_takes_a_form_without_an_origin(
    alice: Operator, fetch_site: str | None
) -> None:
    form = {"csrf": alice.web.token("/account"), "name": "From elsewhere"}
    headers = {"origin": "null"} | ({"sec-fetch-site": fetch_site} if fetch_site else {})
    assert alice.web.http.post("/account/keys", data=form, headers=headers).status_code == 403
