"""Logins, ended sessions, partners and what administrators do are in the change log."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from honeyguide.accounts import attempts
from honeyguide.kernel.clock import MINUTE_MS
from tests.accounts.test_password_links import reset_link
from tests.support import partner_network
from tests.support.service import ENGINES, Service
from tests.support.stores import statement
from tests.support.web import PASSWORD, Operator, WebClient, operator, text_of

LOG = "SELECT action, actor_kind, actor_id FROM change_log WHERE account_id = :id ORDER BY id"


@pytest.fixture(scope="module", params=ENGINES)
def service(request: pytest.FixtureRequest) -> Iterator[Service]:
    """One of its own: logins are counted by network, and all tests share theirs."""
    with Service(request.param) as service:
        yield service


def log_of(owner: Operator) -> list[tuple[str, str, str]]:
    found = owner.service.read(lambda tx: tx.all(statement(LOG), id=owner.account_id))
    return [row for row in found if row[0].partition(".")[0] not in ("api_key", "publication")]


def test_logins_are_logged_and_wrong_passwords_once_in_15_minutes(
    service: Service, alice: Operator
) -> None:
    assert log_of(alice) == [("login.succeeded", "member", alice.user_id)]
    web = WebClient(service)
    for _ in range(3):
        assert web.log_in(alice.email, "wrong and long enough").status_code == 401
        assert web.log_in("nobody@example.org", "wrong and long enough").status_code == 401
    assert log_of(alice)[1:] == [("login.failed", "member", "")]
    service.set_clock(15 * MINUTE_MS / 1000 + 1)  # and the tests below go on from there
    web.log_in(alice.email, "wrong and long enough")
    assert len(log_of(alice)) == 3
    web.log_in(alice.email)
    assert log_of(alice)[3:] == [("login.succeeded", "member", alice.user_id)]
    shown = text_of(alice.web.get("/account/changes?about=team").text)
    assert f"{alice.email} logged in." in shown
    tried = f"Somebody tried to log in as the member {alice.email} with a wrong password."
    assert shown.count(tried) == 2


def kept_for_days(answer: httpx.Response) -> int:
    (cookie,) = [each for each in answer.headers.get_list("set-cookie") if "hg_session=" in each]
    (seconds,) = re.findall(r"Max-Age=(\d+)", cookie)
    return int(seconds) // (24 * 3600)


def test_a_login_over_the_session_of_somebody_else_is_logged_and_inherits_nothing(
    alice: Operator,
    bob: Operator,
) -> None:
    form = {"email": alice.email, "password": PASSWORD}
    kept = alice.web.post("/login", page="/settings", **form, keep="1")
    assert kept_for_days(kept) == 30
    known, of_bob = log_of(alice), log_of(bob)
    form["email"] = bob.email
    answer = alice.web.post("/login", page="/settings", **form)
    assert answer.headers["location"] == "/" and kept_for_days(answer) == 14
    assert log_of(bob)[len(of_bob) :] == [("login.succeeded", "member", bob.user_id)]
    assert log_of(alice) == known
    answer = alice.web.post("/login", page="/settings", **form)
    assert log_of(bob)[len(of_bob) + 1 :] == [("login.succeeded", "member", bob.user_id)], "again"


def test_a_password_reset_over_the_session_of_somebody_else_inherits_nothing(
    service: Service,
    alice: Operator,
    bob: Operator,
) -> None:
    form = {"email": alice.email, "password": PASSWORD, "keep": "1"}
    alice.web.post("/login", page="/settings", **form)
    known = log_of(bob)
    answer = alice.web.post(reset_link(service, bob), page="/settings", password="four calm bears")
    assert answer.status_code == 303 and kept_for_days(answer) == 14
    actions = [action for action, _, _ in log_of(bob)[len(known) :]]
    assert actions == ["account.password_changed", "login.succeeded"]


def test_a_changed_password_leaves_a_kept_session_kept(alice: Operator) -> None:
    form = {"email": alice.email, "password": PASSWORD, "keep": "1"}
    alice.web.post("/login", page="/settings", **form)
    known, given = log_of(alice), {"current": PASSWORD, "password": "four calm bears"}
    changed = alice.web.post("/account/password", page="/settings", **given)
    assert changed.status_code == 303 and kept_for_days(changed) == 30
    assert [action for action, _, _ in log_of(alice)[len(known) :]] == ["account.password_changed"]


def test_what_is_refused_unread_is_not_logged(service: Service, alice: Operator) -> None:
    """Over the limit no password is looked at."""
    web = WebClient(service)
    for _ in range(attempts.LOGIN_BY_ACCOUNT.most):
        web.log_in(alice.email, "wrong and long enough")
    known = log_of(alice)
    assert web.log_in(alice.email).status_code == 429
    assert log_of(alice) == known


def test_ended_sessions_are_logged(service: Service, alice: Operator) -> None:
    for _ in range(2):
        WebClient(service).log_in(alice.email)
    known = log_of(alice)
    session_id = re.search(r'name="id" value="([^"]+)"', alice.web.get("/account/security").text)
    assert session_id
    alice.web.post("/account/sessions", page="/account/security", id=session_id[1])
    alice.web.post("/account/sessions", page="/account/security")
    alice.web.post("/account/sessions", page="/account/security")  # nobody else is left
    by = ("member", alice.user_id)
    assert log_of(alice)[len(known) :] == [("session.ended", *by), ("session.others_ended", *by)]


def test_partners_who_join_and_leave_are_in_the_log_of_the_owner(service: Service) -> None:
    owner, bob = operator(service), operator(service, "bob")
    made = partner_network.offer(owner, partner_network.publish(owner))
    path = f"/v2/partner_network/partner_programs/{made['uuid']}/join"
    known = log_of(owner)
    for who in (bob, bob, owner):
        assert who.post(path, {}).status_code in (200, 201)
    own = bob.get("/v2/partner_profile/partner_campaigns").json()["partner_campaigns"][0]["uuid"]
    bob.delete(f"/v2/partner_profile/partner_campaigns/{own}")
    actions = [action for action, _, _ in log_of(owner)[len(known) :]]
    assert actions == ["partner.joined", "partner_campaign.joined", "partner.left"]
    shown = text_of(owner.web.get("/account/changes?about=partners").text)
    assert "A partner joined a program: Bob." in shown and "A partner left a program: Bob." in shown
    theirs = text_of(bob.web.get("/account/changes?about=partners").text)
    assert "joined the program of “The Morning Wax”." in theirs


def test_a_backup_that_somebody_asks_for_is_logged(tmp_path: Path) -> None:
    service = Service("sqlite", backup_url=str(tmp_path))
    service.application._work = False
    with service:
        alice = operator(service)
        alice.web.post("/administration/backups", page="/administration")
        assert log_of(alice)[-1] == ("backup.requested", "member", alice.user_id)
        assert "asked for a backup." in text_of(alice.web.get("/account/changes").text)
