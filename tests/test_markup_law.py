"""Markup is made from text in few places, and a person has looked at every one."""

from __future__ import annotations

import re

from tests.test_architecture import HOUSE, sources

# Whoever makes markup from text has escaped it first, or drew it without any text of others.
MAKES_MARKUP = {
    "pages/rendering.py": 4,
    "pages/readers/sharing.py": 1,
}


MARKUP = re.compile(r"\b(?:Markup|format_html)\(|\|\s*safe\b|\bautoescape\b|__html__")


def test_markup_is_made_in_few_places_and_every_one_is_known() -> None:
    """A new place is looked at by a person, and then counted above. `pages/rendering.py` also turns
    escaping on, once.
    """
    found = {
        path.relative_to(HOUSE).as_posix(): len(MARKUP.findall(path.read_text(encoding="utf-8")))
        for path in sources("*.py", "*.html")
    }
    expected = {**MAKES_MARKUP, "pages/rendering.py": MAKES_MARKUP["pages/rendering.py"] + 1}
    assert {path: count for path, count in found.items() if count} == expected
    assert "autoescape=True" in (HOUSE / "pages/rendering.py").read_text(encoding="utf-8")
