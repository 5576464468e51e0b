"""The start tags of an HTML page that anybody may have written, found in linear time.

Python's `HTMLParser` takes quadratic time for some pages and raises AssertionError for others, so
this scans for the little that the Embed page needs.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

Attributes = dict[str, str]

_NAME = re.compile(r"[a-zA-Z][^\s/>]{0,99}").match
# The quote that ends a value is looked for to the end of the page, but at most once in vain: after
# that, the page has no such quote left.
_ATTRIBUTE = re.compile(
    r"[\s/=]*([^\s/>=]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"'][^\s>]*)))?"
).match
_END = re.compile(r"[\s/=]*>").match
# What is inside these is text.
_TEXT_UNTIL = {
    name: re.compile(f"</{name}", re.IGNORECASE).search
    for name in ("script", "style", "textarea", "title")
}
# Decoding longer ones has a price: a number of 5,000 digits is an error, for example.
_LONGEST_DECODED = 4_000


def start_tags(page: str) -> Iterator[tuple[str, Attributes]]:
    """Every element's name in lower case, and its attributes."""
    place = 0
    while (place := page.find("<", place)) >= 0:
        if page.startswith("<!--", place):
            place = page.find("-->", place + 4)
            if place < 0:
                return
            continue
        name = _NAME(page, place + 1)
        if name is None:
            place += 1
            continue
        attributes, place = _attributes(page, name.end())
        if place < 0:
            return
        tag = name[0].lower()
        yield tag, attributes
        if tag in _TEXT_UNTIL:
            end = _TEXT_UNTIL[tag](page, place)
            if end is None:
                return
            place = end.end()


def _attributes(page: str, place: int) -> tuple[Attributes, int]:
    """The attributes from here on, and where their tag ends; -1 if it does not end."""
    found: Attributes = {}
    while (end := _END(page, place)) is None:
        attribute = _ATTRIBUTE(page, place)
        if attribute is None:
            return found, -1
        value = attribute[2] or attribute[3] or attribute[4] or ""
        found.setdefault(attribute[1].lower(), _decoded(value))
        place = attribute.end()
    return found, end.end()


def _decoded(value: str) -> str:
    return html.unescape(value) if len(value) <= _LONGEST_DECODED else value
