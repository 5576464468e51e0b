"""A file of another tool is chosen, tried and imported, in a real browser."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PageAt
from tests.browser.test_dashboard import sit_down
from tests.support.moving_files import FIXTURES
from tests.support.service import Service
from tests.support.web import Operator

pytestmark = pytest.mark.long


def test_a_file_is_tried_and_imported(
    service: Service,
    alice: Operator,
    page_at: PageAt,
    looks_good: Callable[[Page], None],
) -> None:
    page = sit_down(page_at(), alice)
    page.goto(f"{service.url}/subscribers/import")
    expect(page.get_by_role("radio", name="Find out from the file")).to_be_checked()
    looks_good(page)
    page.get_by_text("ReferralHero").click()
    page.get_by_label("CSV file or zip archive").set_input_files(FIXTURES / "any.csv")
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_label("Where the file is from")).to_have_value("referralhero")
    tool = page.get_by_label("Where the file is from")
    again = page.get_by_role("button", name="Read the columns again")
    field, button = tool.bounding_box(), again.bounding_box()
    assert field and button and abs(field["y"] - button["y"]) < 2, "on one line"
    tool.select_option("Any CSV file")
    again.click()
    page.get_by_text("Month before day").click()
    page.get_by_role("button", name="Preview import").click()
    expect(page.get_by_text("What we found, and what becomes of it")).to_be_visible()
    expect(page.get_by_role("radio", name="Month before day")).to_be_checked()
    looks_good(page)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("2 subscribers added.")).to_be_visible(timeout=20_000)
    looks_good(page)
