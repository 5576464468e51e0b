"""The documents of the repository as tests read them: blocks, code spans, links, anchors."""

import functools
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from website import pages

ROOT = pages.ROOT
DOCUMENTS = ("README.md", *pages.documents())
# What was, which may have other names today.
HISTORY = re.compile(r"CHANGELOG\.md|bench/|docs/decisions/\d")
TODAY = tuple(name for name in DOCUMENTS if not HISTORY.match(name))
_NOT_RUN = re.compile(r"<!-- not run: (.+?) -->")


class Block(NamedTuple):
    """A fenced block, or an indented one, which has no language."""

    document: str
    line: int
    language: str
    text: str
    not_run: str
    """Why, if a comment before it says so."""


@functools.cache
def read(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


@functools.cache
def tokens(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(text)


def blocks(document: str) -> list[Block]:
    return blocks_of(read(document), document)


def blocks_of(text: str, document: str = "") -> list[Block]:
    found, reason = [], ""
    for token in tokens(text):
        if token.type == "html_block" and (comment := _NOT_RUN.search(token.content)):
            reason = comment[1]
        elif token.type in ("fence", "code_block"):
            line = (token.map or [0])[0] + 1
            found.append(Block(document, line, token.info.strip(), token.content, reason))
            reason = ""
        elif token.type not in ("list_item_close", "list_item_open"):
            reason = ""
    return found


def _inline(text: str) -> Iterator[Token]:
    for token in tokens(text):
        if token.type == "inline":
            yield from token.children or ()


def spans(text: str) -> list[str]:
    return [token.content for token in _inline(text) if token.type == "code_inline"]


def links(text: str) -> list[str]:
    names = {"link_open": "href", "image": "src"}
    return [str(t.attrs[names[t.type]]) for t in _inline(text) if t.type in names]


def anchors(text: str) -> set[str]:
    """As GitHub and the site make them from headings."""
    found: dict[str, int] = {}
    everything = tokens(text)
    for token, inner in itertools.pairwise(everything):
        if token.type == "heading_open":
            parts = (t.content for t in inner.children or () if t.type in ("text", "code_inline"))
            slug = re.sub(r"[^\w\- ]", "", "".join(parts).lower()).replace(" ", "-")
            found[slug] = found.get(slug, -1) + 1
            if found[slug]:
                found[f"{slug}-{found[slug]}"] = 0
    return set(found)


def broken_links(document: str, text: str, root: Path = ROOT) -> list[str]:
    """What its links name that is not there: a file, or a heading in one."""
    broken = []
    for target in links(text):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = (root / document).parent / path if path else root / document
        if not file.exists():
            broken.append(target)
        elif anchor and file.suffix == ".md":
            there = text if not path else file.read_text(encoding="utf-8")
            if anchor not in anchors(there):
                broken.append(target)
    return broken
