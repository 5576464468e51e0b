"""A made-up language that shows which texts were never translated and which have too little room:
every translated text is in brackets, has accents and is about half as long again.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel.messages import Catalog
from babel.messages.pofile import write_po

from honeyguide.languages import language
from honeyguide.pages import rendering
from tests import messages

CODE = "de"  # the language that it replaces
_ACCENTS = str.maketrans("aceinosuyACEINOSU", "åçéîñöšûýÅÇÉÎÑÖŠÛ")
_KEPT = re.compile(f"({messages.PLACEHOLDER.pattern}|{messages.TAG.pattern})")
_BRACKETS = re.compile(r"⟦[^⟦⟧]*⟧")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
# Attributes that people read or hear.
_ATTRIBUTES = {
    "alt",
    "aria-label",
    "content",
    "data-copied",
    "data-text",
    "data-title",
    "placeholder",
}
_META = {"description", "og:title", "og:description", "twitter:title", "twitter:description"}


def pseudo(text: str) -> str:
    parts = _KEPT.split(text)
    accented = "".join(
        part if place % 2 else part.translate(_ACCENTS) for place, part in enumerate(parts)
    )
    words = " ñöö" * max(1, len(text) // 10)
    return f"⟦{accented}{words}⟧"


def write_catalog(folder: Path) -> None:
    """The translations of all texts into the made-up language. Finding the texts takes seconds."""
    catalog = Catalog(locale=CODE)
    for message in messages.extracted():
        if message.id:
            ids = (message.id,) if isinstance(message.id, str) else message.id
            strings = tuple(pseudo(text) for text in ids)
            catalog.add(message.id, strings[0] if len(ids) == 1 else strings)
    path = folder / CODE / "LC_MESSAGES" / "readers.po"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        write_po(file, catalog)


@contextmanager
def pseudo_language(folder: Path) -> Iterator[None]:
    """While this is open, German is the made-up language of this catalog in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language, "CATALOG_FOLDER", folder)
        _forget()
        yield
    _forget()


def _forget() -> None:
    for cached in (language.get_language, language._preferred, rendering._reader_templates):
        cached.cache_clear()


class _Texts(HTMLParser):
    """Collects what people read or hear: text up to the next tag that does not belong to a
    sentence, and some attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = [""]
        self._skips = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self._skips += tag in ("script", "style")
        if tag != "meta" or (values.get("name") or values.get("property")) in _META:
            read = [value for name, value in attrs if name in _ATTRIBUTES and value]
            self.found = [*read, *self.found]
        self._end_text(tag)

    def handle_endtag(self, tag: str) -> None:
        self._skips -= tag in ("script", "style")
        self._end_text(tag)

    def handle_data(self, data: str) -> None:
        if not self._skips:
            self.found[-1] += data

    def _end_text(self, tag: str) -> None:
        if tag not in ("em", "a", "bdi"):
            self.found.append("")


def untranslated(html: str, own: tuple[str, ...]) -> list[str]:
    """The texts of a page that are not in brackets; `own` are the operator's and the reader's."""
    parser = _Texts()
    parser.feed(html)
    return [text for text in parser.found if is_untranslated(text, own)]


def is_untranslated(text: str, own: tuple[str, ...]) -> bool:
    for known in sorted(own, key=len, reverse=True):
        text = text.replace(known, "")
    text = re.sub(r"https?://\S+|\S+@\S+|[\d.]+:\d+/\S*", "", text)
    while _BRACKETS.search(text):
        text = _BRACKETS.sub("", text)
    return _LETTERS.search(text) is not None
