"""A real browser does the work that forms ask for while their code is flooded: on the hosted page
and on the operator's own website, in workers; and a form without scripts goes on without.
"""

import pytest
from playwright.sync_api import Page, expect

from honeyguide.kernel.clock import MINUTE_MS
from honeyguide.signups import proof_of_work
from honeyguide.signups.confirmations import FREE
from tests.browser.conftest import PageAt
from tests.browser.embedding import html, tag
from tests.support.embeds import embedding
from tests.support.held_emails import Link
from tests.support.newsletter import Newsletter
from tests.support.service import Service, until
from tests.support.stores import statement
from tests.support.web import Operator
from tests.support.website import Website

WORKED = statement("SELECT has_worked FROM letter WHERE account_id = :id AND to_email = :email")
LONGER = "Many people are signing up through this link right now"
ELEMENT = "<honeyguide-signup></honeyguide-signup>"
# So that whoever fills in a form is faster than their browser.
ENDLESS = 1_000_000


@pytest.fixture
def link(alice: Operator, monkeypatch: pytest.MonkeyPatch) -> Link:
    """Flooded just now. Its work takes a browser a moment."""
    monkeypatch.setattr(proof_of_work, "TRIES_PER_S", 50)
    flooded = Link(alice, now_ms=alice.service.now_ms() - MINUTE_MS)
    flooded.arrive(FREE + 1)
    return flooded


def worked(link: Link, email: str) -> list[int]:
    values = {"id": link.member.account_id, "email": email}
    rows = link.service.read(lambda tx: tx.all(WORKED, **values))
    return [row[0] for row in rows]


def open_form(page: Page, link: Link) -> None:
    path = Newsletter(link.service, member=link.member).page
    page.goto(f"{link.service.url}{path}?ref={link.code}")


def send(page: Page, email: str) -> None:
    page.get_by_label("Your email address").fill(email)
    page.get_by_role("button", name="Subscribe").click()


def test_a_browser_works_for_the_hosted_form(link: Link, page_at: PageAt) -> None:
    page = page_at(390)
    open_form(page, link)
    send(page, "worker@example.org")
    page.wait_for_url("**/thanks?*")
    expect(page.get_by_text(LONGER)).to_have_count(0)
    assert worked(link, "worker@example.org") == [1]


def test_the_form_waits_for_the_work_and_says_so(
    link: Link, page_at: PageAt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After 15 seconds it is sent without."""
    monkeypatch.setattr(proof_of_work, "TRIES_PER_S", ENDLESS)
    page = page_at()
    page.clock.install()
    open_form(page, link)
    send(page, "slow@example.org")
    expect(page.get_by_role("status")).to_contain_text("One moment")
    page.clock.fast_forward(14_000)
    expect(page.get_by_role("status")).to_contain_text("One moment")
    page.clock.fast_forward(2_000)
    page.wait_for_url("**/thanks?*")
    expect(page.get_by_text(LONGER)).to_be_visible()
    assert worked(link, "slow@example.org") == [0]


def test_without_scripts_the_signup_goes_on(link: Link, page_at: PageAt) -> None:
    page = page_at(scripts=False)
    open_form(page, link)
    send(page, "plain@example.org")
    page.wait_for_url("**/thanks?*")
    expect(page.get_by_text(LONGER)).to_be_visible()
    assert worked(link, "plain@example.org") == [0]


def test_a_browser_without_workers_sends_the_form_at_once(link: Link, page_at: PageAt) -> None:
    page = page_at()
    page.add_init_script("delete window.Worker")
    open_form(page, link)
    send(page, "old@example.org")
    page.wait_for_url("**/thanks?*")
    expect(page.get_by_text(LONGER)).to_be_visible()
    assert worked(link, "old@example.org") == [0]


@pytest.mark.parametrize("is_old", [False, True], ids=["works", "has no workers"])
def test_a_browser_works_for_an_element(
    link: Link, service: Service, alice: Operator, website: Website, page_at: PageAt, is_old: bool
) -> None:
    embed = embedding(alice, website.origin)
    website.pages["/"] = html(tag(service, embed), ELEMENT)
    website.policy += "; worker-src blob:"
    page = page_at()
    if is_old:
        page.add_init_script("delete window.Worker")
    page.goto(f"{website.origin}/?ref={link.code}")
    element = page.locator("honeyguide-signup")
    element.get_by_label("Your email address").fill("worker@example.org")
    page.wait_for_timeout(1_100)  # nobody is faster who is no robot
    element.get_by_role("button").click()
    expect(element.get_by_role("heading", name="Check your inbox")).to_be_focused()
    expect(element.get_by_text(LONGER)).to_have_count(1 if is_old else 0)
    until(lambda: worked(link, "worker@example.org") == [0 if is_old else 1])
