"""The certificate of an import in a real browser: on every screen, and on one sheet of paper."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, PageAt
from tests.browser.test_dashboard import sit_down
from tests.support.move_certificates import certificate_of
from tests.support.service import Service
from tests.support.web import Operator


def test_a_certificate_is_seen_and_printed(
    service: Service, alice: Operator, page_at: PageAt, looks_good: Callable[[Page], None]
) -> None:
    page = page_at(DESKTOP)
    sit_down(page, alice)
    page.goto(f"{service.url}/subscribers/import/certificates/{certificate_of(alice)}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Something was lost")
    looks_good(page)
    sheets = page.pdf(format="A4").count(b"/Type /Page\n")
    assert sheets == 1
    page.get_by_role("link", name="Import subscribers").first.click()
    expect(page.get_by_role("heading", name="Certificates")).to_be_visible()
    looks_good(page)
