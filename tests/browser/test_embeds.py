"""Embeds in a browser: on a website of another origin, under the strictest policy that the
documentation asks for, without third-party cookies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec
import pytest
from playwright.sync_api import Browser, expect

from honeyguide.referrals import branding, hub
from honeyguide.referrals.branding import BrandFields
from honeyguide.referrals.embeds import Embed
from tests.browser.conftest import ARTIFACTS, PageAt
from tests.support.embeds import embedding
from tests.support.market import join, offer, publish
from tests.support.prizes import advocate, post_of, tenant_of
from tests.support.prizes import offer as prize
from tests.support.service import Service, until
from tests.support.web import Operator, operator
from tests.support.website import Website

LONG = pytest.mark.long
FORM = """<form method="post" action="/subscribe" {mark}>
<label>Email <input type="email" name="email" required></label>
<input type="hidden" name="code" data-honeyguide-field="ref"><button>Join</button></form>"""


@pytest.fixture(scope="module")
def alice(service: Service) -> Operator:
    return operator(service)


@pytest.fixture
def website(service: Service) -> Iterator[Website]:
    ours = service.url
    policy = f"default-src 'none'; script-src {ours}; connect-src {ours}; form-action 'self'"
    with Website(policy).serving() as website:
        yield website


def html(script: str, body: str, *, attributes: str = 'lang="en"') -> str:
    return (
        f'<!doctype html><html {attributes}><meta charset="utf-8"><title>The Wax</title>{script}'
        f"<main><h1>The Wax</h1>{body}</main>"
    )


def tag(service: Service, embed: Embed, more: str = "") -> str:
    source = f"{service.url}/embed/honeyguide.js"
    return f'<script async src="{source}" data-campaign="{embed.public_id}" {more}></script>'


def embedded(alice: Operator, website: Website) -> Embed:
    return embedding(alice, website.origin)


def write_brand(alice: Operator, fields: BrandFields) -> None:
    now_ms = alice.service.now_ms()
    alice.service.write(lambda tx: branding.save(tx, tenant_of(alice), fields, now_ms=now_ms))


def referrer_of(alice: Operator, email: str) -> str | None:
    """The code that a subscriber came with, once they are there."""
    for row in alice.get(f"{alice.v1}/subscribers").json()["subscribers"]:
        if row["email"] == email:
            return str(row["referrer_code"])
    return None


@pytest.mark.parametrize("way", ["mark", "selector", pytest.param("session", marks=LONG)])
def test_the_operators_own_form_is_attributed_and_submitted_as_before(
    service: Service, alice: Operator, website: Website, page_at: PageAt, way: str
) -> None:
    embed, ann = embedded(alice, website), advocate(alice, email=f"ann-{way}@example.org")
    more = {"selector": 'data-form="#join"', "session": 'data-storage="session"'}.get(way, "")
    body = (
        f'<div id="join">{FORM.format(mark="" if way == "selector" else "data-honeyguide")}</div>'
    )
    website.pages["/"] = website.pages["/join"] = html(tag(service, embed, more), body)
    page, email = page_at(), f"ben-{way}@example.org"
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{website.origin}/?rh_ref={ann['ref_code']}&utm_source=x")
    page.wait_for_function("() => 'honeyguide' in window")
    # The code lasts until the form, on whichever page of the website that is.
    page.goto(f"{website.origin}/join")
    page.wait_for_function("() => honeyguide.referral().utm_source === 'x'")
    ours = [url for url in asked if url.startswith(service.url)]
    assert set(ours) == {f"{service.url}/embed/honeyguide.js"}
    page.wait_for_function("() => performance.now() > 1000")  # a robot would be faster
    page.get_by_label("Email").fill(email)
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("heading", name="Thanks")).to_be_visible()
    assert website.posts == [{"email": email, "code": ann["ref_code"]}]
    # The report outlives the page it was sent from.
    until(lambda: referrer_of(alice, email) is not None)
    assert referrer_of(alice, email) == ann["ref_code"]
    assert page.context.cookies() == []


def test_with_our_server_down_the_operators_form_still_submits(
    service: Service, alice: Operator, website: Website, page_at: PageAt
) -> None:
    embed = embedded(alice, website)
    website.pages["/"] = html(tag(service, embed), FORM.format(mark="data-honeyguide"))
    for blocked in ("**/embed/honeyguide.js", "**/signup"):
        page = page_at()
        page.route(blocked, lambda route: route.abort())
        page.goto(f"{website.origin}/?ref=someone")
        page.get_by_label("Email").fill("ben@example.org")
        page.get_by_role("button", name="Join").click()
        expect(page.get_by_role("heading", name="Thanks")).to_be_visible()
    assert len(website.posts) == 2


def test_the_websites_own_code_can_report_a_signup(
    service: Service, alice: Operator, website: Website, page_at: PageAt
) -> None:
    embed, ann = embedded(alice, website), advocate(alice, email="ann-track@example.org")
    website.pages["/"] = html(tag(service, embed), "")
    page = page_at()
    page.goto(f"{website.origin}/?ref={ann['ref_code']}")
    page.wait_for_function("() => 'honeyguide' in window")
    seen = page.evaluate(
        """async () => {
          const seen = [];
          document.addEventListener("honeyguide:signup", (event) => seen.push(event.detail));
          const tracked = [await honeyguide.track("cat@example.org")];
          return [...tracked, await honeyguide.track("nonsense"), seen];
        }"""
    )
    assert seen == [True, False, [{"via": "track"}]]
    assert referrer_of(alice, "cat@example.org") == ann["ref_code"]
    # A later link replaces the earlier one, a partner's too.
    partner = join(service.member("bob"), offer(alice, publish(alice)))["ref_code"]
    page.goto(f"{website.origin}/?partner={partner}")
    page.wait_for_function("() => 'honeyguide' in window")
    assert page.evaluate("() => honeyguide.referral()") == {"partner": partner}
    assert page.evaluate("() => honeyguide.track('dan@example.org')")
    assert referrer_of(alice, "dan@example.org") == partner


def test_an_unlisted_website_can_report_nothing(
    service: Service, alice: Operator, website: Website, browser: Browser
) -> None:
    embed = embedding(alice, "https://other.example")
    website.pages["/"] = html(tag(service, embed), "")
    with browser.new_context() as context:  # the browser logs the refusal as an error
        page = context.new_page()
        page.goto(website.origin)
        page.wait_for_function("() => 'honeyguide' in window")
        assert page.evaluate("() => honeyguide.track('eve@example.org')") is False
    assert referrer_of(alice, "eve@example.org") is None


def test_a_visitor_signs_up_through_the_element(
    service: Service, alice: Operator, website: Website, page_at: PageAt
) -> None:
    embed, ann = embedded(alice, website), advocate(alice, email="ann-element@example.org")
    evil = "<img src=x onerror=alert(1)> & {{ 7*7 }} \u202e"
    brand = BrandFields(accent="#336699", consent_text=evil, asks_name=True)
    write_brand(alice, brand)
    body = "<honeyguide-signup></honeyguide-signup>"
    website.pages["/"] = html(tag(service, embed), body)
    page = page_at()
    page.goto(f"{website.origin}/?ref={ann['ref_code']}")
    element = page.locator("honeyguide-signup")
    expect(element.get_by_role("checkbox", name=evil)).to_be_visible()
    expect(element.get_by_role("button")).to_have_css("background-color", "rgb(51, 102, 153)")
    page.wait_for_function("() => performance.now() > 2500")
    element.get_by_label("Your email address").fill("nonsense")
    element.get_by_role("button", name="Subscribe").click()
    expect(element.get_by_text("Enter a valid email address.")).to_be_visible()
    expect(element.get_by_text("Please check this box to subscribe.")).to_be_visible()
    expect(element.get_by_label("Your email address")).to_have_attribute("aria-invalid", "true")
    # The operator changes the text meanwhile: the visitor sees the new one before it counts.
    write_brand(alice, msgspec.structs.replace(brand, consent_text="I agree"))
    element.get_by_label("Your email address").fill("fay@example.org")
    element.get_by_label("First name").fill("Fay")
    element.get_by_role("checkbox").check()
    element.get_by_role("button", name="Subscribe").click()
    element.get_by_role("checkbox", name="I agree").check()
    page.wait_for_timeout(1_100)  # a form that was filled in at once is a robot's
    element.get_by_role("button", name="Subscribe").click()
    expect(element.get_by_role("heading", name="You’re in. Thank you!")).to_be_focused()
    assert referrer_of(alice, "fay@example.org") == ann["ref_code"]
    assert page.context.cookies() == []
    write_brand(alice, BrandFields())


def test_a_subscriber_opens_their_hub_on_the_operators_website(
    service: Service, alice: Operator, website: Website, page_at: PageAt
) -> None:
    prize(alice, name="The <b>mug</b>", referrals=2)
    embed, gil = embedded(alice, website), advocate(alice, 1, email="gil@example.org")
    site = service.services.site
    token = hub.token(site, gil["uuid"], gil["ref_code"])
    website.pages["/"] = html(tag(service, embed), "<honeyguide-hub></honeyguide-hub>")
    page = page_at()
    page.goto(f"{website.origin}/?hub={site.base_url}/hub/{token}&x=1")
    element = page.locator("honeyguide-hub")
    expect(element.get_by_text("Next reward: The <b>mug</b>. Still to go: 1")).to_be_visible()
    expect(element.get_by_label("Your link")).to_have_value(re.compile(f"/r/{gil['ref_code']}$"))
    assert page.url == f"{website.origin}/?x=1"  # nobody shares the secret by accident
    page.reload()
    expect(element.get_by_text("Friends referred so far: 1")).to_be_visible()
    # Without the secret, or with that of another campaign, there is a form that emails it.
    stranger = page_at()
    eve = advocate(operator(service, "eve"), email="eve@example.org")
    foreign = hub.token(site, eve["uuid"], eve["ref_code"])
    for wrong in (f"{token[:-1]}x", foreign):
        stranger.goto(f"{website.origin}/?hub={wrong}")
        form = stranger.locator("honeyguide-hub")
        form.get_by_label("Your email address").fill("gil@example.org")
    form.get_by_role("button", name="Email me the link").click()
    expect(form.get_by_role("heading", name="Check your inbox")).to_be_focused()
    until(lambda: "gil@example.org" in {each.to_email for each in post_of(alice, "hub_link")})


@pytest.mark.parametrize("theme", [pytest.param("light", marks=LONG), "dark"])
def test_elements_are_accessible_in_both_directions(
    service: Service,
    alice: Operator,
    website: Website,
    page_at: PageAt,
    axe: Callable[..., None],
    theme: str,
) -> None:
    embed = embedded(alice, website)
    write_brand(alice, BrandFields(accent="#ffe600", consent_text="I agree", asks_name=True))
    for language in ("en", "ar"):
        elements = "".join(
            f'<honeyguide-{name} theme="{theme}" language="{language}" preview></honeyguide-{name}>'
            for name in ("signup", "hub", "leaderboard")
        )
        website.pages["/"] = html(tag(service, embed), elements)
        page = page_at(390, theme)
        page.goto(website.origin)
        expect(page.locator("honeyguide-hub").get_by_role("heading").first).to_be_visible()
        expect(page.locator("honeyguide-signup").get_by_role("button")).to_be_visible()
        expect(page.locator("honeyguide-leaderboard").get_by_text("Ben O.")).to_be_visible()
        axe(page)
        said = page.locator("honeyguide-hub .box").inner_text()
        assert ("Friends referred" in said) == (language == "en")
        direction = page.locator("honeyguide-signup .box").get_attribute("dir")
        assert direction == ("rtl" if language == "ar" else "ltr")
        wide = page.evaluate("() => document.documentElement.scrollWidth")
        assert wide <= 390
        page.screenshot(path=ARTIFACTS / f"embed-{language}-{theme}.png", full_page=True)
    write_brand(alice, BrandFields())


def test_a_listed_website_can_frame_the_form(
    service: Service, alice: Operator, website: Website, page_at: PageAt
) -> None:
    embed = embedded(alice, website)
    website.policy = f"default-src 'none'; frame-src {service.url}"
    source = f"{service.url}/embed/{embed.public_id}/frame/signup"
    website.pages["/"] = html("", f'<iframe src="{source}" title="Sign up"></iframe>')
    page = page_at()
    page.goto(website.origin)
    form = page.frame_locator("iframe").locator("honeyguide-signup")
    form.get_by_label("Your email address").fill("ida@example.org")
    page.wait_for_function("() => performance.now() > 2500")
    form.get_by_role("button", name="Subscribe").click()
    expect(form.get_by_role("heading", name="You’re in. Thank you!")).to_be_visible()
    assert referrer_of(alice, "ida@example.org") == "None"


def test_no_website_can_frame_a_page_of_ours(
    service: Service, alice: Operator, website: Website, browser: Browser
) -> None:
    embed = embedding(alice, "https://other.example")
    hal = advocate(alice, email="hal@example.org")
    site = service.services.site
    token = hub.token(site, hal["uuid"], hal["ref_code"])
    website.policy = f"default-src 'none'; frame-src {service.url}"
    frame = f"/embed/{embed.public_id}/frame/hub?hub={token}"
    paths = (f"/hub/{token}", "/", "/embed", "/hub", frame)
    for path in paths:
        website.pages["/"] = html("", f'<iframe src="{service.url}{path}"></iframe>')
        with browser.new_context() as context:  # the browser logs the refusal as an error
            page = context.new_page()
            page.goto(website.origin, wait_until="networkidle")
            assert page.frames[1].url.startswith("chrome-error:"), path
