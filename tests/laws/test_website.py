"""The documents as a site: every page once in its menu, links that lead to pages of the site, and
the built site itself.
"""

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests import settings_page
from tests.support.documents import DOCUMENTS, ROOT, read
from website import pages

# GitHub shows it as the front page of the project; the site has its own.
NO_PAGE = {"README.md"}
IN_THEIR_INDEX = re.compile(r"docs/(decisions|integrations)/(?!README)")


def test_every_document_is_in_the_menu_once() -> None:
    listed = Counter(path for part in pages.parts(read(pages.INDEX)) for _, path in part.pages)
    expected = {
        name
        for name in DOCUMENTS
        if name not in {*NO_PAGE, pages.INDEX} and not IN_THEIR_INDEX.match(name)
    }
    assert expected - set(listed) == set(), "in no part of docs/README.md"
    assert set(listed) - expected == set(), "no such document"
    assert [name for name, times in listed.items() if times > 1] == []


def test_the_menu_has_a_part_for_every_reader() -> None:
    titles = [part.title for part in pages.parts(read(pages.INDEX))]
    assert titles == ["Start", "Operate", "Develop", "Self-host", "Contribute"]


@pytest.mark.parametrize(
    ("document", "link", "expected"),
    [
        ("docs/api.md", "webhooks.md#events", "webhooks.md#events"),
        ("docs/api.md", "integrations/README.md", "integrations/index.md"),
        ("docs/api.md", "integrations", "integrations/index.md"),
        ("docs/api.md", "../CONTRIBUTING.md", "contributing.md"),
        ("docs/integrations/kit.md", "../webhooks.md", "../webhooks.md"),
        ("docs/integrations/kit.md", "README.md#tokens", "index.md#tokens"),
        ("CONTRIBUTING.md", "docs/lab.md", "lab.md"),
        ("docs/api.md", "../deploy/Caddyfile", f"{pages.HOME}/blob/main/deploy/Caddyfile"),
        ("docs/api.md", "https://example.org/a.md", "https://example.org/a.md"),
        ("docs/api.md", "#errors", "#errors"),
        ("docs/api.md", "pictures/home.png", "pictures/home.png"),
    ],
)
def test_links_lead_to_the_same_page_on_the_site(document: str, link: str, expected: str) -> None:
    assert pages.for_site(document, f"See [it]({link}).") == f"See [it]({expected})."


def test_no_two_documents_are_the_same_page() -> None:
    paths = Counter(pages.site_path(name) for name in DOCUMENTS if name not in NO_PAGE)
    assert [path for path, times in paths.items() if times > 1] == []


def test_code_is_not_rewritten() -> None:
    block = "```md\n[it](../CONTRIBUTING.md)\n```\n"
    assert pages.for_site("docs/api.md", block) == block


def test_the_page_of_settings_is_made_from_the_code() -> None:
    assert read("docs/settings.md") == settings_page.page(), "Run `make settings-page`."


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as `make site` does, by the tools that are pinned for it."""
    target = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        ["make", "--silent", "site", f"GUIDE={target}/site"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return target / "site"


@pytest.mark.long
def test_the_site_is_built_without_warnings_and_loads_nothing_from_elsewhere(site: Path) -> None:
    built = {path.relative_to(site).with_suffix(".md").as_posix() for path in site.rglob("*.html")}
    assert {pages.site_path(name) for name in DOCUMENTS if name not in NO_PAGE} <= built
    loads = re.compile(r"<(?:script|img|iframe|link|source)\b[^>]*\b(?:src|href)=\"(?:https?:)?//")
    imports = re.compile(r"(?:@import|url\()\s*[\"']?(?:https?:)?//")
    wrong = [
        path.relative_to(site).as_posix()
        for path in site.rglob("*")
        if (path.suffix == ".html" and loads.search(path.read_text()))
        or (path.suffix == ".css" and imports.search(path.read_text()))
    ]
    assert wrong == []
    assert "holding" in (site / "searchindex.js").read_text()
