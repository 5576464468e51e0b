"""Who has a login gets an email when it changes, or when a new browser uses it. On both engines."""

from collections.abc import Iterator

import pytest

from honeyguide.accounts.permissions import Role
from honeyguide.kernel.ids import new_id
from tests.accounts.test_password_links import reset_link
from tests.support.authenticator import set_up
from tests.support.service import ENGINES, Service
from tests.support.stores import statement
from tests.support.team import colleague
from tests.support.web import PASSWORD, Operator, WebClient, operator

pytestmark = pytest.mark.usefixtures("roomy_logins")

NEW = "four quiet green herons"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


@pytest.fixture(scope="module", params=ENGINES)
def keyed(request: pytest.FixtureRequest) -> Iterator[Service]:
    with Service(request.param, work=False, secret_key="ab" * 32) as service:
        yield service


@pytest.fixture
def alice(keyed: Service) -> Operator:
    return operator(keyed)


def emails_to(service: Service, address: str) -> list[tuple[str, str]]:
    """Kind and subject, the first first."""
    asked = "SELECT kind, subject, to_email FROM letter ORDER BY id"
    found = service.read(lambda tx: tx.all(statement(asked)))
    return [(kind, subject) for kind, subject, to in found if to == address]


def test_a_login_from_a_new_browser_is_told_of_once(keyed: Service, alice: Operator) -> None:
    assert emails_to(keyed, alice.email) == [], "the first login of all"
    web = WebClient(keyed)
    web.http.headers["user-agent"] = FIREFOX
    for _ in range(2):
        assert web.log_in(alice.email).status_code == 303
        web.post("/logout", page="/settings")
    assert emails_to(keyed, alice.email) == [("new_browser", "A login from a new browser")]
    asked = "SELECT body_text FROM letter WHERE kind = 'new_browser' ORDER BY id DESC"
    text = keyed.read(lambda tx: tx.all(statement(asked)))[0][0]
    assert "Firefox on Linux" in text and f"{keyed.url}/password" in text
    alice.web.post("/logout", page="/settings")
    alice.web.log_in(alice.email)
    assert len(emails_to(keyed, alice.email)) == 1, "this browser is known"


def test_a_browser_stays_known_after_a_new_password(keyed: Service, alice: Operator) -> None:
    web = WebClient(keyed)
    web.log_in(alice.email)
    given = {"current": PASSWORD, "password": NEW}
    assert alice.web.post("/account/password", page="/settings", **given).status_code == 303
    assert web.log_in(alice.email, NEW).status_code == 303
    assert [kind for kind, _ in emails_to(keyed, alice.email)] == ["new_browser", "login_changed"]


def test_a_second_factor_comes_before_the_email(keyed: Service, alice: Operator) -> None:
    app, _ = set_up(alice.web)
    web = WebClient(keyed)
    web.log_in(alice.email)
    assert [kind for kind, _ in emails_to(keyed, alice.email)] == ["login_changed"]
    web.post("/login/code", code=app.code())
    assert [kind for kind, _ in emails_to(keyed, alice.email)][1:] == ["new_browser"]


def test_logging_in_again_and_again_fills_no_mailbox(keyed: Service, alice: Operator) -> None:
    for _ in range(8):
        assert WebClient(keyed).log_in(alice.email).status_code == 303
    assert len(emails_to(keyed, alice.email)) == 5


def test_somebody_who_has_just_joined_is_not_told_that_they_did(keyed: Service) -> None:
    made = colleague(keyed, operator(keyed), Role.EDITOR)
    assert emails_to(keyed, made.email) == []


def test_every_change_of_the_login_is_told_of(keyed: Service, alice: Operator) -> None:
    set_up(alice.web)
    for path in ("codes", "off"):
        alice.web.post(f"/account/second-factor/{path}", page="/settings")
    alice.web.post("/account/password", page="/settings", current=PASSWORD, password=NEW)
    assert alice.web.post(reset_link(keyed, alice), password=PASSWORD).status_code == 303
    assert emails_to(keyed, alice.email) == [
        ("login_changed", "Your second factor was set up"),
        ("login_changed", "You have new recovery codes"),
        ("second_factor_off", "Your second factor was turned off"),
        ("login_changed", "Your password was changed"),
        ("login_changed", "Your password was changed"),
    ]


def test_every_owner_is_told_what_a_member_does_with_keys(keyed: Service, alice: Operator) -> None:
    other, editor = (colleague(keyed, alice, role) for role in (Role.OWNER, Role.EDITOR))
    name = f"Tool {new_id()[-6:]}"
    alice.web.post("/account/keys", page="/settings", name=name)
    asked = statement("SELECT id FROM api_key WHERE name = :name ORDER BY id DESC")
    key = keyed.read(lambda tx: tx.all(asked, name=name))[0][0]
    alice.web.post(f"/account/keys/{key}/rotate", page="/settings", overlap="1")
    newer = keyed.read(lambda tx: tx.all(asked, name=name))[0][0]
    assert newer != key
    alice.web.post(f"/account/keys/{newer}/revoke", page="/settings")
    for each in (alice.email, other.email):
        assert [(kind, subject.split()[-1]) for kind, subject in emails_to(keyed, each)] == [
            ("api_key_changed", done) for done in ("created", "replaced", "revoked")
        ]
    assert emails_to(keyed, editor.email) == []
