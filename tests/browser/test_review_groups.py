"""Groups of referrals to review, and the check of an address, in a real browser: by keyboard,
without scripts, and at every width.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import APPEARANCES, DESKTOP, PageAt
from tests.browser.test_partners import sit_down
from tests.pages.dashboard.test_review_page import COUNTED, RARE, come, paid, suspicious
from tests.support.delayed import pass_minute
from tests.support.service import Service
from tests.support.web import Operator, operator


def with_groups(service: Service) -> Operator:
    alice = operator(service)
    alice.put(f"{alice.v1}/settings", {"screening": "strong"})
    come(alice, paid(alice), *RARE, *COUNTED)
    suspicious(alice, "ann", 3, "9.9.9.9")
    return alice


def test_a_group_is_rejected_by_keyboard_without_scripts(service: Service, page_at: PageAt) -> None:
    page = sit_down(page_at(DESKTOP, scripts=False), with_groups(service))
    page.goto(f"{service.url}/review")
    page.get_by_role("link", name="In groups").click()
    first = page.get_by_role("region", name="6 referrals by")
    first.get_by_role("textbox").focus()
    page.keyboard.type("A farm")
    page.keyboard.press("Tab")
    expect(first.get_by_role("button", name="Reject 6")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("6 referrals will be rejected in a minute.")
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    first.get_by_role("button", name="Verify 6").click()
    pass_minute(service)
    page.reload()
    expect(page.get_by_role("region")).to_have_count(2)


def test_letters_typed_into_the_reason_decide_nothing(service: Service, page_at: PageAt) -> None:
    page = sit_down(page_at(DESKTOP), with_groups(service))
    page.goto(f"{service.url}/review?by=referrer")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    group = page.get_by_role("region", name="6 referrals by")
    reason = group.get_by_role("textbox")
    reason.press_sequentially("vrjkz")
    expect(reason).to_have_value("vrjkz")
    expect(reason).to_be_focused()
    # A request that a letter had begun would be sent before this one.
    page.reload()
    assert "POST" not in sent
    # Outside of the field they are what the page says.
    page.keyboard.press("j")
    expect(group).to_be_focused()
    page.keyboard.press("v")
    expect(page.get_by_role("status")).to_contain_text("6 referrals will be verified in a minute.")


def test_of_a_group_only_those_who_are_chosen_are_decided(
    service: Service, page_at: PageAt
) -> None:
    page = sit_down(page_at(DESKTOP), with_groups(service))
    page.goto(f"{service.url}/review?by=referrer")
    group, other = page.get_by_role("region").all()[:2]
    group.get_by_text("The 6 subscribers").click()
    boxes = group.get_by_role("checkbox").all()
    assert len(boxes) == 6
    for n, box in enumerate(boxes, 1):
        expect(group.get_by_role("button", name=f"Verify {7 - n}")).to_be_enabled()
        box.uncheck()
    for verb in ("Verify 0", "Reject 0"):
        expect(group.get_by_role("button", name=verb)).to_be_disabled()
    expect(other.get_by_role("button", name="Verify")).to_be_enabled()
    boxes[0].focus()
    page.keyboard.press("v")
    expect(page.get_by_role("button", name="Undo")).to_have_count(0)
    boxes[0].check()
    group.get_by_role("button", name="Reject 1").click()
    expect(page.get_by_role("status")).to_contain_text("1 referral will be rejected in a minute.")


def test_groups_look_good(
    service: Service, page_at: PageAt, looks_good: Callable[[Page], None]
) -> None:
    page = sit_down(page_at(DESKTOP), with_groups(service))
    page.goto(f"{service.url}/review?by=referrer")
    looks_good(page)


def test_an_address_is_checked_without_scripts(
    service: Service, page_at: PageAt, looks_good: Callable[[Page], None]
) -> None:
    alice = with_groups(service)
    code = alice.subscribe("lea@gmail.com")["ref_code"]
    come(alice, code, *(each.replace("quiet-harbor", "still-water") for each in RARE))
    page = sit_down(page_at(DESKTOP, scripts=False), alice)
    page.goto(f"{service.url}/review")
    page.get_by_role("link", name="What would happen").click()
    page.get_by_label("Email address").fill("nils@still-water.example")
    page.get_by_label("Referral code").fill(code)
    page.keyboard.press("Enter")
    found = page.get_by_role("status")
    expect(found).to_contain_text("Pending")
    expect(found).to_contain_text("still-water.example")
    expect(page.get_by_label("Referral code")).to_have_value(code)
    with_scripts = sit_down(page_at(DESKTOP), alice)
    with_scripts.goto(f"{service.url}/review/check")
    with_scripts.get_by_label("Email address").fill("nils@still-water.example")
    with_scripts.get_by_label("Referral code").fill(code)
    with_scripts.get_by_role("button", name="Check the address").click()
    expect(with_scripts.get_by_role("status")).to_contain_text("Pending")
    looks_good(with_scripts)


@pytest.mark.long
@pytest.mark.parametrize(("width", "theme"), APPEARANCES)
def test_groups_in_all_looks(
    service: Service,
    page_at: PageAt,
    axe: Callable[[Page], None],
    screenshot: Callable[[Page, str], Path],
    width: int,
    theme: str,
) -> None:
    page = sit_down(page_at(width, theme), with_groups(service))
    page.goto(f"{service.url}/review?by=referrer")
    axe(page)
    screenshot(page, f"review-groups-{width}-{theme}")
    page.goto(f"{service.url}/review/check")
    page.get_by_label("Email address").fill("ida@quiet-harbor.example")
    page.get_by_label("Referral code").fill("k7m2x9pa")
    page.get_by_role("button", name="Check the address").click()
    axe(page)
    screenshot(page, f"review-check-{width}-{theme}")
