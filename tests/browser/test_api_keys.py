"""The page of API keys in a real browser: what a choice is not about is hidden, and a key is made
and rotated by hand.
"""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, PageAt
from tests.browser.test_dashboard import sit_down
from tests.support.service import Service
from tests.support.web import operator

pytestmark = pytest.mark.usefixtures("quick_hands")


def test_a_key_is_limited_and_rotated(
    service: Service, page_at: PageAt, looks_good: Callable[[Page], None]
) -> None:
    page = sit_down(page_at(DESKTOP), operator(service))
    page.goto(f"{service.url}/account/keys")
    scope, last_day = page.get_by_label("Take back charges"), page.get_by_label("Last day")
    expect(scope).to_be_hidden()
    expect(last_day).to_be_hidden()
    page.get_by_label("Name", exact=False).first.fill("Spreadsheet")
    page.get_by_label("Only what I choose").check()
    scope.check()
    page.get_by_label("Expires").select_option("On a date")
    last_day.fill("2031-05-04")
    looks_good(page)
    page.get_by_role("button", name="Create key").click()
    first = page.locator("#new-key").inner_text()
    row = page.get_by_role("row", name=re.compile("Spreadsheet"))
    expect(row).to_contain_text("until 5 May 2031")
    row.get_by_text("Rotate").click()
    expect(row.get_by_label("The old key ends")).to_have_value("24")
    looks_good(page)
    row.get_by_role("button", name="Create the new key").click()
    assert page.locator("#new-key").inner_text() != first
    replaced = page.get_by_role("row", name=re.compile("Spreadsheet.*Being replaced"))
    expect(replaced).to_have_count(1)
    expect(replaced.get_by_text("Rotate")).to_have_count(0)
