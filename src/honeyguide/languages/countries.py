"""The countries of the world and their names in each language, by Babel."""

from __future__ import annotations

import unicodedata
from functools import cache

from honeyguide.languages.language import ENGLISH, Language, get_language

# Codes in Babel's list that are no place to send mail to, or are part of another country's.
_NO_COUNTRIES = """
AC CP CQ DG EA EU EZ IC QO TA UN XA XB ZZ
"""


def names(language: Language) -> dict[str, str]:
    """Codes such as `PT` with names such as `Portugal`, in alphabetical order of the names."""
    return _names(language.code)


@cache
def _names(code: str) -> dict[str, str]:
    territories = get_language(code).locale.territories
    found = {
        country: str(name)
        for country, name in territories.items()
        if len(country) == 2 and country.isalpha() and country not in _NO_COUNTRIES.split()
    }
    return dict(sorted(found.items(), key=lambda pair: _without_accents(pair[1])))


def _without_accents(name: str) -> str:
    """So that Österreich is next to Oman. Unicode does not take the Polish ł apart."""
    parts = unicodedata.normalize("NFKD", name.replace("Ł", "L").replace("ł", "l"))
    return "".join(part for part in parts if not unicodedata.combining(part)).casefold()


def english_name(code: str) -> str:
    return names(ENGLISH)[code]


def code_of(country: str) -> str:
    """The code for an English name or a code, however it is written; empty if there is none."""
    return _codes().get(country.strip().casefold(), "")


@cache
def _codes() -> dict[str, str]:
    english = names(ENGLISH)
    return {name.casefold(): code for code, name in english.items()} | {
        code.casefold(): code for code in english
    }
