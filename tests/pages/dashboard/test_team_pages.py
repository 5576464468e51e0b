"""The team on the dashboard: inviting, joining, changing roles, leaving, and switching between
newsletters.
"""

import re
from typing import Any

import pytest

from honeyguide.accounts.permissions import Role
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.team import colleague
from tests.support.web import PASSWORD, Operator, WebClient, operator, text_of


def invited(owner: Operator, email: str, role: str = "editor") -> str:
    answer = owner.web.post("/team/invitations", page="/team", email=email, role=role)
    assert answer.status_code == 200, text_of(answer.text)
    found = re.search(r"/welcome/[\w-]+", answer.text)
    assert found
    return found[0]


def ask(service: Service, sql: str, **params: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in service.read(lambda tx: tx.all(statement(sql), **params))]


def email_of(service: Service, name: str) -> str:
    return f"{name}-{service.now_ms()}@example.org"


def roles(owner: Operator) -> dict[str, str]:
    sql = (
        "SELECT u.email, m.role FROM member AS m JOIN login_user AS u ON u.id = m.user_id "
        "WHERE m.account_id = :account_id"
    )
    return dict(ask(owner.service, sql, account_id=owner.account_id))


def test_a_colleague_joins_with_a_login_of_their_own(service: Service, alice: Operator) -> None:
    email = email_of(service, "new")
    link = invited(alice, email)
    web = WebClient(service)
    page = text_of(web.get(link).text)
    assert "As an editor" in page and email in page
    refused = web.post(link, your_name="", password="")
    assert refused.status_code == 400 and "Enter your name." in refused.text
    joined = web.post(link, your_name="Nora", password=PASSWORD)
    assert joined.status_code == 303 and joined.headers["location"] == "/"
    assert roles(alice)[email] == "editor"
    assert "Nora" in text_of(alice.web.get("/team").text)
    assert web.get(link).status_code == 404, "the link works once"
    again = WebClient(service)
    assert again.log_in(email).status_code == 303


def test_somebody_with_a_login_joins_with_it_and_switches(
    service: Service, alice: Operator, bob: Operator
) -> None:
    link = invited(alice, bob.email, "analyst")
    stranger = WebClient(service)
    page = stranger.get(link).text
    assert "Log in to join" in page and 'name="password"' not in page
    assert (
        stranger.post(link, page="/login").headers["location"].startswith("/login?next=/welcome/")
    )
    assert bob.web.post(link).status_code == 303
    assert roles(alice)[bob.email] == "analyst"
    # He is in the new account now, and can go back to his own.
    settings = bob.web.get("/settings").text
    assert "data-closed" in settings
    token = bob.web.token("/settings")
    back = bob.web.http.post("/account/switch", data={"csrf": token, "account_id": bob.account_id})
    assert back.status_code == 303
    assert "data-closed" not in bob.web.get("/settings").text


def test_a_form_of_one_newsletter_changes_no_other(alice: Operator, bob: Operator) -> None:
    """Two tabs: in one the user switched."""
    assert bob.web.post(invited(alice, bob.email, "owner")).status_code == 303
    form = bob.web.token("/settings")  # of alice's account
    switched = {"csrf": form, "account_id": bob.account_id}
    assert bob.web.http.post("/account/switch", data=switched).status_code == 303
    stale = bob.web.http.post("/account/profile", data={"csrf": form, "name": "Mixed up"})
    assert stale.status_code == 403 and "switched to another newsletter" in text_of(stale.text)
    assert "Mixed up" not in alice.web.get("/account").text
    assert "Mixed up" not in bob.web.get("/account").text


def test_a_new_newsletter_is_two_clicks(service: Service, alice: Operator) -> None:
    assert 'href="/account/new"' in alice.web.get("/").text
    made = alice.web.post("/account/new", name="Second Wax")
    assert made.status_code == 303
    page = text_of(alice.web.get("/").text)
    assert "Second Wax" in page
    sql = (
        "SELECT COUNT(*) FROM member WHERE user_id IN (SELECT id FROM login_user WHERE email = :e)"
    )
    assert ask(service, sql, e=alice.email) == [(2,)]


