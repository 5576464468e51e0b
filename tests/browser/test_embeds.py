"""Embeds in a browser: on a website of another origin, under the strictest policy that the
documentation asks for, without third-party cookies.
"""

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Browser, BrowserContext, Route, expect, sync_playwright

from honeyguide.subscribers import hub
from honeyguide.subscribers.branding import BrandFields
from honeyguide.subscribers.embeds import Embed
from tests.browser.conftest import CHROMIUM, NO_SANDBOX, WHOLE_CHROMIUM, PageAt
from tests.browser.embedding import (
    FORM,
    MARKED_FORM,
    copied,
    html,
    policy,
    read_it,
    referrer_of,
    tag,
    visit,
    write_brand,
)
from tests.support.embeds import embedding
from tests.support.partner_network import join, offer, publish
from tests.support.prizes import advocate, post_of
from tests.support.prizes import offer as prize
from tests.support.service import Service, until
from tests.support.web import Operator, operator
from tests.support.website import Website


@pytest.fixture(
    scope="module",
    params=["any cookies", pytest.param("no third-party cookies", marks=pytest.mark.long)],
)
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """No test here may need third-party cookies; the long run forbids them. A private window of the
    whole browser does that, the headless shell cannot.
    """
    path = CHROMIUM if request.param == "any cookies" else WHOLE_CHROMIUM
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[NO_SANDBOX])
        yield browser
        browser.close()


@pytest.mark.long
@pytest.mark.parametrize("browser", ["no third-party cookies"], indirect=True, scope="module")
def test_a_private_window_sends_no_third_party_cookies(
    website: Website, browser: Browser, tmp_path: Path
) -> None:
    third = website.origin.replace("localhost", "127.0.0.1")
    website.policy = f"default-src 'none'; frame-src {third}"
    website.cookie = "third=party; SameSite=None; Secure; Path=/"
    website.pages = {"/": html("", f'<iframe src="{third}/third"></iframe>'), "/third": "Hello"}

    def sent_back(context: BrowserContext) -> str | None:
        website.cookies.clear()
        page = context.new_page()
        for _ in range(2):
            page.goto(website.origin, wait_until="networkidle")
        context.close()
        return [cookie for path, cookie in website.cookies if path == "/third"][-1]

    assert sent_back(browser.new_context()) is None
    # The same browser, told to accept them: so the question above can be answered with yes.
    settings = tmp_path / "Default" / "Preferences"
    settings.parent.mkdir()
    settings.write_text('{"profile": {"cookie_controls_mode": 0}}')
    accepting = browser.browser_type.launch_persistent_context(
        tmp_path, executable_path=WHOLE_CHROMIUM, args=[NO_SANDBOX]
    )
    assert sent_back(accepting) == "third=party"


@pytest.fixture(scope="module")
def alice(service: Service, browser: Browser) -> Operator:
    """One per browser, because both sign up the same people."""
    return operator(service)


@pytest.fixture(scope="module")
def codes(service: Service, alice: Operator) -> dict[str, str]:
    """Those of a subscriber and of a partner, by the parameter that a link has them in."""
    partner = join(service.member("bob"), offer(alice, publish(alice)))
    ann = advocate(alice, email="ann@example.org")
    return {"ref": ann["ref_code"], "partner": partner["ref_code"]}


def embedded(alice: Operator, website: Website) -> Embed:
    return embedding(alice, website.origin)


@pytest.mark.parametrize("way", ["marked", "selected"])
def test_the_operators_own_form_is_attributed_and_submitted_as_before(
    alice: Operator, website: Website, page_at: PageAt, codes: dict[str, str], way: str
) -> None:
    selector = "" if way == "marked" else "main > #join"
    alice.web.post("/look/embed", origins=website.origin, keep_days="30", form_selector=selector)
    form = MARKED_FORM if way == "marked" else f'<div id="join">{FORM.format(mark="")}</div>'
    website.pages["/"] = html(copied(alice, "The script"), "")
    website.pages["/join"] = html(copied(alice, "The script"), form)
    for kind, code in codes.items():
        page, email = page_at(), f"ben-{way}-{kind}@example.org"
        visit(page, f"{website.origin}/?rh_{kind}={code}&utm_source=x&utm_medium=y")
        # The code lasts until the form, on whichever page of the website that is.
        visit(page, f"{website.origin}/join")
        expected = {kind: code, "utm_source": "x", "utm_medium": "y"}
        assert page.evaluate("() => honeyguide.referral()") == expected
        read_it(page)
        page.get_by_label("Email").fill(email)
        page.get_by_role("button", name="Join").click()
        expect(page.get_by_role("heading", name="Thanks")).to_be_visible()
        posted = {"email": email, "code": code if kind == "ref" else "", "medium": "y"}
        assert website.posts[-1] == posted
        # The report outlives the page it was sent from.
        until(lambda email=email: referrer_of(alice, email) is not None)
        assert referrer_of(alice, email) == code
        assert page.context.cookies() == []


