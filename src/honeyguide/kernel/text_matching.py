"""Finds text however it is written: `nunez` finds Núñez, `MULLER` finds Müller.

The databases fold only ASCII letters. So each letter that is searched for becomes the class of its
spellings, and nothing has to be stored folded.
"""

from __future__ import annotations

import unicodedata
from functools import cache

# Letters of the languages of Europe, and of Vietnamese. Every spelling makes a search slower.
_ALPHABETS = (
    range(0x00C0, 0x0180),
    range(0x0218, 0x021C),
    range(0x0386, 0x03CF),
    range(0x0400, 0x0460),
    range(0x1EA0, 0x1EFA),
)
# In a class, these stand for themselves only after a backslash.
_SPECIAL = frozenset("\\^")


def fold(text: str) -> str:
    """Without accents and in lower case, where that is one letter for one letter."""
    return "".join(_base(letter) for letter in unicodedata.normalize("NFC", text))


def character_classes(text: str) -> str:
    """A pattern that both `GLOB` and regular expressions read alike: `ab` becomes
    `[aAàÀ…][bB…]`."""
    return "".join(f"[{_spellings(letter)}]" for letter in unicodedata.normalize("NFC", text))


def like_pattern(text: str) -> str:
    """What `LIKE` looks for, anywhere in a text, with `\\` as its escape character."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _base(letter: str) -> str:
    plain = unicodedata.normalize("NFD", letter)[0].lower()
    return plain if len(plain) == 1 else letter


@cache
def _by_base() -> dict[str, str]:
    """The spellings of each letter, such as a: àÀáÁ…"""
    found: dict[str, str] = {}
    for alphabet in _ALPHABETS:
        for letter in map(chr, alphabet):
            if letter.isalpha():
                found[_base(letter)] = found.get(_base(letter), "") + letter
    return found


def _spellings(letter: str) -> str:
    """Those of its base, and the letter itself, which in other alphabets is not among them: the
    base of a Korean syllable is its first consonant.
    """
    if letter in _SPECIAL:
        return f"\\{letter}"
    base = _base(letter)
    upper = base.upper()
    cases = base if upper == base or len(upper) != 1 else base + upper
    return "".join(dict.fromkeys(cases + _by_base().get(base, "") + letter))
