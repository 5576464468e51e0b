"""The account page over HTTP, on both engines: forms, and the addresses its parts had before."""

import re

import pytest

from honeyguide.accounts import attempts
from honeyguide.kernel.ids import new_id
from honeyguide.pages.dashboard.routes import MOVED_FORMS, PAGES
from honeyguide.store.statements import Statement
from honeyguide.store.tx import Tx
from tests.support.service import Service
from tests.support.web import PASSWORD, Operator, WebClient, operator, text_of


def make_admin(who: Operator) -> Operator:
    async def promote(tx: Tx) -> None:
        sql = "UPDATE account SET is_admin = 1 WHERE id = :account_id"
        await tx.run(Statement("test", sql, sql, lambda: None), account_id=who.account_id)

    who.service.write(promote)
    return who


def list_status(who: Operator, key: str) -> int:
    return who.http.get(f"{who.v1}/subscribers", headers={"X-Api-Key": key}).status_code


def test_too_many_wrong_passwords_are_refused_beside_the_form(alice: Operator) -> None:
    form = {"current": "not mine", "password": "four unrelated words"}
    for _ in range(attempts.PASSWORD_AGAIN.most + 1):
        answer = alice.web.post("/account/password", page="/account/security", **form)
    assert answer.status_code == 429 and int(answer.headers["retry-after"]) > 0
    section = answer.text[answer.text.index('id="password"') :]
    assert "Too many attempts. Try again in 15 minutes." in section


def test_the_refusal_of_a_missing_or_wrong_key_names_the_account_page(
    service: Service, alice: Operator
) -> None:
    for headers in ({"X-Api-Key": ""}, {"X-Api-Key": "wrong"}):
        answer = alice.http.get("/v1/campaigns", headers=headers)
        assert answer.status_code == 401
        url = answer.json()["error"].split()[-1]
        assert url == f"{service.settings.base_url}/account"
    assert alice.web.get(url).status_code == 200, "and the page is there"


@pytest.mark.parametrize(
    ("path", "fields", "field", "sentence"),
    [
        ("profile", {"name": " "}, "f-account-name", "Enter a name."),
        (
            "password",
            {"current": "not mine", "password": PASSWORD},
            "f-current",
            "That is not your current password.",
        ),
        (
            "password",
            {"current": PASSWORD, "password": "short"},
            "f-password",
            "Choose a password of at least 10 characters.",
        ),
        ("invitations", {"email": "nobody"}, "f-email", "Enter a valid email address."),
    ],
)
def test_a_mistake_is_explained_beside_its_field(
    service: Service, path: str, fields: dict[str, str], field: str, sentence: str
) -> None:
    alice = make_admin(operator(service))
    answer = alice.web.post(f"/account/{path}", page="/account", **fields)
    assert answer.status_code == 400
    assert answer.text.count('aria-invalid="true"') == 1
    wrong_input = re.search(
        rf'<input[^>]* id="{field}"[^>]*>\s*<p class="wrong"[^>]*><svg.*?</svg>([^<]*)</p>',
        answer.text,
    )
    assert wrong_input and wrong_input[1] == sentence
    assert "autofocus" in wrong_input[0], "the browser scrolls to it"
    passwords = re.findall(r'<input[^>]*type="password"[^>]*>', answer.text)
    assert len(passwords) == (2 if path == "password" else 0)
    assert all('value=""' in each for each in passwords), "no password comes back"


def test_the_profile_is_saved(alice: Operator) -> None:
    answer = alice.web.post("/account/profile", page="/account", name="The Evening Wax")
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    assert 'value="The Evening Wax"' in alice.web.get("/account").text


def test_one_other_session_is_ended_by_its_button(service: Service, alice: Operator) -> None:
    others = [WebClient(service), WebClient(service)]
    for other in others:
        other.log_in(alice.email)
    session_id = re.search(r'name="id" value="([^"]+)"', alice.web.get("/account/security").text)
    assert session_id
    alice.web.post("/account/sessions", page="/account/security", id=session_id[1])
    assert sorted(other.get("/").status_code for other in others) == [200, 303]
    alice.web.post("/account/sessions", page="/account/security")
    assert "1 other session logged out." in text_of(alice.web.get("/account/security").text)


def test_only_the_administrator_sees_and_sends_invitations(alice: Operator) -> None:
    page = alice.web.get("/team?for=newsletter").text
    assert "newsletter of their own" not in page and "/account/invitations" not in page
    for path in ("/account/invitations", "/account/invitations/withdraw"):
        assert (
            alice.web.post(path, page="/account", email="carl@example.org", id=new_id()).status_code
            == 404
        )
    make_admin(alice)
    sent = alice.web.post("/account/invitations", page="/team", email="carl@example.org")
    assert sent.status_code == 200 and "/welcome/" in sent.text
    page = alice.web.get("/team").text
    assert "carl@example.org" in text_of(page) and "/welcome/" not in page, "the link is shown once"
    ticket = re.search(r'name="id" value="([^"]+)"', page)
    assert ticket
    alice.web.post("/account/invitations/withdraw", page="/team", id=ticket[1])
    assert "carl@example.org" not in text_of(alice.web.get("/team").text)


def test_settings_has_the_campaign_only(service: Service) -> None:
    page = make_admin(operator(service)).web.get("/settings").text
    assert set(re.findall(r'action="(/settings[^"]*|/account[^"]*)"', page)) == {
        "/settings/campaign",
        "/settings/time-zone",
    }


def test_old_addresses_lead_to_the_new_ones(service: Service) -> None:
    web = WebClient(service)
    answer = web.get("/api")
    assert (answer.status_code, answer.headers["location"]) == (302, "/account/keys")
    handled = {page.path for page in PAGES if page.method == "POST"}
    assert set(MOVED_FORMS.values()) <= handled
    for old, new in MOVED_FORMS.items():
        answer = web.http.post(old.format(id="123"))
        assert (answer.status_code, answer.headers["location"]) == (308, new.format(id="123"))


def test_a_form_that_was_open_during_the_move_still_works(alice: Operator) -> None:
    token = alice.web.token("/account")
    form = {"csrf": token, "name": "The Old Form"}
    refused = alice.web.http.post(
        "/settings/profile",
        data=form,
        follow_redirects=True,
        headers={"origin": "https://evil.example"},
    )
    assert refused.status_code == 403 and "The Old Form" not in alice.web.get("/account").text
    saved = alice.web.http.post("/settings/profile", data=form, follow_redirects=True)
    assert saved.status_code == 200 and 'value="The Old Form"' in saved.text
    made = alice.web.http.post(
        "/api/keys", data={"csrf": token, "name": "Old page"}, follow_redirects=True
    )
    key = re.search(r"hg_live_\w+", made.text)
    assert made.status_code == 201 and key and list_status(alice, key[0]) == 200


@pytest.mark.parametrize(
    "key_id", ["%2F%2Fevil.example", "%0D%0AX-Evil:1", "%FF", "..", "%3Fx%23y"]
)
def test_an_old_address_leads_to_this_site_whatever_it_names(service: Service, key_id: str) -> None:
    answer = WebClient(service).http.post(f"/api/keys/{key_id}/revoke")
    assert answer.status_code in (303, 308, 404, 405)
    location = answer.headers.get("location", "/")
    assert location == "/" or location.startswith("/account/keys/")
    assert "x-evil" not in answer.headers
