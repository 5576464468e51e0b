"""The pictures of README and docs show the pages of today: `make pictures` takes them anew."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser import pictures
from tests.browser.pictures import FOLDER, PICTURES, Picture, text_hash
from tests.support.running_demo import Demo, running_demo

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    with running_demo(pictures.MOMENT) as served:
        yield served


@pytest.mark.long
@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_a_picture_is_of_the_page_of_today(browser: Browser, demo: Demo, picture: Picture) -> None:
    width, height = picture.size
    page = browser.new_page(viewport={"width": width, "height": height})
    pictures.log_in(page, demo)
    pictures.open_picture(page, demo, picture)
    now = text_hash(page.content(), picture.tags)
    assert now == picture.hash_file.read_text().strip(), (
        "The page has changed: run `make pictures` and look at the pictures."
    )
    page.close()


@pytest.mark.long
def test_the_demo_of_a_day_is_the_same_each_time(browser: Browser) -> None:
    """So in the next pictures only that differs which was changed."""
    assert _said_by_a_demo(browser) == _said_by_a_demo(browser)


def _said_by_a_demo(browser: Browser) -> list[str]:
    """On some pages, without ids and the demo's own address."""
    texts = []
    with running_demo(pictures.MOMENT) as demo, browser.new_page() as page:
        pictures.log_in(page, demo)
        for path in ("/", "/program", "/review", "/subscribers", "/shipments", "/earnings"):
            page.goto(f"{demo.url}{path}")
            text = page.locator("main").inner_text().replace(demo.url, "")
            texts.append(re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "", text))
    return texts


def test_every_picture_is_shown_somewhere_and_there_is_no_other() -> None:
    shown = {
        name
        for file in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
        for name in re.findall(r"pictures/([\w-]+)\.png", file.read_text())
    }
    assert shown == {each.name for each in PICTURES} == {each.stem for each in FOLDER.glob("*.png")}


def test_what_a_page_says_is_hashed_without_its_data() -> None:
    page = "<h2>Deliveries <b>12</b></h2><td>Ana</td><th>Fee $2.50</th>"
    assert text_hash(page) == text_hash(page.replace("12", "7").replace("Ana", "Ben"))
    assert text_hash(page) != text_hash(page.replace("Fee", "Price"))
