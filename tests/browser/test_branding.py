"""The branding page in a browser: the preview follows the form, with and without JavaScript."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DESKTOP, PHONE, LateAnswer, PageAt
from tests.browser.test_dashboard import sit_down
from tests.support.partner_network import png
from tests.support.service import Service
from tests.support.web import Operator, operator


@pytest.fixture(scope="module")
def alice(service: Service) -> Operator:
    return operator(service)


def test_the_preview_follows_what_is_typed(
    service: Service, alice: Operator, page_at: PageAt, tmp_path: Path
) -> None:
    logo = tmp_path / "logo.png"
    logo.write_bytes(png((10, 120, 60)))
    page = sit_down(page_at(DESKTOP), alice)
    page.goto(f"{service.url}/look/branding")
    shown = page.frame_locator("iframe.preview")
    page.get_by_label("Accent color").fill("#ff0")
    expect(page.get_by_text("We adjust your color")).to_be_visible()
    expect(shown.locator("link[href*='/accents/ffff00']")).to_have_count(1)
    expect(shown.get_by_role("button", name="Subscribe")).to_have_css(
        "background-color", "rgb(113, 113, 0)"
    )
    assert page.get_by_label("Pick a color").input_value() == "#ffff00"
    page.get_by_label("Pick a color").fill("#0000ff")
    expect(page.get_by_label("Accent color")).to_have_value("#0000ff")
    expect(shown.get_by_role("button", name="Subscribe")).to_have_css(
        "background-color", "rgb(0, 0, 255)"
    )
    page.get_by_label("Consent text").fill("Yes & <b>no</b>")
    expect(shown.get_by_role("checkbox", name="Yes & <b>no</b>")).to_be_visible()
    page.get_by_label("Logo", exact=True).set_input_files(logo)
    expect(shown.locator("img.logo")).to_have_attribute("src", re.compile("^data:image/png"))
    page.get_by_label("Theme of the preview").select_option("dark")
    expect(shown.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_label("Page to preview").select_option("hub")
    expect(shown.get_by_role("heading", name="Your link", exact=True)).to_be_visible()
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_text("Changes saved.")).to_be_visible()
    expect(page.locator("#share-shown")).to_have_attribute("src", re.compile("^/logos/"))


def test_the_preview_of_what_was_typed_last_stays_however_late_another_comes(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = sit_down(page_at(DESKTOP), alice)
    page.goto(f"{service.url}/look/branding")
    late = LateAnswer(page, "**/look/branding/preview")
    consent = page.get_by_label("Consent text")
    with page.expect_request("**/look/branding/preview"):
        consent.fill("The first")
    consent.fill("The second")
    shown = page.frame_locator("iframe.preview")
    expect(shown.get_by_role("checkbox", name="The second")).to_be_visible()
    late.comes()
    expect(shown.get_by_role("checkbox", name="The first")).to_have_count(0)
    expect(shown.get_by_role("checkbox", name="The second")).to_be_visible()


def test_the_preview_of_an_email_is_of_what_was_typed_last(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = sit_down(page_at(DESKTOP), alice)
    page.goto(f"{service.url}/look/emails?email=friend_joined")
    late = LateAnswer(page, "**/look/emails/preview*")
    text = page.get_by_label("Text", exact=True)
    with page.expect_request("**/look/emails/preview*"):
        text.fill("The first")
    text.fill("The second")
    shown = page.frame_locator("iframe[name=desktop]").get_by_role("paragraph")
    expect(shown.filter(has_text="The second")).to_be_visible()
    late.comes()
    expect(shown.filter(has_text="The first")).to_have_count(0)
    expect(shown.filter(has_text="The second")).to_be_visible()


def test_without_javascript_a_button_opens_the_preview(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = sit_down(page_at(PHONE, scripts=False), alice)
    page.goto(f"{service.url}/look/branding")
    page.get_by_label("Accent color").fill("#0a0")
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Preview").click()
    expect(opened.value.locator("link[href*='/accents/00aa00']")).to_have_count(1)
    page.get_by_label("Reply-To").fill("nobody")
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_label("Reply-To")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Accent color")).to_have_value("#0a0")


def test_the_desktop_preview_of_an_email_is_whole_on_a_phone(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = sit_down(page_at(PHONE), alice)
    page.goto(f"{service.url}/look/emails")
    box = page.locator("iframe[name=desktop]").bounding_box()
    assert box is not None and box["x"] + box["width"] <= PHONE
    assert page.frames[-1].evaluate("innerWidth") >= 600, "laid out as on a desktop"
