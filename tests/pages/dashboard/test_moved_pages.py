"""Addresses that pages had before still lead to them, with their query and with what was sent."""

import pytest

from honeyguide.pages.dashboard.look.routes import LOOK_PAGES
from tests.support.service import Service
from tests.support.web import Operator, operator


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        ("/branding", "/look/branding", 308),
        ("/pages?page=hub&language=de", "/look/pages?page=hub&language=de", 308),
        ("/emails/stopped?page=2", "/look/emails/stopped?page=2", 308),
        ("/newsletter/links.csv?tool=kit", "/look/newsletter/links.csv?tool=kit", 308),
        ("/embed", "/look/embed", 308),
        ("/embed/preview?what=hub", "/look/embed/preview?what=hub", 308),
        ("/look", "/look/branding", 302),
        ("/api?x=1", "/account/keys?x=1", 302),
        ("/dashboard/subscribers?q=ann", "/subscribers?q=ann", 302),
    ],
)
def test_an_old_address_leads_to_the_page(
    service: Service, old: str, new: str, status: int
) -> None:
    answer = operator(service).web.get(old)
    assert (answer.status_code, answer.headers["location"]) == (status, new)


def test_a_form_that_was_open_while_its_page_moved_is_sent_on(
    service: Service, alice: Operator
) -> None:
    sent = {"csrf": alice.web.token("/look/pages"), "promise": "Bees, weekly"}
    origin = {"origin": service.settings.base_url}
    answer = alice.web.http.post(
        "/pages?page=signup", data=sent, headers=origin, follow_redirects=True
    )
    assert answer.status_code == 200 and "Bees, weekly" in answer.text


def test_all_of_look_is_found_where_it_was(alice: Operator) -> None:
    for page in LOOK_PAGES:
        answer = alice.web.http.request(page.method, page.path.removeprefix("/look"))
        assert (answer.status_code, answer.headers["location"]) == (308, page.path)