@pytest.mark.parametrize("state", ["down", "silent"])
def test_with_our_server_down_or_silent_the_operators_form_still_submits(
    alice: Operator, website: Website, page_at: PageAt, state: str
) -> None:
    embed, form = embedded(alice, website), MARKED_FORM
    with socket.create_server(("127.0.0.1", 0)) as server:  # it accepts, and never answers
        dead = f"http://127.0.0.1:{server.getsockname()[1]}"
        if state == "down":
            server.close()
        # Already the script does not come.
        website.policy = policy(dead)
        script = tag(alice.service, embed).replace(alice.service.url, dead)
        website.pages["/"] = html(script, f"{form}<honeyguide-signup>Soon</honeyguide-signup>")
        page = page_at()
        page.goto(f"{website.origin}/?ref=someone", wait_until="domcontentloaded")
        expect(page.get_by_text("Soon")).to_be_visible()
        page.get_by_label("Email").fill("ben@example.org")
        page.get_by_role("button", name="Join").click(no_wait_after=True)
        expect(page.get_by_role("heading", name="Thanks")).to_be_visible()
    # The script came, but the report of the signup meets the same server.
    website.policy = policy(alice.service.url)
    website.pages["/"] = html(tag(alice.service, embed), form)
    page, held = page_at(), []

    def meet(route: Route) -> None:
        if state == "down":
            route.abort()
        else:
            held.append(route)

    page.route("**/signup", meet)
    visit(page, f"{website.origin}/?ref=someone")
    page.get_by_label("Email").fill("ben@example.org")
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("heading", name="Thanks")).to_be_visible()
    assert [post["email"] for post in website.posts] == ["ben@example.org"] * 2
    assert len(held) == (state == "silent")


def test_the_websites_own_code_can_report_a_signup(
    alice: Operator, website: Website, page_at: PageAt, codes: dict[str, str]
) -> None:
    embed = embedded(alice, website)
    # As Next.js does it: code adds the script. An element of the same name is not in the way.
    website.pages["/"] = html("", '<p id="honeyguide">The Wax</p>')
    source, page = f"{alice.service.url}/embed/honeyguide.js", page_at()

    def open_with(query: str) -> None:
        page.goto(f"{website.origin}/{query}")
        page.evaluate(
            """([source, campaign]) => new Promise((done) => {
              const script = document.createElement("script");
              Object.assign(script, { src: source, onload: done });
              script.dataset.campaign = campaign;
              document.head.append(script);
            })""",
            [source, embed.public_id],
        )

    open_with(f"?ref={codes['ref']}")
    seen = page.evaluate(
        """async () => {
          const seen = [];
          document.addEventListener("honeyguide:signup", (event) => seen.push(event.detail));
          const tracked = [await honeyguide.track("cat@example.org")];
          return [...tracked, await honeyguide.track("nonsense"), seen];
        }"""
    )
    assert seen == [True, False, [{"via": "track"}]]
    assert referrer_of(alice, "cat@example.org") == codes["ref"]
    # A later link replaces the earlier one.
    open_with(f"?partner={codes['partner']}")
    assert page.evaluate("() => honeyguide.referral()") == {"partner": codes["partner"]}
    assert page.evaluate("() => honeyguide.track('dan@example.org')")
    assert referrer_of(alice, "dan@example.org") == codes["partner"]


def test_an_unlisted_website_can_report_and_show_nothing(
    service: Service, alice: Operator, website: Website, browser: Browser
) -> None:
    embed = embedding(alice, "https://other.example")
    body = '<honeyguide-signup><a href="/join">Subscribe here</a></honeyguide-signup>'
    website.pages["/"] = html(tag(service, embed), body)
    with browser.new_context() as context:  # the browser logs the refusal as an error
        page = context.new_page()
        visit(page, website.origin)
        assert page.evaluate("() => honeyguide.track('eve@example.org')") is False
        # Instead of the form, there is what the operator put inside the element.
        expect(page.get_by_role("link", name="Subscribe here")).to_be_visible()
    assert referrer_of(alice, "eve@example.org") is None


