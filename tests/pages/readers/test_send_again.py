"""The button that sends the confirmation email again, on both engines: it helps who lost the email,
tells nobody who is subscribed, and fills no inbox.
"""

import httpx
import pytest

from honeyguide.mail.email_kinds import CONFIRM
from honeyguide.pages.readers import inbox
from tests.support.newsletter import Newsletter, errors
from tests.support.service import Service
from tests.support.web import text_of

pytestmark = pytest.mark.usefixtures("roomy_network")


@pytest.fixture
def wax(service: Service) -> Newsletter:
    return Newsletter(service, needs_confirmation=True)


def sign_up(wax: Newsletter, email: str) -> str:
    """The address of the page that asks to check the inbox."""
    return str(wax.join(email).headers["location"])


def press(wax: Newsletter, page: str) -> httpx.Response:
    return wax.visitor.post(page, data=wax.fields(page))


def test_who_lost_the_email_has_it_sent_again(wax: Newsletter) -> None:
    email = wax.address()
    page = sign_up(wax, email)
    assert "Send again" in wax.visitor.get(page).text
    wax.later(61)
    sent = press(wax, page)
    assert sent.status_code == 303
    again = wax.visitor.get(sent.headers["location"])
    assert "We’ve sent it again." in again.text and email not in again.text
    assert [(each.kind, each.to_email) for each in wax.emails()] == [("confirm", email)] * 2
    assert wax.visitor.post(wax.confirm_link(email)).status_code == 303
    assert wax.person(email).status == "confirmed"


def test_it_takes_a_minute_between_two_emails(wax: Newsletter) -> None:
    page = sign_up(wax, wax.address())
    hasty = press(wax, page)
    assert (hasty.status_code, errors(hasty)) == (400, {"": inbox.JUST_SENT})
    assert len(wax.emails("confirm")) == 1
    wax.later(61)
    second = press(wax, page).headers["location"]
    assert press(wax, second).status_code == 400
    assert len(wax.emails("confirm")) == 2


def test_once_a_day_and_no_more(wax: Newsletter) -> None:
    page = sign_up(wax, wax.address())
    wax.later(61)
    second = press(wax, page).headers["location"]
    wax.later(61)
    # The first page says that its email is long ago; the count knows better.
    for asked in (second, page):
        refused = press(wax, asked)
        assert refused.status_code == 429 and "Too many attempts" in errors(refused)[""]
        assert "sent it again" not in refused.text
    assert len(wax.emails("confirm")) == CONFIRM.most_a_day_here == 2


def test_it_tells_nobody_who_is_subscribed(wax: Newsletter) -> None:
    known, unknown = wax.address(), wax.address()
    person = wax.member.subscribe(known)
    wax.member.put(f"{wax.member.v1}/subscribers/{person['uuid']}", {"status": "confirmed"})
    answers = []
    for email in (known, unknown):
        page = sign_up(wax, email)
        wax.later(61)
        answer = press(wax, page)
        shown = text_of(wax.visitor.get(answer.headers["location"]).text)
        answers.append((answer.status_code, len(answer.headers["location"]), shown))
    assert answers[0] == answers[1]
    sent = [(each.kind, each.to_email) for each in wax.emails()]
    assert sorted(sent) == sorted([("hub_link", known)] * 2 + [("confirm", unknown)] * 2)


def test_only_a_page_of_ours_sends_anything(wax: Newsletter) -> None:
    email = wax.address()
    page = sign_up(wax, email)
    token = wax.fields(page)["token"]
    path, _, sealed = page.partition("?for=")
    wax.later(61)
    assert wax.visitor.post(page, data={"token": "x"}).status_code == 400
    assert wax.visitor.post(page, data={"token": wax.fields(wax.page)["token"]}).status_code == 400
    for forged in ("", "x", sealed[:-1], sealed[4:]):
        answer = wax.visitor.post(f"{path}?for={forged}", data={"token": token})
        assert (answer.status_code, answer.headers["location"]) == (303, wax.page)
    other = Newsletter(wax.service, name="The Other", needs_confirmation=True)
    foreign = f"{other.page}/thanks?for={sealed}"
    press(other, foreign)
    for address in (page, foreign):
        assert wax.visitor.get(address).status_code == 200
    assert len(wax.emails()) == 1 and other.emails() == []


def test_after_a_month_the_way_leads_back_to_the_form(wax: Newsletter) -> None:
    page = sign_up(wax, wax.address())
    token = wax.fields(page)["token"]
    wax.later(30 * 86_400)
    shown = wax.visitor.get(page).text
    assert "Send again" not in shown and f'href="{wax.page}"' in shown
    assert wax.visitor.post(page, data={"token": token}).status_code == 400


def test_an_erased_subscriber_gets_nothing(wax: Newsletter) -> None:
    email = wax.address()
    page = sign_up(wax, email)
    wax.member.delete(f"{wax.member.v1}/subscribers/{wax.person(email).id}")
    wax.later(61)
    assert press(wax, page).status_code == 303
    assert len(wax.emails("confirm")) == 1


def test_an_expired_link_leads_to_the_form_in_the_newsletters_branding(wax: Newsletter) -> None:
    email = wax.address()
    sign_up(wax, email)
    link = wax.confirm_link(email)
    wax.later(31 * 86_400)
    answer = wax.visitor.get(link)
    assert answer.status_code == 410
    assert "<b>The Morning Wax</b>" in answer.text
    assert f'href="{wax.service.settings.base_url}{wax.page}"' in answer.text
    assert f'href="/hub?of={wax.campaign.slug}"' in answer.text, "they may have confirmed back then"
