"""Laws of the style sheets: each is in a layer, a selector has one home, every class is used.

How they are written is Prettier's: `make check` formats them, one declaration a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from honeyguide.pages.static import FOLDER, style_sheet
from tests.laws.test_architecture import SOURCE

# Pages of their own inside a frame, which load no other sheet.
IN_FRAMES = {"embed_frame.css", "embed_preview.css"}
SHEETS = {
    path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(FOLDER.rglob("*.css"))
}
# Between selectors, not inside `:is(…)`, which may have one level of brackets in it.
COMMA = re.compile(r",(?![^()]*(?:\([^()]*\)[^()]*)*\))")
IMPORTED = {name for text in SHEETS.values() for name in re.findall(r'@import "([^"]+)"', text)}


class Block:
    """What stands in braces. `around` is what stands before the braces, the outermost first."""

    def __init__(self, around: tuple[str, ...]) -> None:
        self.around = around
        self.declares = False

    @property
    def is_rule(self) -> bool:
        return not self.around[-1].startswith("@") and not any(
            part.startswith("@keyframes") for part in self.around
        )


def blocks(css: str) -> list[Block]:
    css = re.sub(r"/\*.*?\*/|@[^{};]*;", "", css, flags=re.DOTALL)
    found: list[Block] = []
    opened: list[Block] = []
    for before, mark in re.findall(r"([^{};]*)([{};])", css):
        text = " ".join(before.split())
        if mark == "{":
            around = opened[-1].around if opened else ()
            opened.append(Block((*around, text)))
            found.append(opened[-1])
            continue
        opened[-1].declares |= bool(text)
        if mark == "}":
            opened.pop()
    return found


def selectors(css: str) -> Iterator[str]:
    """Of each rule that declares something, as it would read without nesting."""
    for block in blocks(css):
        if not (block.is_rule and block.declares):
            continue
        full = [""]
        for nested in (each for each in block.around if not each.startswith("@")):
            parts = [part.strip() for part in COMMA.split(nested)]
            full = [
                part.replace("&", outer) if "&" in part else f"{outer} {part}".strip()
                for outer in full
                for part in parts
            ]
        yield from full


def homes(sheets: dict[str, str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, css in sheets.items():
        for selector in selectors(css):
            found.setdefault(selector, set()).add(name)
    return found


def in_several(sheets: dict[str, str]) -> dict[str, set[str]]:
    return {selector: names for selector, names in homes(sheets).items() if len(names) > 1}


def unlayered(css: str) -> list[str]:
    return [block.around[0] for block in blocks(css) if not block.around[0].startswith("@layer ")]


def unnested(css: str) -> list[str]:
    """Rules that follow the one that they could stand in, as `.a:hover` after `.a`."""
    found = []
    before: dict[tuple[str, ...], str] = {}
    for block in blocks(css):
        *around, rule = block.around
        before.pop(block.around, None)
        last, before[tuple(around)] = before.get(tuple(around), ""), rule
        if "," in rule + last or "::" in last or last.startswith("@"):
            continue
        if last and re.match(re.escape(last) + r"( > | (?=\S)|[.:\[])", rule):
            found.append(rule)
    return found


def unused(css: str, words: set[str]) -> set[str]:
    names = {
        name
        for selector in selectors(css)
        for name in re.findall(r"[.#]([A-Za-z][\w-]*)", re.sub(r'"[^"]*"', "", selector))
    }
    return names - words


def test_each_selector_has_one_home() -> None:
    together = {name: css for name, css in SHEETS.items() if name not in IN_FRAMES}
    assert in_several(together) == {}


@pytest.mark.parametrize("name", sorted(SHEETS.keys() - IN_FRAMES))
def test_sheets_are_nested_and_in_a_layer(name: str) -> None:
    assert unnested(SHEETS[name]) == []
    if name not in IMPORTED:
        assert unlayered(style_sheet(name).replace("@layer base, components;", "")) == []


def test_each_class_is_used() -> None:
    """By a template, a script or the code that draws."""
    words: set[str] = set()
    for path in SOURCE.rglob("*"):
        if path.suffix in {".html", ".js", ".py"}:
            words |= set(re.findall(r"[A-Za-z][\w-]*", path.read_text(encoding="utf-8")))
    found = {name: unused(css, words) for name, css in SHEETS.items()}
    assert {name: classes for name, classes in found.items() if classes} == {}


def test_what_is_served_is_whole_and_small() -> None:
    for name in SHEETS.keys() - IMPORTED:
        served = style_sheet(name)
        assert "@import" not in served and "/*" not in served and "\n" not in served
        written = [selector for part in _with_parts(name) for selector in selectors(SHEETS[part])]
        assert sorted(selectors(served)) == sorted(written), name


def _with_parts(name: str) -> list[str]:
    return [name, *re.findall(r'@import "([^"]+)"', SHEETS[name])]


def test_the_laws_see_planted_offenders(tmp_path: Path) -> None:
    nested = ".a { color: red; &:hover, > b { color: blue } }"
    assert list(selectors(nested)) == [".a", ".a:hover", ".a > b"]
    assert in_several({"a.css": nested, "b.css": "@media print { .a > b { color: red } }"})
    assert not in_several({"a.css": nested, "b.css": ".a b { color: red }"})
    assert unlayered(nested) and not unlayered(f"@layer pages {{ {nested} }}")
    assert unnested(".a { color: red } .a:hover { color: blue }") == [".a:hover"]
    assert not unnested(f"{nested} .ab {{ color: red }}")
    assert unused(nested, {"b"}) == {"a"} and not unused(nested, {"a"})
