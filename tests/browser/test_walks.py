"""The days of those who use Honeyguide, walked in a real browser on the demo, with scripts and
without: an operator's Monday, the administrator's day, and the first hour on an empty installation.

The partner's day is in test_partners.py (from the offer to the bank), the subscriber's in
test_reader_pages.py and test_shipments.py (from the friend's link to the parcel).
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from honeyguide.accounts import setup_codes
from tests.browser.conftest import DESKTOP, PHONE, PageAt
from tests.browser.test_dashboard_journeys import fill_in
from tests.support.partner_network import png
from tests.support.running_demo import Demo, running_demo
from tests.support.service import Service
from tests.support.web import PASSWORD

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("quick_hands")]

SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    with running_demo() as demo:
        yield demo


def flash(page: Page) -> str:
    """What the page says about what was just done."""
    return page.get_by_role("status").last.inner_text()


def log_in(page: Page, demo: Demo, email: str, heading: str = "came through") -> None:
    page.goto(f"{demo.url}/login")
    fill_in(page, email=email, password=demo.password)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(heading)


@SCRIPTS
def test_the_first_hour(page_at: PageAt, tmp_path: Path, scripts: bool) -> None:
    """From nothing to the first referral, by the buttons of the checklist and the menu."""
    with Service("sqlite") as service:
        page = page_at(DESKTOP, scripts=scripts)
        page.goto(service.url)
        code = service.write(setup_codes.renew)
        fill_in(page, code=code, name="The Morning Wax", email="ann@example.org", password=PASSWORD)
        page.get_by_role("button", name="Create account").click()
        expect(page.get_by_text("0 of 7 set up.")).to_be_visible()
        _brand(page, service, tmp_path)
        _promise(page, service)
        _bring_subscribers(page, service, tmp_path)
        page.get_by_role("link", name="View subscribers").click()
        page.get_by_role("link", name="Ben").click()
        page.get_by_text("Codes, source and data").click()
        link = page.get_by_text(re.compile(f"^{service.url}/r/[a-z0-9]+$")).first.inner_text()

        friend = page_at(PHONE, scripts=scripts)
        friend.goto(link)
        expect(friend.locator("img.logo").first).to_be_visible()
        friend.locator("input[type=email]").fill("friend@example.org")
        friend.locator("main button").first.click()
        expect(friend.get_by_role("heading", level=1)).to_have_text("You’re in. Thank you!")
        service.run_jobs()

        page.goto(service.url)
        expect(page.get_by_role("heading", level=1)).to_contain_text("Your first referral")
        expect(page.locator(".figure", has_text="Referred").locator("b").first).to_have_text("1")
        expect(page.get_by_text("of 7 set up.")).to_contain_text(re.compile("[345] of 7"))


def _brand(page: Page, service: Service, folder: Path) -> None:
    logo = folder / "logo.png"
    logo.write_bytes(png())
    page.goto(f"{service.url}/look/branding")
    page.get_by_label("Logo", exact=True).set_input_files(logo)
    page.get_by_role("button", name="Save changes").click()
    assert "saved" in flash(page).lower()


def _promise(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/rewards")
    form = page.locator("form.form")
    form.get_by_label("Reward name").fill("Sticker pack")
    form.get_by_label("Referrals needed").fill("1")
    page.get_by_role("button", name="Add reward").click()
    expect(page.locator(".reward-list")).to_contain_text("Sticker pack")


def _bring_subscribers(page: Page, service: Service, folder: Path) -> None:
    file = folder / "list.csv"
    file.write_text("email,name\nben@example.org,Ben\ncleo@example.org,Cleo\n")
    page.goto(f"{service.url}/subscribers/import")
    page.get_by_label("CSV file or zip archive").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    page.get_by_role("button", name="Preview import").click()
    page.get_by_role("button", name="Import", exact=True).click()
    service.run_jobs()
    page.reload()
    expect(page.get_by_text("2 subscribers added.")).to_be_visible(timeout=15_000)


@SCRIPTS
def test_an_operators_monday(demo: Demo, page_at: PageAt, scripts: bool) -> None:
    """What needs them on Home, done one after the other, one of it taken back."""
    page = page_at(DESKTOP, scripts=scripts)
    log_in(page, demo, demo.email)
    page.get_by_text("things need you").click()
    page.get_by_role("link", name=re.compile("^Review [0-9]+ referrals$")).click()
    expect(page.get_by_role("heading", name="Review referrals")).to_be_visible()
    _reject_and_undo(page)
    page.goto(f"{demo.url}/rewards")
    waiting = page.get_by_role("button", name="Approve").count()
    page.get_by_role("button", name="Approve").first.click()
    assert "in a minute" in flash(page) or "approved" in flash(page)
    expect(page.get_by_role("button", name="Approve")).to_have_count(waiting - 1)
    _send_one(page, demo)
    page.goto(f"{demo.url}/search?q=torres")
    page.get_by_role("link", name=re.compile("Mateo Torres")).first.click()
    expect(page.get_by_role("heading", name="Mateo Torres").first).to_be_visible()
    page.goto(f"{demo.url}/program")
    page.get_by_role("link", name=re.compile("The Morning Wax")).first.click()
    expect(page.get_by_role("main")).to_contain_text("Slow Roads")
    page.goto(f"{demo.url}/account/changes")
    expect(page.get_by_role("main")).to_contain_text("reward")


def _reject_and_undo(page: Page) -> None:
    """The undone group is there again. The first group is the largest; how many are in it differs
    from demo to demo."""
    reject = page.get_by_role("button", name=re.compile("^Reject [0-9]")).first
    size, _, by = reject.inner_text().removeprefix("Reject ").partition("\n")
    reject.click()
    assert f"{size} referrals will be rejected in a minute." in flash(page)
    page.get_by_role("button", name="Undo").first.click()
    again = page.get_by_role("button", name=re.compile(f"^Reject {size} {re.escape(by)}"))
    expect(again.first).to_be_visible()


def _send_one(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.url}/shipments")
    page.get_by_role("button", name=re.compile("Mark as sent")).first.click()
    assert "in a minute" in flash(page) or "sent" in flash(page)


@SCRIPTS
def test_the_administrators_day(demo: Demo, page_at: PageAt, scripts: bool) -> None:
    """Health, a payout and one taken back, and an account that has to stop for a while."""
    page = page_at(DESKTOP, scripts=scripts)
    log_in(page, demo, demo.email)
    page.get_by_role("button", name=demo.email).click()
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Administration").click()
    page.get_by_role("button", name="Check again").click()
    expect(page.get_by_role("main")).to_contain_text("Disk space")
    page.get_by_role("link", name="Check the ledger").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The ledger balances")
    _pay_and_take_back(page, demo, scripts)
    _pause_and_resume(page, page_at(DESKTOP, scripts=scripts), demo, scripts)


def confirm(page: Page, button: str, scripts: bool) -> None:
    """The question before it, in a dialog or on a page of its own."""
    asks = page.get_by_role("dialog") if scripts else page.get_by_role("main")
    asks.get_by_role("button", name=button).click()


def _pay_and_take_back(page: Page, demo: Demo, scripts: bool) -> None:
    page.goto(f"{demo.url}/administration?month=2026-10")
    row = page.get_by_role("row", name="Lumen Letters").first
    row.get_by_label("Payment reference for").fill("SEPA 202610-03")
    row.get_by_role("button", name="Mark as paid").click()
    assert "was marked as paid" in flash(page)
    row.get_by_role("button", name="Undo").click()
    confirm(page, "Undo", scripts)
    expect(row.get_by_role("button", name="Mark as paid")).to_be_visible()


def _pause_and_resume(page: Page, partner: Page, demo: Demo, scripts: bool) -> None:
    page.goto(f"{demo.url}/administration#h-accounts")
    row = page.locator("#h-accounts").get_by_role("row", name="Lumen Letters")
    row.get_by_role("button", name="Pause").click()
    confirm(page, "Pause", scripts)
    expect(row).to_contain_text("Paused")
    log_in(partner, demo, "lumen@honeyguide.example", "")
    expect(partner.get_by_role("main")).to_contain_text(
        "You can read everything and change nothing"
    )
    row.get_by_role("button", name="Resume").click()
    expect(row).to_contain_text("Active")
    partner.reload()
    expect(partner.get_by_text("An administrator paused this account")).to_have_count(0)
