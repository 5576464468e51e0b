"""The emails whose subject and text the operator can change, and how placeholders are filled in.

An operator's text replaces the first paragraphs. The button and the notes after it stay, so that
no text can lose the link. Placeholders are replaced once, as plain text: a text is never a
template, and a value is never searched for placeholders.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from honeyguide.kernel import checks
from honeyguide.kernel.errors import Invalid
from honeyguide.languages.language import Language
from honeyguide.mail.email_kinds import EMAIL_KINDS, EmailKind
from honeyguide.mail.layout import EmailBranding

SUBJECT_LIMIT = 150
TEXT_LIMIT = 1_500
SUBJECT, TEXT = FIELDS = ("subject", "text")
# Chooses the plural form of a default text that is shown to the operator.
SAMPLE_COUNT = 5
_BRACES = re.compile(r"\{[^{}]*\}?|\}")
_SPACES, _COMMAS = " \u00a0\u202f", ",،、"
_PLACEHOLDER = re.compile(r"\{(\w+)\}", re.ASCII)
EDITABLE = {kind.name: kind for kind in EMAIL_KINDS if kind.subject}


class Written(NamedTuple):
    subject: str
    paragraphs: tuple[str, ...]


def key_of(kind: str, field: str) -> str:
    """Under which a text is kept with the campaign's other texts."""
    return f"{kind}_{field}"


def default(email: EmailKind, field: str, language: Language, count: int = SAMPLE_COUNT) -> str:
    """Our text, with its placeholders."""
    translations = language.translations
    one, *many = (email.subject,) if field == SUBJECT else email.text
    return translations.ngettext(one, many[0], count) if many else translations.gettext(one)


def write(
    email: EmailKind,
    brand: EmailBranding,
    values: Mapping[str, str],
    *,
    count: int = SAMPLE_COUNT,
    text: str = "",
) -> Written:
    """The operator's subject and text, or ours, with the values filled in. `text` is ours where the
    usual one does not fit."""
    language, own = brand.language, brand.own_texts
    ours = {SUBJECT: "", TEXT: text}
    subject, body = (
        fill(
            language.own_text(own, key_of(email.name, field))
            or ours[field]
            or default(email, field, language, count),
            values,
        )
        for field in FIELDS
    )
    paragraphs = (paragraph.strip() for paragraph in re.split(r"\n\s*\n", body))
    return Written(subject, tuple(paragraph for paragraph in paragraphs if paragraph))


def fill(text: str, values: Mapping[str, str]) -> str:
    """What is no known placeholder stays as it is. Without a value, what joins it to the text goes
    too: "Hi {first_name}," becomes "Hi,", and "Thank you, {first_name}!" becomes "Thank you!". A
    line that begins with it begins with what follows."""
    for name, value in values.items():
        if not value:
            missing = rf"\{{{name}\}}(?:さん|様)?"
            begins = re.compile(rf"^{missing}[{_SPACES}{_COMMAS}!]*(.?)", re.MULTILINE)
            text = begins.sub(lambda match: match[1].upper(), text)
            text = re.sub(rf"[{_COMMAS}]?[{_SPACES}]+{missing}", "", text)
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def check(email: EmailKind, field: str, text: str) -> None:
    """Refuses what could not be filled in, and says what can."""
    limit = SUBJECT_LIMIT if field == SUBJECT else TEXT_LIMIT
    checks.text(text, param=field, limit=limit, blank_ok=False)
    # A line break would end the header and start another one.
    if field == SUBJECT and not checks.is_one_line(text):
        raise Invalid("{field} must not contain line breaks or control characters.", param=field)
    known = {f"{{{name}}}" for name in email.placeholders}
    unknown = [found for found in _BRACES.findall(text) if found not in known]
    if unknown:
        raise Invalid(
            "{field} contains {unknown}, which stands for nothing here. You can use {known}.",
            param=field,
            unknown=unknown[0],
            known=", ".join(f"{{{name}}}" for name in email.placeholders),
        )
