"""A real browser for the pages: one Chromium per test process, a fresh context per page, and what
every page is held to.
"""

import gzip
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright

from honeyguide.accounts import attempts
from tests.browser.embedding import policy
from tests.support.operators import alice, bob
from tests.support.service import Service
from tests.support.website import Website

__all__ = ["alice", "bob"]

SMALL_PHONE, PHONE, TABLET, DESKTOP = 360, 390, 1024, 1280
HEIGHTS = {SMALL_PHONE: 800, PHONE: 844, DESKTOP: 900}
APPEARANCES = [(PHONE, "light"), (PHONE, "dark"), (DESKTOP, "light"), (DESKTOP, "dark")]

ARTIFACTS = Path(__file__).parent.parent.parent / "artifacts" / "screenshots"
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")

# What a finger has to hit and is under 24 px high or wide. Links in running text may be.
SMALL_TARGETS = """() => [...document.querySelectorAll(
    "button, summary, select, textarea, input:not([type=hidden]), a.btn, nav a"
)].filter((each) => each.checkVisibility() && !each.closest(".unseen, .skip")).map((each) => {
    const box = (each.closest("label") ?? each).getBoundingClientRect();
    return [each.outerHTML.slice(0, 120), Math.round(box.width), Math.round(box.height)];
}).filter(([, width, height]) => width < 24 || height < 24)"""

# Words that go over two lines because their column is too narrow for them. What is longer, or no
# word, such as an address, may be broken; scripts without spaces have no words to look for.
BROKEN_WORDS = r"""() => {
    const found = [], range = document.createRange();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const linesOf = () => new Set([...range.getClientRects()].filter((box) => box.width)
        .map((box) => Math.round(box.top))).size;
    while (texts.nextNode()) {
        const text = texts.currentNode, around = text.parentElement;
        range.selectNodeContents(text);
        if (!/\p{L}{3}/u.test(text.data) || linesOf() < 2) continue;
        if (!around.checkVisibility() || around.closest("svg, .unseen, .skip, .trap")) continue;
        for (const word of text.data.matchAll(/(?<![^\s(“])\p{L}{3,24}(?=[\s.,:;!?)”…]|$)/gu)) {
            if (/[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}]/u.test(word[0])) continue;
            range.setStart(text, word.index);
            range.setEnd(text, word.index + word[0].length);
            if (linesOf() > 1) found.push([word[0], around.outerHTML.slice(0, 120)]);
        }
    }
    return found;
}"""

# Opens all that is folded, or folds it again.
UNFOLD = """() => { for (const fold of document.querySelectorAll("details:not([open])")) {
    fold.dataset.folded = fold.getAttribute("name") ?? "";
    fold.removeAttribute("name");
    fold.open = true } }"""
FOLD = """() => { for (const fold of document.querySelectorAll("details[data-folded]")) {
    fold.open = false;
    if (fold.dataset.folded) fold.name = fold.dataset.folded;
    delete fold.dataset.folded } }"""

# The five seconds of Playwright are too few where the machine has much else to do.
expect.set_options(timeout=30_000)

PageAt = Callable[..., Page]

# A page load costs the shell half of what it costs the whole browser. With neither installed,
# Playwright starts its own.
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
# The whole browser is needed where its settings matter, as for third-party cookies.
WHOLE_CHROMIUM = shutil.which("chromium")

# The sandbox needs rights that containers seldom have; our own pages are all this browser sees.
NO_SANDBOX = "--no-sandbox"


# Not for the whole session: while it is open an event loop runs in this thread, and other tests
# want to run their own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[NO_SANDBOX])
        yield browser
        browser.close()


