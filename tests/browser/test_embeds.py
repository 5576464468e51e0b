"""Embeds in a browser: on a website of another origin, under the strictest policy that the
documentation asks for, without third-party cookies.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from honeyguide.referrals.embeds import Embed
from tests.browser.conftest import PageAt
from tests.support.embeds import embedding
from tests.support.market import join, offer, publish
from tests.support.prizes import advocate
from tests.support.service import Service, until
from tests.support.web import Operator, operator
from tests.support.website import Website

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


def referrer_of(alice: Operator, email: str) -> str | None:
    """The code that a subscriber came with, once they are there."""
    for row in alice.get(f"{alice.v1}/subscribers").json()["subscribers"]:
        if row["email"] == email:
            return str(row["referrer_code"])
    return None


@pytest.mark.parametrize("way", ["mark", "selector", "session"])
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
