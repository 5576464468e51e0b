"""The codes that public forms answer with: they tell nobody who is subscribed, and credit whoever
shares them. On both engines.
"""

import base64
import re

import pytest

from tests.support.anonymous_readers import address_of
from tests.support.newsletter import Newsletter, link_of
from tests.support.service import Service
from tests.support.web import operator

pytestmark = pytest.mark.usefixtures("roomy_network")


@pytest.fixture
def own(service: Service) -> Newsletter:
    service.set_clock(0)
    return Newsletter(service, member=operator(service))


def shown_code(wax: Newsletter, email: str, query: str = "") -> str:
    page = wax.visitor.get(wax.join(email, query).headers["location"])
    return link_of(page.text).rpartition("/")[2]


def test_two_links_of_referrers_do_not_tell_whether_an_address_is_known(own: Newsletter) -> None:
    """Whoever is subscribed keeps their code, and a signup that was never confirmed is replaced."""
    own.configure(needs_confirmation=False)
    codes = [own.advocate(0).ref_code for _ in range(2)]
    for state in ("known", "never confirmed", "unknown"):
        email = address_of(own, state)
        shown = [shown_code(own, email, f"?ref={code}") for code in codes]
        assert len({*shown, own.person(email).ref_code}) >= 2
        for code in shown:
            followed = own.visitor.get(f"/r/{code}")
            assert followed.status_code == 302 and f"ref={code}" in followed.headers["location"]


def test_no_public_page_shows_the_code_of_somebody_who_is_subscribed(own: Newsletter) -> None:
    email = address_of(own, "known")
    person = own.person(email)
    for _ in range(2):
        answer = own.join(email)
        token = answer.headers["location"].partition("for=")[2]
        content = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        page = own.visitor.get(answer.headers["location"])
        start = re.search(r'href="(/hub/start/[^"]+)"', page.text)
        assert start
        for text in (str(content), page.text, own.visitor.get(start[1]).text):
            assert person.ref_code not in text


def test_whoever_shares_such_a_link_is_credited(own: Newsletter) -> None:
    email, friend = address_of(own, "known"), own.address()
    code = shown_code(own, email)
    assert own.member.subscribe(friend, referrer_code=code.upper())
    own.join(other := own.address(), f"?ref={code}")
    person = own.person(email)
    assert person.referrals_verified == 2
    assert own.person(friend).referrer_code == own.person(other).referrer_code == person.ref_code
    assert own.member.get(f"{own.member.v1}/subscribers/{person.id}/codes").text.count(code) == 0


def test_a_form_that_is_sent_twice_gets_its_first_answer(own: Newsletter) -> None:
    for state in ("known", "unknown"):
        email = address_of(own, state)
        fields = {**own.fields(own.page), "email": email}
        own.later()
        answers = [own.visitor.post(own.page, data=fields) for _ in range(2)]
        pages = [own.visitor.get(answer.headers["location"]).text for answer in answers]
        assert link_of(pages[0]) == link_of(pages[1])