def test_a_role_that_changes_while_a_page_is_open_holds_at_once(
    service: Service, alice: Operator
) -> None:
    cleo = colleague(service, alice, Role.EDITOR)
    token = cleo.web.token("/settings")
    changed = alice.web.post(f"/team/{cleo.user_id}/role", page="/team", role="analyst")
    assert changed.status_code == 303
    refused = cleo.web.http.post("/rewards", data={"csrf": token, "name": "Mug"})
    assert refused.status_code == 403 and "role owner or editor" in text_of(refused.text)


def test_a_removed_member_is_out_at_once(service: Service, alice: Operator) -> None:
    cleo = colleague(service, alice, Role.EDITOR)
    assert cleo.web.get("/settings").status_code == 200
    assert alice.web.post(f"/team/{cleo.user_id}/remove", page="/team").status_code == 303
    assert cleo.web.get("/settings").headers["location"].startswith("/login")
    refused = WebClient(service).log_in(cleo.email)
    assert refused.status_code == 403 and "no account any more" in text_of(refused.text)


def test_a_removed_member_goes_on_in_their_own_newsletter(
    service: Service, alice: Operator, bob: Operator
) -> None:
    assert bob.web.post(invited(alice, bob.email)).status_code == 303
    ((user_id,),) = ask(service, "SELECT id FROM login_user WHERE email = :e", e=bob.email)
    assert alice.web.post(f"/team/{user_id}/remove", page="/team").status_code == 303
    assert bob.web.get("/account/new").status_code == 200
    assert "data-closed" not in bob.web.get("/settings").text


def test_the_last_owner_is_told_what_to_do_first(service: Service, alice: Operator) -> None:
    colleague(service, alice, Role.EDITOR)
    refused = alice.web.post("/team/leave", page="/team")
    assert refused.status_code == 400
    assert "An account needs an owner. Make somebody else an owner first." in refused.text


def test_wrong_invitations_get_a_sentence(alice: Operator) -> None:
    for fields, sentence in (
        ({"email": "nobody", "role": "editor"}, "Enter a valid email address."),
        ({"email": "", "role": "editor"}, "Enter an email address."),
        ({"email": "a@example.org", "role": "king"}, "must be one of: owner, editor"),
        ({"email": alice.email, "role": "editor"}, "This person is a member already."),
    ):
        answer = alice.web.post("/team/invitations", page="/team", **fields)
        assert answer.status_code == 400 and sentence in text_of(answer.text), fields


def test_a_mailbox_gets_so_many_invitations_an_hour(
    service: Service, alice: Operator, bob: Operator
) -> None:
    hour_s = 3_600

    def invite(owner: Operator, email: str) -> int:
        form = {"email": email, "role": "editor"}
        return owner.web.post("/team/invitations", page="/team", **form).status_code

    assert [invite(alice, "stranger@example.org") for _ in range(6)] == [200] * 5 + [429]
    assert invite(alice, "STRANGER@example.org") == 429, "the same mailbox"
    assert invite(bob, "stranger@example.org") == 429, "whoever asks"
    assert invite(alice, "colleague@example.org") == 200
    sql = "SELECT COUNT(*) FROM letter WHERE to_email LIKE 'stranger%' AND kind = 'invitation'"
    ((sent,),) = ask(service, sql)
    assert sent <= 5
    service.set_clock(hour_s + 1)
    assert invite(alice, "stranger@example.org") == 200


