"""Taking fees back in a real browser: one or many, with and without scripts."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DESKTOP, Appearance, PageAt
from tests.browser.test_partners import sit_down
from tests.support.partner_network import join, offer, publish
from tests.support.service import Service
from tests.support.web import Operator, operator

NOTE = "These three came from one rack of servers within a minute."


class Paid:
    """A program of Alice's that paid for five referrals of Bob's, and took one fee back."""

    def __init__(self, service: Service) -> None:
        self.alice, self.bob = operator(service, "alice"), operator(service, "bob")
        self.program = offer(self.alice, publish(self.alice, name="The Morning Wax"))
        self.joined = join(self.bob, self.program)
        for n in range(5):
            email = f"reader{n}@example.org"
            self.alice.subscribe(email, referrer_code=self.joined["ref_code"])
        taken, *self.paid = self.referrals()
        self.reverse = f"/program/{self.program['uuid']}/reversal"
        path = f"/v2/partner_programs/{self.program['uuid']}/referrals/{taken['uuid']}/reversal"
        assert self.alice.post(path, {"reason": "duplicate"}).status_code == 201
        chosen = "&".join(f"referral={each['uuid']}" for each in self.paid[:3])
        self.pages: dict[str, tuple[Operator, str]] = {
            "program": (self.alice, f"/program/{self.program['uuid']}"),
            "reversal": (self.alice, f"{self.reverse}?{chosen}"),
            "reversal-none": (self.alice, self.reverse),
            "subscriber": (self.alice, f"/subscribers/{taken['subscriber_uuid']}"),
            "earnings": (self.bob, "/earnings?show=rejected"),
            "partner-notifications": (self.bob, "/notices"),
        }

    def referrals(self) -> list[dict[str, Any]]:
        path = f"/v2/partner_programs/{self.program['uuid']}/referrals"
        return self.alice.get(path).json()["referrals"]  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def paid(service: Service) -> Paid:
    return Paid(service)


@pytest.mark.long
def test_every_page_about_fees_taken_back(
    service: Service, paid: Paid, page_at: PageAt, looks_good: Callable[[Page], None]
) -> None:
    for who, path in paid.pages.values():
        page = sit_down(page_at(DESKTOP), who)
        answer = page.goto(service.url + path)
        assert answer is not None and answer.status == 200, path
        looks_good(page)


@pytest.mark.long
def test_every_page_loaded_in_every_look(
    service: Service, paid: Paid, appearance: Appearance
) -> None:
    for name, (who, path) in paid.pages.items():
        page = sit_down(appearance.page(), who)
        page.goto(service.url + path)
        appearance.check(page, f"fee-{name}")


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_one_is_chosen_and_taken_back(
    service: Service, paid: Paid, page_at: PageAt, scripts: bool
) -> None:
    page = sit_down(page_at(DESKTOP, scripts=scripts), paid.alice)
    page.goto(service.url + paid.pages["program"][1])
    boxes = page.locator("input[name=referral]")
    count = boxes.count()
    boxes.first.check()
    page.get_by_role("button", name="Take back the fee").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Take back $3.00")
    page.get_by_role("button", name="Take back $3.00").click()
    expect(page.get_by_role("alert")).to_have_text("Choose a reason.")
    page.get_by_label("Something else").check()
    page.get_by_label("Message to the partner").fill(NOTE)
    page.get_by_role("button", name="Take back $3.00").click()
    expect(page.get_by_role("status")).to_contain_text("1 charge taken back.")
    expect(page.locator("main")).to_contain_text(NOTE)
    expect(page.locator("input[name=referral]")).to_have_count(count - 1)
