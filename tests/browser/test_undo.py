"""Delayed actions in a browser: the message with Undo, the note beside the subject, and what both
become when the minute is over. With and without scripts.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import APPEARANCES, DESKTOP, PHONE, PageAt
from tests.browser.test_dashboard import sit_down
from tests.support import belongings
from tests.support.delayed import pass_minute
from tests.support.service import Service
from tests.support.web import Operator

pytestmark = pytest.mark.usefixtures("quick_hands")
NOTE = "Will be verified in less than a minute"


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_one_undoes_by_the_message_or_beside_the_referral(
    service: Service, alice: Operator, page_at: PageAt, scripts: bool
) -> None:
    first, second = belongings.pending(alice), belongings.pending(alice)
    page = sit_down(page_at(DESKTOP, scripts=scripts), alice)
    page.goto(f"{service.url}/subscribers/{first}")
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("status")).to_contain_text("1 referral will be verified in a minute.")
    expect(page.get_by_role("button", name="Verify")).to_have_count(0)
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("Undone. Nothing was changed.")
    expect(page.get_by_role("button", name="Verify")).to_be_visible()

    page.goto(f"{service.url}/review?show=pending")
    for box in page.get_by_label("Select secret").all():
        box.check()
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("status")).to_contain_text("2 referrals will be verified in a minute.")
    expect(page.get_by_text(NOTE)).to_have_count(2)
    page.goto(f"{service.url}/subscribers/{second}")
    expect(page.get_by_role("status")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    assert page.url == f"{service.url}/subscribers/{second}"
    pass_minute(service)
    page.reload()
    expect(page.locator("article.person")).to_be_visible()
    statuses = [alice.subscriber(each)["referral_status"] for each in (first, second)]
    assert statuses == ["verified", "pending"]


def test_when_the_minute_is_over_nothing_offers_to_undo(
    service: Service, alice: Operator, page_at: PageAt
) -> None:
    referral = belongings.pending(alice)
    page = page_at(DESKTOP)
    page.clock.install()
    sit_down(page, alice)
    page.goto(f"{service.url}/subscribers/{referral}")
    page.get_by_role("button", name="Verify").click()
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_have_count(2)
    page.clock.fast_forward(50_000)
    expect(undo).to_have_count(2)
    page.clock.fast_forward(11_000)
    expect(undo).to_have_count(0)
    expect(
        page.get_by_text("Should be verified by now. Reload the page to see it.")
    ).to_be_visible()


def open_pages(service: Service, owner: Operator) -> dict[str, str]:
    """Each with something that waits."""
    web = owner.web
    referral = belongings.pending(owner)
    for index in range(2):
        web.post(
            "/review",
            page="/settings",
            id=belongings.pending(owner),
            do=["reject", "verify"][index],
        )
    web.post(f"/subscribers/{referral}", page="/settings", do="verify")
    person, earned = belongings.earned(owner, "manual")
    web.post("/rewards/hand-over", page="/settings", earned=earned, do="approve")
    noted, note = belongings.noted(owner)
    web.post(f"/subscribers/{noted}/notes", page="/settings", do="delete", note_id=note)
    saved = belongings.saved_filter(owner)
    web.post("/subscribers/filters", page="/settings", do="delete", id=saved)
    owner.service.run_jobs()
    return {
        "referral": f"/subscribers/{referral}",
        "reward": f"/subscribers/{person}",
        "note": f"/subscribers/{noted}",
        "review": "/review?show=pending",
        "review-by-referrer": "/review?show=pending&by=referrer",
        "rewards": "/rewards",
        "subscribers": "/subscribers",
    }


@pytest.mark.long
def test_pages_with_something_that_waits_look_good(
    service: Service,
    alice: Operator,
    page_at: PageAt,
    looks_good: Callable[[Page], None],
    screenshot: Callable[[Page, str], Path],
) -> None:
    pages = open_pages(service, alice)
    for width, theme in APPEARANCES:
        page = sit_down(page_at(width, theme), alice)
        for name, path in pages.items():
            page.goto(f"{service.url}{path}")
            expect(page.get_by_role("button", name="Undo").first).to_be_visible()
            screenshot(page, f"undo-{name}-{'phone' if width == PHONE else 'desktop'}-{theme}")
            if (width, theme) == APPEARANCES[-2]:
                looks_good(page)
        page.goto(f"{service.url}/subscribers/{belongings.pending(alice)}")
        page.get_by_role("button", name="Reject").click()
        expect(page.get_by_role("status")).to_contain_text("Undo")
        screenshot(page, f"undo-message-{'phone' if width == PHONE else 'desktop'}-{theme}")
