"""Details that decide whether a page can be used with a keyboard, a screen reader or tired eyes."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, PHONE, PageAt
from tests.browser.test_dashboard import sit_down
from tests.support.service import Service
from tests.support.web import Operator, operator

pytestmark = pytest.mark.usefixtures("quick_hands")


@pytest.fixture(scope="module")
def alice(service: Service) -> Operator:
    return operator(service)


def luminance(color: str) -> float:
    channels = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def styles(page: Page, selector: str, name: str) -> list[str]:
    found: list[str] = page.locator(selector).evaluate_all(
        "(all, name) => all.map((each) => getComputedStyle(each)[name])", name
    )
    return found


# What can be touched and is smaller than 24 pixels; links within a sentence may be.
TOO_SMALL = """() => [...document.querySelectorAll("a, button, input, select, summary")]
  .filter((each) => each.checkVisibility() && !each.closest(".unseen"))
  .filter((each) => getComputedStyle(each).display !== "inline")
  .filter((each) => {
    const box = (each.closest("label") || each).getBoundingClientRect();
    return box.width > 1 && (box.width < 24 || box.height < 24);
  }).map((each) => each.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("path", ["/", "/subscribers", "/review", "/rewards", "/payouts"])
def test_everything_to_touch_has_24_pixels(
    service: Service, alice: Operator, page_at: PageAt, path: str
) -> None:
    ann = alice.subscribe(f"ann{alice.service.now_ms()}@example.org")
    alice.subscribe(f"ben{alice.service.now_ms()}@mailinator.com", referrer_code=ann["ref_code"])
    page = sit_down(page_at(PHONE), alice)
    page.goto(f"{service.url}{path}")
    assert page.evaluate(TOO_SMALL) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_focus_ring_stands_out(
    service: Service, alice: Operator, page_at: PageAt, theme: str
) -> None:
    page = sit_down(page_at(DESKTOP, theme), alice)
    page.goto(f"{service.url}/settings")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    (ring,) = styles(page, ":focus-visible", "outlineColor")
    for place in ("body", ".side", ".card"):
        behind = styles(page, place, "backgroundColor")[0]
        assert contrast(ring, behind) >= 3, f"{ring} on {behind}"


def test_headings_are_larger_than_the_labels_below_them(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = sit_down(page_at(DESKTOP), alice)
    page.goto(f"{service.url}/settings")
    headings = [float(size[:-2]) for size in styles(page, ".card h2", "fontSize")]
    labels = [float(size[:-2]) for size in styles(page, ".field > label", "fontSize")]
    assert headings and labels and min(headings) > max(labels)


def test_the_bars_on_a_phone_are_landmarks(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = sit_down(page_at(PHONE), alice)
    page.goto(f"{service.url}/")
    expect(page.get_by_role("banner").get_by_role("link", name="Notifications")).to_be_visible()
    tabs = page.get_by_role("navigation", name="Main, on a phone")
    expect(tabs.get_by_role("link", name="Home")).to_have_attribute("aria-current", "page")
    tabs.get_by_role("button", name="More").click()
    menu = page.get_by_role("navigation", name="Main", exact=True)
    menu.get_by_role("button", name="Account").click()
    menu.get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Webhooks").click()
    page.wait_for_url(f"{service.url}/webhooks")


def test_a_copied_key_is_announced(service: Service, alice: Operator, page_at: PageAt) -> None:
    page = sit_down(page_at(DESKTOP, permissions=["clipboard-read", "clipboard-write"]), alice)
    page.goto(f"{service.url}/account/keys")
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("status")).to_have_text("Copied")


def test_without_javascript_a_page_asks_before_erasing(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    ann = alice.subscribe("ann.erase@example.org")
    here = f"{service.url}/subscribers?q=ann.erase"
    page = sit_down(page_at(DESKTOP, scripts=False), alice)
    page.goto(here)
    for answer in ("link", "button"):
        page.get_by_label("Select ann.erase@example.org").check()
        page.get_by_role("button", name="Erase").click()
        expect(page.get_by_role("heading", name="Are you sure?")).to_be_visible()
        expect(page.get_by_text("1 subscriber will be erased")).to_be_visible()
        name = "Cancel" if answer == "link" else "Erase 1 subscriber"
        page.get_by_role(answer, name=name).click()  # type: ignore[arg-type]
        assert page.url == here
    assert alice.get(f"{alice.v1}/subscribers/{ann['uuid']}").status_code == 404


def test_the_cursor_is_in_the_field_that_is_wrong_and_a_password_can_be_shown(
    service: Service, page_at: PageAt
) -> None:
    page = page_at(DESKTOP)
    page.goto(f"{service.url}/login")
    page.get_by_label("Email").fill("ann@example.org")
    page.get_by_label("Password").fill("wrong and long")
    page.get_by_role("button", name="Show password").click()
    expect(page.get_by_label("Password")).to_have_attribute("type", "text")
    page.get_by_role("button", name="Hide password").click()
    expect(page.get_by_label("Password")).to_have_attribute("type", "password")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_label("Password")).to_be_focused()


def test_large_text_and_a_long_name_fit_on_a_phone(service: Service, page_at: PageAt) -> None:
    owner = operator(service, "zora")
    name = ("The Exceedingly Long Morning Newsletter of Beekeepers " * 3)[:120]
    saved = owner.web.post(
        "/settings/campaign", page="/settings", name=name, slug="zora", screening="strong"
    )
    assert saved.status_code == 303, saved.text
    ann = owner.subscribe("ann.of.the.very.long.address@example.org")
    for number in range(12):
        # A burst, which the page of reviews explains in a whole sentence.
        owner.subscribe(f"friend{number}@example.org", referrer_code=ann["ref_code"])
    page = sit_down(page_at(PHONE), owner)
    for path in ("/review", "/settings"):
        page.goto(f"{service.url}{path}")
        for part in (".top .pub", ".top .icon"):
            box = page.locator(part).first.bounding_box()
            assert box is not None and box["width"] == box["height"] >= 16, part
        page.evaluate("() => { document.documentElement.style.fontSize = '200%' }")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path


def test_a_name_of_a_few_words_is_whole_in_the_side_bar(service: Service, page_at: PageAt) -> None:
    owner = operator(service, "nina")
    name = "The Morning Wax and Honey"
    fields = {"name": name, "slug": "wax-and-honey", "screening": "strong"}
    saved = owner.web.post("/settings/campaign", page="/settings", **fields)
    assert saved.status_code == 303, saved.text
    page = sit_down(page_at(DESKTOP), owner)
    page.goto(service.url)
    whole = "e => e.scrollHeight <= e.parentElement.clientHeight && e.scrollWidth <= e.clientWidth"
    shown = page.locator(".side > .switch bdi")
    assert shown.inner_text() == name
    assert shown.evaluate("e => getComputedStyle(e).display") != "inline" and shown.evaluate(whole)
