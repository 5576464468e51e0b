"""A mug from the reward form to the subscriber who sees that it was sent, in a real browser."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, PHONE, PageAt
from tests.browser.test_dashboard import sit_down
from tests.support.newsletter import Newsletter
from tests.support.prizes import offer
from tests.support.service import Service
from tests.support.shipments import claim
from tests.support.web import Operator

pytestmark = pytest.mark.usefixtures("quick_hands")


def _not_now(page: Page) -> None:
    """Looks are checked with scripts, which show more."""


def _define(desk: Page, service: Service) -> None:
    desk.goto(f"{service.url}/rewards")
    desk.get_by_label("Reward name").fill("The Morning mug")
    desk.get_by_label("Referrals needed", exact=True).fill("1")
    desk.get_by_label("Physical item").check()
    desk.get_by_label("Sizes or variants").fill("Sage\nHoney")
    desk.get_by_role("button", name="Add reward").click()
    expect(desk.get_by_text("Sage, Honey")).to_be_visible()


def _claim_and_correct(reader: Page, check: Callable[[Page], None]) -> None:
    expect(reader.get_by_role("heading", name="Ready to claim")).to_be_visible()
    reader.get_by_role("link", name="Claim The Morning mug").first.click()
    check(reader)
    reader.get_by_label("Option", exact=True).select_option("Honey")
    reader.get_by_label("Street address").fill("Rua das Flores 112")
    reader.get_by_label("City").fill("Porto")
    reader.get_by_label("ZIP or postal code").fill("4050-262")
    reader.get_by_label("Country").select_option("Portugal")
    reader.get_by_label("Phone").fill("+351 22 555 0100")
    reader.get_by_role("button", name="Submit").click()
    expect(reader.get_by_text("Being prepared", exact=True)).to_be_visible()
    reader.get_by_role("link", name="Correct the address for “The Morning mug”").click()
    expect(reader.get_by_label("Street address")).to_have_value("Rua das Flores 112")
    check(reader)
    reader.get_by_label("Street address").fill("Rua das Flores 121")
    reader.get_by_role("button", name="Save").click()
    expect(reader.get_by_text("The new address is saved.")).to_be_visible()


def _send(desk: Page, service: Service, check: Callable[[Page], None], *, scripts: bool) -> None:
    desk.goto(f"{service.url}/shipments")
    row = desk.get_by_role("row", name="Ben Baker")
    expect(row).to_contain_text("Honey")
    expect(row.locator("address")).to_contain_text("Rua das Flores 121")
    expect(row).to_contain_text("Corrected")
    bar = desk.get_by_role("region", name="Selected shipments")
    expect(bar).to_be_hidden()
    row.get_by_role("checkbox").check()
    desk.get_by_label("Tracking note (optional)").fill("RR 123 456 785 PT")
    button = "Mark 1 as sent" if scripts else "Mark as sent"
    if scripts:
        expect(bar).to_contain_text("1 selected")
        expect(bar).to_contain_text("1 × The Morning mug")
        check(desk)
    bar.get_by_role("button", name=button, exact=True).click()
    expect(desk.get_by_text("1 shipment marked as sent.")).to_be_visible()
    expect(desk.get_by_role("heading", name="Nothing to send")).to_be_visible()
    desk.get_by_role("button", name="Undo").click()
    expect(desk.get_by_text("1 shipment is under “To send” again")).to_be_visible()
    # The button of its row takes the note as well.
    desk.get_by_role("row", name="Ben Baker").get_by_role("button", name="Mark as sent").click()


def _add_note(desk: Page, check: Callable[[Page], None]) -> None:
    desk.get_by_role("link", name="Sent 1").click()
    desk.get_by_text("Add a note").click()
    note = desk.get_by_label("Tracking note: The Morning mug for Ben Baker")
    note.fill("USPS 9400 1000 0000 0000 0000 17")
    check(desk)
    desk.get_by_role("button", name="Save note").click()
    expect(desk.get_by_role("link", name="9400 1000 0000 0000 0000 17")).to_be_visible()


@pytest.mark.parametrize("scripts", [pytest.param(True, marks=pytest.mark.long), False])
def test_a_mug_is_defined_claimed_sent_and_seen(
    service: Service,
    alice: Operator,
    page_at: PageAt,
    looks_good: Callable[[Page], None],
    scripts: bool,
) -> None:
    wax = Newsletter(service, member=alice)
    desk = page_at(DESKTOP, scripts=scripts)
    sit_down(desk, alice)
    check = looks_good if scripts else _not_now
    _define(desk, service)

    ben = wax.advocate(0)
    friend = page_at(PHONE, scripts=scripts)
    friend.goto(f"{service.url}/r/{ben.ref_code}")
    friend.get_by_label("Your email address").fill(wax.address("friend"))
    wax.later()
    friend.get_by_role("button", name="Subscribe").click()
    expect(friend.get_by_role("heading", level=1)).to_have_text("You’re in. Thank you!")

    reader = page_at(PHONE, scripts=scripts)
    reader.goto(service.url + wax.hub(ben))
    _claim_and_correct(reader, check)
    _send(desk, service, check, scripts=scripts)
    _add_note(desk, check)

    reader.reload()
    expect(reader.get_by_text("Sent", exact=True)).to_be_visible()
    expect(reader.get_by_role("link", name="USPS 9400 1000 0000 0000 0000 17")).to_be_visible()
    check(reader)

    row = desk.get_by_role("row", name="Ben Baker")
    row.get_by_role("button", name="Mark as delivered").click()
    expect(desk.get_by_text("1 shipment marked as delivered.")).to_be_visible()
    reader.reload()
    expect(reader.get_by_text("Delivered", exact=True)).to_be_visible()


def test_tracking_numbers_come_from_a_file(
    service: Service, alice: Operator, page_at: PageAt, looks_good: Callable[[Page], None]
) -> None:
    offer(alice, name="The Morning mug", kind="physical")
    mug = claim(alice, "ana@example.org")["uuid"]
    desk = page_at(DESKTOP)
    sit_down(desk, alice)
    desk.goto(f"{service.url}/shipments")
    desk.get_by_role("link", name="Tracking numbers").click()
    lines = f"shipment_uuid,carrier,tracking_number\n{mug},USPS,9400 1000\nnone,USPS,17\n"
    file = {"name": "labels.csv", "mimeType": "text/csv", "buffer": lines.encode()}
    desk.get_by_label("CSV file").set_input_files([file])
    desk.get_by_role("button", name="See what will happen").click()
    expect(desk.get_by_role("heading", name="1 line left out")).to_be_visible()
    looks_good(desk)
    desk.get_by_role("button", name="Mark 1 as sent").click()
    expect(desk.get_by_text("1 shipment marked as sent.")).to_be_visible()


def test_names_of_sent_rewards_have_room_beside_long_notes(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    """The sentences about when and by whom would take it."""
    offer(alice, name="A jar from our own hives", kind="physical")
    jar = claim(alice, "esther_mori7109@post.example.org")["uuid"]
    alice.web.post("/shipments", id=jar, tracking_note="USPS 9400 1000 0000 0000 0000 17")
    desk = page_at(DESKTOP)
    sit_down(desk, alice)
    desk.goto(f"{service.url}/shipments?show=sent")
    heights = "e => e.getBoundingClientRect().height / parseFloat(getComputedStyle(e).lineHeight)"
    assert desk.get_by_text("A jar from our own hives", exact=True).evaluate(heights) < 2.5
