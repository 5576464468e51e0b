"""A mug from the reward form to the subscriber who sees that it was sent, in a real browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, PHONE, PageAt
from tests.browser.test_dashboard import sit_down
from tests.support.newsletter import Newsletter
from tests.support.service import Service
from tests.support.web import operator

pytestmark = pytest.mark.usefixtures("quick_hands")


@pytest.mark.parametrize("scripts", [pytest.param(True, marks=pytest.mark.long), False])
def test_a_mug_is_defined_claimed_sent_and_seen(
    service: Service, page_at: PageAt, looks_good: Callable[[Page], None], scripts: bool
) -> None:
    alice = operator(service)
    wax = Newsletter(service, member=alice)
    desk = page_at(DESKTOP, scripts=scripts)
    sit_down(desk, alice)

    desk.goto(f"{service.url}/rewards")
    desk.get_by_label("Reward name").fill("The Morning mug")
    desk.get_by_label("Referrals needed", exact=True).fill("1")
    desk.get_by_label("Physical item").check()
    desk.get_by_label("Sizes or variants").fill("Sage\nHoney")
    desk.get_by_role("button", name="Add reward").click()
    expect(desk.get_by_text("Sage, Honey")).to_be_visible()

    ben = wax.advocate(0)
    friend = page_at(PHONE, scripts=scripts)
    friend.goto(f"{service.url}/r/{ben.ref_code}")
    friend.get_by_label("Your email address").fill(wax.address("friend"))
    wax.later()
    friend.get_by_role("button", name="Subscribe").click()
    expect(friend.get_by_role("heading", level=1)).to_have_text("You’re in. Thank you!")

    reader = page_at(PHONE, scripts=scripts)
    reader.goto(service.url + wax.hub(ben))
    expect(reader.get_by_text("Ready to claim")).to_be_visible()
    reader.get_by_role("link", name="Claim The Morning mug").click()
    if scripts:
        looks_good(reader)
    reader.get_by_label("Option", exact=True).select_option("Honey")
    reader.get_by_label("Street address").fill("Rua das Flores 112")
    reader.get_by_label("City").fill("Porto")
    reader.get_by_label("ZIP or postal code").fill("4050-262")
    reader.get_by_label("Country").select_option("Portugal")
    reader.get_by_label("Phone").fill("+351 22 555 0100")
    reader.get_by_role("button", name="Submit").click()
    expect(reader.get_by_text("Being prepared", exact=True)).to_be_visible()

    desk.goto(f"{service.url}/shipments")
    row = desk.get_by_role("row", name="Ben Baker")
    expect(row).to_contain_text("Honey")
    expect(row.locator("address")).to_contain_text("4050-262 Porto")
    row.get_by_role("checkbox").check()
    desk.get_by_label("Tracking note (optional)").fill("RR 123 456 785 PT")
    desk.get_by_role("button", name="Mark as sent", exact=True).click()
    expect(desk.get_by_text("1 shipment marked as sent.")).to_be_visible()
    expect(desk.get_by_role("heading", name="Nothing to send")).to_be_visible()
    desk.get_by_role("link", name="Sent 1").click()
    expect(desk.get_by_text("RR 123 456 785 PT")).to_be_visible()

    reader.reload()
    expect(reader.get_by_text("Sent", exact=True)).to_be_visible()
    expect(reader.get_by_text("RR 123 456 785 PT")).to_be_visible()
    if scripts:
        looks_good(reader)
