"""Links in emails to users of the dashboard, as a real mail server gets them: to open an account,
to accept an invitation, to choose a new password. On both engines.
"""

from collections.abc import Iterator

import pytest

from honeyguide.kernel.ids import new_id
from tests.support.mailbox import Mailbox
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import PASSWORD, WebClient, mistakes, operator, text_of

pytestmark = pytest.mark.usefixtures("roomy_logins")

NEW = "four quiet green herons"


@pytest.fixture
def service(posting: tuple[Service, Mailbox]) -> Iterator[Service]:
    """Anybody may open an account here."""
    yield posting[0]
    posting[0].set_clock(0)


@pytest.fixture
def inbox(posting: tuple[Service, Mailbox]) -> Mailbox:
    return posting[1]


def test_missing_fields_are_reported_when_logging_in_or_asking_for_a_link(
    service: Service, inbox: Mailbox
) -> None:
    operator(service)
    email = f"{new_id()}@example.org"
    web = WebClient(service)
    login = web.post("/login", email="", password="")
    assert login.status_code == 400
    assert mistakes(login.text) == {
        "email": "Enter your email address.",
        "password": "Enter your password.",
    }
    for path in ("/password", "/signup"):
        assert mistakes(web.post(path, email=" ").text) == {"email": "Enter your email address."}, (
            path
        )
        assert mistakes(web.post(path, email="nobody").text) == {
            "email": "Enter a valid email address."
        }, path
    web.post("/signup", email=email)
    link = inbox.link_to(email, "/welcome/")
    asked = {"name": "Enter the name of your newsletter.", "password": "Enter a password."}
    assert mistakes(web.post(link, name="", password="").text) == asked


def test_open_signup_goes_by_mail_and_says_the_same_to_everybody(
    service: Service, inbox: Mailbox
) -> None:
    alice, bob = operator(service), f"{new_id()}@example.org"
    known = WebClient(service).post("/signup", email=alice.email)
    web = WebClient(service)
    unknown = web.post("/signup", email=bob)
    assert known.status_code == unknown.status_code == 200
    assert text_of(known.text).replace(alice.email, "") == text_of(unknown.text).replace(bob, "")
    link = inbox.link_to(bob, "/welcome/")
    page = web.get(link)
    assert bob in text_of(page.text)
    made = web.post(link, name="Bob's Bees", password=PASSWORD)
    assert made.status_code == 303
    assert "Bob&#39;s Bees" in web.get("/").text
    assert WebClient(service).get(link).status_code == 404, "the link works once"


def test_a_new_password_by_mail_ends_every_session(service: Service, inbox: Mailbox) -> None:
    alice, web = operator(service), WebClient(service)
    web.post("/password", email=alice.email)
    link = inbox.link_to(alice.email, "/password/")
    assert web.get(link).status_code == 200
    assert web.get(link).status_code == 200, "looking does not spend it: mail scanners look"
    weak = web.post(link, password="short")
    assert weak.status_code == 400
    assert web.post(link, password=NEW).status_code == 303
    assert web.get("/").status_code == 200, "whoever changed it is in"
    assert alice.web.get("/").status_code == 303, "everybody else is out"
    assert web.get(link).status_code == 404, "the link works once"
    assert WebClient(service).log_in(alice.email).status_code == 401
    assert WebClient(service).log_in(alice.email, NEW).status_code == 303


def test_a_link_is_over_after_an_hour(service: Service, inbox: Mailbox) -> None:
    alice, web = operator(service), WebClient(service)
    web.post("/password", email=alice.email)
    link = inbox.link_to(alice.email, "/password/")
    service.set_clock(3601)
    assert "This link has expired" in web.get(link).text


def test_only_the_administrator_invites(service: Service, inbox: Mailbox) -> None:
    operator(service)  # the first account is the administrator's
    alice, address = operator(service), f"{new_id()}@example.org"
    refused = alice.web.post("/account/invitations", page="/account", email=address)
    assert refused.status_code == 404

    promote = statement("UPDATE account SET is_admin = 1 WHERE id = :account_id")
    service.write(lambda tx: tx.run(promote, account_id=alice.account_id))
    sent = alice.web.post("/account/invitations", page="/account", email=address)
    assert sent.status_code == 200 and "/welcome/" in sent.text
    link = inbox.link_to(address, "/welcome/")
    carl = WebClient(service)
    assert carl.post(link, name="Carl", password=PASSWORD).status_code == 303
    carl.post("/login/email-code", code=inbox.code_to(address))
    assert carl.get("/").status_code == 200
