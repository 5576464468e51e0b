"""What the script keeps and costs, the snippets of the documentation, and how its elements look:
accessible in both themes and directions, and safe with hostile texts.
"""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from honeyguide.kernel.clock import DAY_MS
from honeyguide.pages.readers.page_texts import PAGE_TEXTS
from honeyguide.subscribers import hub
from honeyguide.subscribers.branding import BrandFields
from tests.browser.conftest import ARTIFACTS, PageAt
from tests.browser.embedding import (
    MARKED_FORM,
    copied,
    html,
    leader,
    read_it,
    referrer_of,
    tag,
    visit,
    write_brand,
)
from tests.support.embeds import embedding, people
from tests.support.markup import EVIL
from tests.support.newsletter import Newsletter
from tests.support.prizes import advocate
from tests.support.prizes import offer as prize
from tests.support.service import Service, until
from tests.support.web import Operator, operator
from tests.support.website import Website

DOCS = Path(__file__).parent.parent.parent / "docs" / "embeds.md"
ELEMENTS = ("signup", "hub", "leaderboard")
# A form, what comes after it, the hub without its secret and with it, the leaderboard.
SHOWN = (
    ("signup", "preview"),
    ("signup", "preview"),
    ("hub", ""),
    ("hub", "preview"),
    ("leaderboard", "preview"),
)


@pytest.fixture(scope="module")
def alice(service: Service) -> Operator:
    return operator(service)


def kept(page: Page) -> dict[str, str]:
    found: dict[str, str] = page.evaluate("() => honeyguide.referral()")
    return found


def test_old_links_name_the_code_otherwise(
    service: Service, alice: Operator, website: Website, page_at: PageAt
) -> None:
    embed = embedding(alice, website.origin)
    website.pages["/"] = html(tag(service, embed, 'data-parameters="via, Friend-2"'), "")
    for query, expected in (
        ("ref=a&via=b&kid=c", {"ref": "a"}),
        ("grsf=a", {"ref": "a"}),
        ("mwr=a", {"ref": "a"}),
        ("referralCode=a", {"ref": "a"}),
        ("kid=a", {"ref": "a"}),
        ("via=a&rh_partner=b", {"ref": "a", "partner": "b"}),
        ("Friend-2=a", {"ref": "a"}),
        (f"ref={'x' * 300}&via=a", {"ref": "a"}),
        ("friend-2=a&code=b", {}),
    ):
        page = page_at()  # a browser that has kept nothing
        page.goto(f"{website.origin}/?{query}")
        page.wait_for_function("() => customElements.get('honeyguide-signup')")
        assert kept(page) == expected, query


def test_a_code_is_kept_for_thirty_days_or_for_the_session(
    service: Service, alice: Operator, website: Website, page_at: PageAt
) -> None:
    embed, came = embedding(alice, website.origin), {"ref": "abcdefgh", "utm_campaign": "may"}
    website.pages["/"] = html(tag(service, embed), "")
    website.pages["/session"] = html(tag(service, embed, 'data-storage="session"'), "")
    page, now_s = page_at(), service.now_ms() / 1000
    page.clock.set_fixed_time(now_s)
    link = "?rh_ref=abcdefgh&utm_campaign=may&fbclid=x"
    page.goto(f"{website.origin}/{link}")
    for days, expected in ((0, came), (29, came), (31, {})):
        later = page.context.new_page()  # another tab, or the browser opened again
        later.clock.set_fixed_time(now_s + days * DAY_MS / 1000)
        later.goto(website.origin)
        later.wait_for_function("() => customElements.get('honeyguide-signup')")
        assert kept(later) == expected, days
    assert later.evaluate("() => localStorage.length") == 0
    # For the session only: it is there on every page of this tab, and in no other.
    page.goto(f"{website.origin}/{link}")
    page.goto(f"{website.origin}/session")  # the operator has changed the setting meanwhile
    page.wait_for_function("() => customElements.get('honeyguide-signup')")
    assert kept(page) == {} and page.evaluate("() => localStorage.length") == 0
    for address in (f"/session{link}", "/session"):
        page.goto(f"{website.origin}{address}")
        page.wait_for_function("() => honeyguide.referral().ref === 'abcdefgh'")
    later.goto(f"{website.origin}/session")
    later.wait_for_function("() => customElements.get('honeyguide-signup')")
    assert kept(later) == {} and page.context.cookies() == []


def rows(service: Service) -> list[str]:
    """Everything in the database but which process runs which job."""
    with closing(sqlite3.connect(service.database_url.removeprefix("sqlite:///"))) as database:
        return [line for line in database.iterdump() if '"job_lease"' not in line]


@pytest.mark.parametrize("label", ["The script", "The script, pinned to one version"])
def test_a_visit_costs_one_request_for_the_script_and_the_next_visit_none(
    service: Service, alice: Operator, website: Website, page_at: PageAt, label: str
) -> None:
    ann = advocate(alice, email=f"ann{len(label)}@example.org")
    embedding(alice, website.origin)
    website.pages["/"] = html(copied(alice, label), MARKED_FORM)
    service.run_jobs()  # nothing is left for the background to write
    page, written, served = page_at(), rows(service), service.requests_served
    for _ in range(3):
        visit(page, f"{website.origin}/?ref={ann['ref_code']}&utm_source=x")
        page.wait_for_load_state("networkidle")
        assert service.requests_served == served + 1
    assert rows(service) == written


