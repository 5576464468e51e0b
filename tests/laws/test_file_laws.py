"""Laws on whole files: how long they are, which tests the documents name, where markup is made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.laws.test_architecture import (
    SOURCE,
    Module,
    files_are_short,
    functions_are_short,
    read,
    sources,
)

# Whoever makes markup from text has escaped it first, or drew it without any text of others.
MAKES_MARKUP = {
    "pages/rendering.py": 4,
    "pages/readers/sharing.py": 1,
    "pages/dashboard/login/second_factor.py": 1,
    "pages/templates/icons.html": 1,
}


MARKUP = re.compile(r"\b(?:Markup|format_html)\(|\|\s*safe\b|\bautoescape\b|__html__")


def test_markup_is_made_in_few_places_and_every_one_is_known() -> None:
    """A new place is looked at by a person, and then counted above. `pages/rendering.py`
    and `mail/layout.py` also turn escaping on, once each.
    """
    found = {
        path.relative_to(SOURCE).as_posix(): len(MARKUP.findall(path.read_text(encoding="utf-8")))
        for path in sources("*.py", "*.html")
    }
    escaping = ("pages/rendering.py", "mail/layout.py")
    expected = MAKES_MARKUP | {path: MAKES_MARKUP.get(path, 0) + 1 for path in escaping}
    assert {path: count for path, count in found.items() if count} == expected
    for path in escaping:
        assert "autoescape=True" in (SOURCE / path).read_text(encoding="utf-8")


@pytest.mark.parametrize(("pattern", "most"), [("*.sql", 110), ("*.css", 120)])
def test_sql_and_style_sheets_are_narrow(pattern: str, most: int) -> None:
    """One clause or declaration a line; migrations that were applied are never edited."""
    wide = [
        f"{path.relative_to(SOURCE)}:{number}: {len(line)} columns, over {most}"
        for path in sources(pattern)
        if path.parent.name != "migrations"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > most
    ]
    assert not wide, "\n" + "\n".join(wide)


def test_tests_and_benches_are_short_too() -> None:
    """They are read as often as the source is."""
    root = Path(__file__).parents[2]
    paths = [
        path
        for part in ("tests", "bench", "lab", "release")
        for path in sorted((root / part).rglob("*.py"))
    ]
    found = [
        Module(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
        for path in paths
    ]
    laws = (files_are_short, functions_are_short)
    complaints = [
        f"{module.path}:{complaint}"
        for module in found
        for law in laws
        for complaint in law(module)
    ]
    assert not complaints, "\n" + "\n".join(complaints)


def test_style_sheets_and_scripts_of_ours_are_short() -> None:
    complaints = [
        f"{module.path}:{text}"
        for module in map(read, sources("*.css", "*.js"))
        for text in files_are_short(module)
    ]
    assert not complaints, "\n" + "\n".join(complaints)


def test_documents_name_tests_that_exist() -> None:
    root = Path(__file__).parents[2]
    for page in (root / "ARCHITECTURE.md", *sorted((root / "docs" / "decisions").glob("*.md"))):
        named = re.findall(r"`(tests/[\w/]+\.py|bench/\w+\.py)`", page.read_text(encoding="utf-8"))
        assert named, f"{page.name} names no test"
        assert [path for path in named if not (root / path).exists()] == [], page.name