@pytest.fixture
def page_at(browser: Browser) -> Iterator[PageAt]:
    """`page_at(390, "dark")`: a page of this width and theme; `scripts=False` switches JavaScript
    off.

    Afterwards no page may have asked another host for anything, nor have had an error or a breach
    of its policy to report.
    """
    contexts: list[BrowserContext] = []
    asked: list[str] = []
    troubles: list[str] = []

    def open_page(
        width: int = DESKTOP, theme: str = "light", *, scripts: bool = True, **options: Any
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": HEIGHTS.get(width, 900)},
            color_scheme=theme,
            java_script_enabled=scripts,
            reduced_motion="reduce",
            device_scale_factor=2 if width < 600 else 1,
            has_touch=width < 600,
            **options,
        )
        contexts.append(context)
        context.on("request", lambda request: asked.append(request.url))
        context.on("weberror", lambda error: troubles.append(str(error.error)))
        context.on(
            "console",
            lambda message: troubles.append(message.text) if message.type == "error" else None,
        )
        return context.new_page()

    yield open_page
    for context in contexts:
        context.close()
    outside = {
        url for url in asked if urlsplit(url).hostname not in (None, "", "127.0.0.1", "localhost")
    }
    assert not outside, f"the pages asked other hosts: {outside}"
    # A refusal (4xx) is logged by the browser as an error of its own; those are what some tests are
    # about.
    assert not [text for text in troubles if "Failed to load resource" not in text]


@pytest.fixture(scope="session")
def axe() -> Callable[..., None]:
    """Fails with a readable list when a page has a finding that is serious or critical.
    `colors_only` checks contrast and nothing else.
    """

    def check(page: Page, *, colors_only: bool = False) -> None:
        # Evaluated by the debugger, not loaded by the page, so that the page's policy stays as
        # strict as it is.
        if not page.evaluate("() => 'axe' in window"):
            page.evaluate(AXE)
        # Previews in frames are pages that are checked on their own; axe would wait for each.
        options: dict[str, Any] = {"resultTypes": ["violations"], "iframes": False}
        if colors_only:
            options["runOnly"] = ["color-contrast"]
        # Not the whole answer: to send what passed to us would cost as much as to check it.
        violations = page.evaluate(
            "async (options) => (await axe.run(document, options)).violations", options
        )
        serious = [
            f"{violation['id']}: {violation['help']}: "
            f"{[node['html'][:160] for node in violation['nodes']]}"
            for violation in violations
            if violation["impact"] in ("serious", "critical")
        ]
        assert not serious, "\n".join(serious)

    return check


@pytest.fixture(scope="session")
def looks_good(axe: Callable[..., None], fits: Callable[..., None]) -> Callable[[Page], None]:
    """The open page in all widths, both themes and with large text, without loading it again.

    What is folded has to fit, too. Every rule on a desktop in light, the colors on a phone in dark.
    The markup is the same in both widths, so its rules are not checked again on a phone: the `long`
    tests do that, loading each page in all four looks.
    """

    def fits_unfolded(page: Page) -> None:
        fits(page)
        page.evaluate(UNFOLD)
        fits(page)
        page.evaluate(FOLD)

    def check(page: Page) -> None:
        expect(page.locator("h1")).to_have_count(1)
        fits_unfolded(page)
        axe(page)
        size = page.viewport_size
        assert size is not None
        page.set_viewport_size({"width": TABLET, "height": HEIGHTS[DESKTOP]})
        fits_unfolded(page)
        page.set_viewport_size({"width": PHONE, "height": HEIGHTS[PHONE]})
        fits_unfolded(page)
        assert page.evaluate(SMALL_TARGETS) == []
        page.evaluate("() => { document.documentElement.style.fontSize = '200%' }")
        fits(page, words=False)
        page.evaluate("() => { document.documentElement.style.fontSize = '' }")
        page.emulate_media(color_scheme="dark")
        axe(page, colors_only=True)
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(size)

    return check


class Appearance:
    """A width and a theme in which pages are loaded, photographed and checked."""

    def __init__(self, width: int, theme: str, page_at: PageAt, check: Callable[..., None]) -> None:
        self.width, self.theme = width, theme
        self._page_at, self._check = page_at, check

    def page(self) -> Page:
        return self._page_at(self.width, self.theme)

    def check(self, page: Page, name: str) -> None:
        self._check(page, f"{name}-{'phone' if self.width == PHONE else 'web'}-{self.theme}")


