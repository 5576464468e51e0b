"""The command menu: opened and used with the keyboard alone, read by a screen reader, and a plain
page where scripts are off. The menus beside it open without scripts, too."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, PHONE, LateAnswer, PageAt
from tests.browser.test_dashboard import sit_down
from tests.support.service import Service
from tests.support.web import Operator, operator


@pytest.fixture(scope="module")
def alice(service: Service) -> Operator:
    owner = operator(service)
    owner.subscribe("ann@example.org", name="Ann Dahl")
    owner.subscribe("annabel@example.org", name="Annabel Ito")
    return owner


def test_the_keyboard_alone_finds_a_subscriber(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = sit_down(page_at(DESKTOP), alice)
    page.goto(f"{service.url}/rewards")
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search subscribers, pages and actions")
    expect(field).to_be_focused()
    page.keyboard.type("ann")
    group = page.get_by_role("group", name="Subscribers")
    expect(group.get_by_role("option")).to_have_count(3)
    expect(group.get_by_role("option").first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    chosen = page.locator("[role=option][aria-selected=true]")
    expect(chosen).to_contain_text("Annabel Ito")
    expect(field).to_have_attribute("aria-activedescendant", str(chosen.get_attribute("id")))
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(chosen).to_contain_text("Search all subscribers for “ann”")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Annabel Ito")).to_be_visible()


def test_what_is_chosen_shows_in_forced_colors(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = sit_down(page_at(DESKTOP, forced_colors="active"), alice)
    page.goto(f"{service.url}/rewards")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option", name="Home", exact=True)).to_be_visible()
    styles = page.get_by_role("option").evaluate_all(
        "(all) => all.map((each) => getComputedStyle(each).outlineStyle)"
    )
    assert styles[0] == "solid" and set(styles[1:]) == {"none"}


def test_enter_opens_what_was_typed_however_late_it_is_found(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = sit_down(page_at(DESKTOP), alice)
    page.goto(f"{service.url}/rewards")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option", name="Home", exact=True)).to_be_visible()
    page.keyboard.type("annabel")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Annabel Ito")).to_be_visible()


def test_the_results_of_what_was_typed_last_stay_however_late_others_come(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = sit_down(page_at(DESKTOP), alice)
    page.goto(f"{service.url}/rewards")
    page.keyboard.press("Control+k")
    menu = page.get_by_role("dialog", name="Search")
    expect(menu.get_by_role("option", name="Home", exact=True)).to_be_visible()
    late = LateAnswer(page, "**/search?q=*")
    with page.expect_request("**/search?q=ann*"):
        page.keyboard.type("ann")
    menu.get_by_role("combobox").fill("Rewards")
    expect(menu.get_by_role("option", name="Home", exact=True)).to_have_count(0)
    expect(menu.get_by_role("option", name="Rewards", exact=True)).to_be_visible()
    late.comes()
    expect(menu.get_by_role("option", name="Annabel Ito")).to_have_count(0)
    expect(menu.get_by_role("option", name="Rewards", exact=True)).to_be_visible()


def test_a_search_that_fails_says_so_and_stays_on_the_page(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = sit_down(page_at(DESKTOP), alice)
    page.goto(f"{service.url}/rewards")
    page.route("**/search?*", lambda route: route.fulfill(status=500))
    page.keyboard.press("Control+k")
    menu = page.get_by_role("dialog", name="Search")
    expect(menu.get_by_role("status")).to_contain_text("The search did not answer.")
    assert page.url == f"{service.url}/rewards"
    page.keyboard.type("ann")
    page.unroute("**/search?*")
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()


def test_escape_closes_it_and_the_focus_returns(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = sit_down(page_at(DESKTOP), alice)
    page.goto(f"{service.url}/rewards")
    link = page.get_by_role("navigation", name="Main").get_by_role("link", name="Search")
    link.click()
    expect(page.get_by_role("dialog", name="Search")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Search")).to_be_hidden()
    expect(link).to_be_focused()
    assert page.url == f"{service.url}/rewards"


def test_an_action_on_this_page_is_only_a_jump(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = sit_down(page_at(DESKTOP), alice)
    page.goto(f"{service.url}/rewards")
    page.keyboard.press("Control+k")
    page.keyboard.type("add a reward")
    page.get_by_role("option", name="Add a reward", exact=True).click()
    expect(page.get_by_role("dialog", name="Search")).to_be_hidden()
    assert page.url == f"{service.url}/rewards#h-new"


@pytest.mark.parametrize(("width", "theme"), [(DESKTOP, "light"), (PHONE, "dark")])
def test_the_open_menu_looks_good(
    service: Service,
    alice: Operator,
    page_at: PageAt,
    looks_good: Callable[[Page], None],
    width: int,
    theme: str,
) -> None:
    page = sit_down(page_at(width, theme), alice)
    page.goto(f"{service.url}/rewards")
    page.keyboard.press("Control+k")
    page.keyboard.type("ann")
    expect(page.get_by_role("option", name="Annabel Ito")).to_be_visible()
    looks_good(page)


def test_without_scripts_search_is_a_page_and_the_account_menu_opens(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = sit_down(page_at(DESKTOP, scripts=False), alice)
    page.goto(f"{service.url}/rewards")
    page.get_by_role("link", name="Search").click()
    page.get_by_label("Search for").fill("annabel")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="Annabel Ito").click()
    expect(page.get_by_role("heading", name="Annabel Ito")).to_be_visible()
    expect(page.get_by_role("link", name="Settings")).to_be_hidden()
    page.get_by_role("button", name="Account").click()
    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Find a setting").fill("mailchimp")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("link", name="Email tool").click()
    page.wait_for_url(f"{service.url}/integrations")


def test_a_message_floats_can_be_closed_and_stays_without_scripts(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    for scripts in (True, False):
        page = sit_down(page_at(DESKTOP, scripts=scripts), alice)
        page.goto(f"{service.url}/settings")
        page.get_by_role("button", name="Save changes").click()
        message = page.locator(".toast")
        expect(message).to_contain_text("saved")

        if scripts:
            assert message.evaluate("(each) => getComputedStyle(each).position") == "fixed"
            message.get_by_role("button", name="Close").click()
            expect(message).to_have_count(0)
        else:
            expect(message.get_by_role("button", name="Close")).to_have_count(0)
