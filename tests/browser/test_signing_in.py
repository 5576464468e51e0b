"""Signing in, in a real browser: the second factor, recovery codes, accounts that ask for one, a
session that is ended elsewhere, and the page that asks for the password again.
"""

import base64
import time
from collections.abc import Callable, Iterator

import pytest
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, PageAt
from tests.support.service import Service
from tests.support.web import PASSWORD, Operator, operator

LooksGood = Callable[[Page], None]


@pytest.fixture(scope="module")
def keyed() -> Iterator[Service]:
    with Service("sqlite", secret_key="ab" * 32) as service:
        yield service


@pytest.fixture
def alice(keyed: Service, roomy_network: None) -> Iterator[Operator]:
    yield operator(keyed)
    keyed.set_clock(0)


def log_in(page: Page, who: Operator) -> None:
    page.goto(f"{who.service.url}/login")
    page.get_by_label("Email").fill(who.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def code_of(secret: str, ahead_s: int = 0) -> str:
    """Not in the last seconds of a step: the code must still be good when it arrives."""
    if (left_s := 30 - time.time() % 30) < 10:
        time.sleep(left_s)
    totp = TOTP(base64.b32decode(secret.replace(" ", "")), 6, SHA1(), 30)
    return totp.generate(int(time.time()) + ahead_s).decode()


def set_up(page: Page, who: Operator, looks_good: LooksGood | None = None) -> tuple[str, list[str]]:
    """The secret and the recovery codes of a new second factor."""
    page.goto(f"{who.service.url}/account/second-factor")
    expect(page.locator("svg.qr")).to_be_visible()
    secret = page.locator("details code").text_content() or ""
    if looks_good:
        looks_good(page)
    page.get_by_label("six digits").fill(code_of(secret, -30))
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Save your recovery codes")
    if looks_good:
        looks_good(page)
    return secret, page.locator(".codes code").all_text_contents()


def enter_code(page: Page, code: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("Enter your code")
    page.get_by_label("Code").fill(code)
    page.get_by_role("button", name="Log in").click()


def test_a_login_needs_the_code_of_the_app(
    alice: Operator, page_at: PageAt, looks_good: LooksGood
) -> None:
    page = page_at()
    log_in(page, alice)
    secret, _ = set_up(page, alice, looks_good)
    page.get_by_role("link", name="I have saved them").click()
    expect(page.get_by_text("10 recovery codes left")).to_be_visible()
    looks_good(page)
    phone = page_at(PHONE, scripts=False)
    log_in(phone, alice)
    enter_code(phone, "000000")
    expect(phone.get_by_text("That code is not right")).to_be_visible()
    enter_code(phone, code_of(secret))
    expect(phone.get_by_role("heading", name="Enter your code")).to_have_count(0)
    assert phone.url.startswith(f"{alice.service.url}/") and "/login" not in phone.url


def test_a_recovery_code_logs_in_once(
    alice: Operator, page_at: PageAt, looks_good: LooksGood
) -> None:
    page = page_at()
    log_in(page, alice)
    _, codes = set_up(page, alice)
    first = page_at()
    log_in(first, alice)
    looks_good(first)
    enter_code(first, codes[0])
    expect(first.get_by_text("9 codes left")).to_be_visible()
    second = page_at()
    log_in(second, alice)
    enter_code(second, codes[0])
    expect(second.get_by_text("That code is not right")).to_be_visible()


def test_members_who_must_have_one_get_to_set_it_up_and_nothing_else(
    alice: Operator, page_at: PageAt
) -> None:
    page = page_at()
    log_in(page, alice)
    secret, _ = set_up(page, alice)
    page.goto(f"{alice.service.url}/account/security")
    page.get_by_role("button", name="Ask all members for one").click()
    page.get_by_role("button", name="Use another app").click()
    page.locator("dialog").get_by_role("button", name="Use another app").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Set up a second factor")
    page.goto(f"{alice.service.url}/rewards")
    expect(page.get_by_role("heading", level=1)).to_have_text("Set up a second factor")
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    new_secret, _ = set_up(page, alice)
    assert new_secret != secret
    page.goto(f"{alice.service.url}/rewards")
    expect(page.get_by_role("heading", level=1)).to_have_text("Rewards")


def test_a_session_that_is_ended_elsewhere_is_at_the_login_with_its_next_click(
    alice: Operator, page_at: PageAt
) -> None:
    here, there = page_at(), page_at(PHONE)
    for page in (here, there):
        log_in(page, alice)
    there.goto(f"{alice.service.url}/account/security")
    here.goto(f"{alice.service.url}/account/security")
    here.locator("#sessions").get_by_role("button", name="Log out", exact=True).first.click()
    expect(here.get_by_text("Session logged out.")).to_be_visible()
    here.get_by_role("button", name="Log out other sessions").click()  # that of the fixture
    there.get_by_role("link", name="Home").first.click()
    expect(there.get_by_role("heading", level=1)).to_have_text("Log in")


def test_after_a_while_the_password_is_asked_for_and_the_form_goes_on(
    alice: Operator, keyed: Service, page_at: PageAt, looks_good: LooksGood
) -> None:
    page = page_at()
    log_in(page, alice)
    page.goto(f"{alice.service.url}/account/security")
    page.get_by_label("New email address").fill("alice@new.example")
    keyed.set_clock(16 * 60)
    page.get_by_role("button", name="Change address").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Is it you?")
    assert "alice" not in page.url
    looks_good(page)
    page.get_by_label("Password", exact=True).fill("not my password")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("That is not your password.")).to_be_visible()
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("becomes your address once both")).to_be_visible()
    looks_good(page)


def test_the_export_of_everybody_downloads_once_the_password_is_entered(
    alice: Operator, keyed: Service, page_at: PageAt
) -> None:
    alice.subscribe("bea@example.org")
    page = page_at()
    log_in(page, alice)
    page.goto(f"{alice.service.url}/subscribers")
    keyed.set_clock(16 * 60)
    page.locator("a[href^='/subscribers/export.csv']").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Is it you?")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert "bea@example.org" in download.value.path().read_text()
    page.get_by_role("link", name="Back").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Subscribers")
