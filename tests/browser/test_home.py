"""Home in a real browser: what the first screen shows, what pointing at somebody does, who appears
while it is open, and how heavy it is with as many people as it draws."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from honeyguide.kernel.clock import DAY_MS, iso
from tests.browser.conftest import DESKTOP, HEIGHTS, PHONE, PageAt, weights
from tests.browser.test_dashboard import HEAVIEST, sit_down
from tests.support.running_demo import Demo, running_demo
from tests.support.service import Service
from tests.support.stores import statement
from tests.support.web import Operator, operator

pytestmark = pytest.mark.usefixtures("quick_hands")

# As many as are drawn one by one, brought by 300 people, in the last 90 days.
MANY = statement(
    """WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1500)
    INSERT INTO subscriber (id, account_id, campaign_id, email, person_key, name, ref_code, origin,
        created_ms, received_ms, referrer_id, referrer_code, referral_status)
    SELECT :prefix || n, :account_id, :campaign_id, 'm' || n || '@example.org', 'k' || n,
        'Somebody ' || n, :prefix || 'c' || n, 'api', :now_ms - n * 5000000, :now_ms - n * 5000000,
        :prefix || (n % 300 + 1), 'x',
        CASE n % 3 WHEN 0 THEN 'pending' WHEN 1 THEN 'verified' ELSE 'rejected' END FROM n""",
    touches="changes subscriber",
)


def fill(service: Service) -> Operator:
    """A month like any other: some brought by three people, one of whom came through another, some
    by nobody, one that waits for a decision, and others in the month before."""
    alice = operator(service)
    at = lambda days: {"created_at": iso(service.now_ms() - days * DAY_MS)}  # noqa: E731
    lead = alice.subscribe("lea@example.org", name="Lea Dahl", **at(50))
    friend = alice.subscribe(
        "ida@example.org", name="Ida Holm", referrer_code=lead["ref_code"], **at(20)
    )
    for number in range(24):
        code = (lead["ref_code"], friend["ref_code"], None)[number % 3]
        referred = {"referrer_code": code} if code else {}
        alice.subscribe(f"r{number}@example.org", name=f"R {number}", **referred, **at(number))
        alice.subscribe(f"b{number}@example.org", **at(33 + number))
    service.run_jobs()
    return alice


@pytest.fixture(scope="module")
def alice(service: Service) -> Operator:
    return fill(service)


def bottom(page: Page, place: str) -> float:
    box = page.locator(place).first.bounding_box()
    assert box is not None, f"there is no {place}"
    return box["y"] + box["height"]


def check_first_screen(page: Page, width: int) -> None:
    """Not hidden behind the bar that phones have at the bottom."""
    bar = page.locator("nav.thumb")
    covered = 0.0
    if bar.count() and bar.is_visible():
        box = bar.bounding_box()
        covered = box["height"] if box else 0
    end = HEIGHTS[width] - covered
    for place in ("main h1", ".figures", ".needs, [data-live=needs]"):
        assert bottom(page, place) <= end, place
    if width == DESKTOP:
        top = page.locator("svg.comb").bounding_box()
        assert top is not None and top["y"] + 120 <= end, "the top of the picture"


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_the_first_screen_has_the_answer(
    service: Service, alice: Operator, page_at: PageAt, width: int
) -> None:
    page = sit_down(page_at(width), alice)
    page.goto(service.url)
    assert page.locator(".figures .figure").count() >= 3
    check_first_screen(page, width)
    assert page.title().startswith("Home · ")


# How far the outermost hexagons reach over the edges of what shows them, when it is scrolled there.
CUT_OFF = """() => {
    const pan = document.querySelector(".pan"), cells = [...pan.querySelectorAll(".cell")];
    const left = Math.min(...cells.map((each) => each.getBoundingClientRect().left));
    const right = Math.max(...cells.map((each) => each.getBoundingClientRect().right));
    const end = pan.getBoundingClientRect().right;
    return [right - end, end - pan.scrollWidth - left];
}"""


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_no_hexagon_is_cut_off_at_the_edge(
    service: Service, alice: Operator, page_at: PageAt, width: int
) -> None:
    page = sit_down(page_at(width), alice)
    page.goto(service.url)
    right, left = page.evaluate(CUT_OFF)
    assert right <= 0 and left <= 0, (right, left)


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    with running_demo() as demo:
        yield demo


@pytest.mark.long
@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_the_first_screen_of_the_demo_has_the_answer(
    demo: Demo, page_at: PageAt, width: int
) -> None:
    url, email, password = demo
    page = page_at(width)
    page.goto(f"{url}/login")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Log in").click()
    expect(page.locator(".figures .figure")).to_have_count(4)
    check_first_screen(page, width)
    assert sum(weights(page, url).values()) < HEAVIEST


def opacity(page: Page, slot: str) -> float:
    cells = page.locator(f'.src[data-s="{slot}"] > .own').first
    return float(cells.evaluate("(each) => getComputedStyle(each).opacity"))


@pytest.mark.parametrize("scripts", [True, False])
def test_pointing_at_somebody_dims_all_others(
    service: Service, alice: Operator, page_at: PageAt, scripts: bool
) -> None:
    page = sit_down(page_at(DESKTOP, scripts=scripts), alice)
    page.goto(service.url)
    lea, ida = "s0", "s1"
    assert opacity(page, lea) == opacity(page, ida) == opacity(page, "none") == 1
    page.locator('.by a[data-who="none"]').hover()
    assert opacity(page, lea) < 0.5 and opacity(page, "none") == 1
    page.locator(f'.by a[data-who="{lea}"]').focus()
    page.mouse.move(0, 0)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert opacity(page, lea) == opacity(page, ida) == 1, "Ida came through Lea"
    assert opacity(page, "none") < 0.5
    page.locator(f'.src[data-s="{ida}"] > .own use').first.hover()
    assert opacity(page, "none") < 0.5 and opacity(page, ida) == 1
    text = page.locator(f'.src[data-s="{ida}"] > .say')
    expect(text).to_have_text(re.compile("Ida Holm: 8 joined.*Came through Lea Dahl"))
    assert text.evaluate("(each) => getComputedStyle(each).opacity") == "1"
    page.locator(f'.src[data-s="{ida}"] > .own use').first.click()
    expect(page.get_by_role("heading", name="Ida Holm").first).to_be_visible()


def test_somebody_who_joins_appears_while_the_page_is_open(
    service: Service, page_at: PageAt
) -> None:
    alice = fill(service)
    page = sit_down(page_at(DESKTOP), alice)
    page.clock.install()
    page.goto(service.url)
    cells = page.locator("svg.comb .cell")
    expect(cells).to_have_count(25)
    page.locator(".combcard summary").click()
    service.set_clock(5)
    alice.subscribe("late@example.org", name="Late Comer")
    page.mouse.move(0, 0)
    page.locator("body").evaluate("() => document.activeElement.blur()")
    with page.expect_response(re.compile("/overview/new")) as answer:
        page.clock.run_for(10_000)
    assert answer.value.status == 200
    expect(cells).to_have_count(26)
    expect(page.locator(".cell.new")).to_have_count(1)
    expect(page.get_by_role("status")).to_have_text("New subscribers: 26")
    expect(page.locator(".combcard details")).to_have_attribute("open", "")
    with page.expect_response(re.compile("/overview/new")) as answer:
        page.clock.run_for(10_000)
    assert answer.value.status == 204, "it knows of them now"


def test_as_many_people_as_are_drawn_make_no_heavy_page(
    service: Service, page_at: PageAt, fits: Callable[[Page], None]
) -> None:
    alice = operator(service)
    params = {"account_id": alice.account_id, "campaign_id": alice.campaign_id}
    prefix = alice.campaign_id[-8:]
    service.write(lambda tx: tx.run(MANY, **params, prefix=prefix, now_ms=service.now_ms()))
    service.run_jobs()
    page = sit_down(page_at(DESKTOP), alice)
    url = f"{service.url}/?range=90d"
    found = weights(page, url)
    expect(page.locator("svg.comb .cell")).to_have_count(1_500)
    assert sum(found.values()) < HEAVIEST, found
    fits(page)


@pytest.mark.long
def test_home_is_good_in_every_look_and_when_nobody_is_there(
    service: Service, alice: Operator, page_at: PageAt, looks_good: Callable[[Page], None]
) -> None:
    for who, path in ((alice, "/?range=7d"), (alice, "/?range=90d"), (operator(service), "/")):
        page = sit_down(page_at(DESKTOP), who)
        page.goto(service.url + path)
        looks_good(page)
