"""A platform is connected, watched, repaired and put into the newsletter, in a real browser."""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator

import pytest
from aiohttp import web
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, PHONE, PageAt
from tests.browser.test_dashboard import sit_down
from tests.pages.dashboard.test_integrations_page import choose_list
from tests.support.platforms.listmonk import LIST, TOKEN, USER, ListmonkServer
from tests.support.platforms.stand_in import pass_on
from tests.support.service import Service
from tests.support.web import Operator, operator

pytestmark = pytest.mark.long
SUBSCRIBERS = 12
# The page looks again every five seconds.
SOON_MS = 60_000


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with Service("sqlite", secret_key="ab" * 32) as service:
        yield service


@pytest.fixture
def listmonk() -> Iterator[ListmonkServer]:
    server = ListmonkServer()
    with server.serving_apart():
        yield server


def test_listmonk_is_connected_and_watched(
    service: Service,
    alice: Operator,
    listmonk: ListmonkServer,
    page_at: PageAt,
    looks_good: Callable[[Page], None],
) -> None:
    for number in range(SUBSCRIBERS):
        alice.subscribe(f"reader{number}@example.org")
    alice.subscribe("fake@example.org")
    go_on = threading.Event()

    async def wait(request: web.Request) -> web.StreamResponse:
        await asyncio.to_thread(go_on.wait, SOON_MS / 1000)
        return await pass_on(request)

    page = sit_down(page_at(DESKTOP), alice)
    page.goto(f"{service.url}/integrations")
    looks_good(page)
    page.get_by_role("link", name="listmonk").click()
    looks_good(page)
    page.get_by_label("URL of your listmonk").fill(listmonk.url)
    page.get_by_label("API user").fill(USER)
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Check the key").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Check the key").click()
    looks_good(page)
    page.get_by_label("Readers").check()
    page.get_by_label("Add those from before today too").check()
    listmonk.fail(*[pass_on] * 20, wait)
    page.get_by_role("button", name="Connect", exact=True).click()

    expect(page.get_by_text("We are reading its list first.")).to_be_visible()
    expect(page.get_by_role("progressbar", name="First sync")).to_be_visible(timeout=SOON_MS)
    still = sit_down(page_at(DESKTOP), alice)
    still.goto(f"{service.url}/integrations")
    still.route("**/integrations", lambda route: route.abort("aborted"))  # it looks again by itself
    looks_good(still)
    go_on.set()
    expect(page.get_by_text("Everything is written")).to_be_visible(timeout=SOON_MS)
    expect(page.get_by_role("heading", name="1 subscriber could not be written")).to_be_visible()
    expect(page.get_by_text("listmonk does not accept this address.")).to_be_visible()
    looks_good(page)
    page.get_by_role("link", name="Change field names").click()
    looks_good(page)

    page.goto(f"{service.url}/subscribers?q=reader3@example.org")
    page.get_by_role("link", name="reader3@example.org", exact=True).click()
    expect(page.get_by_text("listmonk").first).to_be_visible()
    page.reload()  # as a page of its own, without the list behind it
    looks_good(page)


def test_what_another_tool_wrote_is_adopted(
    service: Service,
    listmonk: ListmonkServer,
    page_at: PageAt,
    looks_good: Callable[[Page], None],
) -> None:
    for number in range(3):
        person = listmonk.add(f"reader{number}@example.org")
        person["attribs"].update(rh_code=f"Reader{number}", rh_totref="2")
    listmonk.add("odd@example.org")["attribs"].update(rh_code="no code!")
    alice = operator(service)
    choose_list(alice, listmonk, LIST)
    page = sit_down(page_at(DESKTOP), alice)
    page.goto(f"{service.url}/integrations")
    question = page.get_by_role("heading", name="Adopt what another tool wrote?")
    expect(question).to_be_visible(timeout=SOON_MS)
    looks_good(page)
    page.get_by_role("button", name="Adopt", exact=True).click()
    expect(page.get_by_text("Everything is written")).to_be_visible(timeout=SOON_MS)
    page.get_by_text("1 code could not be adopted").click()
    expect(page.get_by_text("no code!")).to_be_visible()
    looks_good(page)


def test_a_block_is_chosen_seen_and_sent(
    service: Service, alice: Operator, page_at: PageAt, looks_good: Callable[[Page], None]
) -> None:
    page = sit_down(page_at(PHONE), alice)
    page.goto(f"{service.url}/look/newsletter")
    looks_good(page)
    page.get_by_role("link", name="Kit", exact=True).click()
    page.get_by_label("Heading").fill("Tell a friend")
    page.get_by_label("Heading").blur()
    seen = page.frame_locator("iframe.preview")
    expect(seen.get_by_text("Tell a friend")).to_be_visible()
    expect(page.get_by_label("HTML of the block")).to_contain_text("{{ subscriber.hg_hub }}")
    page.get_by_role("button", name="Send a test").click()
    expect(page.get_by_text(f"A test email is on its way to {alice.email}.")).to_be_visible()
    page.get_by_role("link", name="Substack", exact=True).click()
    expect(page.get_by_label("Link for everyone")).to_have_value(re.compile(r"/hub\?of="))
    looks_good(page)
