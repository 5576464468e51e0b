"""Forms that can be used once, in a browser: the back button, with and without JavaScript, and the
tokens that the script asks for on the operator's own website.
"""

from collections.abc import Callable
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PageAt
from tests.browser.embedding import FORM, MARKED_FORM, html, read_it, tag, visit
from tests.support.embeds import Visitor, embedding, people
from tests.support.newsletter import Newsletter
from tests.support.service import Service, until
from tests.support.web import Operator
from tests.support.website import Website

ELEMENT = "<honeyguide-signup></honeyguide-signup>"
# A form that the website's own code sends, so that the page stays.
STAYING = """() => document.querySelector("form").addEventListener("submit", (event) =>
    event.preventDefault())"""


@pytest.mark.parametrize("scripts", [True, False])
def test_going_back_to_sign_somebody_else_up_takes_one_more_click(
    service: Service, page_at: PageAt, axe: Callable[..., None], scripts: bool
) -> None:
    wax = Newsletter(service)
    page, first, second = page_at(scripts=scripts), wax.address(), wax.address()
    page.goto(f"{service.url}{wax.page}")
    token = page.locator("[name=token]").input_value()
    page.get_by_label("Your email address").fill(first)
    page.get_by_role("button", name="Subscribe").click()
    page.wait_for_url("**/thanks?*")
    page.go_back()
    if scripts:
        # As if the browser had kept the page, as some do whatever they are told.
        page.evaluate("(token) => { document.querySelector('[name=token]').value = token }", token)
    page.get_by_label("Your email address").fill(second)
    page.get_by_role("button", name="Subscribe").click()
    if scripts:
        expect(page.get_by_role("alert")).to_contain_text("This form was already used.")
        expect(page.get_by_label("Your email address")).to_have_value(second)
        axe(page)
        page.get_by_role("button", name="Subscribe").click()
    page.wait_for_url("**/thanks?*")
    assert wax.person(second).origin == "signup"


def sent(page: Page) -> list[dict[str, str]]:
    """The signups that the page will have sent to us, as they come."""
    posts: list[dict[str, str]] = []

    def note(url: str, body: str | None) -> None:
        if "/embed/" in url and "/signup" in url:
            posts.append({name: values[0] for name, values in parse_qs(body or "").items()})

    page.on("request", lambda request: note(request.url, request.post_data))
    return posts


def tokens(page: Page) -> list[str]:
    asked: list[str] = []
    page.on("request", lambda each: asked.append(each.url) if "/token" in each.url else None)
    return asked


def test_the_element_asks_for_a_token_at_the_first_touch_and_sends_it(
    service: Service, alice: Operator, website: Website, page_at: PageAt
) -> None:
    embed = embedding(alice, website.origin)
    website.pages["/"] = html(tag(service, embed), ELEMENT)
    page = page_at()
    asked, posts = tokens(page), sent(page)
    visit(page, website.origin)
    element = page.locator("honeyguide-signup")
    email, button = element.get_by_label("Your email address"), element.get_by_role("button")
    expect(button).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert asked == []
    with page.expect_response("**/token") as answer:
        email.focus()
    given = answer.value.json()["token"]
    read_it(page)
    email.fill("nonsense")
    button.click()
    expect(element.get_by_text("Enter a valid email address.")).to_be_visible()
    # Meanwhile somebody else uses the same token, so the form is sent again with a fresh one.
    other = Visitor(alice, embed, website.origin)
    assert other.sign_up("other@example.org", token=given).status_code == 200
    email.fill("ben@example.org")
    button.click()
    expect(element.get_by_role("heading", name="You’re in. Thank you!")).to_be_focused()
    assert [(each["email"], each["token"] == given) for each in posts] == [
        ("nonsense", True),
        ("ben@example.org", True),
        ("ben@example.org", False),
    ]
    assert len(asked) == 2
    assert set(people(alice)) == {"other@example.org", "ben@example.org"}


def test_the_operators_own_form_sends_a_token_and_signs_up_several(
    service: Service, alice: Operator, website: Website, page_at: PageAt
) -> None:
    embed = embedding(alice, website.origin)
    website.pages["/"] = html(tag(service, embed), MARKED_FORM)
    page = page_at()
    asked, posts = tokens(page), sent(page)
    visit(page, website.origin)
    page.evaluate(STAYING)
    assert asked == []
    read_it(page)
    with page.expect_response("**/token") as answer:
        page.get_by_label("Email").focus()
    answer.value.finished()
    for name in ("ann", "ben"):
        page.get_by_label("Email").fill(f"{name}@example.org")
        with page.expect_response(lambda each: "/signup" in each.url and each.ok):
            page.get_by_role("button", name="Join").click()
    assert set(people(alice)) == {"ann@example.org", "ben@example.org"}
    assert [each["email"][:3] for each in posts] == ["ann", "ben"]
    assert posts[0]["token"] != posts[1]["token"]
    assert len(asked) == 2


