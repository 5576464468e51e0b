"""The documentation as it is built for a release, in a browser and under the service's policy."""

import subprocess
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from honeyguide.pages import guide
from tests.browser.conftest import PageAt
from tests.support.documents import ROOT
from tests.support.service import Service

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    built = tmp_path_factory.mktemp("built") / "guide"
    subprocess.run(["make", "--silent", "site", f"GUIDE={built}"], cwd=ROOT, check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guide, "FOLDER", built)
        with Service("sqlite") as service:
            yield service


@pytest.mark.parametrize("name", ["", "quickstart.html", "decisions/index.html"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_look_as_they_were_drawn(
    service: Service,
    page_at: PageAt,
    fits: Callable[[Page], None],
    name: str,
    theme: str,
) -> None:
    """`page_at` fails for anything that the policy refuses."""
    page = page_at(theme=theme)
    page.goto(f"{service.url}/docs/guide/{name}")
    ground = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(28, 25, 18)"}[theme]
    expect(page.locator("h1")).to_have_count(1)
    fits(page)
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page)


def test_the_search_finds_a_page(service: Service, page_at: PageAt) -> None:
    page = page_at()
    page.goto(f"{service.url}/docs/guide/")
    page.get_by_placeholder("Search").fill("troubleshooting")
    page.keyboard.press("Enter")
    results = page.locator("#search-results li a")
    expect(results.first).to_be_visible()
    results.first.click()
    expect(page.locator("h1")).to_contain_text("Troubleshooting")


def test_the_theme_can_be_chosen(service: Service, page_at: PageAt) -> None:
    page = page_at()
    page.goto(f"{service.url}/docs/guide/")
    page.locator("button.theme-toggle:visible").click()
    chosen = page.evaluate("() => document.body.dataset.theme")
    assert chosen != "auto"
    page.reload()
    assert page.evaluate("() => document.body.dataset.theme") == chosen
