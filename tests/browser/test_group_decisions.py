"""Deciding many referrals and adjusting progress in a real browser: by keyboard, without scripts,
and at every width.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import APPEARANCES, DESKTOP, PageAt
from tests.browser.test_partners import sit_down
from tests.support.delayed import pass_minute
from tests.support.prizes import offer
from tests.support.service import Service
from tests.support.web import Operator


def pending(alice: Operator, count: int) -> list[dict[str, Any]]:
    alice.put(f"{alice.v1}/settings", {"hold_days": 9})
    code = alice.subscribe("lea@example.org", name="Lea Dahl")["ref_code"]
    return [alice.subscribe(f"r{n}@example.org", referrer_code=code) for n in range(count)]


def test_a_selection_is_rejected_by_keyboard_without_scripts(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    pending(alice, 3)
    page = sit_down(page_at(DESKTOP, scripts=False), alice)
    page.goto(f"{service.url}/review?show=pending")
    for name in ("r0", "r2"):
        page.get_by_label(f"Select {name}@example.org").focus()
        page.keyboard.press("Space")
    page.get_by_label("Reason, optional").focus()
    page.keyboard.type("Bought addresses")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Reject")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("2 referrals will be rejected in a minute.")
    pass_minute(service)
    page.goto(f"{service.url}/subscribers?q=r2@")
    page.get_by_role("link", name="r2@example.org").click()
    expect(page.get_by_text("“Bought addresses”")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_enter_in_the_reason_decides_nothing(
    service: Service, alice: Operator, page_at: PageAt, scripts: bool
) -> None:
    first, _ = pending(alice, 2)
    page = sit_down(page_at(DESKTOP, scripts=scripts), alice)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    for path, label in (
        ("/review?show=pending", "Reason, optional"),
        (f"/subscribers/{first['uuid']}", "Reason (optional)"),
    ):
        page.goto(f"{service.url}{path}")
        if "review" in path:
            page.get_by_label("Select r0@example.org").check()
        page.get_by_label(label).fill("Bought addresses")
        page.get_by_label(label).press("Enter")
        expect(page.get_by_label(label)).to_have_value("Bought addresses")
    # A request that Enter had begun would be sent before this one.
    page.goto(f"{service.url}/review?show=pending")
    assert "POST" not in sent


def test_progress_is_adjusted_without_scripts(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    offer(alice, name="Mug", referrals=2)
    ana = alice.subscribe("ana@example.org")
    page = sit_down(page_at(DESKTOP, scripts=False), alice)
    page.goto(f"{service.url}/subscribers/{ana['uuid']}")
    page.get_by_text("Adjust progress").click()
    page.get_by_label("Amount").fill("2")
    page.get_by_label("Reason", exact=True).fill("Met at our event")
    page.get_by_role("button", name="Adjust", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Progress adjusted by +2.")
    expect(page.get_by_role("region", name="Rewards", exact=True)).to_contain_text("Mug")


@pytest.mark.long
@pytest.mark.parametrize(("width", "theme"), APPEARANCES)
def test_it_looks_good(
    service: Service,
    alice: Operator,
    page_at: PageAt,
    looks_good: Callable[[Page], None],
    screenshot: Callable[[Page, str], Path],
    width: int,
    theme: str,
) -> None:
    first = pending(alice, 2)[0]
    lea = alice.subscriber("lea@example.org")
    for amount in (12, -3):
        fields = {"amount": amount, "reason": "Brought friends to our meetup in the old town hall"}
        alice.post(f"{alice.v1}/subscribers/{lea['uuid']}/adjustments", fields)
    page = sit_down(page_at(width, theme), alice)
    paths = {
        "review": "/review?show=pending",
        "decision": f"/subscribers/{first['uuid']}",
        "adjusted": f"/subscribers/{lea['uuid']}",
    }
    for name, path in paths.items():
        page.goto(f"{service.url}{path}")
        looks_good(page)
        screenshot(page, f"{name}-{width}-{theme}")
