"""The catalogs of translations: `make messages` updates them from the code and the templates,
`make messages-check` tells whether they are up to date, complete and free of common mistakes.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from honeyguide.languages.language import CATALOG_FOLDER, CODES, catalog_path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "honeyguide"
TRANSLATED = [code for code in CODES if code != "en"]
METHODS = [
    ("pages/templates/readers/**.html", "jinja2"),
    ("mail/templates/**.html", "jinja2"),
    ("**.py", "python"),
]
JINJA = {"trimmed": "true", "newstyle_gettext": "true", "silent": "false", "trim_blocks": "true"}
# Babel's own rule for Arabic has its last two forms in another order than gettext and CLDR.
PLURAL_FORMS = {
    "ar": "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 "
    ": n%100>=11 ? 4 : 5);"
}
KEYWORDS = {"gettext": None, "ngettext": (1, 2), "translatable": None, "translatable_forms": (1, 2)}
# `{name}` in Python, `%(name)s` in templates.
PLACEHOLDER = re.compile(r"\{\w+(?::,)?\}|%\(\w+\)s|%%")
TAG = re.compile(r"<[^>]+>")


def extracted() -> Catalog:
    """Every text in the code and the templates."""
    catalog = Catalog()
    found = extract_from_dir(
        SOURCE,
        METHODS,
        {"**.html": JINJA},
        keywords=KEYWORDS,
        comment_tags=["Translators:"],
        strip_comment_tags=True,
    )
    for path, _line, text, comments, context in found:
        # Without line numbers, so that moving a text changes no catalog.
        catalog.add(text, None, [(path, 0)], auto_comments=comments, context=context)
    return catalog


def read(code: str) -> Catalog:
    path = catalog_path(code)
    if not path.exists():
        return Catalog(locale=code)
    with path.open("rb") as file:
        return read_po(file, locale=code)


def updated(code: str, template: Catalog) -> bytes:
    """The catalog of a language with the texts of today: new ones are empty, old ones go."""
    old = read(code)
    new = Catalog(locale=code, fuzzy=False)
    for message in template:
        if not message.id:
            continue
        known = old.get(message.id, message.context)
        same = known is not None and known.id == message.id
        new.add(
            message.id,
            known.string if known is not None and same else None,
            message.locations,
            auto_comments=message.auto_comments,
            user_comments=known.user_comments if known is not None and same else (),
            context=message.context,
        )
    written = BytesIO()
    write_po(written, new, width=100, sort_by_file=True, include_lineno=False, omit_header=True)
    plural_forms = PLURAL_FORMS.get(code, new.plural_forms)
    header = (
        "# Texts for readers in this language. See docs/translating.md.\n"
        f'msgid ""\nmsgstr ""\n"Language: {code}\\n"\n"Plural-Forms: {plural_forms}\\n"\n'
        f'"MIME-Version: 1.0\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
    )
    return header.encode() + written.getvalue()


def is_translated(message: Message) -> bool:
    strings = message.string if isinstance(message.string, tuple) else (message.string,)
    return all(strings)


def missing(code: str) -> list[str]:
    """The texts that readers of this language see in English."""
    catalog = read(code)
    return [
        message.id if isinstance(message.id, str) else message.id[0]
        for message in catalog
        if message.id and not is_translated(message)
    ]


def mistakes(code: str) -> Iterator[str]:
    """Translations that would fail or break a page: other placeholders or tags than the text has,
    a quotation mark that ends an attribute."""
    catalog = read(code)
    for message in catalog:
        if not message.id or not is_translated(message):
            continue
        ids = message.id if isinstance(message.id, tuple) else (message.id,)
        strings = message.string if isinstance(message.string, tuple) else (message.string,)
        if len(ids) > 1 and len(strings) != catalog.num_plurals:
            yield f"{code}: {ids[0]!r} has {len(strings)} forms instead of {catalog.num_plurals}"
        expected = [Counter(PLACEHOLDER.findall(text)) for text in ids]
        for text in strings:
            given = Counter(PLACEHOLDER.findall(text))
            # A form for one may leave the number out.
            if given not in expected and not (len(ids) > 1 and given <= expected[-1]):
                yield f"{code}: {text!r} has other placeholders than {ids[-1]!r}"
            if TAG.findall(text) != TAG.findall(ids[-1]) or '"' in text or "&" in text:
                yield f'{code}: {text!r} has other tags than {ids[-1]!r}, or a " or an &'


def stale(template: Catalog) -> list[str]:
    return [
        code for code in TRANSLATED if catalog_path(code).read_bytes() != updated(code, template)
    ]


def main() -> int:
    template = extracted()
    if "--check" not in sys.argv:
        for code in TRANSLATED:
            content = updated(code, template)
            catalog_path(code).parent.mkdir(parents=True, exist_ok=True)
            catalog_path(code).write_bytes(content)
    total = len([message for message in template if message.id])
    for code in TRANSLATED:
        absent = missing(code)
        print(f"{code}: {total - len(absent)} of {total} texts translated")
        for text in absent:
            print(f"    missing: {text}")
    wrong = [line for code in TRANSLATED for line in mistakes(code)]
    old = stale(template)
    if old:
        wrong.append(
            f"Run `make messages`: out of date in {CATALOG_FOLDER.name}/: {', '.join(old)}"
        )
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
