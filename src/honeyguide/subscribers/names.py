"""Names that strangers may see: the first name, alone or with an initial.

Subscribers type their names themselves. Only letters are shown, so that nobody can put a link or an
advertisement on somebody else's page.
"""

from __future__ import annotations

import unicodedata

LONGEST = 24
_MARKS = frozenset("-'’")
# "Servant of": the first half of many Arabic first names, and never all of one.
_FIRST_HALF = "عبد"


def name_words(name: str | None) -> list[str]:
    """The first of them is the first name."""
    words = (name or "").split()
    return [" ".join(words[:2]), *words[2:]] if words[:1] == [_FIRST_HALF] else words


def first_name(name: str | None) -> str:
    """Empty if there is none that can be shown."""
    words = name_words(name)
    return words[0] if words and all(_is_name(each) for each in words[0].split()) else ""


def short_name(name: str | None) -> str:
    """As in "Ben B."; empty if there is none that can be shown."""
    words = name_words(name)
    first = first_name(name)
    if not first or len(words) < 2 or not _is_name(words[-1]):
        return first
    return f"{first} {words[-1][0].upper()}."


def _is_name(word: str) -> bool:
    """Letters and the marks that belong to them, in any script."""
    return (
        len(word) <= LONGEST
        and word[0].isalpha()
        and all(each in _MARKS or unicodedata.category(each)[0] in "LM" for each in word)
    )
