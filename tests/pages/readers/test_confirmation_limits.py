"""How many confirmation emails an address gets that never confirmed here: anybody can type it."""

from __future__ import annotations

import pytest

from honeyguide.kernel.clock import HOUR_MS, MINUTE_MS
from honeyguide.kernel.ids import new_id
from honeyguide.mail import emails
from honeyguide.mail.email_kinds import CONFIRM, HUB_LINK
from honeyguide.pages.readers import requested_emails
from tests.support.held_emails import Link
from tests.support.readings import in_account
from tests.support.service import Member


@pytest.fixture
def email() -> str:
    """Each test has its own, because all newsletters of the installation count together."""
    return f"{new_id()}@example.org"


@pytest.fixture
def link(alice: Member) -> Link:
    return Link(alice)


def ask(
    link: Link, email: str, times: int, *, has_worked: bool = False, every_ms: int = 11 * MINUTE_MS
) -> int:
    """How many emails this person got, after so many forms."""
    for _ in range(times):
        link.now_ms += every_ms
        link.make(
            requested_emails.send_confirm, link.brand, link.person(email), has_worked=has_worked
        )
    return count(link, email, CONFIRM.name)


def count(link: Link, email: str, kind: str) -> int:
    about, account_id = link.person(email).id, link.member.account_id
    found = link.service.read(lambda tx: emails.of_subscriber(in_account(tx, account_id), about))
    return sum(each.kind == kind for each in found)


def test_a_newsletter_sends_two_a_day(link: Link, email: str) -> None:
    link.ask(email)
    assert ask(link, email, 4) == 2
    link.now_ms += 24 * HOUR_MS
    assert ask(link, email, 4) == 4


def test_all_newsletters_together_send_six_a_day(alice: Member, email: str) -> None:
    first = Link(alice)
    links = [first]
    for number in range(3):
        member = alice.service.member(f"owner{number}")
        links.append(Link(member, now_ms=first.now_ms))
    for link in links:
        link.now_ms = first.now_ms
        link.ask(email)
    assert [ask(link, email, 2) for link in links] == [2, 2, 1, 1]


def test_after_work_there_are_more_and_one_an_hour(link: Link, email: str) -> None:
    link.ask(email)
    assert ask(link, email, 3) == 2
    assert ask(link, email, 1, has_worked=True, every_ms=MINUTE_MS) == 2, "one left in this hour"
    assert ask(link, email, 6, has_worked=True) == 3
    assert ask(link, email, 3, has_worked=True, every_ms=HOUR_MS + 1) == 6


def test_the_link_to_the_referral_page_is_none_of_them(link: Link, email: str) -> None:
    link.ask(email)
    for _ in range(requested_emails.ASKED_FOR.most + 5):
        ask(link, email, 1, every_ms=MINUTE_MS)
    assert count(link, email, CONFIRM.name) == 2
    link.make(requested_emails.send_hub_link, link.brand, link.person(email))
    assert count(link, email, HUB_LINK.name) == 1
