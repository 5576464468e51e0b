"""A subscriber beside the list: opened, stepped through, acted on and closed without leaving it;
and a page of their own without scripts and on smaller windows.
"""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import DESKTOP, PHONE, LateAnswer, PageAt
from tests.browser.test_dashboard import sit_down
from tests.support.service import Service
from tests.support.web import Operator, operator


@pytest.fixture(scope="module")
def alice(service: Service) -> Operator:
    alice = operator(service)
    lead = alice.subscribe("lea@example.org", name="Lea Dahl")
    for number in range(3):
        alice.subscribe(
            f"friend{number}@example.org",
            name=f"Friend {number}",
            referrer_code=lead["ref_code"],
        )
    alice.subscribe("thrown@mailinator.com", name="Thrown", referrer_code=lead["ref_code"])
    return alice


def open_list(page: Page, service: Service, alice: Operator) -> Page:
    page = sit_down(page, alice)
    page.goto(f"{service.url}/subscribers")
    return page


def heading(page: Page, name: str) -> None:
    expect(page.locator(".beside").get_by_role("heading", name=name, level=1)).to_be_visible()


def test_a_subscriber_opens_beside_the_list_and_closes(
    service: Service, alice: Operator, page_at: PageAt, axe: Callable[..., None]
) -> None:
    page = open_list(page_at(DESKTOP), service, alice)
    here = page.url
    link = page.get_by_role("link", name="Friend 1")
    link.click()
    heading(page, "Friend 1")
    assert page.url == service.url + (link.get_attribute("href") or "")
    expect(page.locator("tr[aria-current]")).to_contain_text("Friend 1")
    expect(page.get_by_role("heading", name="Subscribers", level=1)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= DESKTOP
    axe(page)
    page.keyboard.press("Escape")
    expect(page.locator(".beside")).to_have_count(0)
    assert page.url == here
    expect(link).to_be_focused()
    # The rest of the row opens it, too; the back button and the cross close it.
    for close in (page.go_back, lambda: page.get_by_role("button", name="Close").click()):
        page.locator("tr[data-href]", has_text="Lea Dahl").locator("td").last.click()
        heading(page, "Lea Dahl")
        close()
        expect(page.locator(".beside")).to_have_count(0)
        assert page.url == here


def test_j_and_k_step_through_the_list(service: Service, alice: Operator, page_at: PageAt) -> None:
    page = open_list(page_at(DESKTOP), service, alice)
    here = page.url
    page.get_by_role("link", name="Friend 2").click()
    heading(page, "Friend 2")
    # Where the focus went is shown to whoever uses the keyboard, and is no ring for others.
    expect(page.locator(".beside h1:focus")).to_be_visible()
    expect(page.locator(".beside h1:focus-visible")).to_have_count(0)
    page.keyboard.press("j")
    heading(page, "Friend 1")
    expect(page.locator(".beside h1:focus-visible")).to_be_visible()
    page.keyboard.press("k")
    heading(page, "Friend 2")
    # One from another is a step of the history, and Esc leaves them all.
    page.locator(".beside .chain").get_by_role("link", name="Lea Dahl").click()
    heading(page, "Lea Dahl")
    page.go_back()
    heading(page, "Friend 2")
    page.go_forward()
    heading(page, "Lea Dahl")
    # What was typed is not lost by one key.
    note = page.get_by_label("Add a note")
    note.fill("jkj")
    note.press("j")
    heading(page, "Lea Dahl")
    note.press("Escape")
    expect(note).to_have_value("jkjj")
    page.keyboard.press("Escape")
    expect(page.locator(".beside")).to_have_count(0)
    assert page.url == here


def test_what_is_done_in_the_panel_is_answered_there(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = open_list(page_at(DESKTOP), service, alice)
    row = page.locator("tr[data-href]", has_text="Friend 0")
    row.get_by_role("checkbox").check()
    row.get_by_role("link", name="Friend 0").click()
    panel = page.locator(".beside")
    heading(page, "Friend 0")
    panel.get_by_label("Add a tag").fill("vip")
    panel.get_by_role("button", name="Add", exact=True).click()
    expect(panel.get_by_role("link", name="vip")).to_be_visible()
    expect(row.get_by_role("link", name="vip")).to_be_visible()
    expect(row.get_by_role("checkbox")).to_be_checked()
    panel.get_by_role("button", name="Send their link").click()
    expect(panel.locator(".toast")).to_contain_text("on its way to friend0@example.org")
    expect(page.get_by_role("status")).to_contain_text("on its way to friend0@example.org")
    # It asks once, in its place and not in a dialog, and says what is wrong there, too.
    panel.get_by_text("Adjust progress").click()
    panel.get_by_label("Amount").fill("many")
    panel.get_by_label("Reason", exact=True).fill("x")
    panel.get_by_role("button", name="Adjust", exact=True).click()
    expect(panel.get_by_text("Amount must be a whole number")).to_be_visible()
    panel.locator("summary", has_text="Unsubscribe").click()
    expect(panel.get_by_text("They get no more emails from here.")).to_be_visible()
    panel.get_by_role("button", name="Yes, unsubscribe them").click()
    expect(row).to_contain_text("Unsubscribed")
    expect(panel.get_by_text("Their link cannot be sent.")).to_be_visible()
    assert page.url.rpartition("/")[0] == f"{service.url}/subscribers"


def test_the_address_shows_what_it_names_after_a_reload_and_from_elsewhere(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = open_list(page_at(DESKTOP), service, alice)
    here = page.url
    for away in (page.reload, lambda: page.goto(f"{service.url}/rewards") and page.go_back()):
        page.get_by_role("link", name="Friend 1").click()
        heading(page, "Friend 1")
        expect(page).to_have_title("Friend 1 · Alice")
        away()
        expect(page.get_by_role("heading", name="Friend 1", level=1)).to_be_visible()
        page.go_back()
        expect(page.get_by_role("heading", name="Subscribers", level=1)).to_be_visible()
        expect(page).to_have_title("Subscribers · Alice")
        assert page.url == here


def test_a_form_in_the_panel_is_sent_once_and_what_fails_is_said_there(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = open_list(page_at(DESKTOP), service, alice)
    page.get_by_role("link", name="Friend 2").click()
    panel = page.locator(".beside")
    note = panel.get_by_label("Add a note")
    note.fill("Met her in Porto")
    panel.get_by_role("button", name="Save note").dblclick()
    expect(panel.locator(".toast")).to_contain_text("Note")
    expect(panel.get_by_text("Met her in Porto")).to_have_count(1)
    refused = "<h1>Too many requests</h1><p>Wait.</p>"
    troubles: dict[str, Callable[[Route], None]] = {
        "Too many requests. Wait.": lambda route: route.fulfill(status=429, body=refused),
        "There is no connection.": lambda route: route.abort(),
    }
    for said, trouble in troubles.items():
        note.fill("And in Faro")
        page.route("**/notes", trouble)
        panel.get_by_role("button", name="Save note").click()
        expect(panel.locator(".toast")).to_contain_text(said)
        expect(page.get_by_role("status")).to_contain_text(said)
        page.unroute("**/notes")
        # What was typed stays, also when the next one is a key away.
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        expect(note).to_have_value("And in Faro")
    panel.get_by_text("Adjust progress").click()
    panel.get_by_label("Amount").fill("many")
    panel.get_by_label("Reason", exact=True).fill("x")
    panel.get_by_role("button", name="Adjust", exact=True).click()
    expect(panel.get_by_label("Amount")).to_be_focused()


SUBMITTED_TWICE = """(form) => {
    let sent = 0;
    addEventListener("submit", (event) => {
        sent += !event.defaultPrevented;
        event.preventDefault();
    });
    form.requestSubmit();
    form.requestSubmit();
    return sent;
}"""


def test_a_double_click_on_their_own_page_sends_a_form_once(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    """Without the page that a click leads to: the browser waits for it, people do not."""
    made = alice.subscribe("double@example.org", name="Double Click")
    page = sit_down(page_at(1024), alice)
    page.goto(f"{service.url}/subscribers/{made['uuid']}")
    page.get_by_text("Adjust progress").click()
    page.get_by_label("Amount").fill("2")
    page.get_by_label("Reason").first.fill("Two friends at the fair")
    form = page.locator("form[action$='/adjustments']")
    assert form.evaluate(SUBMITTED_TWICE) == 1


def test_an_answer_that_comes_late_does_not_take_the_place_of_somebody_else(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = open_list(page_at(DESKTOP), service, alice)
    page.get_by_role("link", name="Friend 0").click()
    panel = page.locator(".beside")
    heading(page, "Friend 0")
    waiting: list[Route] = []

    def keep(route: Route) -> None:
        waiting.append(route)

    page.route("**/notes", keep)
    panel.get_by_label("Add a note").fill("Later")
    panel.get_by_role("button", name="Save note").click()
    page.get_by_role("link", name="Friend 1").click()
    heading(page, "Friend 1")
    with page.expect_response("**/subscribers/*"):
        waiting[0].continue_()
    # The row of the first is read anew after the answer.
    with page.expect_response("**/subscribers"):
        pass
    heading(page, "Friend 1")


def test_the_subscriber_who_was_opened_last_stays_however_late_another_comes(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = open_list(page_at(DESKTOP), service, alice)
    first = page.get_by_role("link", name="Friend 0")
    late = LateAnswer(page, f"**{first.get_attribute('href')}")
    first.click()
    page.get_by_role("link", name="Friend 1").click()
    heading(page, "Friend 1")
    late.comes()
    heading(page, "Friend 1")
    expect(page.locator("tr[aria-current]")).to_contain_text("Friend 1")
    expect(page).to_have_title(re.compile("Friend 1"))


def test_a_panel_that_was_closed_stays_closed_however_late_its_subscriber_comes(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = open_list(page_at(DESKTOP), service, alice)
    here = page.url
    first = page.get_by_role("link", name="Friend 0")
    late = LateAnswer(page, f"**{first.get_attribute('href')}")
    first.click()
    page.go_back()
    late.comes()
    expect(page.locator(".beside")).to_have_count(0)
    assert page.url == here


def test_letters_typed_into_a_field_of_the_panel_are_no_shortcuts(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = open_list(page_at(DESKTOP), service, alice)
    page.get_by_role("link", name="Friend 1").click()
    heading(page, "Friend 1")
    note = page.locator(".beside").get_by_label("Add a note")
    note.press_sequentially("jk")
    expect(note).to_have_value("jk")
    heading(page, "Friend 1")
    page.keyboard.press("Escape")
    heading(page, "Friend 1")
    expect(note).to_have_value("jk")


def test_a_decision_in_the_panel_can_be_undone_there(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    page = open_list(page_at(DESKTOP), service, alice)
    page.get_by_role("link", name="Thrown").click()
    panel = page.locator(".beside")
    panel.get_by_role("button", name="Verify").click()
    expect(panel.locator(".toast")).to_contain_text("will be verified in a minute")
    panel.get_by_role("button", name="Undo").first.click()
    expect(panel.locator(".toast")).to_contain_text("Nothing was changed.")
    heading(page, "Thrown")
    assert alice.subscriber("thrown@mailinator.com")["referral_status"] == "rejected"


@pytest.mark.parametrize(("width", "scripts"), [(DESKTOP, False), (1024, True), (PHONE, True)])
def test_without_room_or_scripts_it_is_a_page(
    service: Service, alice: Operator, page_at: PageAt, width: int, scripts: bool
) -> None:
    page = open_list(page_at(width, scripts=scripts), service, alice)
    page.get_by_role("link", name="Lea Dahl").click()
    expect(page.get_by_role("heading", name="Lea Dahl", level=1)).to_be_visible()
    expect(page.locator(".beside")).to_have_count(0)
    expect(page.get_by_role("heading", name="Subscribers", level=1)).to_have_count(0)
    page.locator("summary", has_text="Edit name, email").click()
    page.get_by_label("Name", exact=True).fill("Lea Dahl")
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_role("status")).to_contain_text("Changes saved.")
    page.locator("main").get_by_role("link", name="Subscribers", exact=True).click()
    expect(page.get_by_role("heading", name="Subscribers", level=1)).to_be_visible()


def test_erasing_leaves_the_panel_for_the_list(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    alice.subscribe("last@example.org", name="Last Name")
    page = open_list(page_at(DESKTOP), service, alice)
    page.get_by_role("link", name="Last Name").click()
    panel = page.locator(".beside")
    panel.get_by_text("Codes, source and data").click()
    panel.locator("summary", has_text="Erase").click()
    panel.get_by_role("button", name="Yes, erase them").click()
    expect(page.get_by_text("Subscriber erased.")).to_be_visible()
    assert page.url == f"{service.url}/subscribers"


def test_everything_about_a_subscriber_can_be_read_in_every_look(
    service: Service, alice: Operator, page_at: PageAt, looks_good: Callable[[Page], None]
) -> None:
    """Also what is folded."""
    person = alice.subscriber("friend1@example.org")["uuid"]
    path = f"/subscribers/{person}"
    alice.web.post(f"{path}/tags", page=path, tag=f"vip, {'long ' * 9}")
    alice.web.post(f"{path}/notes", page=path, note="x" * 90)
    alice.web.post(f"{path}/adjustments", page=path, amount="2", reason="Met at our event")
    page = sit_down(page_at(DESKTOP), alice)
    page.goto(service.url + path)
    page.evaluate(
        """() => { for (const fold of document.querySelectorAll(".person details")) {
            fold.removeAttribute("name"); fold.open = true } }"""
    )
    looks_good(page)
