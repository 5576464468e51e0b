"""Forms and links of the dashboard's templates ask whether the visitor may: nobody writes one that
does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from honeyguide import pages
from honeyguide.accounts.permissions import RIGHTS, Role
from honeyguide.pages.dashboard.routes import PAGE_RIGHTS

FOLDER = Path(pages.__file__).parent / "templates/dashboard"
TEXTS = {str(path.relative_to(FOLDER)): path.read_text() for path in FOLDER.rglob("*.html")}
ACTIONS = "macros/actions.html"
IMPORT = re.compile(r'{% from "dashboard/([\w/]+\.html)"\s+import\s+([^%]+?)\s*%}')
LINK = re.compile(r'<a\b[^>]*?\bhref="(/[^"{]*)')
EVERYBODY = frozenset(Role) - {Role.OWNER}

RAW = {
    "a form": re.compile(r'<form\b[^>]*\bmethod="post"'),
    "a button that sends its form elsewhere": re.compile(r'\bformaction="'),
    "the token of a form": re.compile(r'name="csrf"'),
}


def found_in(text: str) -> set[str]:
    return {what for what, pattern in RAW.items() if pattern.search(text)} | {
        f"a link to {path}" for path in LINK.findall(text) if not is_for_everybody(path)
    }


def is_for_everybody(path: str) -> bool:
    right = PAGE_RIGHTS.right_for("GET", path)
    return right is None or RIGHTS[right].roles >= EVERYBODY


@pytest.mark.parametrize("name", sorted(set(TEXTS) - {ACTIONS}))
def test_no_template_writes_a_form_or_link_that_does_not_ask(name: str) -> None:
    assert found_in(TEXTS[name]) == set()


@pytest.mark.parametrize(
    "raw",
    [
        '<form class="row"\n method="post">',
        '<button formaction="/look/emails/test">',
        '<a class="btn" href="/account/keys">',
        '<a href="/subscribers/export.csv?{{ query }}">',
    ],
)
def test_a_raw_one_would_be_found(raw: str) -> None:
    assert len(found_in(raw)) == 1


def macro_files() -> Iterator[str]:
    """Those whose macros send forms or open pages, themselves or through others."""
    asking = {ACTIONS}
    while True:
        more = {
            name
            for name, text in TEXTS.items()
            if "{% macro" in text and asking & {file for file, _ in IMPORT.findall(text)}
        }
        if more <= asking:
            return iter(asking)
        asking |= more


def test_macros_that_ask_are_imported_with_the_page_they_are_on() -> None:
    """Without it the page fails, perhaps only where it is rare."""
    asking = set(macro_files())
    without = {
        (name, file)
        for name, text in TEXTS.items()
        for file, names in IMPORT.findall(text)
        if file in asking and not names.endswith("with context")
    }
    assert without == set()
