"""First looks in a real browser: at every width, in both themes, and answered by keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import APPEARANCES, DESKTOP, PageAt
from tests.browser.test_partners import sit_down
from tests.support.first_looks import asked
from tests.support.service import Service
from tests.support.web import Operator, operator


def with_a_card(service: Service) -> Operator:
    alice = operator(service)
    for number in range(60):
        alice.subscribe(f"own{number}@{('gmail.com', 'outlook.com', 'icloud.com')[number % 3]}")
    asked(alice, 12)
    return alice


def test_a_look_is_answered_by_keyboard_and_looks_good(
    service: Service, page_at: PageAt, looks_good: Callable[[Page], None]
) -> None:
    page = sit_down(page_at(DESKTOP, scripts=False), with_a_card(service))
    page.goto(f"{service.url}/review/looks")
    card = page.get_by_role("article")
    expect(card).to_contain_text("Look once.")
    card.get_by_role("button", name="Looks right").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("looking right in a minute")
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    with_scripts = sit_down(page_at(DESKTOP), with_a_card(service))
    with_scripts.goto(f"{service.url}/review/looks")
    looks_good(with_scripts)


@pytest.mark.long
@pytest.mark.parametrize(("width", "theme"), APPEARANCES)
def test_first_looks_in_all_looks(
    service: Service,
    page_at: PageAt,
    axe: Callable[[Page], None],
    screenshot: Callable[[Page, str], Path],
    width: int,
    theme: str,
) -> None:
    page = sit_down(page_at(width, theme), with_a_card(service))
    page.goto(f"{service.url}/review/looks")
    axe(page)
    screenshot(page, f"first-looks-{width}-{theme}")
