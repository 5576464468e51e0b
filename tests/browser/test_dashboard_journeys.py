"""The journeys of an operator through the dashboard, in a real browser."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from honeyguide.accounts import setup_codes
from tests.browser.conftest import DESKTOP, PHONE, PageAt
from tests.browser.test_dashboard import Places, sit_down
from tests.support.delayed import pass_minute
from tests.support.mailbox import Mailbox
from tests.support.service import Service
from tests.support.web import PASSWORD, Operator, operator

pytestmark = pytest.mark.usefixtures("quick_hands")
NEW = "four quiet green herons"


@pytest.fixture(scope="module")
def places(service: Service) -> Places:
    return Places(service)


class Receiver:
    """A webhook's other end, on a real socket."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        arrived = self.arrived = threading.Condition()
        bodies = self.bodies

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                with arrived:
                    bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                    arrived.notify_all()
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def wait_for(self, kind: str) -> dict[str, Any]:
        def found() -> dict[str, Any] | None:
            return next((body for body in self.bodies if body["type"] == kind), None)

        with self.arrived:
            assert self.arrived.wait_for(found, 20), (
                f"no {kind} among {[body['type'] for body in self.bodies]}"
            )
        return found() or {}


def fill_in(page: Page, **fields: str) -> None:
    for name, value in fields.items():
        page.locator(f"main [name={name}]").first.fill(value)


def test_first_start_to_first_referral(page_at: PageAt) -> None:
    with Service("sqlite") as service:
        page = page_at(DESKTOP)
        page.goto(service.url)
        expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
        code = service.write(setup_codes.renew)
        fill_in(page, code=code, name="The Morning Wax", email="ann@example.org", password=PASSWORD)
        page.get_by_role("button", name="Create account").click()
        expect(page.get_by_role("heading", name="Your comb starts with one")).to_be_visible()
        expect(page.get_by_text("0 of 7 set up.")).to_be_visible()
        page.get_by_text("All steps").click()
        page.get_by_role("link", name="Choose your tool").click()
        page.get_by_role("link", name="Create an API key").click()
        page.get_by_label("Name", exact=False).first.fill("My mailing tool")
        page.get_by_role("button", name="Create key").click()
        key = page.locator("#new-key").inner_text()
        line = page.locator("pre").first.inner_text()
        address = re.search(r"http\S+/subscribers", line)
        assert address and key in line
        answer = httpx.post(
            address[0],
            json={"email": "lea@example.org"},
            headers={"X-Api-Key": key},
            verify=False,
        )
        code = answer.json()["subscriber"]["ref_code"]
        page.goto(f"{service.url}/r/{code}")
        page.locator("input[type=email]").fill("friend@example.org")
        page.locator("main button").first.click()
        page.wait_for_load_state()
        service.run_jobs()
        page.goto(service.url)
        expect(page.get_by_role("heading", level=1)).to_have_text(
            "Your first referral came in these 30 days. lea@example.org brought 1."
        )
        referred = page.locator(".figure", has_text="Referred")
        expect(referred.locator("b").first).to_have_text("1")
        expect(page.locator(".by").get_by_role("link", name="lea@example.org")).to_be_visible()
        expect(page.get_by_text("1 of 7 set up.")).to_be_visible()


