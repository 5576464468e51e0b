"""Whoever asks for a link by email learns nothing from the answer, and keeps nobody from getting
one. On both engines.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from honeyguide.accounts import attempts
from honeyguide.kernel.ids import new_id
from tests.support.service import ENGINES, Service
from tests.support.stores import statement
from tests.support.web import PASSWORD, Operator, WebClient, operator, text_of

pytestmark = pytest.mark.usefixtures("roomy_logins")

MOST = attempts.EMAILS_BY_ACCOUNT.most


@pytest.fixture(scope="module", params=ENGINES)
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    """Where jobs run when the test lets them."""
    with Service(request.param, signups="open", work=False) as service:
        operator(service)
        yield service


def ask(service: Service, sql: str, **params: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in service.read(lambda tx: tx.all(statement(sql), **params))]


def answer_requests(service: Service) -> None:
    (job,) = (job for job in service.services.loop.jobs if job.name == "send emails")
    service.run_job(job)


def sent_to(service: Service, email: str) -> list[str]:
    """The kinds of emails that were written to this address by now."""
    answer_requests(service)
    sql = "SELECT kind FROM letter WHERE to_email = :email ORDER BY created_ms, id"
    return [kind for (kind,) in ask(service, sql, email=email)]


@pytest.mark.parametrize("path", ["/password", "/signup"])
def test_the_form_does_the_same_for_an_address_that_nobody_has(service: Service, path: str) -> None:
    """So it also takes as long: what differs is done later, by a job."""
    answer_requests(service)
    alice, unknown = operator(service), f"{new_id()}@example.org"
    left = {}
    for email in (alice.email, unknown):
        web = WebClient(service)
        counts = "SELECT (SELECT COUNT(*) FROM letter), (SELECT COUNT(*) FROM ticket)"
        before = ask(service, counts)
        page = web.post(path, email=email)
        assert ask(service, counts) == before
        rows = ask(service, "SELECT kind FROM link_request WHERE email = :email", email=email)
        left[email] = (page.status_code, text_of(page.text).replace(email, ""), rows)
    assert left[alice.email] == left[unknown]
    sent = {email: sent_to(service, email) for email in left}
    if path == "/password":
        assert sent == {alice.email: ["password_reset"], unknown: []}
    else:
        assert sent == {alice.email: ["account_exists"], unknown: ["open_account"]}
    assert ask(service, "SELECT * FROM link_request") == []


def test_over_the_limit_the_answer_is_as_usual_and_the_links_that_were_sent_work(
    service: Service,
    alice: Operator,
) -> None:
    pages = {
        text_of(WebClient(service).post("/password", email=alice.email).text)
        for _ in range(MOST + 2)
    }
    assert len(pages) == 1 and "Check your email" in pages.pop()
    answer_requests(service)
    sql = "SELECT COUNT(*) FROM letter WHERE to_email = :email AND kind = 'password_reset'"
    assert ask(service, sql, email=alice.email) == [(MOST,)]
    service.set_clock(59 * 60)
    tickets = "SELECT COUNT(*) FROM ticket WHERE user_id = :id AND expires_ms > :now_ms"
    found = ask(service, tickets, id=alice.user_id, now_ms=service.now_ms())
    assert found == [(MOST,)], "until the limit is over, there are links that work"
    service.set_clock(61 * 60)
    WebClient(service).post("/password", email=alice.email)
    assert len(sent_to(service, alice.email)) == MOST + 1
    service.set_clock(0)


def test_what_strangers_ask_for_keeps_nobody_from_anything_else(
    service: Service, alice: Operator, bob: Operator
) -> None:
    for path in ("/password", "/signup"):
        for _ in range(MOST + 1):
            assert WebClient(service).post(path, email=alice.email).status_code == 200
    for n in range(MOST):
        change_email(operator(service, f"eve{n}"), alice.email)
    invite = {"page": "/team", "email": alice.email, "role": "editor"}
    assert bob.web.post("/team/invitations", **invite).status_code == 200
    change_email(alice, f"{new_id()}@new.example")
    kinds = sent_to(service, alice.email)
    assert kinds.count("password_reset") == kinds.count("account_exists") == MOST
    assert kinds.count("email_change") == MOST + 1, "her own change is sent to her, too"
    assert kinds.count("member_invitation") == 1


def test_a_mailbox_gets_few_emails_about_changes_that_others_ask_for(service: Service) -> None:
    victim = f"{new_id()}@bank.example"
    flashes = {change_email(operator(service, f"eve{n}"), victim) for n in range(MOST + 2)}
    assert len(flashes) == 1
    assert sent_to(service, victim) == ["email_change"] * MOST


def change_email(who: Operator, email: str) -> str:
    """What the page says, without the address of who asks."""
    answer = who.web.post("/account/email", page="/account/security", email=email)
    assert answer.status_code == 303
    page = text_of(who.web.get("/account/security").text).replace(who.email, "")
    return page[page.index("We wrote to") :].partition("Follow")[0]


def test_a_request_is_answered_once(service: Service, alice: Operator) -> None:
    WebClient(service).post("/password", email=alice.email)
    assert sent_to(service, alice.email) == sent_to(service, alice.email) == ["password_reset"]
    assert WebClient(service).log_in(alice.email, PASSWORD).status_code == 303
