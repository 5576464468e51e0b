"""A language: its texts, its direction, and how it writes dates and numbers.

English texts in the code are the keys; `locale/<code>/LC_MESSAGES/readers.po` has the translations.
A text without a translation is shown in English. The files are parsed as translators edit them:
with no compiled files beside them, none can be out of date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from gettext import NullTranslations
from io import BytesIO
from pathlib import Path
from typing import Any

from babel import Locale, dates, lists, numbers
from babel.messages import Catalog, mofile, pofile
from babel.support import Translations
from jinja2 import Environment
from jinja2.ext import Extension

_TEXT = re.compile(
    r"""
    \{%(?P<before>-?)\ trans\ %\} (?P<block>[^{}<>%]+) \{%\ endtrans\ (?P<after>-?)%\}
    | \bgettext\( (?P<quote>["']) (?P<argument>[^"'{}%]+) (?P=quote) \)
    """,
    re.VERBOSE,
)


class ConstantTexts(Extension):
    """Translates texts without variables when a template is compiled.

    An environment has one language, so these texts are as constant as the markup around them.
    Calling gettext for each would make a page a third slower.
    """

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return _TEXT.sub(self._translated, source)

    def _translated(self, match: re.Match[str]) -> str:
        text = " ".join((match["block"] or match["argument"]).split())
        language: Any = self.environment.globals["language"]
        literal = json.dumps(language.gettext(text), ensure_ascii=False)
        if match["argument"]:
            return literal
        return f"{{{{{match['before']} {literal} {match['after']}}}}}"


CATALOG_FOLDER = Path(__file__).parent.parent / "locale"
CATALOG_DOMAIN = "readers"


def catalog_path(code: str) -> Path:
    return CATALOG_FOLDER / code / "LC_MESSAGES" / f"{CATALOG_DOMAIN}.po"


def read_catalog(code: str) -> NullTranslations:
    """The translations into this language; empty for English, which the code itself is in."""
    path = catalog_path(code)
    if not path.exists():
        return NullTranslations()
    with path.open("rb") as file:
        return compiled(pofile.read_po(file, locale=code))


def compiled(catalog: Catalog) -> NullTranslations:
    buffer = BytesIO()
    mofile.write_mo(buffer, catalog)
    buffer.seek(0)
    return Translations(buffer, CATALOG_DOMAIN)


def translatable(text: str) -> str:
    """Marks a text that is translated where it is shown, so that `make messages` finds it."""
    return text


def translatable_forms(one: str, many: str) -> tuple[str, str]:
    """The same for a text that depends on a number."""
    return one, many


# In the order in which operators choose from them.
NAMES = {
    "en": "English",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "pt": "Português",
    "it": "Italiano",
    "nl": "Nederlands",
    "pl": "Polski",
    "ja": "日本語",
    "ar": "العربية",
}
CODES = tuple(NAMES)
# Dates as the rest of the product writes them: 15 Nov 2026.
_FORMATS = {"en": "en_GB"}
# Without it, a sign would stand on the other side of its number between Arabic words.
LEFT_TO_RIGHT = "\u200e"


@dataclass(frozen=True)
class Language:
    code: str
    locale: Locale = field(repr=False, compare=False)
    translations: NullTranslations = field(repr=False, compare=False)

    @property
    def direction(self) -> str:
        """`ltr` or `rtl`, as HTML says it."""
        return str(self.locale.text_direction)

    def gettext(self, text: str, **values: Any) -> str:
        """The text in this language; values replace `{name}` and so on in it."""
        text = self.translations.gettext(text) if text else ""
        return text.format(**values) if values else text

    def own_text(self, texts: Mapping[str, Any], key: str) -> str | None:
        """An operator's text: the one for this language, such as `button.fr`, else the one for
        all. None if there is neither."""
        for own in (texts.get(f"{key}.{self.code}"), texts.get(key)):
            if isinstance(own, str) and own.strip():
                return own
        return None

    def ngettext(self, one: str, many: str, n: int, **values: Any) -> str:
        """The form that this language uses for `n`, which `{count}` stands for."""
        text = self.translations.ngettext(one, many, n)
        return text.format(count=self.number(n), **values)

    def number(self, n: int) -> str:
        return _number(self.code, n)

    def signed_number(self, n: int) -> str:
        """As in `+2` or `-2`, with the sign on the left of the number in any text."""
        mark = LEFT_TO_RIGHT if self.direction == "rtl" else ""
        return mark + numbers.format_decimal(n, "+#,##0;-#,##0", locale=self.locale)

    def day(self, ms: int) -> str:
        """As in `15 Nov 2026`."""
        return _day(self.code, ms // 86_400_000)

    def time_from_now(self, seconds: int) -> str:
        """As in `in 5 minutes`."""
        minutes = timedelta(minutes=max(1, -(-seconds // 60)))
        return dates.format_timedelta(
            minutes, add_direction=True, granularity="minute", locale=self.locale
        )

    def enumeration(self, items: Sequence[str]) -> str:
        """As in `1, 3 and 5`."""
        return lists.format_list(items, locale=self.locale)

    def install_in(self, templates: Environment) -> None:
        """Translates `{% trans %}` and `gettext()` in templates, which can use the rest too."""
        templates.add_extension("jinja2.ext.i18n")
        templates.add_extension(ConstantTexts)
        templates.policies["ext.i18n.trimmed"] = True
        # What the extension adds to an environment, mypy does not see.
        install = getattr(templates, "install_gettext_translations")  # noqa: B009
        install(self.translations, newstyle=True)
        templates.globals["language"] = self


@cache
def get_language(code: str) -> Language:
    """One of `CODES`; English if it is none of them. Reads the catalog on first use."""
    if code not in NAMES:
        code = "en"
    return Language(code, Locale.parse(_FORMATS.get(code, code)), read_catalog(code))


def preferred_language(accept_language: str, otherwise: Language) -> Language:
    """The browser's first choice among ours, by its `Accept-Language` header."""
    return _preferred(accept_language[:200]) or otherwise


@lru_cache(maxsize=1024)
def _preferred(accept_language: str) -> Language | None:
    accepted: list[tuple[float, str]] = []
    for part in accept_language.split(","):
        tag, _, weight = part.partition(";")
        quality = _quality(weight)
        if quality > 0:
            accepted.append((quality, tag.strip().lower().partition("-")[0]))
    # A stable sort: of equal weights, the first in the header wins.
    for _, code in sorted(accepted, key=lambda pair: -pair[0]):
        if code in NAMES:
            return get_language(code)
    return None


def _quality(weight: str) -> float:
    name, _, number = weight.strip().partition("=")
    if not name:
        return 1.0
    try:
        return float(number) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0


@lru_cache(maxsize=4096)
def _number(code: str, n: int) -> str:
    return numbers.format_decimal(n, locale=get_language(code).locale)


@lru_cache(maxsize=4096)
def _day(code: str, day: int) -> str:
    at = datetime.fromtimestamp(day * 86_400, UTC)
    return dates.format_skeleton("yMMMd", at, locale=get_language(code).locale)


ENGLISH = get_language("en")
