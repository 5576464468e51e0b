"""Reads the translations. They are parsed from the `.po` files that translators edit: with no
compiled files beside them, none can be out of date.
"""

from __future__ import annotations

from gettext import NullTranslations
from io import BytesIO
from pathlib import Path

from babel.messages import Catalog, mofile, pofile
from babel.support import Translations

FOLDER = Path(__file__).parent.parent / "locale"
DOMAIN = "readers"


def catalog_path(code: str) -> Path:
    return FOLDER / code / "LC_MESSAGES" / f"{DOMAIN}.po"


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
    return Translations(buffer, DOMAIN)