def test_a_visitor_signs_up_through_the_element(
    service: Service, alice: Operator, website: Website, page_at: PageAt, codes: dict[str, str]
) -> None:
    embed = embedded(alice, website)
    brand = BrandFields(accent="#336699", consent_text="I agree to it", asks_name=True)
    write_brand(alice, brand)
    website.pages["/"] = html(tag(service, embed), "<honeyguide-signup></honeyguide-signup>")
    for kind, code in codes.items():
        page, email = page_at(), f"fay-{kind}@example.org"
        visit(page, f"{website.origin}/?{kind}={code}")
        element = page.locator("honeyguide-signup")
        expect(element.get_by_role("checkbox", name="I agree to it")).to_be_visible()
        expect(element.get_by_role("button")).to_have_css("background-color", "rgb(51, 102, 153)")
        read_it(page)
        element.get_by_label("Your email address").fill("nonsense")
        element.get_by_role("button", name="Subscribe").click()
        expect(element.get_by_text("Enter a valid email address.")).to_be_visible()
        expect(element.get_by_text("Please check this box to subscribe.")).to_be_visible()
        expect(element.get_by_label("Your email address")).to_have_attribute("aria-invalid", "true")
        # The operator changes the text meanwhile: the visitor sees the new one before it counts.
        write_brand(alice, msgspec.structs.replace(brand, consent_text=f"I agree, {kind}"))
        element.get_by_label("Your email address").fill(email)
        element.get_by_label("First name").fill("Fay")
        element.get_by_role("checkbox").check()
        element.get_by_role("button", name="Subscribe").click()
        element.get_by_role("checkbox", name=f"I agree, {kind}").check()
        read_it(page)
        element.get_by_role("button", name="Subscribe").click()
        expect(element.get_by_role("heading", name="You’re in. Thank you!")).to_be_focused()
        assert referrer_of(alice, email) == code
        assert page.context.cookies() == []
        write_brand(alice, brand)
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


def test_a_listed_website_can_frame_the_form_and_the_hub(
    service: Service, alice: Operator, website: Website, page_at: PageAt, codes: dict[str, str]
) -> None:
    embed, ivy = embedded(alice, website), advocate(alice, email="ivy@example.org")
    token = hub.token(service.services.site, ivy["uuid"], ivy["ref_code"])
    website.policy = f"default-src 'none'; frame-src {service.url}"
    source = f"{service.url}/embed/{embed.public_id}/frame"
    website.pages["/"] = html(
        "",
        f'<iframe src="{source}/signup?ref={codes["ref"]}" title="Sign up"></iframe>'
        f'<iframe src="{source}/hub?hub={token}" title="Referral page"></iframe>',
    )
    page = page_at()
    page.clock.install()
    page.goto(website.origin)
    form = page.frame_locator("[title='Sign up']").locator("honeyguide-signup")
    form.get_by_label("Your email address").fill("ida@example.org")
    read_it(page)
    form.get_by_role("button", name="Subscribe").click()
    expect(form.get_by_role("heading", name="You’re in. Thank you!")).to_be_visible()
    assert referrer_of(alice, "ida@example.org") == codes["ref"]
    shown = page.frame_locator("[title='Referral page']").locator("honeyguide-hub")
    expect(shown.get_by_label("Your link")).to_have_value(re.compile(f"/r/{ivy['ref_code']}$"))


def test_no_website_can_frame_a_page_of_ours(
    service: Service, alice: Operator, website: Website, browser: Browser
) -> None:
    embed = embedding(alice, "https://other.example")
    hal = advocate(alice, email="hal@example.org")
    site = service.services.site
    token = hub.token(site, hal["uuid"], hal["ref_code"])
    website.policy = f"default-src 'none'; frame-src {service.url}"
    frame = f"/embed/{embed.public_id}/frame/hub?hub={token}"
    paths = (f"/hub/{token}", "/", "/look/embed", "/look/embed/preview", "/hub", frame)
    frames = "".join(f'<iframe src="{service.url}{path}"></iframe>' for path in paths)
    website.pages["/"] = html("", frames)
    with browser.new_context() as context:  # the browser logs the refusal as an error
        page = context.new_page()
        page.goto(website.origin, wait_until="networkidle")
        assert len(page.frames) == 1 + len(paths)
        for shown in page.frames[1:]:
            shown.wait_for_url("chrome-error:**")