def test_a_token_that_never_comes_keeps_no_form_waiting(
    service: Service, alice: Operator, website: Website, page_at: PageAt
) -> None:
    embed = embedding(alice, website.origin)
    website.pages["/"] = html(tag(service, embed), MARKED_FORM)
    page = page_at()
    page.route("**/token", lambda route: None)
    visit(page, website.origin)
    read_it(page)
    page.get_by_label("Email").fill("ben@example.org")
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("heading", name="Thanks")).to_be_visible()
    until(lambda: "ben@example.org" in people(alice))


# As a website's own code does, which reports the signup and lets the form go on.
TRACKED = """() => document.querySelector("form").addEventListener("submit", () =>
    honeyguide.track(document.querySelector("[type=email]").value))"""


def tracking(service: Service, alice: Operator, website: Website, page: Page) -> None:
    """Opens a page whose form is not marked."""
    embed = embedding(alice, website.origin)
    website.pages["/"] = html(tag(service, embed), FORM.format(mark=""))
    visit(page, website.origin)
    page.evaluate(TRACKED)


def test_track_sends_the_token_of_the_first_touch_though_the_page_goes_away(
    service: Service, alice: Operator, website: Website, page_at: PageAt
) -> None:
    page = page_at()
    asked, posts = tokens(page), sent(page)
    tracking(service, alice, website, page)
    assert asked == []
    with page.expect_response("**/token") as answer:
        page.get_by_label("Email").fill("ben@example.org")
    given = answer.value.json()["token"]
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("heading", name="Thanks")).to_be_visible()
    until(lambda: "ben@example.org" in people(alice))
    assert [each["token"] for each in posts] == [given]


def test_track_waits_for_its_token_until_the_page_goes_away(
    service: Service, alice: Operator, website: Website, page_at: PageAt
) -> None:
    page = page_at()
    page.route("**/token", lambda route: None)
    tracking(service, alice, website, page)
    page.get_by_label("Email").fill("ben@example.org")
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("heading", name="Thanks")).to_be_visible()
    until(lambda: "ben@example.org" in people(alice))


def test_track_asks_for_a_token_itself_and_for_one_each_time(
    service: Service, alice: Operator, website: Website, page_at: PageAt
) -> None:
    page = page_at()
    posts = sent(page)
    tracking(service, alice, website, page)
    for name in ("ann", "ben"):
        assert page.evaluate(f"() => honeyguide.track('{name}@example.org')") is True
    assert set(people(alice)) == {"ann@example.org", "ben@example.org"}
    assert len({each["token"] for each in posts}) == 2


@pytest.mark.parametrize("version", ["3", "4"])
def test_an_earlier_script_sends_the_token_of_a_marked_form(
    service: Service, alice: Operator, website: Website, page_at: PageAt, version: str
) -> None:
    embed = embedding(alice, website.origin)
    script = tag(service, embed).replace("honeyguide.js", f"honeyguide-{version}.js")
    website.pages["/"] = html(script, MARKED_FORM)
    page, email = page_at(), f"ben{version}@example.org"
    posts = sent(page)
    visit(page, website.origin)
    read_it(page)
    with page.expect_response("**/token") as answer:
        page.get_by_label("Email").fill(email)
    given = answer.value.json()["token"]
    page.get_by_role("button", name="Join").click()
    until(lambda: email in people(alice))
    assert [each.get("token") for each in posts] == [given]


def test_an_element_whose_token_is_refused_signs_up_without(
    service: Service, alice: Operator, website: Website, page_at: PageAt
) -> None:
    embed = embedding(alice, website.origin)
    website.pages["/"] = html(tag(service, embed), ELEMENT)
    page = page_at()
    page.route("**/token", lambda route: route.abort())
    visit(page, website.origin)
    element = page.locator("honeyguide-signup")
    element.get_by_label("Your email address").fill("ben@example.org")
    read_it(page)
    element.get_by_role("button").click()
    expect(element.get_by_role("heading", name="You’re in. Thank you!")).to_be_focused()
