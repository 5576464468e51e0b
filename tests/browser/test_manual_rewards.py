"""A reward that the operator hands over, from the claim to "done", in a real browser: declined once
with a sentence, claimed again, and marked as done.
"""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, PHONE, PageAt
from tests.browser.test_dashboard import sit_down
from tests.support.delayed import pass_minute
from tests.support.newsletter import Newsletter
from tests.support.prizes import offer
from tests.support.service import Service
from tests.support.web import Operator

pytestmark = pytest.mark.usefixtures("quick_hands")
WHY = "The next issue is full. Please claim it again in May."


def _not_now(page: Page) -> None:
    """Looks are checked with scripts, which show more."""


def _claim(reader: Page) -> None:
    reader.get_by_role("button", name="Claim A shout-out").first.click()
    expect(reader.get_by_text("Being prepared", exact=True)).to_be_visible()
    expect(reader.get_by_role("button", name="Claim A shout-out")).to_have_count(0)


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_a_claim_is_declined_made_again_and_done(
    service: Service,
    alice: Operator,
    page_at: PageAt,
    looks_good: Callable[[Page], None],
    scripts: bool,
) -> None:
    wax = Newsletter(service, member=alice)
    check = looks_good if scripts else _not_now
    offer(alice, name="A shout-out", kind="manual")
    reader, desk = page_at(PHONE, scripts=scripts), page_at(DESKTOP, scripts=scripts)
    sit_down(desk, alice)
    reader.goto(service.url + wax.hub(wax.advocate(1)))
    _claim(reader)
    check(reader)

    desk.goto(service.url)
    desk.get_by_text("1 claimed reward to fulfill").first.click()
    desk.get_by_role("link", name="Open rewards").click()
    row = desk.get_by_role("row", name="Ben Baker")
    expect(row).to_contain_text("claimed")
    row.get_by_text("Decline", exact=False).first.click()
    row.get_by_label("A sentence for the subscriber").fill(WHY)
    check(desk)
    row.get_by_role("button", name="Decline the claim").click()
    pass_minute(service)
    reader.reload()
    expect(reader.get_by_text(WHY)).to_be_visible()
    check(reader)

    _claim(reader)
    desk.goto(f"{service.url}/rewards")
    desk.get_by_role("row", name="Ben Baker").get_by_role("button", name="Mark as done").click()
    pass_minute(service)
    desk.reload()
    expect(desk.get_by_role("button", name="Mark as done")).to_have_count(0)
    reader.reload()
    expect(reader.get_by_text("Done", exact=True)).to_be_visible()
    check(reader)