@pytest.mark.parametrize("role", [Role.EDITOR, Role.FINANCE, Role.ANALYST])
def test_where_accounts_are_by_invitation_only_an_owner_opens_another(
    service: Service, alice: Operator, role: Role
) -> None:
    cleo = colleague(service, alice, role)
    answer = cleo.web.post("/account/new", page="/", name="Cleo’s Own")
    assert answer.status_code == 403 and "by invitation" in text_of(answer.text)
    sql = "SELECT COUNT(*) FROM member WHERE user_id = :id"
    assert ask(service, sql, id=cleo.user_id) == [(1,)]
    assert alice.web.post("/account/new", page="/", name="Second").status_code == 303


def test_an_invitation_lets_in_nobody_but_who_was_invited(service: Service) -> None:
    alice, bob, mallory = (operator(service, name) for name in ("alice", "bob", "mallory"))
    link = invited(alice, bob.email, "owner")
    answer = mallory.web.post(link, page="/settings", your_name="Mal", password=PASSWORD)
    assert answer.headers["location"].startswith("/login?next=/welcome/")
    assert set(roles(alice)) == {alice.email}
    assert mallory.web.get(link).status_code == 200
    assert bob.web.post(link).status_code == 303
    assert set(roles(alice)) == {alice.email, bob.email}


def test_keep_me_logged_in_lasts_thirty_days(service: Service, alice: Operator) -> None:
    kept, usual = WebClient(service), WebClient(service)
    assert kept.post("/login", email=alice.email, password=PASSWORD, keep="1").status_code == 303
    assert usual.log_in(alice.email).status_code == 303
    service.set_clock(13 * 3600)
    assert usual.get("/settings").status_code == 303
    service.set_clock(29 * 86400)
    assert kept.get("/settings").status_code == 200
    service.set_clock(31 * 86400)
    assert kept.get("/settings").status_code == 303


def test_handing_over_and_leaving_are_logged(service: Service, alice: Operator) -> None:
    cleo = colleague(service, alice, Role.EDITOR)
    assert alice.web.post(f"/team/{cleo.user_id}/owner", page="/team").status_code == 303
    assert alice.web.post("/team/leave", page="/team").status_code == 303
    sql = (
        "SELECT action, actor_id, subject_id FROM change_log WHERE account_id = :a "
        "AND action LIKE 'member.%' ORDER BY id"
    )
    assert ask(service, sql, a=alice.account_id) == [
        ("member.role_changed", alice.user_id, cleo.user_id),
        ("member.role_changed", alice.user_id, alice.user_id),
        ("member.left", alice.user_id, alice.user_id),
    ]


def contact(who: Operator) -> tuple[str, int]:
    """Where emails about the account go, and the version of the links in them."""
    sql = "SELECT email, link_version FROM account WHERE id = :a"
    ((email, version),) = ask(who.service, sql, a=who.account_id)
    return email, version


@pytest.mark.parametrize("how", ["owner", "remove", "role"])
def test_emails_about_an_account_go_to_an_owner_of_it(
    service: Service, alice: Operator, how: str
) -> None:
    """And the links in those that went to somebody else before are over."""
    editor, other = (colleague(service, alice, role) for role in (Role.EDITOR, Role.OWNER))
    assert other.web.post(f"/team/{editor.user_id}/remove", page="/team").status_code == 303
    assert contact(alice) == (alice.email, 0)
    if how == "owner":
        assert alice.web.post(f"/team/{other.user_id}/owner", page="/team").status_code == 303
    else:
        path = f"/team/{alice.user_id}/{how}"
        assert other.web.post(path, page="/team", role="editor").status_code == 303
    assert contact(alice) == (other.email, 1)


def test_home_in_an_old_tab_shows_nothing_of_the_other_newsletter(alice: Operator) -> None:
    alice.subscribe("one@example.org")
    live = f"/overview/new?account={alice.account_id}&since=0"
    assert "one@example.org" in alice.web.get("/subscribers").text
    assert alice.web.get(live).status_code == 200
    assert alice.web.post("/account/new", name="Second Wax").status_code == 303
    assert alice.web.get(live).status_code == 204
