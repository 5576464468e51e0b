"""A team in a real browser: a colleague is invited and joins, a role changes while a page is open,
and one user has two newsletters in two tabs.
"""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from honeyguide.accounts.permissions import Role
from tests.browser.conftest import DESKTOP, PHONE, PageAt
from tests.browser.test_dashboard import sit_down
from tests.support.service import Service
from tests.support.team import colleague
from tests.support.web import PASSWORD, Operator

pytestmark = pytest.mark.usefixtures("quick_hands")


def test_a_colleague_is_invited_and_joins(
    service: Service, alice: Operator, page_at: PageAt, looks_good: Callable[[Page], None]
) -> None:
    page = sit_down(page_at(DESKTOP), alice)
    page.goto(f"{service.url}/team")
    page.get_by_label("Email address").fill(f"dana-{alice.account_id}@example.org")
    page.get_by_label("Role", exact=True).select_option("finance")
    page.get_by_role("button", name="Send invitation").click()
    looks_good(page)
    link = page.locator("#invitations .secret code").inner_text()

    hers = page_at(PHONE)
    hers.goto(link)
    looks_good(hers)
    hers.get_by_label("Your name").fill("Dana")
    hers.get_by_label("Password", exact=True).fill(PASSWORD)
    hers.get_by_role("button", name="Join the team").click()
    expect(hers.get_by_text("You joined as finance.")).to_be_visible()
    hers.goto(f"{service.url}/team")
    expect(hers.get_by_text("Dana (you)")).to_be_visible()
    expect(hers.get_by_role("button", name="Send invitation")).to_have_count(0)
    looks_good(hers)


def test_a_role_that_changes_while_a_page_is_open(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    cleo = colleague(service, alice, Role.EDITOR)
    theirs = page_at(DESKTOP)
    session = {"name": "hg_session", "value": cleo.web.session, "url": service.url}
    theirs.context.add_cookies([session])
    theirs.goto(f"{service.url}/settings")
    save = theirs.get_by_role("button", name="Save changes").first
    expect(save).to_be_visible()
    alice.web.post(f"/team/{cleo.user_id}/role", page="/team", role="analyst")
    save.click()
    expect(theirs.get_by_text("needs the role owner or editor")).to_be_visible()
    theirs.goto(f"{service.url}/settings")
    expect(theirs.get_by_role("button", name="Save changes")).to_have_count(0)


def test_two_newsletters_in_two_tabs(service: Service, alice: Operator, page_at: PageAt) -> None:
    first = sit_down(page_at(DESKTOP), alice)
    first.goto(f"{service.url}/settings")
    second = first.context.new_page()
    second.goto(f"{service.url}/settings")
    second.locator("nav.side button.switch").first.click()
    second.get_by_role("link", name="New newsletter").click()
    second.get_by_label("Newsletter name").fill("Second Wax")
    second.get_by_role("button", name="Create newsletter").click()
    expect(second.get_by_text("Second Wax is ready.")).to_be_visible()

    # The first tab still shows the other newsletter, and cannot write to the new one.
    first.get_by_label("Name", exact=False).first.fill("Mixed up")
    first.get_by_role("button", name="Save changes").first.click()
    expect(first.get_by_text("switched to another newsletter")).to_be_visible()
    first.goto(f"{service.url}/settings")
    expect(first.get_by_label("Name", exact=False).first).to_have_value("Second Wax")
    first.locator("nav.side button.switch").first.click()
    first.locator("#newsletter-menu button").first.click()
    first.wait_for_url(f"{service.url}/")
    first.goto(f"{service.url}/settings")
    expect(first.get_by_label("Name", exact=False).first).to_have_value("Alice")