def test_a_reward_from_its_promise_to_the_webhook(service: Service, page_at: PageAt) -> None:
    alice, receiver = operator(service), Receiver()
    page = sit_down(page_at(DESKTOP), alice)
    page.goto(f"{service.url}/webhooks")
    page.get_by_label("URL").fill(receiver.url)
    page.get_by_role("button", name="Add endpoint").click()
    page.get_by_role("button", name="Send test event").click()
    receiver.wait_for("test")
    page.goto(f"{service.url}/rewards")
    form = page.locator("form.form")
    form.get_by_label("Reward name").fill("Golden spoon")
    form.get_by_label("Referrals needed").fill("1")
    hub = page.frame_locator("iframe.preview")
    expect(hub.get_by_text("Golden spoon").first).to_be_visible()
    page.get_by_role("button", name="Add reward").click()
    expect(page.locator(".reward-list")).to_contain_text("Golden spoon")
    page.get_by_role("link", name="Edit Golden spoon").click()
    page.get_by_label("Reward name").fill("Silver spoon")
    expect(hub.get_by_text("Silver spoon").first).to_be_visible()
    expect(hub.get_by_text("Golden spoon")).to_have_count(0)  # it is the same reward, not one more
    lead = alice.subscribe("lea@example.org", name="Lea Dahl")
    reader = page_at(PHONE)
    reader.goto(f"{service.url}/r/{lead['ref_code']}")
    reader.locator("input[type=email]").fill("friend@example.org")
    reader.locator("main button").first.click()
    body = receiver.wait_for("reward_unlocked")
    assert body["reward"]["name"] == "Golden spoon"
    page.goto(f"{service.url}/subscribers/{lead['uuid']}")
    address = page.get_by_role("link", name="Open their page").get_attribute("href")
    reader.goto(address or "")
    reader.get_by_role("button", name=re.compile("claim|done|got", re.I)).first.click()
    expect(reader.get_by_text("Being prepared", exact=True)).to_be_visible()
    page.reload()
    page.get_by_role("button", name="Mark as done").click()
    pass_minute(service)
    assert receiver.wait_for("reward_redeemed")["subscriber"]["email"] == "lea@example.org"
    page.reload()
    expect(page.locator(".pill", has_text="Done")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_messy_file_is_brought_in(
    service: Service, alice: Operator, page_at: PageAt, tmp_path: Path, scripts: bool
) -> None:
    page = sit_down(page_at(DESKTOP, scripts=scripts), alice)
    file = tmp_path / "people.csv"
    file.write_text(
        "Mail;Vorname\nann@example.org;Ann\nnot an "
        "address;Bob\nann@example.org;Twice\ncleo@example.org;Cleo\n"
    )
    page.goto(f"{service.url}/subscribers")
    page.get_by_role("link", name="Import subscribers").click()
    page.get_by_label("CSV file or zip archive").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_label("Email", exact=True)).to_have_value("0")
    page.get_by_text("Choose other columns").click()
    page.get_by_label("Name", exact=True).select_option("Vorname")
    page.get_by_role("button", name="Preview import").click()
    expect(page.get_by_role("status").last).to_contain_text("2 would be added")
    page.get_by_role("button", name="Import", exact=True).click()
    if not scripts:
        for _ in range(50):
            if not page.get_by_role("link", name="Refresh").is_visible():
                break
            page.wait_for_timeout(100)
            page.reload()
    expect(page.get_by_text("2 subscribers added.")).to_be_visible(timeout=15_000)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download errors").click()
    assert "not an address,Bob,3,Email is invalid" in Path(download.value.path()).read_text()
    page.get_by_role("link", name="View subscribers").click()
    expect(page.get_by_role("main").get_by_text("2 subscribers", exact=True)).to_be_visible()


def test_a_key_is_revoked_while_in_use(service: Service, alice: Operator, page_at: PageAt) -> None:
    page = sit_down(page_at(DESKTOP), alice)
    page.goto(f"{service.url}/account/keys")
    page.get_by_label("Name", exact=True).fill("Leaky tool")
    page.get_by_role("button", name="Create key").click()
    key = page.locator("#new-key").inner_text()
    with httpx.Client(base_url=service.url, headers={"X-Api-Key": key}, verify=False) as tool:
        assert tool.get("/v1/campaigns").status_code == 200
        row = page.get_by_role("row", name=re.compile("Leaky tool"))
        row.get_by_role("button", name="Revoke").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("Leaky tool")
        dialog.get_by_role("button", name="Cancel").click()
        assert tool.get("/v1/campaigns").status_code == 200, "asked, and thought better of it"
        row.get_by_role("button", name="Revoke").click()
        page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
        expect(page.get_by_role("status")).to_contain_text("Key revoked")
        assert tool.get("/v1/campaigns").status_code == 401, "the same connection, the next request"


