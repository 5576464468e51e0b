"""Every older password-reset link is dead once the password has changed, however it changed. On
both engines.
"""

import pytest

from honeyguide.accounts import email_changes, invitations
from honeyguide.accounts.invitations import NewTicket
from honeyguide.kernel.email_addresses import EmailAddress
from honeyguide.store.tx import Tx
from tests.accounts.test_email_changes import links
from tests.support.service import Service
from tests.support.web import PASSWORD, Operator, WebClient, operator, set_password, text_of

pytestmark = pytest.mark.usefixtures("roomy_logins")

NEW, STOLEN = "four quiet green herons", "somebody else chose this"


def reset_link(service: Service, alice: Operator) -> str:
    """A link as the email would carry it; the database keeps only its digest."""

    async def issue(tx: Tx) -> str:
        new = NewTicket("password_reset", user_id=alice.user_id)
        _, token = await invitations._issue(tx.at(service.now_ms()), new)
        return token

    return f"/password/{service.write(issue)}"


def by_another_link(service: Service, alice: Operator) -> None:
    assert WebClient(service).post(reset_link(service, alice), password=NEW).status_code == 303


def on_the_settings_page(service: Service, alice: Operator) -> None:
    changed = alice.web.post("/account/password", page="/account", current=PASSWORD, password=NEW)
    assert changed.status_code == 303


def by_the_administrator(service: Service, alice: Operator) -> None:
    """As `honeyguide account password` does it."""
    set_password(service, alice.account_id)


@pytest.mark.parametrize("change", [by_another_link, on_the_settings_page, by_the_administrator])
def test_a_password_change_ends_every_older_reset_link(service: Service, change) -> None:
    alice, mallory = operator(service), operator(service, "mallory")
    older, others = [reset_link(service, alice) for _ in range(2)], reset_link(service, mallory)
    forms = {link: WebClient(service) for link in older}
    tokens = {
        link: web.token(link) for link, web in forms.items()
    }  # both forms are open while the password changes
    change(service, alice)
    for link, web in forms.items():
        seen = WebClient(service).get(link)
        assert seen.status_code == 404 and "This link has expired" in text_of(seen.text)
        assert (
            web.http.post(link, data={"csrf": tokens[link], "password": STOLEN}).status_code == 404
        )
    assert WebClient(service).log_in(alice.email, STOLEN).status_code == 401
    expected = PASSWORD if change is by_the_administrator else NEW
    assert WebClient(service).log_in(alice.email, expected).status_code == 303
    assert WebClient(service).get(others).status_code == 200, "another account's link still works"


def test_a_new_email_address_ends_the_links_that_went_to_the_old_one(
    service: Service, alice: Operator
) -> None:
    older, new = reset_link(service, alice), EmailAddress(f"new-{alice.email}")
    assert WebClient(service).get(older).status_code == 200
    site, now_ms = service.services.site, service.now_ms()

    async def change(tx: Tx) -> None:
        await email_changes.ask(tx.at(now_ms), site, alice.user_id, new)
        tokens = await links(tx)
        for address in (alice.email, new.text):
            await email_changes.confirm(tx.at(now_ms), site, tokens[address])

    service.write(change)
    assert WebClient(service).get(older).status_code == 404
    assert WebClient(service).log_in(new.text).status_code == 303


@pytest.mark.parametrize("change", [by_another_link, on_the_settings_page, by_the_administrator])
def test_a_password_change_ends_a_change_of_email_under_way(
    service: Service, alice: Operator, change
) -> None:
    """Whoever had the old password may have asked for it."""
    site, now_ms = service.services.site, service.now_ms()

    async def ask(tx: Tx) -> dict[str, str]:
        new = EmailAddress(f"thief-{alice.email}")
        await email_changes.ask(tx.at(now_ms), site, alice.user_id, new)
        return await links(tx)

    token = service.write(ask)[alice.email]
    assert WebClient(service).get(f"/login/email/{token}").status_code == 200
    change(service, alice)
    assert WebClient(service).get(f"/login/email/{token}").status_code == 404


def test_a_link_asked_for_after_the_change_works(service: Service, alice: Operator) -> None:
    on_the_settings_page(service, alice)
    assert WebClient(service).post(reset_link(service, alice), password=PASSWORD).status_code == 303
    assert WebClient(service).log_in(alice.email).status_code == 303
