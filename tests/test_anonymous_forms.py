"""Forms that anybody can send with anybody's address answer the same for an address that is known,
unknown, unsubscribed or erased. On both engines.
"""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from honeyguide.kernel.ids import new_id
from honeyguide.mail.email_kinds import CONFIRM
from honeyguide.pages.embeds import endpoint
from honeyguide.pages.readers import forms, requested_emails
from honeyguide.referrals import hub_choices
from honeyguide.signups import resent_emails
from tests.support import partner_network
from tests.support.embeds import Visitor, embedding
from tests.support.newsletter import Newsletter, link_of
from tests.support.prizes import post_of
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import Operator, operator, text_of

pytestmark = pytest.mark.usefixtures("roomy_network")
STATES = ("unknown", "known", "unsubscribed", "erased", "never confirmed")
# What differs in every answer: codes, tokens, and the drawing of a QR code.
DIFFERS = re.compile(
    r"(?:/r/|%2Fr%2F)\w{8}|\bref=\w{8}|(?<=for=)[\w-]+|/start/[\w-]+"
    r'|(?<=value=")[\w-]{8,}| d="[^"]+"'
)


@pytest.fixture
def alice(service: Service) -> Iterator[Operator]:
    service.set_clock(0)
    yield operator(service)
    service.set_clock(0)


@pytest.fixture
def own(service: Service, alice: Operator) -> Newsletter:
    return Newsletter(service, member=alice)


def address_of(wax: Newsletter, state: str) -> str:
    email = f"{new_id()[-12:]}@example.org"
    if state == "never confirmed":
        wax.configure(needs_confirmation=True)
        wax.join(email)
        wax.configure(needs_confirmation=False)
    elif state != "unknown":
        made = wax.member.subscribe(email, name="Ana")
        wax.service.write(
            lambda tx: hub_choices.save(
                tx, wax.tenant, made["uuid"], shows_name=True, on_leaderboard=True
            )
        )
        path = f"{wax.member.v1}/subscribers/{made['uuid']}"
        if state == "erased":
            wax.member.delete(path)
        elif state == "unsubscribed":
            wax.member.put(path, {"status": "unsubscribed"})
    return email


class Answers:
    """Everything that a visitor gets who fills in a form, opens what it leads to, and does it
    again."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def note(self, answer: httpx.Response) -> httpx.Response:
        location = DIFFERS.sub("", answer.headers.get("location", ""))
        cookies = len(answer.headers.get_list("set-cookie"))
        body = DIFFERS.sub("", answer.text)
        self.seen.append((answer.status_code, location, cookies, body))
        return answer


def hosted(wax: Newsletter, email: str, query: str = "") -> list[Any]:
    answers = Answers()
    for _ in range(2):
        answer = answers.note(wax.join(email, query))
        target = answer.headers["location"]
        page = answers.note(wax.visitor.get(target))
        start = re.search(r'href="(/hub/start/[^"]+)"', page.text)
        if start:
            answers.note(wax.visitor.get(start[1]))
            link = link_of(page.text)
            answers.note(wax.visitor.get(link))
            answers.note(wax.visitor.get(f"{wax.page}?ref={link.rpartition('/')[2]}"))
    return answers.seen


def with_confirmation(wax: Newsletter, email: str) -> list[Any]:
    wax.configure(needs_confirmation=True)
    seen = hosted(wax, email)
    answers = Answers()
    target = wax.join(email).headers["location"]
    token = re.search(r'name="token" value="([^"]+)"', wax.visitor.get(target).text)
    assert token
    for wait_s in (0, 90):
        wax.later(wait_s)
        answers.note(wax.visitor.post(target, data={"token": token[1]}))
    return seen + answers.seen


def asked_for_a_link(wax: Newsletter, email: str) -> list[Any]:
    answers = Answers()
    path = f"/hub?of={wax.campaign.slug}"
    answers.note(wax.visitor.post(path, data={**wax.fields(path), "email": email}))
    return answers.seen


def embedded(wax: Newsletter, email: str) -> list[Any]:
    answers, visitor = Answers(), Visitor(wax.member, embedding(wax.member))
    token = visitor.get("token").json()["token"]
    for _ in range(2):
        answers.note(visitor.sign_up(email, token=token))
    answers.note(visitor.sign_up(email))
    answers.note(visitor.post("find", email=email))
    return answers.seen


def by_magic_link(wax: Newsletter, email: str) -> list[Any]:
    answers, code = Answers(), magic_code(wax)
    for _ in range(2):
        answer = answers.note(wax.fill_in(f"/m/{code}", email))
        answers.note(wax.visitor.get(answer.headers["location"]))
    return answers.seen


def magic_code(wax: Newsletter) -> str:
    """Of the only partner."""
    find = statement("SELECT ref_code FROM partner_campaign WHERE owner_account_id = :account_id")
    found = wax.service.read(lambda tx: tx.all(find, account_id=wax.member.account_id))
    if found:
        return str(found[0][0])
    partner = wax.service.member("partner")
    return str(partner_network.join(partner, partner_network.offer(wax.member))["ref_code"])


FORMS = [hosted, with_confirmation, asked_for_a_link, embedded, by_magic_link]


@pytest.mark.parametrize("form", FORMS)
def test_an_anonymous_visitor_gets_the_same_for_every_address(
    own: Newsletter, form: Callable[[Newsletter, str], list[Any]]
) -> None:
    own.offer()
    own.brand(show_inviter=True)
    emails = {state: address_of(own, state) for state in STATES}
    answers = {}
    for state, email in emails.items():
        own.configure(needs_confirmation=False)
        answers[state] = form(own, email)
    for state in STATES:
        assert answers[state] == answers["unknown"], state


def test_no_answer_is_faster_than_the_slowest_case(
    own: Newsletter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits from the moment that the request came, as the endpoints for embeds do."""
    monkeypatch.setattr(forms, "ANSWER_AFTER_S", endpoint.ANSWER_AFTER_S)
    own.offer()
    fields = own.fields(own.page)
    for email in (address_of(own, "known"), address_of(own, "unknown"), "nonsense"):
        began_s = time.monotonic()
        own.visitor.post(own.page, data={**fields, "email": email})
        assert time.monotonic() - began_s >= forms.ANSWER_AFTER_S


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


def test_the_limit_of_other_accounts_is_not_told(alice: Operator, service: Service) -> None:
    email = f"{new_id()[-12:]}@example.org"
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
    email = f"{new_id()[-12:]}@example.org"
    accounts = [alice, operator(service)]
    pages = []
    for account in accounts:
        account.put(f"{account.v1}/settings", {"needs_confirmation": True})
        lead = account.subscribe(f"{new_id()[-12:]}@example.org")
        person = account.subscribe(email, referrer_code=lead["ref_code"])
        pages.append(f"/subscribers/{person['uuid']}")

    def ask(number: int) -> int:
        web, page = accounts[number].web, pages[number]
        return web.post(f"{page}/emails", page=page, email="confirmation").status_code

    for number in range(CONFIRM.most_a_day):
        service.set_clock(number * (requested_emails.EVERY_MS / 1000 + 1))
        assert ask(0) == 303
    assert ask(1) == 303 and post_of(accounts[1], "confirm") == []
    assert ask(0) == 429
    service.set_clock(CONFIRM.most_a_day * (requested_emails.EVERY_MS / 1000 + 1))
    assert ask(0) == 429, "its own limit of a day"