def test_a_lost_password(page_at: PageAt) -> None:
    with Mailbox() as mailbox, Service("sqlite", smtp_url=mailbox.url) as service:
        _a_lost_password(service, mailbox, page_at)


def _a_lost_password(service: Service, mailbox: Mailbox, page_at: PageAt) -> None:
    alice = operator(service)
    page = page_at(PHONE)
    page.goto(f"{service.url}/login")
    fill_in(page, email=alice.email, password="not my password")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("Wrong email or password.")
    page.get_by_role("link", name="Forgot your password?").click()
    fill_in(page, email=alice.email)
    page.get_by_role("button", name="Send link").click()
    expect(page.get_by_role("heading", name="Check your email")).to_be_visible()

    page.goto(service.url + mailbox.link_to(alice.email, "/password/"))
    fill_in(page, password=NEW)
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_role("status")).to_contain_text("Your password was changed")
    assert alice.web.get("/").status_code == 303, "the old session is over"


def test_the_keyboard_alone_is_enough(service: Service, places: Places, page_at: PageAt) -> None:
    page = sit_down(page_at(DESKTOP), places.alice)
    page.goto(f"{service.url}/subscribers")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("searchbox").focus()
    page.keyboard.type("lea@")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=lea%40**")
    page.get_by_role("link", name="Lea Dahl").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Lea Dahl")).to_be_visible()


def test_the_whole_row_leads_to_the_person_and_phones_have_a_menu(
    service: Service, places: Places, page_at: PageAt
) -> None:
    page = sit_down(page_at(PHONE), places.alice)
    page.goto(f"{service.url}/subscribers?q=lea@")
    page.locator("tr[data-href] td[data-name=Joined]").click()
    expect(page.get_by_role("heading", name="Lea Dahl")).to_be_visible()
    expect(page.get_by_role("link", name="Settings")).to_be_hidden()
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Account").click()
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()


def test_without_scripts_one_can_decide_and_log_out(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    lead = alice.subscribe("lea@example.org")
    alice.subscribe("thrown@mailinator.com", referrer_code=lead["ref_code"])
    page = sit_down(page_at(DESKTOP, scripts=False), alice)
    page.goto(f"{service.url}/review?show=rejected")
    page.get_by_label("Select thrown@mailinator.com").check()
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("status")).to_contain_text("1 referral will be verified in a minute.")
    page.get_by_role("button", name="Account").click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_an_operator_finds_tags_and_blocks_without_scripts(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    for number in range(4):
        alice.subscribe(f"s{number}@example.org", name=["José Núñez", "Mia"][number % 2])
    page = sit_down(page_at(DESKTOP, scripts=False), alice)
    page.goto(f"{service.url}/subscribers")
    page.get_by_label("Search").fill("nunez")
    page.get_by_role("button", name="Search").click()
    assert "2 of 4 subscribers" in page.inner_text("main")
    page.get_by_text("Filters", exact=False).first.click()
    page.get_by_label("Subscription", exact=True).select_option("active")
    page.get_by_role("button", name="Apply filters").click()
    page.get_by_text("Save this filter").click()
    page.get_by_label("Name of the filter").fill("Núñez family")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("link", name="Núñez family")).to_have_attribute("aria-current", "true")
    page.get_by_label("Select s0@example.org").check()
    page.get_by_label("Tag", exact=True).last.fill("VIP")
    page.get_by_role("button", name="Add tag").click()
    expect(page.get_by_text("1 subscriber changed.")).to_be_visible()
    page.get_by_role("link", name="vip", exact=True).click()
    page.get_by_role("link", name="José Núñez").click()
    page.get_by_text("Block or allow").click()
    page.get_by_role("button", name="Block", exact=True).click()
    expect(page.get_by_text("Their email address is on your block list.").first).to_be_visible()
    page.get_by_text("Edit name, email").click()
    page.get_by_label("Email address").fill("s1@example.org")
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_text("Email has already been taken")).to_be_visible()