@pytest.fixture(params=APPEARANCES, ids=lambda appearance: f"{appearance[0]}-{appearance[1]}")
def appearance(
    request: pytest.FixtureRequest,
    page_at: PageAt,
    axe: Callable[..., None],
    fits: Callable[[Page], None],
    screenshot: Callable[[Page, str], Path],
) -> Appearance:
    """Each of the four looks, for the `long` tests that load every page in all of them."""

    def check(page: Page, name: str) -> None:
        screenshot(page, name)
        axe(page)
        fits(page)

    return Appearance(*request.param, page_at, check)


class LateAnswer:
    """Holds back the first answer of an address; later ones come at once."""

    def __init__(self, page: Page, address: str) -> None:
        self._page, self._address = page, address
        self._held: list[Route] = []
        page.route(address, self._answer)

    def _answer(self, route: Route) -> None:
        if self._held:
            route.continue_()
        else:
            self._held.append(route)

    def comes(self) -> None:
        """Returns once the scripts of the page have had it."""
        for _ in range(1_000):
            if self._held:
                break
            self._page.wait_for_timeout(10)  # in which the request arrives here
        with self._page.expect_response(self._address) as answer:
            self._held[0].continue_()
        answer.value.finished()
        # What is fetched later is answered later.
        self._page.evaluate("fetch('/healthz').then((answer) => answer.text())")


# By URL, which has a version, so that none is weighed twice.
STATIC_FILES: dict[str, int] = {}


def weights(page: Page, url: str) -> dict[str, int]:
    """What a page asks for until it is loaded, each part with its compressed size."""
    answer = page.goto(url)
    assert answer is not None
    asked = page.evaluate("() => performance.getEntriesByType('resource').map((each) => each.name)")
    found = {url: len(gzip.compress(answer.body()))}
    for part in sorted({each for each in asked if each.startswith("http")} - {url}):
        weight = STATIC_FILES.get(part) or len(gzip.compress(page.request.get(part).body()))
        if "/static/" in part:
            STATIC_FILES[part] = weight
        found[part] = weight
    return found


@pytest.fixture(scope="session")
def screenshot() -> Callable[[Page, str], Path]:
    """`screenshot(page, "hub-phone-dark")` keeps the whole page under artifacts/screenshots."""

    def keep(page: Page, name: str) -> Path:
        ARTIFACTS.mkdir(parents=True, exist_ok=True)
        path = ARTIFACTS / f"{name}.png"
        page.screenshot(path=path, full_page=True)
        return path

    return keep


@pytest.fixture(scope="session")
def fits() -> Callable[..., None]:
    """Nothing on the page is wider than the page, and no column too narrow for a word. With
    `words=False`, as for large text, words may be broken.
    """

    def check(page: Page, *, words: bool = True) -> None:
        widths = page.evaluate(
            "() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert widths[0] <= widths[1], (
            f"{page.url} is {widths[0]} px wide in a window of {widths[1]} px"
        )
        if words:
            broken = page.evaluate(BROKEN_WORDS)
            assert not broken, f"{page.url} breaks words in {widths[1]} px: {broken[:5]}"

    return check


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    """How a page looks does not depend on the engine."""
    with Service("sqlite") as service:
        yield service


@pytest.fixture
def website(service: Service) -> Iterator[Website]:
    """The operator's own, under the strictest policy that embeds work with."""
    with Website(policy(service.url)).serving() as website:
        yield website


@pytest.fixture
def quick_hands(monkeypatch: pytest.MonkeyPatch, roomy_network: None) -> None:
    """The browser fills in more forms than people do, and always from one network."""
    for name in ("LOGIN_BY_ADDRESS", "LOGIN_BY_INSTALLATION", "EMAILS_BY_ADDRESS"):
        monkeypatch.setattr(attempts, name, getattr(attempts, name)._replace(most=10_000))
