"""Forms that anybody can send with anybody's address answer the same for an address that is known,
unknown, unsubscribed or erased, after the same statements or the same wait. On both engines.
"""

import re
import time
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from starlette.routing import Route

from honeyguide.accounts import attempts
from honeyguide.api.routes import ROUTES
from honeyguide.api.system import System
from honeyguide.mail.email_kinds import CONFIRM
from honeyguide.pages.dashboard import routes
from honeyguide.pages.dashboard.look.routes import LOOK_PAGES
from honeyguide.pages.dashboard.routes import PAGES
from honeyguide.pages.embeds import endpoint
from honeyguide.pages.embeds.routes import ENDPOINTS
from honeyguide.pages.readers import forms, requested_emails
from honeyguide.pages.readers.routes import PAGES as READER_PAGES
from honeyguide.signups import resent_emails
from tests.conftest import ROOMY
from tests.support import anonymous_logins, anonymous_readers
from tests.support.anonymous import AnonymousRoute, Answers, Form, any_address
from tests.support.exchanges import Exchanges, noted_exchanges
from tests.support.http_client import local_client
from tests.support.newsletter import Newsletter
from tests.support.prizes import post_of
from tests.support.service import ENGINES, Service
from tests.support.web import Operator, operator, text_of

HOUR_S = 3_700
FORMS = (*anonymous_readers.FORMS, *anonymous_logins.FORMS)
# What anybody can ask for that takes no address. A path with a token or a code is for whoever has
# that, and what it answers is theirs.
TAKES_NO_ADDRESS = {
    "GET /accents/{color}.css",
    "GET /confirm/{token}",
    "POST /confirm/{token}",
    "GET /dashboard/{path:path}",
    "GET /docs",
    "GET /docs/guide",
    "GET /docs/{resource}",
    "GET /docs/guide/{rest:path}",
    "GET /embed/honeyguide.js",
    "GET /embed/honeyguide-3.js",
    "GET /embed/honeyguide-4.js",
    "GET /embed/honeyguide-5.js",
    "GET /embed/altcha-pbkdf2-3.2.2.js",
    "GET /embed/{public_id}/config",
    "GET /embed/{public_id}/frame/{what}",
    "POST /embed/{public_id}/hub",
    "GET /embed/{public_id}/leaderboard",
    "GET /embed/{public_id}/token",
    "GET /hub/{token}",
    "GET /hub/{token}/active",
    "POST /hub/{token}/active",
    "GET /hub/{token}/address/{earned_id}",
    "POST /hub/{token}/address/{earned_id}",
    "GET /hub/{token}/choices",
    "POST /hub/{token}/choices",
    "GET /hub/{token}/claim/{earned_id}",
    "POST /hub/{token}/claim/{earned_id}",
    "GET /hub/{token}/code",
    "POST /hub/{token}/code",
    "GET /hub/{token}/leave",
    "POST /hub/{token}/leave",
    "GET /hub/{token}/link",
    "POST /hub/{token}/link",
    "GET /login/code",
    "POST /login/code",
    "GET /login/email-code",
    "POST /login/email-code",
    "GET /login/email/{token}",
    "POST /login/email/{token}",
    "GET /logos/{logo_id}",
    "GET /notices/off/{token}",
    "POST /notices/off/{token}",
    "GET /p/{code:path}",
    "GET /password/{token}",
    "POST /password/{token}",
    "GET /r/{code:path}",
    "GET /stop/{token}",
    "POST /stop/{token}",
    "GET /welcome/{token}",
    "POST /welcome/{token}",
    # Redirects to the path without the slash.
    "GET /{path:path}/",
    "POST /{path:path}/",
    # For machines.
    "GET /.well-known/honeyguide",
    "GET /.well-known/security.txt",
    "GET /healthz",
    "GET /internal/tls",
    "GET /llms.txt",
    "GET /metrics",
    "GET /openapi.json",
    "GET /readyz",
}
# Takes an address, and answers 404 as soon as there is an account.
BEFORE_THE_FIRST_ACCOUNT = {"GET /setup", "POST /setup"}

# Faults that are known. With the last of them this table goes.
STILL_TELLS = {
    "log_in": "the first wrong password of a user is logged, that of a stranger is not",
}


