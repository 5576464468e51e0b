"""The checks on the administrator's page: some are made on every view, those that connect to
something when asked. The test email says what the mail server said.
"""

from collections.abc import Iterator

import pytest

from tests.support.mailbox import Mailbox
from tests.support.service import ENGINES, ONE_ENGINE, Service
from tests.support.web import Operator, operator, text_of


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with Mailbox() as mailbox:
        yield mailbox


def health(who: Operator, **headers: str) -> str:
    answer = who.web.get("/administration", headers=headers)
    assert answer.status_code == 200
    return text_of(answer.text).partition(" Health ")[2].partition(" Months ")[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_slow_checks_are_made_when_asked_and_kept(engine: str, mailbox: Mailbox) -> None:
    with Service(engine, smtp_url=mailbox.url) as service:
        alice = operator(service, "alice")
        before = health(alice)
        assert "Warning Base URL The base URL http://127.0.0.1" in before
        assert "Not checked yet: database, schema, mail server." in before
        assert mailbox.connections == 0
        assert alice.web.post("/administration/checks", page="/administration").status_code == 303
        after = health(alice)
        assert "OK Mail server 127.0.0.1 accepts emails from us checked just now" in after
        assert "OK Schema Up to date checked just now" in after
        assert "Not checked yet:" not in after and mailbox.connections == 1
        mailbox.stop()
        assert "127.0.0.1 accepts emails from us" in health(alice), "as it was when it was checked"
        service.set_clock(7_200)
        alice.web.log_in(alice.email)
        assert "accepts emails from us checked 2 hours ago" in health(alice)
        alice.web.post("/administration/checks", page="/administration")
        assert "Problem Mail server Could not connect to the mail server" in health(alice)


def test_the_test_email_says_what_the_mail_server_said(mailbox: Mailbox) -> None:
    with Service("sqlite", smtp_url=mailbox.url) as service:
        alice = operator(service, "alice")
        sent = alice.web.post("/administration/test-email", page="/administration")
        assert sent.status_code == 303
        sentence = "The mail server accepted the test email to alice"
        assert text_of(alice.web.get("/administration").text).count(sentence) == 2, (
            "flash and check"
        )
        (email,) = mailbox.received
        assert email.to == alice.email and service.url in email.text
        mailbox.say("RCPT", "550 5.1.1 unknown user")
        refused = alice.web.post("/administration/test-email", page="/administration")
        reason = "The test email was not sent. The mail server refused it: 550 5.1.1 unknown user."
        assert refused.status_code == 400 and reason in text_of(refused.text)
        assert f"Problem Mail server {reason} checked just now" in health(alice)
        mailbox.say("DATA", "451 try later")
        later = alice.web.post("/administration/test-email", page="/administration")
        assert "451 try later" in text_of(later.text)


def test_without_a_mail_server_the_page_says_where_emails_go() -> None:
    with Service("sqlite") as service:
        alice = operator(service, "alice")
        assert "Mail server Emails are not sent, only printed in the log." in health(alice)
        answer = alice.web.post("/administration/test-email", page="/administration")
        assert answer.status_code == 400 and "only printed in the log" in text_of(answer.text)


@ONE_ENGINE
def test_others_than_the_administrator_cannot_check(shared_service: Service) -> None:
    _, bob = operator(shared_service, "alice"), operator(shared_service, "bob")
    for path in ("/administration/checks", "/administration/test-email"):
        assert bob.web.post(path, page="/account").status_code == 404


def test_a_proxy_that_is_not_trusted_is_seen() -> None:
    with Service("sqlite") as service:
        alice = operator(service, "alice")
        assert "OK Proxy" in health(alice)
        answer = health(alice, **{"x-forwarded-for": "203.0.113.9"})
        assert "Problem Proxy The proxy at 127.0.0.1 is not trusted" in answer
    with Service("sqlite", trusted_proxies="127.0.0.1") as service:
        alice = operator(service, "alice")
        answer = health(alice, **{"x-forwarded-for": "203.0.113.9"})
        assert "OK Proxy Trusted: 127.0.0.1" in answer
