"""Which documents are pages of the site, where each is there, and where its links lead.

The documents stay as GitHub shows them: plain Markdown with links to files beside them. The site
has the same pages at short addresses, so their links are rewritten while it is built. The index,
docs/README.md, is the navigation: its headings are the parts and its lists the pages.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
INDEX = "docs/README.md"
HOME = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Source"]
# Besides docs/, as paths in the repository.
MORE = ("CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "bench/RESULTS.md")
# The name of docs/security.md is taken.
_RENAMED = {"SECURITY.md": "security-policy.md"}
_FENCE = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
_PART = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^- \[([^\]]+)\]\(([^)#\s]+)\)", re.MULTILINE)


class Part(NamedTuple):
    """Of the navigation."""

    title: str
    pages: list[tuple[str, str]]
    """Names and paths in the repository, in the order of the index."""


def documents(root: Path = ROOT) -> list[str]:
    """Every document that is a page of the site."""
    found = sorted(path.relative_to(root).as_posix() for path in (root / "docs").rglob("*.md"))
    return [*found, *(name for name in MORE if (root / name).exists())]


def site_path(document: str) -> str:
    """docs/webhooks.md is webhooks.md on the site, and a README the index of its folder."""
    if document in _RENAMED:
        return _RENAMED[document]
    folder, name = posixpath.split(document.removeprefix("docs/"))
    name = "index.md" if name == "README.md" else name.lower()
    return posixpath.join(folder, name)


def parts(index: str) -> list[Part]:
    return [
        Part(title, [(name, _resolve(INDEX, path)) for name, path in _ENTRY.findall(text)])
        for title, text in _PART.findall(index)
        if _ENTRY.search(text)
    ]


def for_site(document: str, text: str, root: Path = ROOT) -> str:
    """The document with its links as they are on the site. What is no page there is read on
    GitHub."""
    pages = set(documents(root))

    def target(found: re.Match[str]) -> str:
        path, mark, anchor = found[0].partition("#")
        if not path or re.match(r"\w+:", path):
            return found[0]
        named = _resolve(document, path)
        if f"{named}/README.md" in pages:
            named = f"{named}/README.md"
        if named in pages:
            start = posixpath.dirname(site_path(document)) or "."
            return posixpath.relpath(site_path(named), start) + mark + anchor
        if path.endswith(".png"):
            return found[0]
        return f"{HOME}/blob/main/{named}{mark}{anchor}"

    return _outside_code(text, lambda prose: _LINK.sub(target, prose))


def _resolve(document: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(document), path))


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    done, parts = 0, []
    for block in _FENCE.finditer(text):
        parts += [change(text[done : block.start()]), block[0]]
        done = block.end()
    return "".join([*parts, change(text[done:])])


def navigation(index: str) -> str:
    """For the end of the front page: what Sphinx builds the menu from, shown nowhere itself."""
    trees = []
    for part in parts(index):
        lines = [f"{name} <{site_path(page).removesuffix('.md')}>" for name, page in part.pages]
        entries = "\n".join(lines)
        trees.append(f"```{{toctree}}\n:hidden:\n:caption: {part.title}\n\n{entries}\n```")
    return "\n\n".join(trees) + "\n"