def compared(forms: tuple[Form, ...]) -> list[Any]:
    found = []
    for form in forms:
        reason = STILL_TELLS.get(form.name, "")
        marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
        found.append(pytest.param(form, marks=marks, id=form.name))
    return found


@pytest.fixture(scope="module", params=ENGINES)
def shared_service(request: pytest.FixtureRequest) -> Iterator[Service]:
    """Where anybody may open an account."""
    with Service(request.param, work=False, signups="open", secret_key="ab" * 32) as service:
        yield service


@pytest.fixture
def alice(service: Service) -> Operator:
    return operator(service)


@pytest.fixture
def own(service: Service, alice: Operator) -> Newsletter:
    return Newsletter(service, member=alice)


@pytest.fixture(autouse=True)
def roomy(roomy_network: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody here comes from one network. What counts addresses stays as it is."""
    for name in ("LOGIN_BY_ADDRESS", "EMAILS_BY_ADDRESS"):
        monkeypatch.setattr(attempts, name, getattr(attempts, name)._replace(most=ROOMY))
    by_network = endpoint.BY_CAMPAIGN_AND_NETWORK._replace(most=ROOMY)
    monkeypatch.setattr(endpoint, "BY_CAMPAIGN_AND_NETWORK", by_network)


@pytest.fixture
def exchanges(service: Service) -> Iterator[Exchanges]:
    with noted_exchanges(service) as exchanges:
        yield exchanges


def compare(answers: dict[str, Answers], form: Form) -> None:
    usual = answers["unknown"]
    for state, found in answers.items():
        assert found.routes >= form.routes, form.routes - found.routes
        for number, (seen, expected) in enumerate(zip(found.seen, usual.seen, strict=True)):
            for field, value in seen._asdict().items():
                where = f"{state}: {field} of answer {number}, {seen.route}"
                assert value == getattr(expected, field), where


@pytest.mark.parametrize("form", compared(anonymous_readers.FORMS))
def test_an_anonymous_visitor_gets_the_same_for_every_address(
    own: Newsletter, exchanges: Exchanges, form: Form
) -> None:
    own.offer()
    own.brand(show_inviter=True)
    bob = operator(own.service)
    states = anonymous_readers.STATES
    emails = {state: anonymous_readers.address_of(own, state, bob) for state in states}
    own.later(HOUR_S)  # how those who are known came counts for no limit any more
    answers = {}
    for state, email in emails.items():
        own.visitor = own.new_visitor()
        own.configure(needs_confirmation=False)
        answers[state] = Answers(exchanges, email)
        form.fill_in(own, answers[state], email)
    compare(answers, form)


@pytest.mark.parametrize("form", compared(anonymous_logins.FORMS))
def test_nobody_learns_who_has_a_login(
    service: Service,
    alice: Operator,
    exchanges: Exchanges,
    form: Form,
) -> None:
    answers = {}
    for state in anonymous_logins.STATES:
        email = anonymous_logins.address_of(service, alice, state)
        answers[state] = Answers(exchanges, email)
        form.fill_in(service, answers[state], email)
    compare(answers, form)


def test_the_api_tells_nothing_without_a_key(own: Newsletter, exchanges: Exchanges) -> None:
    """Some paths may hold an address. What is due by time may run for one of two, so a difference
    counts if it is there again.
    """
    emails = {state: anonymous_readers.address_of(own, state) for state in ("known", "unknown")}
    http = local_client(own.service.url, {})

    def seen_of(method: str, path: str, email: str) -> Any:
        answers = Answers(exchanges, email)
        answer = http.request(method, re.sub(r"\{\w+\}", email, path))
        assert answers.note(answer).status_code == 401, path
        return answers.seen

    for route in ROUTES:
        path = route.path.replace("{campaign_uuid}", own.member.campaign_id)
        for is_last in (False, True):
            known, unknown = (seen_of(route.method, path, each) for each in emails.values())
            if known == unknown:
                break
            assert not is_last, (route.path, known, unknown)


def test_every_route_without_a_login_is_compared_or_takes_no_address(service: Service) -> None:
    is_compared = named(*(form.routes for form in FORMS))
    assert not is_compared & (TAKES_NO_ADDRESS | BEFORE_THE_FIRST_ACCOUNT)
    known = is_compared | TAKES_NO_ADDRESS | BEFORE_THE_FIRST_ACCOUNT
    assert anonymous_routes(service) == known


def test_what_says_that_it_takes_an_address_is_compared() -> None:
    is_compared = named(*(form.routes for form in FORMS))
    pages = {(page.method, page.path) for page in READER_PAGES if page.takes_address}
    pages |= {(page.method, page.path) for page in PAGES if asks_for_address(page)}
    assert named(pages) - is_compared == BEFORE_THE_FIRST_ACCOUNT - {"GET /setup"}
    embeds = {(each.method, each.path) for each in ENDPOINTS if each.method == "POST"}
    assert named(embeds) - is_compared == {"POST /embed/{public_id}/hub"}


def asks_for_address(page: Any) -> bool:
    return page.open_to_all and "email" in page.fields


def named(*routes: Iterable[AnonymousRoute]) -> set[str]:
    return {f"{method} {path}" for some in routes for method, path in some}


def anonymous_routes(service: Service) -> set[str]:
    """Of the running service, without addresses from which pages moved."""
    behind = {(page.method, page.path) for page in PAGES if not page.open_to_all}
    moved = {route.path for route in routes.moved_routes(LOOK_PAGES)}
    pages: Any = service.application._links._behind
    found = {
        (method, route.path)
        for route in pages.routes
        if isinstance(route, Route) and route.path not in moved
        for method in route.methods or ()
        if method != "HEAD"
    }
    return named((found - behind) | {("GET", path) for path in System.paths})


def test_no_answer_is_faster_than_the_slowest_case(
    own: Newsletter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits from the moment that the request came, as the endpoints for embeds do."""
    monkeypatch.setattr(forms, "ANSWER_AFTER_S", endpoint.ANSWER_AFTER_S)
    own.offer()
    fields = own.fields(own.page)
    for email in (
        anonymous_readers.address_of(own, "known"),
        anonymous_readers.address_of(own, "unknown"),
        "nonsense",
    ):
        began_s = time.monotonic()
        own.visitor.post(own.page, data={**fields, "email": email})
        assert time.monotonic() - began_s >= forms.ANSWER_AFTER_S


def test_the_limit_of_other_accounts_is_not_told(alice: Operator, service: Service) -> None:
    email = any_address()
    bob = operator(service)
    theirs = f"/subscribers/{alice.subscribe(email)['uuid']}"
    page = f"/subscribers/{bob.subscribe(email)['uuid']}"
    for number in range(resent_emails.MOST_A_DAY):
        service.set_clock(number * (resent_emails.EVERY_MS / 1000 + 1))
        theirs = (
            f"/subscribers/{alice.get(f'{alice.v1}/subscribers').json()['subscribers'][0]['uuid']}"
        )
        assert alice.web.post(f"{theirs}/emails", page=theirs, email="link").status_code == 303
    answer = bob.web.post(f"{page}/emails", page=page, email="link")
    assert answer.status_code == 303
    assert "is on its way" in text_of(bob.web.get(page).text)
    assert post_of(bob, "hub_link") == [], "the mailbox has had enough"
    theirs_again = alice.web.post(f"{theirs}/emails", page=theirs, email="link")
    assert theirs_again.status_code == 429


def test_nor_is_it_for_confirmations(alice: Operator, service: Service) -> None:
    email = any_address()
    accounts = [alice, *(operator(service) for _ in range(3))]
    pages = []
    for account in accounts:
        account.put(f"{account.v1}/settings", {"needs_confirmation": True})
        lead = account.subscribe(any_address())
        person = account.subscribe(email, referrer_code=lead["ref_code"])
        pages.append(f"/subscribers/{person['uuid']}")

    def ask(number: int) -> int:
        web, page = accounts[number].web, pages[number]
        return web.post(f"{page}/emails", page=page, email="confirmation").status_code

    # One newsletter may send two of the six a day, so it takes three to use them up.
    assert CONFIRM.most_a_day == 3 * CONFIRM.most_a_day_here
    for number in range(CONFIRM.most_a_day):
        service.set_clock(number * (requested_emails.EVERY_MS / 1000 + 1))
        assert ask(number % 3) == 303
    assert ask(3) == 303 and post_of(accounts[3], "confirm") == []
    assert ask(0) == 429
    service.set_clock(CONFIRM.most_a_day * (requested_emails.EVERY_MS / 1000 + 1))
    assert ask(0) == 429, "its own limit of a day"