def test_the_snippets_of_the_documentation_work_as_printed(
    service: Service, alice: Operator, website: Website, page_at: PageAt
) -> None:
    embed, ann = embedding(alice, website.origin), leader(alice, "ann@example.org")
    text = DOCS.read_text().replace("https://refer.example.com", service.url)
    script, form, elements = re.findall(r"```html\n(.*?)```", text, re.S)
    (allowed,) = re.findall(r"## Content security policy\n```(?:text)?\n(.*?)\n```", text)
    website.policy = f"default-src 'none'; form-action 'self'; {allowed}"
    form = re.sub(r'action="[^"]*"', 'action="/subscribe"', form)
    website.pages["/"] = html(script.replace("hg_…", embed.public_id), form + elements)
    write_brand(alice, BrandFields(show_leaderboard=True))
    page = page_at()
    visit(page, f"{website.origin}/?ref={ann['ref_code']}")
    expect(page.locator("honeyguide-signup").get_by_role("button")).to_be_visible()
    expect(page.locator("honeyguide-hub").get_by_role("button")).to_be_visible()
    expect(page.locator("honeyguide-leaderboard").get_by_role("heading")).to_be_visible()
    read_it(page)
    own = page.locator("form[data-honeyguide]")
    own.locator("[name=email]").fill("ben@example.org")
    own.get_by_role("button").click()
    expect(page.get_by_role("heading", name="Thanks")).to_be_visible()
    until(lambda: referrer_of(alice, "ben@example.org") == ann["ref_code"])


@pytest.mark.parametrize(
    ("light", "dark"), [("en", "ar"), pytest.param("ar", "en", marks=pytest.mark.long)]
)
def test_elements_are_accessible_in_both_themes_and_directions(
    service: Service,
    alice: Operator,
    website: Website,
    page_at: PageAt,
    axe: Callable[..., None],
    light: str,
    dark: str,
) -> None:
    embed = embedding(alice, website.origin)
    write_brand(alice, BrandFields(accent="#ffe600", consent_text="I agree", asks_name=True))
    languages = {"light": light, "dark": dark}
    body = "".join(
        f'<div id="{theme}-{number}"><honeyguide-{name} theme="{theme}" language="{language}" '
        f"{preview}></honeyguide-{name}></div>"
        for theme, language in languages.items()
        for number, (name, preview) in enumerate(SHOWN)
    )
    website.pages["/"] = html(tag(service, embed), body)
    page = page_at(390)
    page.goto(website.origin)
    for theme, language in languages.items():
        parts = [page.locator(f"#{theme}-{number} .box") for number in range(len(SHOWN))]
        for part in parts:
            expect(part).to_have_attribute("dir", "rtl" if language == "ar" else "ltr")
        form, sent, asked, opened, leaders = parts
        sent.get_by_role("button").click()  # in a preview, nothing is sent
        expect(sent.get_by_role("status")).to_be_visible()
        asked.get_by_role("button").click()
        expect(asked.locator(".wrong")).to_be_visible()
        assert ("Friends referred" in opened.inner_text()) == (language == "en")
        assert form.get_by_role("checkbox").is_visible() and leaders.is_visible()
    axe(page)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    page.screenshot(path=ARTIFACTS / f"embed-light-{light}-dark-{dark}.png", full_page=True)
    write_brand(alice, BrandFields())


def test_hostile_texts_stay_texts(service: Service, website: Website, page_at: PageAt) -> None:
    eve = operator(service, "eve")
    texts = {word.key: EVIL[: word.limit] for word in PAGE_TEXTS}
    Newsletter(service, EVIL, member=eve, words=texts)
    address = "https://files.example.org/?q=<evil>"
    write_brand(
        eve,
        BrandFields(consent_text=EVIL, privacy_url=address, asks_name=True, show_leaderboard=True),
    )
    prize(eve, name=EVIL, description=EVIL)
    star = leader(eve, "star@example.org")
    token = hub.token(service.services.site, star["uuid"], star["ref_code"])
    body = "".join(f"<honeyguide-{name}></honeyguide-{name}>" for name in ELEMENTS)
    embed = embedding(eve, website.origin)
    website.pages["/"] = html(tag(service, embed), body)
    page = page_at()
    visit(page, f"{website.origin}/?hub={token}&ref=<evil>&utm_source=<evil>")
    expect(page.locator("honeyguide-hub .box")).to_contain_text("<evil>")
    expect(page.locator("honeyguide-leaderboard .box")).to_contain_text("Ana L.")
    signup = page.locator("honeyguide-signup")
    expect(signup.get_by_role("heading")).to_contain_text("<evil>")
    assert page.locator("evil, [onevil]").count() == 0  # nor within the elements
    read_it(page)
    signup.get_by_label("Your email address").fill("ben@example.org")
    signup.get_by_role("checkbox").check()
    signup.locator(".button").click()
    expect(signup.get_by_role("status")).to_contain_text("<evil>")
    assert page.locator("evil, [onevil]").count() == 0
    assert people(eve)["ben@example.org"]["utm_source"] == "<evil>"
