"""What each page of the dashboard needs besides a session. The route table says it, and no page
that it forgot changes a secret, a receiver, a member or a key, or gives a file with several people.

On both engines.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from honeyguide.pages.dashboard.login import recent_login
from honeyguide.pages.dashboard.login.recent_login import NeededProof
from honeyguide.pages.dashboard.page_route import PageRoute
from honeyguide.pages.dashboard.routes import PAGES
from tests.accounts.test_recent_login import STALE_S
from tests.pages.dashboard.test_form_tenancy import promote
from tests.support.authenticator import Authenticator, set_up
from tests.support.belongings import (
    imported,
    member,
    paid_referral,
    session,
    shipment,
    subscriber,
    webhook,
)
from tests.support.fetches import fetch_of
from tests.support.logged_calls import do
from tests.support.logged_changes import HOOK, Logged
from tests.support.logged_page_changes import PAGES as LOGGED
from tests.support.move_certificates import certificate_of
from tests.support.service import ENGINES, Service
from tests.support.stores import statement
from tests.support.web import PASSWORD, Operator, WebClient, operator, password_form, text_of

pytestmark = pytest.mark.usefixtures("roomy_logins")

ROUTES = {f"{page.method} {page.path}": page for page in PAGES}
SLACK = "https://hooks.slack.com/services/T000/B000/slacksecret"
CODE_STALE_S = recent_login.RECENT_CODE_MS // 1000 + 60

# What of a table opens, receives or decides something. Of tickets and codes only what is new does.
SENSITIVE = {
    "api_key": "id, digest, scopes, expires_ms, revoked_ms",
    "webhook": "id, url, secret, sparkloop_token",
    "slack_webhook": "account_id, encrypted_url",
    "integration": "id, credentials, hook_key, audience_id",
    "remote_fetch": "import_id, secret",
    "login_user": "id, email, password_hash",
    "member": "account_id, user_id, role",
    "second_factor": "user_id, secret",
    "recovery_code": "digest",
    "email_change": "new_digest",
    "ticket": "digest",
}
ADDED_ONLY = {"recovery_code", "email_change", "ticket"}
# Without a row in the change log, or with one that another test looks at.
UNLOGGED = [
    Logged("/account/email", "", {"email": "new@example.org"}, None, None),
    Logged("/account/second-factor/codes", "", {}, None, None),
    Logged("/account/second-factor/off", "", {}, None, None),
    Logged("/account/sessions", "", {"id": ...}, None, None, session),
    Logged("/notices/preferences", "", {"url": SLACK}, None, None),
    Logged("/team/{id}/owner", "", {}, None, None, member),
    *(
        Logged(
            "/webhooks/{id}/act", "", {"do": action, "sparkloop_token": "x"}, None, None, webhook
        )
        for action in ("rotate", "set_token")
    ),
]
CHANGES_SENSITIVE = {
    "/account/email",
    "/account/invitations",
    "/account/keys",
    "/account/keys/{id}/revoke",
    "/account/keys/{id}/rotate",
    "/account/password",
    "/account/second-factor/codes",
    "/account/second-factor/off",
    "/notices/preferences",
    "/team/invitations",
    "/team/{id}/owner",
    "/team/{id}/remove",
    "/team/{id}/role",
    "/webhooks",
    "/webhooks/{id}",
    "/webhooks/{id}/act",
}
# One person, sums, or counts.
HARMLESS_FILES = {
    "/subscribers/{id}/export.json",
    "/subscribers/import/certificates/{id}/certificate.json",
    "/overview/days.csv",
    "/overview/sources.csv",
    "/overview/summary.csv",
}


@pytest.fixture(scope="module", params=ENGINES)
def keyed(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param, work=False, secret_key="ab" * 32) as service:
        yield service


@pytest.fixture(autouse=True)
def clock(keyed: Service) -> Iterator[None]:
    yield
    keyed.set_clock(0)


def administrator(service: Service) -> Operator:
    made = operator(service)
    promote(service, made)
    return made


def with_factor(service: Service) -> tuple[Operator, Authenticator]:
    alice = administrator(service)
    app, _ = set_up(alice.web)
    return alice, app


def held(service: Service) -> dict[str, set[Any]]:
    return {
        table: set(service.read(lambda tx, ask=ask: tx.all(statement(ask))))
        for table, columns in SENSITIVE.items()
        for ask in [f"SELECT {columns} FROM {table}"]
    }


def changed(before: dict[str, set[Any]], after: dict[str, set[Any]]) -> list[str]:
    return [
        table
        for table in SENSITIVE
        if after[table] - before[table]
        or (table not in ADDED_ONLY and before[table] - after[table])
    ]


def test_no_form_changes_a_secret_a_receiver_a_member_or_a_key_unasked(keyed: Service) -> None:
    unasked, changing = list[Any](), set[str]()
    for case in [*LOGGED, *UNLOGGED]:
        page = ROUTES[f"POST {case.route}"]
        if page.right is None:
            continue
        alice, _ = with_factor(keyed)
        made = case.make(alice)
        made = (made,) if isinstance(made, str) else made
        alice.web.token("/settings")
        alice.web.enters_password = False
        keyed.set_clock(STALE_S)
        before = held(keyed)
        do(alice, case, made)
        if tables := changed(before, held(keyed)):
            unasked.append((case.route, tables))
        keyed.set_clock(0)
        before = held(keyed)
        do(alice, case, made)
        if changed(before, held(keyed)):
            changing.add(case.route)
    assert unasked == []
    assert changing == CHANGES_SENSITIVE, "the search finds what it should"


def files(alice: Operator) -> Iterator[tuple[PageRoute, str]]:
    """Every page that is got, with its address."""
    own = {
        "/subscribers/{id}/export.json": subscriber,
        "/subscribers/import/{id}/errors.csv": imported,
        "/subscribers/import/certificates/{id}/certificate.json": certificate_of,
    }
    for page in PAGES:
        path = page.path
        if page.method != "GET" or page.right is None or path == "/logout":
            continue
        if path in own:
            path = path.replace("{id}", own[path](alice))
        if path == "/look/newsletter/links.csv":
            path += "?tool=kit"
        path = path.replace("{side}", "owner").replace("{month}", "2026-01")
        if "{" not in path:
            yield page, path


def is_file(answer: Any) -> bool:
    return "attachment" in answer.headers.get("content-disposition", "")


def test_no_file_about_several_people_is_given_unasked(keyed: Service) -> None:
    alice = administrator(keyed)
    shipment(alice)
    paid_referral(alice)
    alice.web.enters_password = False
    files_found = {page.path: path for page, path in files(alice) if is_file(alice.web.get(path))}
    asking = {page.path for page in PAGES if page.proof is NeededProof.LOGIN}
    assert files_found.keys() >= {
        "/subscribers/export.csv",
        "/look/newsletter/links.csv",
        "/shipments/export.csv",
        "/subscribers/import/{id}/errors.csv",
        "/statements/{side}/{month}.csv",
        "/account/changes.csv",
        "/account/changes.jsonl",
        "/administration/payouts.csv",
    }
    assert files_found.keys() - asking == HARMLESS_FILES
    keyed.set_clock(STALE_S)
    for route in files_found.keys() - HARMLESS_FILES:
        answer = alice.web.get(files_found[route])
        assert not is_file(answer) and "Is it you?" in text_of(answer.text), route


def test_a_file_that_a_form_gives_is_asked_for_too(keyed: Service) -> None:
    alice = operator(keyed)
    sent = {"do": "csv", "id": shipment(alice)}
    assert is_file(alice.web.post("/shipments", **sent))
    alice.web.enters_password = False
    keyed.set_clock(STALE_S)
    assert not is_file(alice.web.post("/shipments", page="/settings", **sent))
    other = alice.web.post("/shipments", page="/settings", **{**sent, "do": "send"})
    assert other.status_code == 303


def test_the_secret_of_a_webhook_is_shown_to_whoever_proves_who_they_are(keyed: Service) -> None:
    alice = operator(keyed)
    alice.web.enters_password = False
    path = f"/webhooks/{webhook(alice)}"
    shown = alice.web.post(f"{path}/act", page="/settings", do="reveal")
    secret = re.findall(r"whsec_[\w+/=]+", shown.text)[0]
    keyed.set_clock(STALE_S)
    asking = alice.web.post(f"{path}/act", page="/settings", do="reveal")
    assert "Is it you?" in text_of(asking.text) and secret not in asking.text
    assert "Is it you?" in text_of(alice.web.post(path, page="/settings", **HOOK).text)
    tested = alice.web.post(f"{path}/act", page="/settings", do="test")
    assert tested.status_code == 303, "this shows and changes nothing"


def test_a_tool_is_connected_by_whoever_proves_who_they_are(keyed: Service) -> None:
    alice = operator(keyed)
    alice.web.enters_password = False
    keyed.set_clock(STALE_S)
    key = {"url": "https://tool.example/", "secret": "their-secret"}
    for answer in (
        alice.web.get("/integrations/generic"),
        alice.web.post("/integrations/generic", page="/settings", **key),
        alice.web.post("/integrations", page="/settings", do="disconnect"),
        alice.web.get("/subscribers/import/api"),
        alice.web.post("/subscribers/import/api", page="/settings", base_url="x", key="x"),
        alice.web.post(f"/subscribers/import/api/{fetch_of(alice)}", page="/settings", key="x"),
    ):
        assert "Is it you?" in text_of(answer.text)


def asked(answer: Any) -> set[str]:
    assert "Is it you?" in text_of(answer.text), text_of(answer.text)
    return set(re.findall(r'name="login_(password|code)"', answer.text))


def test_a_code_lasts_ten_minutes_and_a_password_fifteen(keyed: Service) -> None:
    alice, app = with_factor(keyed)
    alice.web.enters_password = False
    keyed.set_clock(CODE_STALE_S)
    for answer in (
        alice.web.get("/subscribers/export.csv"),
        alice.web.post("/account/password", page="/settings", current=PASSWORD, password="x" * 12),
        alice.web.post("/account/keys", page="/settings", name="Tool"),
    ):
        assert asked(answer) == {"code"}
    action, fields = password_form(answer.text)
    made = alice.web.http.post(action, data={**fields, "login_code": app.code()})
    assert made.status_code == 201
    assert is_file(alice.web.get("/subscribers/export.csv"))
    keyed.set_clock(STALE_S)
    left = alice.web.post("/account/keys", page="/settings", name="Tool")
    assert asked(left) == {"password"}


def test_the_password_alone_changes_no_password(keyed: Service) -> None:
    """And what it sets proves no second factor: it does not turn it off."""
    alice, app = with_factor(keyed)
    alice.web.enters_password = False
    keyed.set_clock(CODE_STALE_S)
    new = "four quiet green herons"
    given = {"current": PASSWORD, "password": new}
    asking = alice.web.post("/account/password", page="/settings", **given)
    assert asked(asking) == {"code"}
    old = alice.web.session
    action, fields = password_form(asking.text)
    changed = alice.web.http.post(action, data={**fields, "login_code": app.code()})
    assert changed.status_code == 303 and alice.web.session != old
    # The session goes on, and so does what was proved in it, no longer than before.
    off = {"page": "/settings"}
    keyed.set_clock(2 * CODE_STALE_S)
    assert asked(alice.web.post("/account/second-factor/off", **off)) == {"code"}
    keyed.set_clock(2 * CODE_STALE_S - 120)
    assert alice.web.post("/account/second-factor/off", **off).status_code == 303


def test_a_session_from_before_the_second_factor_has_not_proved_it(keyed: Service) -> None:
    alice = operator(keyed)
    other = WebClient(keyed)
    other.log_in(alice.email)
    other.enters_password = False
    app, _ = set_up(alice.web)
    for path in ("off", "codes"):
        assert asked(other.post(f"/account/second-factor/{path}", page="/settings")) == {"code"}
    assert alice.web.post("/account/second-factor/codes", page="/settings").status_code == 201
    web = WebClient(keyed)
    web.log_in(alice.email)
    assert web.post("/login/code", code=app.code()).status_code == 303
    assert web.post("/account/second-factor/off", page="/settings").status_code == 303


def test_sessions_of_before_the_upgrade_prove_a_code_once(keyed: Service) -> None:
    alice, app = with_factor(keyed)
    alice.web.enters_password = False
    forgotten = statement("UPDATE session SET second_factor_ms = 0 WHERE user_id = :id")
    keyed.write(lambda tx: tx.run(forgotten, id=alice.user_id))
    path = "/subscribers/export.csv"
    assert asked(alice.web.get(path)) == {"code"}
    token = {"csrf": alice.web.token("/settings"), "next": path}
    wrong = alice.web.http.post("/login/again", data={**token, "login_code": "000000"})
    assert wrong.status_code == 401 and asked(wrong) == {"code"}
    right = alice.web.http.post("/login/again", data={**token, "login_code": app.code()})
    assert right.headers["location"] == path and is_file(alice.web.get(path))
    assert alice.web.http.post("/login/again", data=token).headers["location"] == path


def test_leaving_a_team_is_asked_about(keyed: Service) -> None:
    alice = operator(keyed)
    alice.web.enters_password = False
    keyed.set_clock(STALE_S)
    assert asked(alice.web.post("/team/leave", page="/settings")) == {"password"}
